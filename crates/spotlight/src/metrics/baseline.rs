//! The baseline every answer matcher must beat: words shared with the question, rare ones counting
//! more.

use std::collections::{BTreeMap, HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation;

/// Scores an answer by the inverse document frequencies of the words it shares with the question.
///
/// With N texts, of which n(w) contain the word w, idf(w) = ln((N + 1) / (n(w) + 1)): a word in
/// every text counts nothing, one never seen counts most. The score is the sum of idf(w) over the
/// distinct words that question and answer share. It is not divided by the answer's length; on
/// WikiQA every such division made it worse.
///
/// ```
/// use spotlight::metrics::IdfOverlap;
///
/// let overlap = IdfOverlap::learn(["the sea is deep", "the cave is dark", "the glacier is cold"]);
/// let score = |answer| overlap.score("How cold is the glacier?", answer);
/// assert!(score("A glacier forms where snow stays.") > score("This is the cave."));
/// ```
#[derive(Clone, Debug)]
pub struct IdfOverlap {
    texts: usize,
    texts_with: HashMap<String, usize>,
}

impl IdfOverlap {
    /// Learns how common each word is, from texts such as the answers of the training part.
    pub fn learn<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut learnt = Self { texts: 0, texts_with: HashMap::new() };
        for text in texts {
            learnt.texts += 1;
            for word in words(text.as_ref()) {
                *learnt.texts_with.entry(word).or_default() += 1;
            }
        }
        learnt
    }

    /// What has been learnt: the number of texts, and how many of them contain each word, sorted by word.
    pub fn counts(&self) -> (usize, BTreeMap<&str, usize>) {
        (self.texts, self.texts_with.iter().map(|(word, &count)| (word.as_str(), count)).collect())
    }

    /// The reverse of [`IdfOverlap::counts`].
    pub fn from_counts(texts: usize, texts_with: impl IntoIterator<Item = (String, usize)>) -> Self {
        Self { texts, texts_with: texts_with.into_iter().collect() }
    }

    /// How much a word counts; words are compared in lower case.
    pub fn idf(&self, word: &str) -> f64 {
        let texts_with = self.texts_with.get(&word.to_lowercase()).copied().unwrap_or(0);
        ((self.texts + 1) as f64 / (texts_with + 1) as f64).ln()
    }

    /// The score of an answer to a question: higher is better, 0 if they share nothing that counts.
    pub fn score(&self, question: &str, answer: &str) -> f64 {
        let (question, answer) = (words(question), words(answer));
        let mut shared: Vec<&String> = question.intersection(&answer).collect();
        // The order of a hash set differs from run to run, and with it the last digit of a sum.
        shared.sort();
        shared.iter().map(|word| self.idf(word)).sum()
    }
}

/// The distinct words of a text in lower case, without punctuation.
fn words(text: &str) -> HashSet<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::read_to_string as read;
    use std::path::Path;

    use super::*;
    use crate::metrics::{Candidate, Unanswered, rank_scores};

    #[test]
    fn rare_words_count_more_and_each_once() {
        let overlap = IdfOverlap::learn(["a cat", "a dog", "a Cat and a cat"]);
        assert_eq!(overlap.idf("a"), 0.0);
        assert_eq!(overlap.idf("CAT"), (4.0f64 / 3.0).ln());
        assert_eq!(overlap.idf("dog"), 2.0f64.ln());
        assert_eq!(overlap.idf("unseen"), 4.0f64.ln());
        assert_eq!(overlap.score("A cat? A cat!", "cat, cat, a dog"), overlap.idf("cat"));
        assert_eq!(overlap.score("", "cat"), 0.0);
    }

    /// On the dev part of WikiQA, whose rows are question, answer and 0 or 1.
    #[test]
    fn wikiqa_baseline_is_the_published_kind() {
        let folder = Path::new("../../../shared/data/answers-wikiqa");
        let (Ok(train), Ok(dev)) = (read(folder.join("train.tsv")), read(folder.join("dev.tsv"))) else {
            crate::skip::skip("data", format!("there is no {}", folder.display()));
            return;
        };
        let fields = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        let overlap = IdfOverlap::learn(train.lines().map(|line| fields(line)[1].clone()));
        let rows: Vec<Vec<String>> = dev.lines().map(fields).collect();
        let questions: Vec<Vec<Candidate>> = rows
            .chunk_by(|a, b| a[0] == b[0])
            .map(|rows| {
                let candidate = |row: &Vec<String>| Candidate { score: overlap.score(&row[0], &row[1]), relevant: row[2] == "1" };
                rows.iter().map(candidate).collect()
            })
            .collect();
        let scores = rank_scores(&questions, Unanswered::Drop).unwrap();
        println!("{scores:?}");
        assert!((0.58..0.62).contains(&scores.map), "{scores:?}");
        assert!((0.58..0.62).contains(&scores.mrr), "{scores:?}");
    }
}
