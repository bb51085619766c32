//! What the tests of several models need.

use std::sync::atomic::AtomicBool;

use super::AttentionSection;
use super::lbfgs::Objective;
use super::pooling::PoolingKind;
use crate::folder;
use crate::numeric::numeric_gradient;
use crate::params::{Gradients, Params};
use crate::tape::Tape;
use crate::train::run::CHECKPOINT_EVERY;
use crate::train::{Evaluation, Learner, Measure, Run, Tick, TrainSettings, Watch};

/// Nobody watches.
struct Silent;

impl Watch for Silent {
    fn tick(&mut self, _: Tick) {}
    fn evaluated(&mut self, _: &Evaluation) {}
}

/// Pools by this: `mean`, `last`, or attention with the score of this name.
pub fn pool_by(pooling: &mut PoolingKind, attention: &mut AttentionSection, name: &str) {
    match name {
        "mean" => *pooling = PoolingKind::Mean,
        "last" => *pooling = PoolingKind::Last,
        score => attention.score = Some(score.parse().unwrap()),
    }
}

/// Compares the slopes of a function with central differences, at a place where none is 0.
pub fn check_slopes(problem: &dyn Objective) {
    let w: Vec<f64> = (0..problem.size()).map(|i| (i as f64 * 0.7).sin()).collect();
    let slope = problem.at(&w).1;
    for (i, &slope) in slope.iter().enumerate() {
        let moved = |by: f64| problem.at(&w.iter().enumerate().map(|(j, &x)| if i == j { x + by } else { x }).collect::<Vec<_>>()).0;
        let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((numeric - slope).abs() < 1e-7, "{i}: {numeric} and {slope}");
    }
}

/// Compares the gradient of a learner's loss with central differences.
pub fn check_gradient<L: Learner>(params: &Params<f32>, learner: &L, examples: &[L::Example]) {
    let mut params: Params<f64> = params.cast();
    // Away from zeros, where a ReLU has a kink.
    params.flat_mut().iter_mut().enumerate().for_each(|(i, x)| *x += 0.05 * (i as f64).sin());
    let examples: Vec<&L::Example> = examples.iter().collect();
    let mut gradients = Gradients::new(&params);
    gradients.begin();
    let tape = Tape::training(&params, &mut gradients, 3);
    let loss = learner.loss(&tape, &examples, 0.5).unwrap();
    tape.backward(loss).unwrap();
    let found = gradients.flat().to_vec();
    let wanted = numeric_gradient(&params, 1e-5, |p| {
        // A tape that learns, so that what is drawn while learning is drawn here too.
        let mut unused = Gradients::new(p);
        let tape = Tape::training(p, &mut unused, 3);
        let loss = learner.loss(&tape, &examples, 0.5)?;
        Ok(tape.item(loss))
    })
    .unwrap();
    for entry in params.entries() {
        for i in entry.range.clone() {
            let (found, wanted) = (found[i], wanted[i]);
            let bound = 1e-6 * found.abs().max(wanted.abs()) + 1e-8;
            assert!((found - wanted).abs() <= bound, "{} [{}]: {found} instead of {wanted}", entry.name, i - entry.range.start);
        }
    }
}

/// Trains on a few examples in a temporary folder, measured on themselves; leaves the best weights in `params`.
pub fn fit<L: Learner>(learner: &L, params: &mut Params<f32>, settings: &TrainSettings, examples: &[L::Example]) -> Vec<Measure> {
    let place = tempfile::tempdir().unwrap();
    let folder = folder::claim(place.path(), false).unwrap().begin(|_| Ok(())).unwrap();
    let settings = TrainSettings { every: settings.epochs, ..settings.clone() };
    let run = Run {
        folder: &folder,
        settings: &settings,
        seed: 1,
        fingerprint: String::new(),
        checkpoint_every: CHECKPOINT_EVERY,
        stop: &AtomicBool::new(false),
    };
    run.train(learner, params, examples, examples, &mut Silent).unwrap();
    learner.measure(params, examples).unwrap()
}
