//! What to rank right answers against where a question has no wrong ones: answers to other questions, drawn by the seed.

use std::collections::HashSet;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

use crate::text::Question;
use crate::text::read::question_groups;

/// Answers borrowed for a question, at most.
const BORROWED: usize = 10;

/// The rows of a question, and those of others whose answers it borrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub rows: Vec<usize>,
    pub borrowed: Vec<usize>,
}

/// The rows of each question, nothing borrowed.
pub(super) fn as_they_are(rows: &[Question]) -> Vec<List> {
    question_groups(rows).into_iter().map(|rows| List { rows, borrowed: Vec::new() }).collect()
}

/// The rows of each question; where all are right, with the answers it borrows.
pub(super) fn lists(rows: &[Question], seed: u64) -> Vec<List> {
    let mut lists = as_they_are(rows);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for list in &mut lists {
        if list.rows.iter().any(|&row| !rows[row].relevant) {
            continue;
        }
        let mut own: HashSet<&str> = list.rows.iter().map(|&row| rows[row].answer.as_str()).collect();
        let question = &rows[list.rows[0]].question;
        // Some of those drawn may be its own answers, or the same as others.
        let drawn = sample(&mut random, rows.len(), rows.len().min(4 * BORROWED));
        let others = drawn.into_iter().filter(|&row| rows[row].question != *question && own.insert(&rows[row].answer));
        list.borrowed = others.take(BORROWED).collect();
    }
    lists
}

/// All rows, and what is borrowed as rows too.
pub(super) fn completed(rows: &[Question], seed: u64) -> Vec<Question> {
    let mut all = rows.to_vec();
    for list in lists(rows, seed) {
        let first = &rows[list.rows[0]];
        let borrowed = list.borrowed.iter().map(|&row| Question { answer: rows[row].answer.clone(), relevant: false, ..first.clone() });
        all.extend(borrowed);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(question: &str, answer: &str, relevant: bool) -> Question {
        Question { id: None, question: question.into(), answer: answer.into(), relevant, line: 1 }
    }

    #[test]
    fn only_questions_without_wrong_answers_borrow() {
        let mut rows = vec![row("a", "x", true), row("a", "y", false), row("b", "z", true), row("b", "x", true)];
        let found = lists(&rows, 1);
        assert_eq!((found[0].borrowed.len(), found[1].borrowed.as_slice()), (0, &[1][..]), "x answers b too");
        assert_eq!(completed(&rows, 1).len(), 5);
        rows.extend((0..100).map(|i| row(&format!("q{i}"), &format!("answer {i}"), true)));
        let found = lists(&rows, 1);
        assert!(found[1..].iter().all(|list| list.borrowed.len() == BORROWED && !list.borrowed.contains(&list.rows[0])));
        assert_eq!(found, lists(&rows, 1));
        assert_ne!(found, lists(&rows, 2));
        assert!(as_they_are(&rows).iter().all(|list| list.borrowed.is_empty()));
    }
}
