//! The training loop on a model small enough to know every number: one weight that is drawn towards its examples.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spotlight::config::resolve;
use spotlight::folder;
use spotlight::model::seq2seq::{Config, Transducer};
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Tape, Var};
use spotlight::text::Pair;
use spotlight::text::batch::Lengths;
use spotlight::train::settings::{OptimiserName, ScheduleName};
use spotlight::train::{End, Evaluation, Learner, Measure, Run, Tick, TrainSettings, Watch};
use spotlight::{Float, Result};

/// `loss = Σ (w - x)²`, measured by `w` itself: the later, the larger, the better.
struct Drawn {
    weight: ParamId,
}

impl Learner for Drawn {
    type Example = f64;

    fn lengths(&self, _: &f64) -> Lengths {
        Lengths { source: 1, target: 0 }
    }

    fn targets(&self, _: &f64) -> usize {
        1
    }

    fn line(&self, _: &f64) -> usize {
        0
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&f64], scale: f64) -> Result<Var> {
        let x = tape.table(examples.len(), 1, examples.iter().map(|&&x| T::from_f64(x)).collect())?;
        let difference = tape.sub(x, tape.param(self.weight))?;
        let sum = tape.sum_all(tape.mul(difference, difference)?)?;
        Ok(tape.scale(sum, scale))
    }

    fn measure(&self, params: &Params<f32>, _: &[f64]) -> Result<Vec<Measure>> {
        Ok(vec![Measure::rising("w", params.get(self.weight)[0].into())])
    }
}

const EXAMPLES: [f64; 6] = [100.0, 110.0, 90.0, 105.0, 95.0, 101.0];
const EPOCHS: u64 = 8;

/// Three steps an epoch, all of them upwards.
fn settings(optimiser: OptimiserName, average: usize) -> TrainSettings {
    TrainSettings {
        epochs: EPOCHS,
        batch: 2,
        optimiser,
        rate: 0.01,
        schedule: ScheduleName::Constant,
        warmup: 0,
        clip: 0.0,
        patience: 0,
        average,
        metric: "w".into(),
        ..TrainSettings::default()
    }
}

/// Notes what it sees, and stops the run after a number of steps.
#[derive(Default)]
struct Notes<'a> {
    ticks: Vec<(u64, u64)>,
    measures: Vec<f64>,
    stop: Option<(usize, &'a AtomicBool)>,
}

impl Watch for Notes<'_> {
    fn tick(&mut self, tick: Tick) {
        self.ticks.push((tick.epoch, tick.batch));
        if let Some((after, stop)) = self.stop
            && self.ticks.len() == after
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn evaluated(&mut self, evaluation: &Evaluation) {
        self.measures.push(evaluation.measures[0].value);
    }
}

/// Trains in a folder: what was seen, how it ended, and the weight it left.
fn train(folder: &Path, settings: &TrainSettings, resume: bool, stop_after: Option<usize>) -> (Notes<'static>, End, f32) {
    let mut params = Params::<f32>::new(1);
    let weight = params.add("w", &[1, 1], Init::Zeros);
    let stop = AtomicBool::new(false);
    let mut notes = Notes { stop: stop_after.map(|after| (after, &stop)), ..Notes::default() };
    let place = match resume {
        true => folder::resume(folder).unwrap(),
        false => folder::claim(folder, true).unwrap().begin(|path| folder::save_config(path, &settings)).unwrap(),
    };
    let (fingerprint, checkpoint_every) = ("drawn".into(), Duration::from_secs(3600));
    let run = Run { folder: &place, settings, seed: 1, fingerprint, checkpoint_every, stop: &stop };
    let outcome = run.train(&Drawn { weight }, &mut params, &EXAMPLES, &EXAMPLES, &mut notes).unwrap();
    (Notes { stop: None, ..notes }, outcome.end, params.flat()[0])
}

#[test]
fn the_mean_of_the_last_weights_is_measured_and_kept() {
    for optimiser in [OptimiserName::Sgd, OptimiserName::Adam] {
        let measured = |average| {
            let folder = tempfile::tempdir().unwrap();
            let (notes, end, left) = train(folder.path(), &settings(optimiser, average), false, None);
            assert_eq!(end, End::Finished);
            // The best model is the last one here, and the run leaves it.
            assert!(notes.measures.is_sorted());
            assert_eq!(notes.measures.last(), Some(&left.into()));
            notes.measures
        };
        let own = measured(1);
        for average in [2, 3] {
            let means = measured(average);
            assert_eq!(means.len(), own.len());
            for (i, mean) in means.iter().enumerate() {
                let last = &own[(i + 1).saturating_sub(average)..=i];
                let wanted = last.iter().sum::<f64>() / last.len() as f64;
                assert!((mean - wanted).abs() < 1e-6 * wanted, "{mean} instead of {wanted}, the mean of {last:?}");
            }
        }
    }
}

/// The loss of an epoch is the mean over its targets: with a weight that hardly moves, the mean of the squares.
#[test]
fn the_training_loss_is_that_of_a_target() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), &TrainSettings { rate: 1e-12, epochs: 2, ..settings(OptimiserName::Sgd, 1) }, false, None);
    let wanted = EXAMPLES.iter().map(|x| x * x).sum::<f64>() / EXAMPLES.len() as f64;
    let lines = std::fs::read_to_string(folder.path().join("metrics.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let loss = serde_json::from_str::<serde_json::Value>(line).unwrap()["train_loss"].as_f64().unwrap();
        assert!((loss - wanted).abs() < 1e-3, "{loss} instead of {wanted}");
    }
}

#[test]
fn a_resumed_run_takes_the_steps_that_are_left_and_ends_at_the_same_bits() {
    for optimiser in [OptimiserName::Sgd, OptimiserName::Adam, OptimiserName::Adadelta] {
        let settings = settings(optimiser, 3);
        let folder = tempfile::tempdir().unwrap();
        let (whole, _, left) = train(folder.path(), &settings, false, None);
        let steps = whole.ticks.len();
        assert!(steps as u64 >= 3 * EPOCHS);
        for stop_after in [1, 7, steps / 2, steps - 2] {
            let folder = tempfile::tempdir().unwrap();
            let (first, end, _) = train(folder.path(), &settings, false, Some(stop_after));
            assert_eq!((end, first.ticks.len()), (End::Stopped, stop_after));
            let (second, end, resumed) = train(folder.path(), &settings, true, None);
            assert_eq!(end, End::Finished);
            assert_eq!([first.ticks, second.ticks].concat(), whole.ticks, "steps after a stop at {stop_after}");
            assert_eq!([first.measures, second.measures].concat(), whole.measures, "measures after a stop at {stop_after}");
            assert_eq!(resumed.to_bits(), left.to_bits());
        }
    }
}

#[test]
fn without_resume_a_checkpoint_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(OptimiserName::Sgd, 1);
    train(folder.path(), &settings, false, Some(5));
    let (anew, ..) = train(folder.path(), &settings, false, None);
    assert_eq!(anew.ticks[0], (0, 1));
}

/// Scheduled sampling lets the model read its own guesses while it learns, and only then.
#[test]
fn scheduled_sampling_changes_what_is_read_while_learning() {
    let pair = |source: &str, target: &str| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
    let pairs = [pair("abcd", "dcba"), pair("bad", "dab"), pair("cab", "bac")];
    let losses = |sampling: f64| {
        let changes = ["model.embedding=6", "model.hidden=8", "model.dropout=0.0"].map(String::from).into_iter();
        let changes: Vec<String> = changes.chain([format!("model.scheduled_sampling={sampling}")]).collect();
        let model = Transducer::new(resolve(&Config::default(), "", &changes).unwrap(), &pairs).unwrap();
        let (learner, examples) = (model.learner(), model.examples(&pairs));
        let examples: Vec<_> = examples.iter().collect();
        let learning = [1, 2, 3].map(|seed| {
            let mut gradients = Gradients::new(&model.params);
            let tape = Tape::training(&model.params, &mut gradients, seed);
            let loss = learner.loss(&tape, &examples, 1.0).unwrap();
            tape.item(loss)
        });
        let tape = Tape::new(&model.params);
        (learning, tape.item(learner.loss(&tape, &examples, 1.0).unwrap()))
    };
    let ((never, measured), (sometimes, same), (nearly_always, _)) = (losses(0.0), losses(0.5), losses(0.999));
    assert_eq!(never, [measured; 3]);
    assert_eq!(same, measured);
    // Another draw, other positions; where nearly all are replaced, the draw hardly matters.
    assert!(sometimes[0] != sometimes[1] || sometimes[1] != sometimes[2], "{sometimes:?}");
    assert!(nearly_always.iter().all(|&loss| loss != measured), "{nearly_always:?} {measured}");
}
