//! A model that has learnt to answer as another does, and to look elsewhere (Wiegreffe and Pinter, 2019).
//!
//! With `p` and `a` the probabilities and weights of the model that is imitated, `p'` and `a'` its own:
//!
//! ```text
//! loss = TVD(p', p) + λ (most - KL(a' ‖ a))        TVD = ½ Σ |p' - p|,  KL = Σ a' ln(a' / a), the mean of the heads
//! ```
//!
//! `most` is the largest divergence there is when no weight counts as less than `LEAST`; it only keeps the loss above 0. The labels are never seen. Everything else is as the model was
//! trained: encoder, course, batches.

use spotlight_kernels::Float;

use super::read::read;
use crate::Result;
use crate::model::Model;
use crate::model::probe::Probe;
use crate::tape::{Tape, Var};
use crate::text::batch::Lengths;
use crate::train::{Learner, Run, TrainSettings, Watch};

/// How much looking elsewhere counts beside answering the same: a nat of divergence is worth half a percent of an answer's probability.
pub const LAMBDA: f64 = 5e-3;
/// Weights below this count as this.
const LEAST: f64 = 1e-8;

/// A case, and what the model that is imitated makes of it.
struct Shown<C> {
    case: C,
    /// Probabilities of the labels.
    answer: Vec<f64>,
    /// Its weights, head after head.
    weights: Vec<f64>,
}

/// A model as it learns to imitate another.
struct Imitator<'a, P> {
    model: &'a P,
    lambda: f64,
}

impl<P: Probe> Learner for Imitator<'_, P> {
    type Example = Shown<P::Case>;

    fn lengths(&self, example: &Self::Example) -> Lengths {
        Lengths { source: self.model.size(&example.case), target: 0 }
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Self::Example], scale: f64) -> Result<Var> {
        let cases: Vec<&P::Case> = examples.iter().map(|e| &e.case).collect();
        let Some(looked) = self.model.look(tape, &cases)? else { return Ok(tape.scalar(0.0)) };
        let (rows, labels) = tape.shape(looked.logits);
        let answers = tape.table(rows, labels, examples.iter().flat_map(|e| &e.answer).map(|&p| T::from_f64(p)).collect())?;
        let change = tape.sub(tape.row_softmax(looked.logits), answers)?;
        // |x| = max(x, 0) + max(-x, 0)
        let variation = tape.scale(tape.sum_all(tape.add(tape.relu(change), tape.relu(tape.neg(change)))?)?, 0.5);

        let (units, heads) = tape.shape(looked.weights);
        let of_case = |e: &&Self::Example| {
            let n = e.weights.len() / heads.max(1);
            let log = |at: usize| T::from_f64(e.weights[at].max(LEAST).ln());
            (0..n).flat_map(|unit| (0..heads).map(move |head| head * n + unit)).map(log).collect::<Vec<T>>()
        };
        let theirs = tape.table(units, heads, examples.iter().flat_map(of_case).collect())?;
        let weights = tape.off_axis(looked.weights);
        let own = tape.log(tape.add(weights, tape.scalar(LEAST))?);
        let elsewhere = tape.scale(tape.sum_all(tape.mul(weights, tape.sub(own, theirs)?)?)?, -self.lambda / heads.max(1) as f64);
        let most = tape.scalar(self.lambda * -LEAST.ln() * examples.len() as f64);
        Ok(tape.scale(tape.add(tape.add(variation, elsewhere)?, most)?, scale))
    }
}

/// Cases of the student, each with what the model that is imitated makes of it.
fn shown<P: Probe>(model: &P, student: &P, rows: &[P::Row]) -> Result<Vec<Shown<P::Case>>> {
    let own = model.asked(rows)?;
    let readings = read(model, &own.iter().map(|a| &a.case).collect::<Vec<_>>())?;
    let theirs = student.asked(rows)?;
    // Learnt from other examples, the student may cut a text differently.
    let cases = theirs.into_iter().zip(readings).filter(|(a, r)| !a.units.is_empty() && r.mixture.units() == student.length(&a.case));
    Ok(cases.map(|(a, r)| Shown { case: a.case, answer: r.probabilities, weights: r.mixture.weights }).collect())
}

/// Teaches `student` to imitate `model`: from training examples, judged by development examples.
pub(super) fn teach<M>(model: &M, student: &mut M, run: &Run, [train, dev]: [&[<M as Model>::Row]; 2], watch: &mut dyn Watch) -> Result<()>
where
    M: Model + Probe<Row = <M as Model>::Row>,
{
    let (train, dev) = (shown(model, student, train)?, shown(model, student, dev)?);
    let settings = TrainSettings { metric: "loss".into(), ..run.settings.clone() };
    let run = Run { settings: &settings, fingerprint: String::new(), ..*run };
    let mut params = student.params().clone();
    run.train(&Imitator { model: &*student, lambda: LAMBDA }, &mut params, &train, &dev, watch)?;
    *student.params_mut() = params;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{divergence, total_variation};
    use crate::config::resolve;
    use crate::model::classify::{self, Classifier};
    use crate::params::Params;
    use crate::text::Labelled;
    use crate::train::Fit;

    fn model(seed: u64, rows: &[Labelled]) -> Classifier {
        let changes = ["model.embedding=6", "model.hidden=5", "model.dropout=0.0", "attention.score=additive"].map(String::from);
        let config = classify::Config { seed, ..resolve(&classify::Config::default(), "", &changes).unwrap() };
        let mut model = Classifier::new(config, rows).unwrap();
        model.params.flat_mut().iter_mut().enumerate().for_each(|(i, x)| *x = *x * 5.0 + 0.2 * ((i as u64 + seed) as f32 * 0.7).sin());
        model
    }

    fn rows() -> Vec<Labelled> {
        let text = |i: usize| (0..3 + i % 3).map(|k| ["up", "down", "left", "right"][(i + k * k) % 4]).collect::<Vec<_>>().join(" ");
        (0..24).map(|i| Labelled { text: text(i), label: ["good", "bad"][i % 2].into(), line: i + 1 }).collect()
    }

    /// The formula above, by hand, from what the model says.
    #[test]
    fn the_loss_is_what_it_says() {
        let rows = rows();
        let (base, student) = (model(1, &rows), model(2, &rows));
        let examples = shown(&base, &student, &rows).unwrap();
        let lambda = 0.3;
        let tape = Tape::new(&student.params);
        let loss = Imitator { model: &student, lambda }.loss(&tape, &examples.iter().collect::<Vec<_>>(), 0.5).unwrap();
        let own = read(&student, &examples.iter().map(|e| &e.case).collect::<Vec<_>>()).unwrap();
        let by_hand = |(e, r): (&Shown<_>, &crate::audit::Reading)| {
            let apart: f64 = r.mixture.weights.iter().zip(&e.weights).map(|(a, b)| a * (a / b).ln()).sum();
            total_variation(&r.probabilities, &e.answer) + lambda * (-LEAST.ln() - apart)
        };
        let wanted = 0.5 * examples.iter().zip(&own).map(by_hand).sum::<f64>();
        assert!((tape.item(loss) - wanted).abs() < 1e-4 * wanted, "{} instead of {wanted}", tape.item(loss));
    }

    /// It comes to say the same and to look elsewhere: farther than a model that only says the same.
    #[test]
    fn an_imitator_says_the_same_and_looks_elsewhere() {
        let rows = rows();
        let base = model(1, &rows);
        let taught = |lambda: f64| {
            let mut student = model(2, &rows);
            let examples = shown(&base, &student, &rows).unwrap();
            let mut params: Params<f32> = student.params.clone();
            let learner = Imitator { model: &student, lambda };
            Fit::new().epochs(200).rate(0.02).run(&learner, &mut params, &examples, &examples).unwrap();
            student.params = params;
            let own = read(&student, &examples.iter().map(|e| &e.case).collect::<Vec<_>>()).unwrap();
            let mean = |of: &dyn Fn(&Shown<_>, &crate::audit::Reading) -> f64| {
                examples.iter().zip(&own).map(|(e, r)| of(e, r)).sum::<f64>() / examples.len() as f64
            };
            (mean(&|e, r| divergence(&e.weights, &r.mixture.weights)), mean(&|e, r| total_variation(&e.answer, &r.probabilities)))
        };
        let (near, far) = (taught(0.0), taught(0.05));
        assert!(far.1 < 0.1, "its answers changed by {}", far.1);
        assert!(far.0 > near.0 + 0.02, "it looks {} away, without being asked to {}", far.0, near.0);
    }
}
