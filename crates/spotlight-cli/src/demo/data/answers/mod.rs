//! Questions with candidate answers, from a small world of facts.
//!
//! The world has animals, tools and the towns of an island that is on no map. Each thing has a fact
//! for every matter one can ask about: `the heron`, food, `fish and frogs`. A question asks for one
//! fact in one of two wordings, and the right answer states it in words of its own. The wrong ones
//! are true sentences too: about the same thing but another matter, or about the same matter but
//! another thing. Counting shared words does not suffice, for several candidates name the thing
//! asked about, and words of the question ("how long does the heron *live*?") stand in wrong
//! answers ("the heron likes to *live* by still water").

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use world::{Kind, Matter, WORLD};

use super::{Split, pick, seeded};

mod world;

/// The fewest and the most wrong answers a question has.
pub const WRONG_ANSWERS: std::ops::RangeInclusive<usize> = 4..=7;

/// A question and the sentences that might answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question, in lower case, words and marks separated by spaces.
    pub text: String,
    /// Candidate answers in no particular order; exactly one is right.
    pub candidates: Vec<Answer>,
}

/// A candidate answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The sentence, in lower case, words and marks separated by spaces.
    pub text: String,
    /// Whether it answers the question.
    pub right: bool,
}

/// All questions about the world, 300 to learn from and 60 to be tested on.
///
/// Of one fact in three, one wording of the question is kept for the test part. The model meets the
/// fact in training, asked for in other words, and the wording, asking about other things; it has
/// to put the two together. The seed decides which questions those are and which candidates stand
/// beside the right answer.
pub fn questions(seed: u64) -> Split<Question> {
    let mut rng = seeded(seed);
    let mut facts: Vec<Fact> = WORLD.iter().flat_map(Kind::facts).collect();
    facts.shuffle(&mut rng);
    let mut split = Split { train: Vec::new(), test: Vec::new() };
    for (index, fact) in facts.iter().enumerate() {
        let mut wordings = fact.matter().questions;
        wordings.shuffle(&mut rng);
        let [first, second] = wordings.map(|wording| fact.ask(wording, &mut rng));
        split.train.push(first);
        let part = if index % 3 == 0 { &mut split.test } else { &mut split.train };
        part.push(second);
    }
    split
}

/// One cell of a kind's table.
#[derive(Clone, Copy)]
struct Fact {
    kind: &'static Kind,
    thing: usize,
    matter: usize,
}

impl Kind {
    fn facts(&'static self) -> impl Iterator<Item = Fact> {
        let things = 0..self.things.len();
        things.flat_map(move |thing| (0..self.matters.len()).map(move |matter| Fact { kind: self, thing, matter }))
    }
}

impl Fact {
    fn matter(self) -> &'static Matter {
        &self.kind.matters[self.matter]
    }

    fn ask(self, wording: &str, rng: &mut ChaCha8Rng) -> Question {
        let mut candidates = vec![Answer { text: self.tell(rng), right: true }];
        for wrong in self.rivals(rng) {
            candidates.push(Answer { text: wrong.tell(rng), right: false });
        }
        candidates.shuffle(rng);
        Question { text: wording.replace("{x}", self.name()), candidates }
    }

    /// The thing it is about.
    fn name(self) -> &'static str {
        self.column(0)
    }

    /// What is true of it.
    fn told(self) -> &'static str {
        self.column(self.matter + 1)
    }

    fn column(self, index: usize) -> &'static str {
        // Every row is complete, as a test makes sure.
        self.kind.things[self.thing].split(" | ").nth(index).unwrap_or_default()
    }

    /// The fact as a sentence.
    fn tell(self, rng: &mut ChaCha8Rng) -> String {
        let wording = pick(rng, &self.matter().answers);
        wording.replace("{x}", self.name()).replace("{f}", self.told())
    }

    /// What else could be told: about half of the same thing, the others of the same matter.
    fn rivals(self, rng: &mut ChaCha8Rng) -> Vec<Fact> {
        let wrong = rng.random_range(WRONG_ANSWERS);
        let mut same_thing: Vec<Fact> = self.kind.facts().filter(|f| f.thing == self.thing && f.matter != self.matter).collect();
        // A thing of which the same is true would give a second sentence that looks right.
        let mut same_matter: Vec<Fact> = self.kind.facts().filter(|f| f.matter == self.matter && f.told() != self.told()).collect();
        same_thing.shuffle(rng);
        same_matter.shuffle(rng);
        same_thing.truncate(wrong.div_ceil(2));
        same_matter.truncate(wrong - same_thing.len());
        same_thing.extend(same_matter);
        same_thing
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use spotlight::metrics::{Candidate, IdfOverlap, Unanswered, rank_scores};

    #[test]
    fn every_thing_has_every_fact() {
        for kind in &WORLD {
            for row in kind.things {
                assert_eq!(row.split(" | ").count(), 1 + kind.matters.len(), "{row}");
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_questions() {
        assert_eq!(questions(1), questions(1));
        assert_ne!(questions(1), questions(2));
    }

    #[test]
    fn sizes_and_right_answers_are_as_promised() {
        let split = questions(3);
        assert_eq!((split.train.len(), split.test.len()), (300, 60));
        for question in split.train.iter().chain(&split.test) {
            let candidates = &question.candidates;
            let right = candidates.iter().filter(|answer| answer.right).count();
            assert_eq!(right, 1, "{}", question.text);
            let wrong = candidates.len() - right;
            assert!(WRONG_ANSWERS.contains(&wrong), "{}", question.text);
            let texts: HashSet<_> = candidates.iter().map(|answer| &answer.text).collect();
            assert_eq!(texts.len(), candidates.len(), "{}", question.text);
        }
    }

    #[test]
    fn no_question_is_in_both_parts() {
        let split = questions(4);
        let asked: HashSet<_> = split.train.iter().map(|question| &question.text).collect();
        assert_eq!(asked.len(), split.train.len());
        assert!(split.test.iter().all(|question| !asked.contains(&question.text)));
    }

    #[test]
    fn shared_words_help_but_do_not_suffice() {
        let split = questions(5);
        let texts = split.train.iter().flat_map(|q| q.candidates.iter().map(|answer| &answer.text));
        let overlap = IdfOverlap::learn(texts);
        let score =
            |question: &Question, answer: &Answer| Candidate { score: overlap.score(&question.text, &answer.text), relevant: answer.right };
        let ranked: Vec<Vec<_>> = split.test.iter().map(|q| q.candidates.iter().map(|a| score(q, a)).collect()).collect();
        let map = rank_scores(&ranked, Unanswered::Drop).unwrap().map;
        println!("MAP of word overlap: {map:.3}");
        assert!((0.35..0.75).contains(&map), "{map}");
    }
}
