//! Links as the attention of a model has them, beside others.

use std::collections::BTreeSet;
use std::path::Path;

use super::ibm::{Ibm1, symmetric};
use super::{AlignmentReport, AlignmentScore, Link, Links};
use crate::model::Model;
use crate::model::seq2seq::{Answer, AnswerText, Transducer};
use crate::model::teach::training_rows;
use crate::text::Pair;
use crate::{Error, Result};

/// For each word that was written the word that was looked at most, from the weights of units: `rows` are those of the written units, `words` and `source` the words that units belong to.
///
/// ```
/// use spotlight::model::seq2seq::align::linked_words;
///
/// // Two units of one word look at two units of another.
/// let links = linked_words(&[Some(vec![0.4, 0.3, 0.3]), Some(vec![0.4, 0.3, 0.3])], &[0, 0], &[0, 1, 1]);
/// assert_eq!(links.into_iter().collect::<Vec<_>>(), [(1, 0)]);
/// ```
pub fn linked_words(rows: &[Option<Vec<f32>>], words: &[usize], source: &[usize]) -> BTreeSet<Link> {
    let columns = source.iter().max().map_or(0, |last| last + 1);
    let written = words.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![vec![0.0f64; columns]; written];
    for (row, &word) in rows.iter().zip(words) {
        for (&weight, &column) in row.iter().flatten().zip(source) {
            sums[word][column] += weight as f64;
        }
    }
    let most = |(word, row): (usize, &Vec<f64>)| {
        let best = (0..row.len()).reduce(|best, i| if row[i] > row[best] { i } else { best })?;
        (row[best] > 0.0).then_some((best, word))
    };
    sums.iter().enumerate().filter_map(most).collect()
}

/// Every word of a target with the word at the same place of the source.
pub fn diagonal(source: usize, target: usize) -> BTreeSet<Link> {
    let place = |j: usize| ((2 * j + 1) * source / (2 * target.max(1))).min(source.saturating_sub(1));
    (0..if source == 0 { 0 } else { target }).map(|j| (place(j), j)).collect()
}

/// Where a unit looked `later` steps after it was written.
fn rows(text: &AnswerText, later: usize) -> Vec<Option<Vec<f32>>> {
    let all = &text.hypothesis.attention;
    let end = text.hypothesis.end.as_ref().filter(|end| !end.heads.is_empty()).map(|end| {
        (0..end.heads[0].len()).map(|at| end.heads.iter().map(|head| head[at]).sum::<f32>() / end.heads.len() as f32).collect::<Vec<f32>>()
    });
    (later..all.len() + later).map(|at| all.get(at).cloned().or_else(|| end.clone().filter(|_| at == all.len()))).collect()
}

/// For each word of `written` its place in `reference`, of those that a longest common subsequence takes over.
fn places(written: &[&str], reference: &[&str]) -> Vec<Option<usize>> {
    let (n, m) = (written.len(), reference.len());
    let mut longest = vec![vec![0usize; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            longest[i][j] = match written[i] == reference[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut places) = (0, 0, vec![None; n]);
    while i < n && j < m {
        if written[i] == reference[j] {
            places[i] = Some(j);
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

impl Transducer {
    /// The same for a file of pairs and one of links; `note` hears what was left out. IBM model 1 learns from the training pairs, too, if they are still where they were.
    pub fn file_alignments(&self, file: &Path, links: &Path, note: &mut dyn FnMut(&str)) -> Result<AlignmentReport> {
        let read = <Self as Model>::read(file, &self.config)?;
        read.notes.iter().for_each(|line| note(&line.to_string()));
        let gold = Links::read(links, &read.examples, file)?;
        let train = training_rows::<Self>(&self.config).unwrap_or_else(|why| {
            note(&format!("note: {why}, so IBM model 1 learns from the pairs of the file alone"));
            Vec::new()
        });
        self.alignments(&read.examples, &gold, &train)
    }

    /// How well the attention finds the links of these pairs: while it is forced to write their targets, by the step that writes a word and by the one after it, which knows the word;
    /// and while it writes what it likes, where only words that stand in the target count. Beside it the diagonal, and IBM model 1, learnt from `train` and these pairs.
    pub fn alignments(&self, pairs: &[Pair], gold: &Links, train: &[Pair]) -> Result<AlignmentReport> {
        if let Some(reason) = Model::blind(self) {
            return Err(Error::Value { what: "the attention to compare with links".into(), got: "none".into(), expected: reason });
        }
        let known: Vec<&Pair> = pairs.iter().filter(|pair| gold.of(pair.line).is_some()).collect();
        if known.is_empty() {
            let (what, expected) = ("the links".into(), "links of at least one of the pairs, by its line".into());
            return Err(Error::Value { what, got: format!("none of any of {} pairs", pairs.len()), expected });
        }
        let sources: Vec<(&str, Option<&str>)> = known.iter().map(|p| (p.source.as_str(), p.features.as_deref())).collect();
        let targets: Vec<&str> = known.iter().map(|p| p.target.as_str()).collect();
        let forced = self.score(&sources, &targets)?;
        let free = self.answer(&sources, &self.search_options(), false)?;
        let split = |p: &'_ Pair| -> (Vec<String>, Vec<String>) {
            let words = |text: &str| text.split_whitespace().map(str::to_string).collect();
            (words(&p.source), words(&p.target))
        };
        let texts: Vec<(Vec<String>, Vec<String>)> = train.iter().chain(known.iter().copied()).map(split).collect();
        let texts: Vec<(Vec<&str>, Vec<&str>)> =
            texts.iter().map(|(s, t)| (s.iter().map(String::as_str).collect(), t.iter().map(String::as_str).collect())).collect();
        let ibm = Ibm1::learn(&texts, None);
        let made = symmetric(&texts);
        let own = &texts[train.len()..];
        let looked = |answer: &Answer, later: usize| match answer.hypotheses.first() {
            Some(best) => linked_words(&rows(best, later), &best.words, &answer.source_words),
            None => BTreeSet::new(),
        };
        let freely = |i: usize, later: usize| {
            let text = free[i].hypotheses.first().map_or("", |best| best.text.as_str());
            let places = places(&text.split_whitespace().collect::<Vec<_>>(), &own[i].1);
            looked(&free[i], later).into_iter().filter_map(|(s, t)| Some((s, (*places.get(t)?)?))).collect()
        };
        type Way<'w> = (&'w str, Box<dyn Fn(usize) -> BTreeSet<Link> + 'w>);
        let ways: [Way; 7] = [
            ("attention, forced", Box::new(|i| looked(&forced[i], 0))),
            ("attention, forced, a step later", Box::new(|i| looked(&forced[i], 1))),
            ("attention, free", Box::new(|i| freely(i, 0))),
            ("attention, free, a step later", Box::new(|i| freely(i, 1))),
            ("the diagonal", Box::new(|i| diagonal(own[i].0.len(), own[i].1.len()))),
            ("IBM model 1", Box::new(|i| ibm.links(&own[i].0, &own[i].1))),
            ("IBM model 1, both ways with help", Box::new(|i| made[train.len() + i].sure.clone())),
        ];
        let score = |links: &dyn Fn(usize) -> BTreeSet<Link>| {
            let mut score = AlignmentScore::default();
            known.iter().enumerate().for_each(|(i, pair)| {
                if let Some(gold) = gold.of(pair.line) {
                    score.add(&links(i), gold);
                }
            });
            score
        };
        Ok(AlignmentReport { pairs: known.len(), ways: ways.iter().map(|(name, links)| (name.to_string(), score(links))).collect() })
    }
}
