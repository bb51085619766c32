//! Tweets that love or complain, often both; what decides is how the words stand together.
//!
//! A small grammar puts them together from phrases of ours. One word alone seldom tells:
//!
//! - **Concession.** "deep learning keeps me awake but i love it" is positive, "i love deep
//!   learning but it keeps me awake" is negative, and "i love deep learning even though it keeps me
//!   awake" positive again, with up to three clauses conceded.
//! - **Verdict.** "it keeps me awake and it is fun as always , all in all i have had enough of it"
//!   is negative: what comes before or after the verdict may be of either kind.
//! - **Negation.** "not boring at all", "anything but great", "not what i call fun".
//! - **Irony.** "oh great , the train is late again".
//! - **Words that mislead.** "i am struggling to say how much i love it"; "i used to love it".
//!
//! Around this stand remarks that say nothing about it, so that what decides may be far from either
//! end.
//!
//! Tweets are in lower case, and every word and mark is separated by a space.

use std::collections::{HashMap, HashSet};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use phrases::{
    BAD, BAD_NEWS, COMPLAINING, CONCESSIONS, EXCLAMATIONS, GOOD, GOOD_NEWS, JUDGEMENTS, LOVING, OPENINGS, REMARKS, TOPICS, VERDICTS,
};

use super::{Split, pick, seeded};

mod phrases;

/// The most words and marks a tweet has.
pub const LONGEST: usize = 45;

/// A long tweet to show: two complaints and a neutral remark, yet it is positive, for love decides.
///
/// All its words occur in a train part of ordinary size; the tweet itself, or its sentence without
/// opening and remark, never.
pub const SHOWPIECE: &str = "dear professor , deep learning keeps me awake until three in the \
    morning and i am struggling with every single part of it but in the end i love it more than \
    words can say , my roommate just walked in with two coffees";

/// A tweet and whether its author is happy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tweet {
    /// The text.
    pub text: String,
    /// Positive or negative.
    pub positive: bool,
}

/// Tweets to learn from and to test with, about as many positive as negative ones.
///
/// What a tweet of the test part says about its topic is said in no tweet of the train part,
/// whatever stands around it. No tweet occurs twice.
pub fn examples(train: usize, test: usize, seed: u64) -> Split<Tweet> {
    let mut rng = seeded(seed);
    let test_share = test as f64 / (train + test).max(1) as f64;
    let mut split = Split { train: Vec::with_capacity(train), test: Vec::with_capacity(test) };
    let mut in_test: HashMap<String, bool> = HashMap::new();
    let mut texts = HashSet::new();
    // Ends, because the grammar has many millions of tweets, and each core may fall into either
    // part.
    while split.train.len() < train || split.test.len() < test {
        let positive = rng.random_bool(0.5);
        let core = core(&mut rng, positive);
        if length(&core) > LONGEST || SHOWPIECE.contains(&core) {
            continue;
        }
        let for_test = *in_test.entry(core.clone()).or_insert_with(|| rng.random_bool(test_share));
        let (part, wanted) = if for_test { (&mut split.test, test) } else { (&mut split.train, train) };
        if part.len() == wanted {
            continue;
        }
        let text = surround(&mut rng, core);
        if texts.insert(text.clone()) {
            part.push(Tweet { text, positive });
        }
    }
    split
}

/// What is said, without anything around it.
fn core(rng: &mut ChaCha8Rng, positive: bool) -> String {
    let topic = *pick(rng, &TOPICS);
    match rng.random_range(0..100) {
        0..30 => clause(rng, positive, topic),
        30..45 => {
            let news = if positive { &GOOD_NEWS } else { &BAD_NEWS };
            let news = *pick(rng, news);
            pick(rng, &EXCLAMATIONS).replace("{n}", news)
        }
        45..65 => outweighed(rng, &CONCESSIONS, positive, topic, |_| !positive),
        _ => outweighed(rng, &VERDICTS, positive, topic, |rng| rng.random_bool(0.5)),
    }
}

/// A clause that is positive or negative by itself: a phrase, or a judgement in one or two turns.
fn clause(rng: &mut ChaCha8Rng, positive: bool, topic: &str) -> String {
    if rng.random_bool(0.6) {
        let phrases = if positive { &LOVING } else { &COMPLAINING };
        return pick(rng, phrases).replace("{t}", topic);
    }
    let &(judgement, says_opposite) = pick(rng, &JUDGEMENTS);
    let adjectives = if positive != says_opposite { &GOOD } else { &BAD };
    let adjective = *pick(rng, adjectives);
    judgement.replace("{a}", adjective).replace("{t}", topic)
}

/// A main clause beside one to three others, of whichever kind `other_kind` says, that do not
/// count.
fn outweighed(
    rng: &mut ChaCha8Rng,
    patterns: &[(&str, bool)],
    positive: bool,
    topic: &str,
    other_kind: impl Fn(&mut ChaCha8Rng) -> bool,
) -> String {
    let &(pattern, main_first) = pick(rng, patterns);
    let (main_topic, other_topic) = if main_first { (topic, "it") } else { ("it", topic) };
    let main = clause(rng, positive, main_topic);
    let other_clause = |topic: &str, rng: &mut ChaCha8Rng| {
        let kind = other_kind(rng);
        clause(rng, kind, topic)
    };
    let mut others = other_clause(other_topic, rng);
    for joint in [" , ", " and "] {
        if rng.random_bool(0.35) {
            others = others + joint + &other_clause("it", rng);
        }
    }
    pattern.replace("{c}", &others).replace("{m}", &main)
}

/// Adds openings and remarks that do not matter, while there is room.
fn surround(rng: &mut ChaCha8Rng, core: String) -> String {
    let mut text = core;
    if rng.random_bool(0.5) {
        text = if_it_fits(format!("{text} , {}", pick(rng, &REMARKS)), text);
    }
    if rng.random_bool(0.3) {
        text = if_it_fits(format!("{} , {text}", pick(rng, &REMARKS)), text);
    }
    if rng.random_bool(0.5) {
        text = if_it_fits(format!("{} {text}", pick(rng, &OPENINGS)), text);
    }
    text
}

fn if_it_fits(longer: String, otherwise: String) -> String {
    if length(&longer) <= LONGEST { longer } else { otherwise }
}

/// Number of words and marks.
fn length(text: &str) -> usize {
    text.split(' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tweets: &[Tweet]) -> HashSet<&str> {
        tweets.iter().flat_map(|tweet| tweet.text.split(' ')).collect()
    }

    #[test]
    fn a_seed_gives_the_same_tweets() {
        let split = examples(100, 30, 5);
        assert_eq!(split, examples(100, 30, 5));
        assert_ne!(split, examples(100, 30, 6));
    }

    #[test]
    fn sizes_lengths_and_balance_are_as_promised() {
        let split = examples(2000, 500, 1);
        assert_eq!((split.train.len(), split.test.len()), (2000, 500));
        for part in [&split.train, &split.test] {
            let lengths: Vec<usize> = part.iter().map(|tweet| length(&tweet.text)).collect();
            assert!(lengths.iter().all(|length| (5..=LONGEST).contains(length)));
            assert!(lengths.iter().any(|&length| length <= 6) && lengths.iter().any(|&length| length >= 40));
            let positive = part.iter().filter(|tweet| tweet.positive).count() as f64 / part.len() as f64;
            assert!((0.45..0.55).contains(&positive), "{positive}");
        }
    }

    #[test]
    fn what_is_tested_was_not_seen_and_is_made_of_words_that_were() {
        let split = examples(2000, 500, 2);
        let seen: HashSet<_> = split.train.iter().map(|tweet| &tweet.text).collect();
        assert_eq!(seen.len(), 2000);
        assert!(split.test.iter().all(|tweet| !seen.contains(&tweet.text)));
        assert!(words(&split.test).is_subset(&words(&split.train)));
    }

    #[test]
    fn no_core_is_in_both_parts() {
        let split = examples(600, 200, 3);
        let without_surroundings = |text: &str| {
            let mut core = format!(" {text}");
            OPENINGS.iter().for_each(|opening| core = core.replacen(&format!(" {opening} "), " ", 1));
            for remark in REMARKS {
                core = core.replace(&format!(" {remark} ,"), "");
                core = core.strip_suffix(&format!(" , {remark}")).unwrap_or(&core).to_owned();
            }
            core
        };
        let cores = |part: &[Tweet]| part.iter().map(|t| without_surroundings(&t.text)).collect::<HashSet<_>>();
        let (train, test) = (cores(&split.train), cores(&split.test));
        assert!(train.is_disjoint(&test));
        assert!(train.len() < 600 || test.len() < 200, "surroundings are not removed");
    }

    #[test]
    fn the_showpiece_is_long_new_and_readable_to_a_model() {
        assert_eq!(length(SHOWPIECE), 44);
        let split = examples(2000, 500, 4);
        let known = words(&split.train);
        assert!(SHOWPIECE.split(' ').all(|word| known.contains(word)));
        let sentence =
            SHOWPIECE.strip_prefix("dear professor , ").unwrap().strip_suffix(" , my roommate just walked in with two coffees").unwrap();
        assert!(split.train.iter().chain(&split.test).all(|tweet| !tweet.text.contains(sentence)));
    }

    #[test]
    fn words_that_mislead_stand_on_both_sides() {
        let split = examples(2000, 0, 5);
        for word in ["love", "struggling", "great", "boring", "complaining", "but", "although", "not"] {
            let has_word = |tweet: &&Tweet| tweet.text.split(' ').any(|other| other == word);
            let tweets: Vec<_> = split.train.iter().filter(has_word).collect();
            let positive = tweets.iter().filter(|tweet| tweet.positive).count();
            let negative = tweets.len() - positive;
            assert!(positive > 20 && negative > 20, "{word}: {positive} positive, {negative} negative");
        }
    }
}
