//! The picture is true: it shows the numbers the model answered with, at the units as they were typed, in every form.

use crate::common::{Place, err, feed, out, right, run};
use serde_json::Value;

type Weights = Vec<Vec<f32>>;

/// Runs and expects wrong usage, with this part in the message.
fn wrong(place: &Place, arguments: &[&str], part: &str) {
    let output = run(place, arguments);
    let message = err(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(part), "{part:?} is not in {message:?}");
}

/// Trains a small model of a task on a file and expects success.
fn train(place: &Place, task: &str, file: &str, settings: &[&str]) {
    let mut arguments = vec!["train", "--task", task, "--train", file, "--out", "model"];
    let common = ["model.hidden=24", "train.batch=300", "train.rate=0.01", "train.warmup=20"];
    common.iter().chain(settings).for_each(|setting| arguments.extend(["--set", setting]));
    right(place, &arguments);
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What `predict --json` says of one line.
fn predicted(place: &Place, line: &str, extra: &[&str]) -> Value {
    let output = feed(place, &[&["predict", "model", "--json"], extra].concat(), format!("{line}\n").as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    objects(&out(&output)).remove(0)
}

/// The pictures of an input as JSON.
fn looked(place: &Place, input: &str, extra: &[&str]) -> Vec<Value> {
    objects(&right(place, &[&["look", "model", input, "--format", "json"], extra].concat()))
}

/// A number written in full is read back to the same bits.
fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}")).iter().map(|n| n.to_string().parse().unwrap()).collect()
}

fn table(value: &Value) -> Weights {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}")).iter().map(numbers).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// The numbers that an input's SVG carries in full, picture by picture.
fn in_svg(place: &Place, input: &str, extra: &[&str]) -> (String, Vec<Value>) {
    let svg = right(place, &[&["look", "model", input, "--format", "svg"], extra].concat());
    let numbers = serde_json::from_str(between(&svg, "<metadata>", "</metadata>")).unwrap();
    (svg, numbers)
}

/// The data that an input's page carries, picture by picture.
fn in_page(place: &Place, input: &str, extra: &[&str]) -> Vec<Value> {
    let page = right(place, &[&["look", "model", input, "--format", "html"], extra].concat());
    let data: Value = serde_json::from_str(between(&page, "<script type=\"application/json\" id=\"data\">", "</script>")).unwrap();
    data["pictures"].as_array().unwrap().clone()
}

/// The weights in the tooltips of an SVG, in the order drawn.
fn tooltips(svg: &str) -> Vec<f32> {
    let titles = svg.split("<title>").skip(2); // The text before any title, and the title of the file.
    titles.filter_map(|part| part.split_once("</title>")?.0.rsplit_once(": ")?.1.parse().ok()).collect()
}

fn strongest(row: &[f32]) -> usize {
    (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap()
}

/// Numbers without a pattern, the same on every machine.
struct Dice(u32);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % end
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).rev().for_each(|i| items.swap(i, self.below(i + 1)));
    }
}

/// Learns to write words backwards.
fn reverser(place: &Place) {
    let mut dice = Dice(1);
    let mut line = || {
        let word: String = (0..2 + dice.below(7)).map(|_| char::from(b'a' + dice.below(8) as u8)).collect();
        format!("{word}\t{}\n", word.chars().rev().collect::<String>())
    };
    place.write("pairs.tsv", (0..1500).map(|_| line()).collect::<String>());
    // What is drawn and compared is what the network says.
    let settings = ["model.embedding=16", "model.dropout=0.1", "train.epochs=12", "model.joint=false"];
    train(place, "seq2seq", "pairs.tsv", &settings);
}

/// Subwords merged to words: the columns of a word added up, nothing lost.
#[test]
fn subwords_become_words() {
    let place = Place::new();
    let mut dice = Dice(3);
    let mut word = || (0..2 + dice.below(5)).map(|_| char::from(b'a' + dice.below(6) as u8)).collect::<String>();
    let mut line = || (0..3).map(|_| word()).collect::<Vec<_>>().join(" ");
    place.write("pairs.tsv", (0..80).map(|_| line()).map(|text| format!("{text}\t{text}\n")).collect::<String>());
    let units = ["source.units=bpe", "source.vocab_size=30", "target.units=bpe", "target.vocab_size=30"];
    train(&place, "seq2seq", "pairs.tsv", &[&units[..], &["train.epochs=2"]].concat());
    let input = "abcdef fedcba abc";
    let (pieces, words) = (&looked(&place, input, &[])[0], &looked(&place, input, &["--words"])[0]);
    assert!(texts(&pieces["source"]).len() > 3, "{pieces}");
    assert_eq!(texts(&words["source"])[..3], ["abcdef", "fedcba", "abc"]);
    for row in table(&words["heads"][0]) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
    }
    place.write("texts.tsv", (0..80).map(|i| format!("{}\t{}\n", line(), i % 2)).collect::<String>());
    std::fs::remove_dir_all(place.path("model")).unwrap();
    train(&place, "classify", "texts.tsv", &["text.units=bpe", "text.vocab_size=30", "train.epochs=2"]);
    let (pieces, words) = (&looked(&place, input, &[])[0], &looked(&place, input, &["--words"])[0]);
    assert_eq!(texts(&words["tokens"])[..3], ["abcdef", "fedcba", "abc"]);
    // A word is read against its share of the pieces, and the legend says so.
    let counts: Vec<usize> = words["pieces"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap() as usize).collect();
    assert_eq!(counts.iter().sum::<usize>(), texts(&pieces["tokens"]).len());
    let drawing = right(&place, &["look", "model", input, "--words", "--format", "ascii"]);
    let weights = table(&words["heads"]).remove(0);
    let all: usize = counts.iter().sum();
    for (weight, count) in weights.iter().zip(&counts) {
        let times = weight * all as f32 / *count as f32;
        assert!(drawing.contains(&format!("{times:.2}x")), "{times}: {drawing}");
    }
    let together = drawing.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(together.contains("words are merged: the weights of the pieces added up, against their share of all pieces"), "{drawing}");
}

/// Several heads: a matrix for each, and their mean in the answer.
/// Without an input the first development example is drawn; if the files are gone, that is said.
#[test]
fn something_to_look_at() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 40);
    let dev = place.write("dev.tsv", "fade\tedaf\nbad\tdab\n");
    let small = ["--dev", dev.to_str().unwrap(), "--set", "model.hidden=8", "--set", "train.epochs=1"];
    assert!(
        run(&place, &[&["train", "--task", "seq2seq", "--train", data.to_str().unwrap(), "--out", "model"], &small[..]].concat())
            .status
            .success()
    );
    let (own, named) = (run(&place, &["look", "model"]), run(&place, &["look", "model", "fade"]));
    assert!(own.status.success(), "{}", err(&own));
    assert_eq!(out(&own), out(&named));
    std::fs::remove_file(&data).unwrap();
    std::fs::remove_file(&dev).unwrap();
    wrong(&place, &["look", "model"], "say what to read");
}

#[test]
fn heads_of_a_transducer() {
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    train(&place, "seq2seq", "pairs.tsv", &["model.heads=3", "train.epochs=2"]);
    let answer = predicted(&place, "abcd", &["--beam", "2"]);
    let hypothesis = &answer["hypotheses"][0];
    let heads: Vec<Weights> = hypothesis["heads"].as_array().unwrap().iter().map(table).collect();
    let picture = &looked(&place, "abcd", &["--beam", "2"])[0];
    assert_eq!(picture["heads"].as_array().unwrap().iter().map(table).collect::<Vec<_>>(), heads);
    assert_eq!(heads.len(), 3);
    assert_ne!(heads[0], heads[1], "heads differ");
    for (row, mean) in table(&hypothesis["attention"]).iter().enumerate() {
        for (column, mean) in mean.iter().enumerate() {
            let sum: f32 = heads.iter().map(|head| head[row][column]).sum();
            assert!((mean - sum / 3.0).abs() < 1e-6);
        }
    }
    let second = &looked(&place, "abcd", &["--beam", "2", "--head", "2"])[0];
    assert_eq!(table(&second["heads"][0]), heads[1]);
    wrong(&place, &["look", "model", "abcd", "--head", "4"], "there is no head 4: this model has --head 1 to 3");
    let refused = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "other", "--set", "model.heads=2"];
    wrong(&place, &[&refused[..], &["--set", "model.attention=dot", "--set", "model.bidirectional=false"]].concat(), "attention.heads");
}

#[test]
fn writing_backwards_looks_along_the_other_diagonal() {
    let place = Place::new();
    reverser(&place);
    for word in ["abcdefgh", "gfbad", "hca"] {
        let picture = &looked(&place, word, &[])[0];
        let backwards: String = word.chars().rev().collect();
        assert_eq!((picture["input"].as_str(), picture["text"].as_str()), (Some(word), Some(backwards.as_str())));
        assert_eq!(texts(&picture["source"]).concat(), word, "columns stand in the order typed");
        let rows = table(&picture["heads"][0]);
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(strongest(row), word.len() - 1 - i, "{word}, row {}: {row:?}", i + 1);
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "row {} sums to one: {row:?}", i + 1);
        }
    }

    // The same numbers in every form, for every hypothesis of a beam, and the ones the model answered with.
    let beam = ["--beam", "4", "--n-best", "3"];
    for search in [&[][..], &beam[..]] {
        let answer = predicted(&place, "abcde", search);
        let hypotheses = answer["hypotheses"].as_array().unwrap();
        assert_eq!(hypotheses.len(), if search.is_empty() { 1 } else { 3 });
        let json = looked(&place, "abcde", search);
        let (svg, drawn) = in_svg(&place, "abcde", search);
        let page = in_page(&place, "abcde", search);
        assert_eq!([json.len(), drawn.len(), page.len()], [hypotheses.len(); 3], "a picture for each hypothesis");
        for (i, hypothesis) in hypotheses.iter().enumerate() {
            let attention = table(&hypothesis["attention"]);
            let probabilities = numbers(&hypothesis["probabilities"]);
            for form in [&json[i], &drawn[i], &page[i]] {
                assert_eq!(table(&form["heads"][0]), attention);
                assert_eq!(numbers(&form["probabilities"]), probabilities);
                assert_eq!(form["score"].as_f64().map(|s| s as f32), hypothesis["score"].as_f64().map(|s| s as f32));
            }
            for form in [&json[i], &page[i]] {
                assert_eq!((&form["text"], &form["output"]), (&hypothesis["text"], &hypothesis["tokens"]));
                assert_eq!(form["source"], answer["source_tokens"]);
            }
        }
        // The end of each answer is a row of its own: the decoder's last step, which the answer as JSON does not hold.
        let end = |i: usize| table(&json[i]["end"]["heads"]).remove(0);
        let all: Vec<f32> = hypotheses.iter().enumerate().flat_map(|(i, h)| [table(&h["attention"]).concat(), end(i)].concat()).collect();
        assert_eq!(tooltips(&svg), all, "a tooltip for each cell, row by row");
        for (i, hypothesis) in hypotheses.iter().enumerate() {
            assert!((end(i).iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert_eq!((&drawn[i]["end"], &page[i]["end"]), (&json[i]["end"], &json[i]["end"]));
            // The probability of the answer is that of its units and of its end.
            let ended = json[i]["end"]["probability"].as_f64().unwrap();
            let units: f64 = numbers(&hypothesis["probabilities"]).iter().map(|&p| f64::from(p).ln()).sum();
            assert!((units + ended.ln() - hypothesis["log_prob"].as_f64().unwrap()).abs() < 1e-4);
            assert_eq!(hypothesis.get("end"), None);
        }
    }
    let terminal = right(&place, &["look", "model", "abc"]);
    assert!(
        terminal.contains("(end)") && terminal.contains("writes ↓  reads →") && terminal.lines().any(|line| line.ends_with(" p")),
        "{terminal}"
    );

    // This model has one head.
    assert_eq!(looked(&place, "abc", &["--head", "1"]), looked(&place, "abc", &[]));
    wrong(&place, &["look", "model", "abc", "--head", "2"], "there is no head 2: this model has --head 1 only");
    wrong(&place, &["look", "model", "abc", "--image", "8x8"], "--image goes with models for bags");
    wrong(&place, &["look", "model", "abc", "--sort"], "--sort goes with models for bags");
}

/// Words in any order in, the same words in the order of a sentence out: the answer stays, the columns move.
#[test]
fn columns_move_with_the_words() {
    const SLOTS: [[&str; 4]; 5] = [
        ["red", "blue", "green", "white"],
        ["cat", "dog", "bird", "fish"],
        ["runs", "sleeps", "sings", "waits"],
        ["here", "there", "outside", "upstairs"],
        ["now", "later", "today", "often"],
    ];
    let place = Place::new();
    let mut dice = Dice(1);
    let mut line = || {
        let sentence = SLOTS.map(|words| words[dice.below(4)]);
        let mut mixed = sentence;
        dice.shuffle(&mut mixed);
        format!("{}\t{}\n", mixed.join(" "), sentence.join(" "))
    };
    place.write("pairs.tsv", (0..1500).map(|_| line()).collect::<String>());
    let settings = ["model.embedding=16", "model.dropout=0.1", "train.epochs=12", "source.units=words", "target.units=words"];
    train(&place, "seq2seq", "pairs.tsv", &settings);
    let sentence = "green fish waits upstairs today";
    for mixed in [sentence, "today upstairs waits fish green", "waits green today upstairs fish", "fish upstairs green today waits"] {
        let picture = &looked(&place, mixed, &[])[0];
        assert_eq!(picture["text"], sentence);
        let (source, output) = (texts(&picture["source"]), texts(&picture["output"]));
        assert_eq!(source.join(" "), mixed);
        for (word, row) in output.iter().zip(table(&picture["heads"][0])) {
            assert_eq!(source[strongest(&row)], *word, "{mixed}: {row:?}");
        }
    }
}

fn classifier(place: &Place, settings: &[&str]) {
    let line = |i: usize| format!("the {} is {}\t{}\n", ["room", "crew", "food"][i % 3], ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..120).map(line).collect::<String>());
    train(place, "classify", "texts.tsv", &[&["model.embedding=8", "model.dropout=0.3", "train.epochs=10"], settings].concat());
}

/// The `average` encoder reads every word on its own, so its weights are the same wherever a word stands, but for the order of a sum.
#[test]
fn weights_of_a_text_move_with_its_words() {
    let place = Place::new();
    classifier(&place, &["model.cell=average"]);
    let weights = |text: &str| -> Vec<(String, f32)> {
        let picture = &looked(&place, text, &[])[0];
        assert_eq!(texts(&picture["tokens"]).join(" "), text);
        let labels = texts(&picture["tokens"]).into_iter().map(str::to_string);
        labels.zip(table(&picture["heads"]).remove(0)).collect()
    };
    let typed = weights("the room is great");
    assert!(typed.iter().any(|(_, weight)| (weight - 0.25).abs() > 0.01), "weights differ: {typed:?}");
    for (word, weight) in weights("great the is room") {
        let (_, before) = typed.iter().find(|(other, _)| *other == word).unwrap();
        assert!((weight - before).abs() < 1e-6, "{word}: {before} and {weight}");
    }
}

#[test]
fn a_shaded_text_has_the_numbers_of_the_answer() {
    let place = Place::new();
    classifier(&place, &["model.heads=3"]);
    let text = "the crew is dull";
    let answer = predicted(&place, text, &[]);
    let heads = table(&answer["attention"]);
    assert_eq!((heads.len(), heads[0].len()), (3, 4));
    let probabilities: Vec<f32> = answer["probabilities"].as_object().unwrap().values().map(|p| p.to_string().parse().unwrap()).collect();
    let named = |form: &Value| -> Vec<f32> {
        form["probabilities"].as_array().unwrap().iter().map(|p| p[1].to_string().parse().unwrap()).collect()
    };
    let (json, page) = (&looked(&place, text, &[])[0], &in_page(&place, text, &[])[0]);
    let (svg, drawn) = in_svg(&place, text, &[]);
    for form in [json, page] {
        assert_eq!((table(&form["heads"]), named(form)), (heads.clone(), probabilities.clone()));
        assert_eq!((&form["tokens"], &form["label"]), (&answer["tokens"], &answer["label"]));
    }
    assert_eq!((table(&drawn[0]["heads"]), numbers(&drawn[0]["probabilities"])), (heads.clone(), probabilities));
    // Token by token the mean, then every head.
    for (i, shown) in tooltips(&svg).chunks(4).enumerate() {
        let mean = heads.iter().map(|head| head[i]).sum::<f32>() / 3.0;
        assert!((shown[0] - mean).abs() < 1e-6);
        assert_eq!(shown[1..], [heads[0][i], heads[1][i], heads[2][i]]);
    }

    // One head large.
    for (i, head) in heads.iter().enumerate() {
        let number = (i + 1).to_string();
        assert_eq!(table(&looked(&place, text, &["--head", &number])[0]["heads"]), std::slice::from_ref(head));
        assert_eq!(tooltips(&in_svg(&place, text, &["--head", &number]).0), *head);
    }
    // Colours that end at the largest weight: the legend says so, the numbers stay.
    let look = |extra: &[&str]| right(&place, &[&["look", "model", text, "--format", "ascii"], extra].concat());
    assert!(look(&[]).contains("@\" 8   times uniform") && look(&["--stretch"]).contains("@\" 0."), "{}", look(&["--stretch"]));
    assert!(look(&["--scale", "unit"]).contains("@\" 1   weight, from 0 to 1"));
    assert_eq!(look(&["--scale", "stretched"]), look(&["--stretch"]));
    assert_eq!(look(&["--scale", "uniform"]), look(&[]));
    wrong(&place, &["look", "model", text, "--scale", "huge"], "expected unit, stretched or uniform");
    wrong(&place, &["look", "model", text, "--palette", "rainbow"], "expected one of viridis, cividis, light, grey");
    wrong(&place, &["look", "model", text, "--theme", "blue"], "expected auto, light or dark");
    wrong(&place, &["look", "model", text, "--format", "png", "--font", "nowhere.ttf", "-o", "x.png"], "--font nowhere.ttf");

    // A number means the pixels of a PNG, as it did before there were several scales.
    let width = |extra: &[&str]| {
        right(&place, &[&["look", "model", text, "-o", "text.png"], extra].concat());
        let image = std::fs::read(place.path("text.png")).unwrap();
        u32::from_be_bytes(image[16..20].try_into().unwrap())
    };
    assert_eq!((width(&["--scale", "1"]), width(&["--pixels", "1", "--theme", "dark"])), (width(&[]) / 2, width(&[]) / 2));
    wrong(&place, &["look", "model", text, "-o", "text.png", "--scale", "99"], "--scale 99: expected above 0 and at most 16");

    // The second column of a file is the right label; the answer does not know it.
    let labelled = |label: &str| looked(&place, &format!("{text}\t{label}"), &[]).remove(0);
    assert_eq!((&labelled("good")["truth"], &labelled("unheard of").get("truth").is_none()), (&Value::from("good"), &true));
    let told = right(&place, &["look", "model", &format!("{text}\tgood")]) + &right(&place, &["look", "model", &format!("{text}\tbad")]);
    assert!(told.contains("right: ") && told.contains("wrong, it is "), "{told}");
    assert_eq!(predicted(&place, text, &[]), predicted(&place, &format!("{text}\tgood"), &[]));
    assert_eq!(&looked(&place, text, &["--stretch"])[0], json);
    wrong(&place, &["look", "model", text, "--head", "4"], "there is no head 4: this model has --head 1 to 3");
    wrong(&place, &["look", "model", text, "--head", "0"], "--head");
}

#[test]
fn a_match_has_the_numbers_of_the_answer() {
    let place = Place::new();
    let rows = |thing: &str| {
        let question = format!("how deep is the {thing} ?");
        format!("{question}\tnobody goes there\t0\n{question}\tthe {thing} is very deep\t1\n{question}\tit rains\t0\n")
    };
    place.write("rows.tsv", ["sea", "cave", "lake", "river", "pit", "pool"].map(rows).concat());
    let input = "how deep is the sea ?\tthe sea is deep";
    for asked in ["none", "general"] {
        let asked_by = format!("model.asked={asked}");
        train(&place, "match", "rows.tsv", &["model.embedding=8", "train.epochs=10", &asked_by]);
        let answer = predicted(&place, input, &[]);
        let (question, answered) = (numbers(&answer["attention"]["question"]), numbers(&answer["attention"]["answer"]));
        let (json, page, drawn) = (&looked(&place, input, &[])[0], &in_page(&place, input, &[])[0], &in_svg(&place, input, &[]).1[0]);
        for form in [json, page] {
            assert_eq!(table(&form["question"]["heads"]), std::slice::from_ref(&question));
            assert_eq!(table(&form["answer"]["heads"]), std::slice::from_ref(&answered));
            assert_eq!((&form["question"]["tokens"], &form["answer"]["tokens"]), (&answer["question_tokens"], &answer["answer_tokens"]));
        }
        assert_eq!((table(&drawn["question"]), table(&drawn["answer"])), (vec![question.clone()], vec![answered.clone()]));
        for form in [json, page, drawn] {
            assert_eq!(form["score"].as_f64().map(|s| s as f32), answer["score"].as_f64().map(|s| s as f32));
            // If the question asks the answer, the picture has both texts crossed: all pairs share a weight of one.
            if asked == "none" {
                assert_eq!(form["cross"], Value::Null);
            } else {
                let pairs: Weights = question.iter().map(|q| answered.iter().map(|a| q * a).collect()).collect();
                assert_eq!(table(&form["cross"]), pairs);
                assert!((pairs.iter().flatten().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
        std::fs::remove_dir_all(place.path("model")).unwrap();
    }
}

/// Bags of images of 3 by 2 pixels; a bag is positive if one of them has a bright corner.
fn images(place: &Place, heads: &str) {
    let mut dice = Dice(1);
    let mut row = |bag: usize, row: usize| {
        let corner = if bag.is_multiple_of(2) && row == 1 { 9 } else { 0 };
        let pixels: Vec<String> = (0..5).map(|_| dice.below(4).to_string()).collect();
        format!("{},b{bag},{corner},{}\n", ["yes", "no"][bag % 2], pixels.join(","))
    };
    place.write("bags.csv", (0..40).flat_map(|bag| (0..4).map(move |r| (bag, r))).map(|(bag, r)| row(bag, r)).collect::<String>());
    train(place, "bags", "bags.csv", &["train.epochs=30", "train.batch=10", heads]);
}

#[test]
fn a_bag_has_the_numbers_of_the_answer_and_its_images() {
    let place = Place::new();
    images(&place, "model.heads=1");
    let answer = &objects(&right(&place, &["predict", "model", "bags.csv", "--json"]))[4];
    assert_eq!(answer["bag"], "b4");
    let weights = numbers(&answer["attention"]);
    assert_eq!(strongest(&weights), 1, "{weights:?}");
    let plain = ["--bag", "b4"];
    let (json, page) = (&looked(&place, "bags.csv", &plain)[0], &in_page(&place, "bags.csv", &plain)[0]);
    let (svg, drawn) = in_svg(&place, "bags.csv", &plain);
    for form in [json, page, &drawn[0]] {
        assert_eq!(numbers(&form["weights"]), weights);
    }
    assert_eq!(tooltips(&svg), weights);
    assert_eq!((&json["label"], &json["images"]), (&answer["label"], &Value::Null));

    // Images: the features of each row, in every form.
    let image = ["--bag", "b4", "--image", "3x2"];
    let (json, page) = (&looked(&place, "bags.csv", &image)[0], &in_page(&place, "bags.csv", &image)[0]);
    let file = std::fs::read_to_string(place.path("bags.csv")).unwrap();
    let pixels: Weights = file
        .lines()
        .filter(|line| line.split(',').nth(1) == Some("b4"))
        .map(|line| line.split(',').skip(2).map(|n| n.parse().unwrap()).collect())
        .collect();
    for form in [json, page] {
        assert_eq!((&form["images"]["width"], &form["images"]["height"]), (&Value::from(3), &Value::from(2)));
        assert_eq!((table(&form["images"]["pixels"]), numbers(&form["weights"])), (pixels.clone(), weights.clone()));
    }
    let look = |form: &str, extra: &[&str]| right(&place, &[&["look", "model", "bags.csv", "--format", form], &image[..], extra].concat());
    let (svg, ascii, terminal) = (look("svg", &[]), look("ascii", &[]), look("terminal", &[]));
    assert_eq!(tooltips(&svg), weights);
    assert!(svg.contains("#ffffff") && ascii.contains("@@") && terminal.contains("██"), "the brightest pixel is white");
    right(&place, &[&["look", "model", "bags.csv", "--format", "png", "-o", "bag.png"], &image[..]].concat());
    assert!(std::fs::read(place.path("bag.png")).unwrap().starts_with(b"\x89PNG"));

    // Sorted: names, weights and images move together.
    let sorted = &looked(&place, "bags.csv", &[&image[..], &["--sort"]].concat())[0];
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let expected: Vec<(String, f32, Vec<f32>)> = order.iter().map(|&i| (format!("row {}", i + 1), weights[i], pixels[i].clone())).collect();
    let names = texts(&sorted["rows"]).into_iter().map(str::to_string);
    let found: Vec<(String, f32, Vec<f32>)> =
        names.zip(numbers(&sorted["weights"])).zip(table(&sorted["images"]["pixels"])).map(|((n, w), p)| (n, w, p)).collect();
    assert_eq!(found, expected);

    wrong(&place, &["look", "model", "bags.csv", "--image", "8x8"], "--image 8x8 does not fit: the rows have 6 features");
    wrong(&place, &["look", "model", "bags.csv", "--image", "six"], "expected pixels across and down, such as 8x8");
}

#[test]
fn one_head_of_a_bag() {
    let place = Place::new();
    images(&place, "model.heads=2");
    let heads = table(&objects(&right(&place, &["predict", "model", "bags.csv", "--json"]))[4]["attention"]);
    let weights = |extra: &[&str]| numbers(&looked(&place, "bags.csv", &[&["--bag", "b4"], extra].concat())[0]["weights"]);
    assert_eq!([weights(&["--head", "1"]), weights(&["--head", "2"])].as_slice(), heads);
    let mean: Vec<f32> = heads[0].iter().zip(&heads[1]).map(|(a, b)| (a + b) / 2.0).collect();
    assert!(weights(&[]).iter().zip(mean).all(|(shown, mean)| (shown - mean).abs() < 1e-6));
    wrong(&place, &["look", "model", "bags.csv", "--head", "3"], "there is no head 3: this model has --head 1 to 2");
}

/// A pipe is no terminal: no colours, and lines of at most 80 columns.
#[test]
fn pipes_get_plain_narrow_lines() {
    let place = Place::new();
    classifier(&place, &["model.heads=2"]);
    let long = "the room is great and ".repeat(12);
    let drawings = [
        right(&place, &["look", "model", &long]),
        right(&place, &["look", "model", &long, "--format", "ascii"]),
        right(&place, &["look", "model", "--file", "texts.tsv"]),
        right(&place, &["plot", "model"]),
    ];
    for drawing in &drawings {
        assert!(!drawing.contains('\u{1b}'));
        assert!(drawing.lines().all(|line| line.chars().count() <= 80), "{drawing}");
    }
    assert!(drawings[2].contains("120 of 120"), "a picture for each line");
    assert!(drawings[3].contains("dev loss") && drawings[3].contains("accuracy"), "{}", drawings[3]);

    let svg = right(&place, &["plot", "model", "--format", "svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("dev loss"));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(place.path("model/run.json")).unwrap()).unwrap();
    assert!(svg.contains(&format!(">kept: epoch {}</text>", record["best_epoch"])), "{svg}");
    let compared = right(&place, &["plot", "model", "--compare", "model", "model"]);
    assert!(compared.contains("macro F1") && compared.contains("o model") && compared.contains("+ model"), "{compared}");
    assert!(compared.lines().all(|line| line.chars().count() <= 80), "{compared}");
    let sure = right(&place, &["plot", "model", "--confidence", "texts.tsv"]);
    assert!(sure.contains("percent answered") && sure.contains("accuracy the model expects"), "{sure}");
    right(&place, &["plot", "model", "--format", "png", "-o", "plot.png"]);
    assert!(std::fs::read(place.path("plot.png")).unwrap().starts_with(b"\x89PNG"));
}

/// What `look` draws of the layers of a Transformer is what `predict` answered with, and what cannot be drawn is said.
#[test]
fn layers_and_heads_of_a_transformer() {
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    let settings = ["model.architecture=transformer", "model.embedding=24", "transformer.heads=2", "transformer.feed_forward=24"];
    let few = ["model.encoder_layers=1", "model.decoder_layers=2", "train.epochs=4", "train.every=4", "model.dropout=0.0"];
    train(&place, "seq2seq", "pairs.tsv", &[&settings[..], &few].concat());
    let (input, plain) = ("abc", predicted(&place, "abc", &[]));
    let heads: Vec<Weights> = plain["hypotheses"][0]["heads"].as_array().unwrap().iter().map(table).collect();
    assert_eq!(heads.len(), 4);
    let near = |a: &Weights, b: &Weights| a.iter().flatten().zip(b.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-5);
    let cross = looked(&place, input, &["--view", "cross"]).remove(0);
    assert_eq!(cross["kind"], "stack");
    for (number, head) in heads.iter().enumerate() {
        let panel = &cross["layers"][number / 2]["panels"][number % 2];
        assert!(near(&table(&panel["weights"]), head), "head {number}");
    }
    let one = looked(&place, input, &["--view", "cross", "--layer", "2", "--head", "1"]).remove(0);
    assert_eq!(one["layers"].as_array().unwrap().len(), 1);
    assert!(near(&table(&one["layers"][0]["panels"][0]["weights"]), &heads[2]));
    let decoder = looked(&place, input, &["--view", "decoder"]).remove(0);
    assert!(decoder["layers"][0]["panels"][0]["weights"][0][1].is_null());
    assert_eq!(in_svg(&place, input, &["--view", "cross"]).1[0]["layers"].as_array().unwrap().len(), 2);
    assert_eq!(in_page(&place, input, &["--view", "rollout"])[0]["layers"][0]["panels"][0]["name"], "rollout over 1 layer");
    assert!(run(&place, &["look", "model", input, "--view", "encoder", "-o", "heads.png"]).status.success());
    // The usual picture is one, the mean of all.
    assert_eq!(looked(&place, input, &[])[0]["heads"].as_array().unwrap().len(), 1);
    wrong(&place, &["look", "model", input, "--view", "cross", "--layer", "3"], "there is no layer 3: this view has --layer 1 to 2");
    wrong(&place, &["look", "model", input, "--view", "cross", "--head", "3"], "there is no head 3");
    wrong(&place, &["look", "model", input, "--view", "rollout", "--head", "1"], "a rollout is of all layers and heads");
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    train(&place, "seq2seq", "pairs.tsv", &["train.epochs=1"]);
    wrong(&place, &["look", "model", input, "--view", "cross"], "--view goes with Transformers");
}

/// The layers of a model that judges: a text, or both texts of a pair.
#[test]
fn layers_and_heads_of_what_is_only_read() {
    let settings = ["model.form=pooled", "model.encoder=transformer", "model.layers=2", "model.hidden=8", "model.embedding=8"];
    let few = ["transformer.heads=2", "transformer.feed_forward=8", "train.epochs=2", "model.pooling=last"];
    let units = |stack: &Value| (stack["source"].as_array().unwrap().len(), stack["output"].as_array().unwrap().len());
    let whole = |stack: &Value| {
        let rows = table(&stack["layers"][0]["panels"][0]["weights"]);
        rows.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5)
    };
    let place = Place::new();
    let texts: String = (0..40).map(|i| format!("a {} film of {i} parts\t{}\n", ["fine", "dull"][i % 2], ["good", "bad"][i % 2])).collect();
    place.write("texts.tsv", &texts);
    train(&place, "classify", "texts.tsv", &[&settings[..], &few].concat());
    let heads = looked(&place, "a fine film", &["--view", "encoder"]).remove(0);
    assert_eq!((heads["layers"].as_array().unwrap().len(), heads["layers"][1]["panels"].as_array().unwrap().len()), (2, 2));
    assert!(units(&heads) == (3, 3) && whole(&heads) && heads["text"].as_str().unwrap().contains("0."), "{heads}");
    let rollout = looked(&place, "a fine film", &["--view", "rollout"]).remove(0);
    assert!(rollout["layers"][0]["panels"][0]["name"] == "rollout over 2 layers" && whole(&rollout));
    // The last state is taken: layers are all there is to see.
    wrong(&place, &["look", "model", "a fine film"], "no attention to look at");
    wrong(&place, &["look", "model", "a fine film", "--view", "cross"], "reads and writes nothing: --view encoder or --view rollout");
    let place = Place::new();
    let pairs: String = (0..40).map(|i| format!("how deep is lake {}\tit is {i} m deep\t{}\n", i / 2, i % 2)).collect();
    place.write("pairs.tsv", &pairs);
    train(&place, "match", "pairs.tsv", &[&settings[..], &few[..3]].concat());
    let both = looked(&place, "how deep is it\t9 m", &["--view", "encoder", "--layer", "2", "--head", "1"]);
    assert_eq!(both.iter().map(units).collect::<Vec<_>>(), [(4, 4), (2, 2)]);
    assert!(both.iter().all(whole) && both[1]["text"].as_str().unwrap().ends_with("(answer)"));
}
