//! Distillation: a model learns what another, mostly an ensemble, says of every unit, and not only which one is right. Hinton, Vinyals and Dean, 2015; of sequences Kim and Rush, 2016.
//!
//! ```text
//! L = (1 - w) (-ln p(y)) + w Σ_u q(u) (-ln p(u))      q what the teacher says after the same units
//! ```
//!
//! The teacher says it once, before anything is learnt, and of each distribution only the most probable units are kept.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use spotlight_kernels::Float;

use super::Transducer;
use crate::model::teach::parts;
use crate::search::Writer;
use crate::tape::{Pool, Tape, Var};
use crate::text::Pair;
use crate::text::batch::{Lengths, by_length, in_original_order};
use crate::text::vocab::START;
use crate::{Error, Result};

/// Units kept of a distribution.
const KEPT: usize = 16;
/// Positions that a teacher reads at a time.
const BATCH: usize = 2000;

/// For each unit of a target, its end too, the most probable units and their probabilities; what the others have is shared by these, so that the sum is 1.
pub type Said = Vec<Vec<(u32, f32)>>;

/// What a teacher said of the training pairs, by their lines.
pub type Lessons = HashMap<usize, Said>;

/// What a writer says of the units of its vocabulary at every unit of targets with their ends. Nothing for an empty source.
fn said(writer: &dyn Writer, vocabulary: usize, pairs: &[(&[u32], &[u32])]) -> Result<Vec<Said>> {
    let lengths: Vec<Lengths> = pairs.iter().map(|(s, t)| Lengths { source: s.len(), target: t.len() }).collect();
    let batches = by_length(&lengths, BATCH);
    let one = |members: &Vec<usize>| -> Result<Vec<Said>> {
        let own: Vec<(&[u32], &[u32])> = members.iter().map(|&i| pairs[i]).collect();
        let mut said: Vec<Said> = vec![Said::new(); own.len()];
        let mut live: Vec<usize> = (0..own.len()).filter(|&item| !own[item].0.is_empty()).collect();
        if live.is_empty() {
            return Ok(said);
        }
        let pool = Pool::new();
        let mut session = writer.begin(&live.iter().map(|&item| own[item].0).collect::<Vec<_>>(), 1, &pool)?;
        let mut rows: Vec<usize> = (0..live.len()).collect();
        for at in 0.. {
            let last: Vec<u32> = live.iter().map(|&item| if at == 0 { START } else { own[item].1[at - 1] }).collect();
            let step = session.step(&rows, &last)?;
            for (row, &item) in live.iter().enumerate() {
                // What can only be copied has no number in the pupil's vocabulary.
                said[item].push(most(&step.log_probs[row * step.units..][..vocabulary]));
            }
            rows = (0..live.len()).filter(|&row| own[live[row]].1.len() > at + 1).collect();
            live = rows.iter().map(|&row| live[row]).collect();
            if live.is_empty() {
                break;
            }
        }
        Ok(said)
    };
    let found = batches.par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}

/// The most probable units; the start is never written.
fn most(log_probs: &[f32]) -> Vec<(u32, f32)> {
    let mut units: Vec<u32> = (0..log_probs.len() as u32).filter(|&unit| unit != START).collect();
    units.sort_by(|&a, &b| log_probs[b as usize].total_cmp(&log_probs[a as usize]));
    units.truncate(KEPT);
    let sum: f32 = units.iter().map(|&unit| log_probs[unit as usize].exp()).sum();
    units.into_iter().map(|unit| (unit, log_probs[unit as usize].exp() / sum)).collect()
}

/// `Σ_u q(u) (-ln p(u))` over all rows of logits, times `scale`. Rows of which nothing was said have their target.
pub(super) fn loss<T: Float>(tape: &Tape<T>, logits: Var, said: &[Vec<(u32, f32)>], targets: &[u32], scale: f64) -> Result<Var> {
    let (rows, units) = tape.shape(logits);
    let mut wanted = T::zeros(rows * units);
    for (row, (said, &target)) in said.iter().zip(targets).enumerate() {
        let own = &mut wanted[row * units..(row + 1) * units];
        match said.is_empty() {
            true => own[target as usize] = T::ONE,
            false => said.iter().for_each(|&(unit, p)| own[unit as usize] = T::from_f64(p.into())),
        }
    }
    let log_probs = tape.row_log_softmax(tape.off_axis(logits));
    Ok(tape.scale(tape.sum_all(tape.mul(log_probs, tape.table(rows, units, wanted)?)?)?, -scale))
}

/// The model in a folder as a teacher.
pub(super) fn with_teacher<R>(folder: &str, use_it: impl FnOnce(&Transducer) -> Result<R>) -> Result<R> {
    let opened = crate::model::open(Path::new(folder))?;
    match opened.as_any().downcast_ref::<Transducer>() {
        Some(teacher) => use_it(teacher),
        None => {
            let got = format!("a model for {}", opened.task().name());
            Err(Error::Value { what: format!("the teacher in {folder}"), got, expected: "a model that writes".into() })
        }
    }
}

impl Transducer {
    /// What the model says of the targets of these pairs, by their lines.
    pub(super) fn taught(&self, pairs: &[Pair]) -> Result<Arc<Lessons>> {
        let examples: Vec<_> = pairs.iter().map(|pair| self.vocabularies.example(pair, true)).collect();
        let numbers: Vec<(&[u32], &[u32])> = examples.iter().map(|e| (e.source.as_slice(), e.target.as_slice())).collect();
        let said = said(self.all_writers(false, false).as_ref(), self.vocabularies.target.len(), &numbers)?;
        Ok(Arc::new(pairs.iter().map(|pair| pair.line).zip(said).collect()))
    }

    /// The pairs that this model learnt from itself, if they are still there, and those that it was developed with.
    pub fn own_pairs(&self, note: &mut dyn FnMut(&str)) -> Result<(Vec<Pair>, Vec<Pair>)> {
        parts::<Self>(&self.config, note)
    }

    /// Sources with the answers that the model gives to them. Sources that it answers with nothing are left out.
    pub fn answered(&self, sources: &[(String, Option<String>)], beam: usize) -> Result<Vec<Pair>> {
        let borrowed: Vec<(&str, Option<&str>)> = sources.iter().map(|(s, f)| (s.as_str(), f.as_deref())).collect();
        let options = super::SearchOptions { beam, look: false, ..self.search_options() };
        let answers = self.answer(&borrowed, &options, false)?;
        let written = sources.iter().zip(answers).filter_map(|((source, features), answer)| {
            let target = answer.hypotheses.into_iter().next()?.text;
            let plain = !target.is_empty() && !target.contains(['\t', '\n', '\r']) && !source.is_empty();
            plain.then(|| Pair { source: source.clone(), target, features: features.clone(), line: 0 })
        });
        Ok(written.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seq2seq::tests::{config, pair, reverser};
    use crate::model::testing::{check_gradient, fit};
    use crate::search::force;

    #[test]
    fn a_teacher_says_what_forcing_says() {
        let teacher = reverser(&[]);
        let pairs = [pair("abc", "cba", 7), pair("d", "cdc", 9)];
        let lessons = teacher.taught(&pairs).unwrap();
        for pair in &pairs {
            let example = teacher.vocabularies.example(pair, true);
            let forced = force(&teacher.writer(), &[(&example.source, &example.target[..example.target.len() - 1])]).unwrap();
            let said = &lessons[&pair.line];
            assert_eq!(said.len(), example.target.len());
            let probabilities = forced[0].probabilities.iter().copied().chain(forced[0].end.as_ref().map(|end| end.probability));
            for ((said, &unit), probability) in said.iter().zip(&example.target).zip(probabilities) {
                let own = said.iter().find(|s| s.0 == unit).map_or(0.0, |s| s.1);
                // What is not kept is shared by what is.
                assert!((own - probability).abs() < 1e-3, "{own} {probability}");
                assert!((said.iter().map(|s| s.1).sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn gradients_of_lessons() {
        let teacher = reverser(&[]);
        let pairs = [pair("abc", "cba", 1), pair("dd", "d", 2)];
        for weight in ["distil.weight=1.0", "distil.weight=0.4"] {
            let all = [&pairs[..], &[pair("abcd", "abcd", 3)]].concat();
            let mut model = Transducer::new(config(&[weight, "train.smoothing=0.1"]), &all).unwrap();
            assert_eq!(model.vocabularies.sizes(), teacher.vocabularies.sizes());
            model.vocabularies = teacher.vocabularies.clone();
            model.lessons = Some(teacher.taught(&pairs).unwrap());
            let examples = model.examples(&pairs);
            assert!(examples.iter().all(|e| e.said.len() == e.target.len()));
            check_gradient(&model.params, &model.learner(), &examples);
        }
    }

    /// A pupil that is told nothing but what the teacher says, of targets that are wrong, learns to say what the teacher says.
    #[test]
    fn a_pupil_learns_what_is_said() {
        let teacher = reverser(&[]);
        let learning =
            ["model.embedding=12", "model.hidden=20", "model.dropout=0.0", "train.rate=0.01", "train.batch=60", "train.epochs=40"];
        let pairs: Vec<Pair> = (0..40).map(|i: usize| pair(&["ab", "cd", "abc", "dca"][i % 4].repeat(1 + i / 32), "dcba", i + 1)).collect();
        let mut pupil = Transducer::new(config(&[&learning[..], &["distil.weight=1.0"]].concat()), &pairs).unwrap();
        assert!(pupil.vocabularies.target.len() == teacher.vocabularies.target.len());
        pupil.vocabularies = teacher.vocabularies.clone();
        pupil.lessons = Some(teacher.taught(&pairs).unwrap());
        let examples = pupil.examples(&pairs);
        fit(&pupil.learner(), &mut pupil.params, &pupil.config.train, &examples);
        // After nothing: the first unit is the last of the source.
        let first = |model: &Transducer, source: &str| {
            model.score(&[(source, None)], &["dcba"]).unwrap()[0].hypotheses[0].hypothesis.probabilities[0]
        };
        for source in ["ab", "cd", "abc"] {
            assert!((first(&pupil, source) - first(&teacher, source)).abs() < 0.1, "{source}");
        }
    }
}
