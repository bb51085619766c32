//! Writes the sample files in `examples/data/` of the repository: `cargo run --example samples -- examples/data`.
//!
//! One file for each task, small and made by rules, so that each task can be tried at once and learns something:
//!
//! | file | task | rows | what is to be learnt |
//! |---|---|---|---|
//! | `numerals.tsv` | seq2seq | 300 pairs | Roman numerals to digits |
//! | `messages.tsv` | classify | 240 texts | which desk a message goes to: billing, delivery or returns |
//! | `questions.tsv` | match | 120 questions, 4 candidates each | which sentence answers the question |
//! | `coins.csv` | bags | 120 bags of 3 to 7 coins | whether one of the coins is false |

use std::fmt::Write;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spotlight::demo::answers;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    for (name, contents) in samples() {
        std::fs::write(std::path::Path::new(&folder).join(name), contents)?;
    }
    Ok(())
}

/// The files and their contents; the same every time.
pub fn samples() -> [(&'static str, String); 4] {
    [("numerals.tsv", numerals()), ("messages.tsv", messages()), ("questions.tsv", questions()), ("coins.csv", coins())]
}

fn numerals() -> String {
    const SIGNS: [(usize, &str); 9] = [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")];
    let mut numbers: Vec<usize> = (1..=300).collect();
    numbers.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    let line = |number: usize| {
        let (mut rest, mut numeral) = (number, String::new());
        for (value, sign) in SIGNS {
            numeral += &sign.repeat(rest / value);
            rest %= value;
        }
        format!("{numeral}\t{number}\n")
    };
    numbers.into_iter().map(line).collect()
}

fn messages() -> String {
    const DESKS: [(&str, [&str; 8]); 3] = [
        (
            "billing",
            [
                "the invoice of {} is wrong",
                "i was charged twice for {}",
                "my card was refused when i paid for {}",
                "please send me the receipt for {}",
                "why does {} cost more than on the page",
                "the discount on {} was not taken off",
                "can i pay for {} in two parts",
                "there is a fee on my bill for {}",
            ],
        ),
        (
            "delivery",
            [
                "where is {} , it should be here by now",
                "the parcel with {} went to the wrong street",
                "can you bring {} on saturday",
                "nobody rang the bell when {} came",
                "the tracking page of {} does not move",
                "how long does it take until {} arrives",
                "please leave {} with my neighbour",
                "i moved , send {} to my new address",
            ],
        ),
        (
            "returns",
            [
                "{} is broken and i want to send it back",
                "{} does not fit , i need another size",
                "how do i return {}",
                "i changed my mind about {}",
                "the colour of {} is not what i ordered , take it back",
                "where is the label to send {} back",
                "{} stopped working after a day , please replace it",
                "i got {} twice and will return one",
            ],
        ),
    ];
    const THINGS: [&str; 12] = [
        "my lamp",
        "the blue chair",
        "my kettle",
        "the boots",
        "a red coat",
        "my new phone",
        "the garden table",
        "my radio",
        "the bike",
        "two shirts",
        "the clock",
        "my tent",
    ];
    const OPENINGS: [&str; 6] = ["", "", "hello , ", "good morning , ", "hi there , ", "once more : "];
    const CLOSINGS: [&str; 5] = ["", "", " , thank you", " , please answer soon", " !"];
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut lines = std::collections::BTreeSet::new();
    for number in 0.. {
        let (desk, forms) = &DESKS[number % DESKS.len()];
        let pick = |rng: &mut ChaCha8Rng, list: &[&'static str]| list.choose(rng).copied().unwrap_or_default();
        let message = pick(&mut rng, forms).replace("{}", pick(&mut rng, &THINGS));
        lines.insert(format!("{}{message}{}\t{desk}\n", pick(&mut rng, &OPENINGS), pick(&mut rng, &CLOSINGS)));
        if lines.len() == 240 {
            break;
        }
    }
    let mut lines: Vec<String> = lines.into_iter().collect();
    lines.shuffle(&mut rng);
    lines.concat()
}

fn questions() -> String {
    let mut file = String::new();
    for question in answers::questions(3).train.iter().take(120) {
        let right = question.candidates.iter().position(|candidate| candidate.right).unwrap_or_default();
        // Four candidates, the right one where it stands among them, or last.
        let mut kept: Vec<usize> = (0..question.candidates.len()).filter(|&candidate| candidate != right).take(3).collect();
        kept.push(right);
        kept.sort_unstable();
        for answer in kept.into_iter().map(|candidate| &question.candidates[candidate]) {
            // Writing to a string cannot fail.
            let _ = writeln!(file, "{}\t{}\t{}", question.text, answer.text, u8::from(answer.right));
        }
    }
    file
}

fn coins() -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut file = "label,purse,grams,millimetres,thickness\n".to_owned();
    for purse in 1..=120 {
        let coins = rng.random_range(3..=7);
        let fake = (purse % 2 == 0).then(|| rng.random_range(0..coins));
        for coin in 0..coins {
            // A false coin is as large as a true one of its kind, but lighter.
            let kind = *[(2.3, 16.2, 1.7), (4.1, 19.8, 1.9), (7.5, 23.2, 2.3)].choose(&mut rng).unwrap_or(&(0.0, 0.0, 0.0));
            let near = |rng: &mut ChaCha8Rng, value: f64| value * (1.0 + 0.02 * (2.0 * rng.random::<f64>() - 1.0));
            let lighter = if fake == Some(coin) { 0.6 } else { 1.0 };
            let label = if fake.is_some() { "false" } else { "true" };
            let (grams, wide, thick) = (near(&mut rng, kind.0 * lighter), near(&mut rng, kind.1), near(&mut rng, kind.2));
            let _ = writeln!(file, "{label},purse {purse},{grams:.2},{wide:.1},{thick:.2}");
        }
    }
    file
}
