//! The loop with a learner that says what it is told to.

use std::path::Path;
use std::sync::Mutex;

use serde_json::json;
use spotlight_kernels::Float;

use super::*;
use crate::folder::{self, CONFIG, FolderError, METRICS, State as Place, claim, resume, state};
use crate::params::{Init, ParamId};
use crate::tape::{Tape, Var};
use crate::text::batch::Lengths;

/// Brings numbers towards 0, and answers with a script when it is measured.
struct Scripted {
    x: ParamId,
    /// Accuracy and loss of each evaluation; the last one stays.
    script: Vec<(f64, f64)>,
    /// The weights it was measured with.
    seen: Mutex<Vec<Vec<f32>>>,
}

impl Scripted {
    fn new(script: &[(f64, f64)]) -> (Scripted, Params<f32>) {
        let mut params = Params::new(3);
        let x = params.add("x", &[1, 4], Init::Glorot);
        (Scripted { x, script: script.to_vec(), seen: Mutex::new(Vec::new()) }, params)
    }
}

impl Learner for Scripted {
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
        let x = tape.param(self.x);
        let square = tape.sum_all(tape.mul(x, x)?)?;
        Ok(tape.scale(square, scale * examples.iter().copied().sum::<f64>()))
    }

    fn measures(&self, _: &[f64]) -> Option<Vec<&'static str>> {
        Some(vec!["accuracy", "loss"])
    }

    fn measure(&self, params: &Params<f32>, _: &[f64]) -> Result<Vec<Measure>> {
        let mut seen = self.seen.lock().unwrap();
        let (accuracy, loss) = self.script[seen.len().min(self.script.len() - 1)];
        seen.push(params.flat().to_vec());
        if accuracy.is_nan() {
            return Err(Error::NoAxis { op: "measure" });
        }
        Ok(vec![Measure::rising("accuracy", accuracy), Measure::falling("loss", loss)])
    }
}

/// Sets a flag after some batches.
struct StopAfter<'a>(u64, &'a AtomicBool);

impl Watch for StopAfter<'_> {
    fn tick(&mut self, _: Tick) {
        self.0 = self.0.saturating_sub(1);
        self.1.store(self.0 == 0, Ordering::Relaxed);
    }

    fn evaluated(&mut self, _: &Evaluation) {}
}

const EXAMPLES: [f64; 6] = [0.3, 0.1, 0.2, 0.4, 0.6, 0.5];

fn settings(epochs: u64, patience: u32) -> TrainSettings {
    TrainSettings { epochs, patience, batch: 2, warmup: 0, metric: "accuracy".into(), ..TrainSettings::default() }
}

fn begin(path: &Path) -> ModelFolder {
    let folder = claim(path, false).unwrap().begin(|staging| {
        std::fs::write(staging.join(CONFIG), "task = \"bags\"\n").unwrap();
        Ok(())
    });
    folder.unwrap()
}

/// Runs until the end or for some batches.
fn run(
    folder: &ModelFolder,
    settings: &TrainSettings,
    data: &str,
    learner: &Scripted,
    params: &mut Params<f32>,
    batches: u64,
) -> Result<Outcome> {
    let stop = AtomicBool::new(false);
    let run = Run { folder, settings, seed: 1, fingerprint: data.into(), checkpoint_every: Duration::MAX, stop: &stop };
    run.train(learner, params, &EXAMPLES, &EXAMPLES, &mut StopAfter(batches, &stop))
}

fn whole(path: &Path, settings: &TrainSettings, script: &[(f64, f64)]) -> Outcome {
    let (learner, mut params) = Scripted::new(script);
    run(&begin(path), settings, "data", &learner, &mut params, u64::MAX).unwrap()
}

#[test]
fn between_equal_scores_the_weights_of_the_lower_loss_are_kept() {
    let place = tempfile::tempdir().unwrap();
    let (learner, mut params) = Scripted::new(&[(0.5, 1.0), (0.5, 0.5), (0.5, 0.7)]);
    let outcome = run(&begin(place.path()), &settings(3, 0), "data", &learner, &mut params, u64::MAX).unwrap();
    assert_eq!((outcome.best_epoch, &outcome.measures["loss"]), (2, &json!(0.5)));
    assert_eq!(params.flat(), learner.seen.lock().unwrap()[1], "the best weights are in the parameters");
    let record = Record::read(place.path()).unwrap();
    assert_eq!((record.stage, record.epochs, record.best_epoch, record.steps), (Stage::Finished, 3, 2, 9));
    assert_eq!((record.measures["accuracy"].as_f64(), record.metric.as_str()), (Some(0.5), "accuracy"));
}

/// Epochs that are to be kept are, each as it was measured; a new run takes them away with the model.
#[test]
fn epochs_are_kept_beside_the_best_model() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let (learner, mut params) = Scripted::new(&[(0.5, 1.0), (0.9, 0.5), (0.6, 0.7)]);
    let settings = TrainSettings { keep: vec![1, 3, 9], ..settings(3, 0) };
    let folder = begin(&path);
    run(&folder, &settings, "data", &learner, &mut params, u64::MAX).unwrap();
    drop(folder);
    for epoch in [1, 3] {
        let kept = path.join(crate::folder::epoch_name(epoch));
        let (_, mut read) = Scripted::new(&[]);
        weights::load(&mut read, &kept.join(WEIGHTS)).unwrap();
        assert_eq!(read.flat(), learner.seen.lock().unwrap()[epoch as usize - 1]);
        assert!(kept.join(CONFIG).exists());
    }
    assert!(!path.join("epoch-2").exists() && !path.join("epoch-9").exists());
    drop(claim(&path, true).unwrap().begin(|_| Ok(())).unwrap());
    assert!(!path.join("epoch-1").exists());
}

#[test]
fn patience_stops_a_run_unless_the_measure_stands_at_an_end() {
    let place = tempfile::tempdir().unwrap();
    let end = |name: &str, script: &[(f64, f64)]| {
        let outcome = whole(&place.path().join(name), &settings(8, 2), script);
        (outcome.end, outcome.epochs)
    };
    assert_eq!(end("midst", &[(0.5, 1.0)]), (End::Patience, 3));
    assert_eq!(end("worst", &[(0.0, 1.0)]), (End::Finished, 8));
    assert_eq!(end("best", &[(1.0, 1.0), (1.0, 0.9), (1.0, 0.8), (1.0, 0.7), (1.0, 0.7)]), (End::Patience, 6));
    assert!(Record::read(&place.path().join("best")).unwrap().patience_ran_out);
}

/// A plateau of a measure that stands at its worst is none.
#[test]
fn the_rate_does_not_fall_while_the_measure_stands_at_its_worst() {
    let place = tempfile::tempdir().unwrap();
    let rate = |name: &str, accuracy: f64| {
        let settings = TrainSettings { schedule: ScheduleName::Plateau, plateau_patience: 0, ..settings(3, 0) };
        whole(&place.path().join(name), &settings, &[(accuracy, 1.0)]);
        let course = std::fs::read_to_string(place.path().join(name).join(METRICS)).unwrap();
        serde_json::from_str::<Value>(course.lines().last().unwrap()).unwrap()["rate"].as_f64().unwrap()
    };
    assert_eq!((rate("worst", 0.0), rate("midst", 0.5)), (2e-3, 5e-4));
}

#[test]
fn a_wrong_metric_or_a_failure_before_the_first_evaluation_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let (learner, mut params) = Scripted::new(&[(f64::NAN, 1.0)]);
    let wrong = TrainSettings { metric: "f1".into(), ..settings(2, 0) };
    let error = run(&begin(&path), &wrong, "data", &learner, &mut params, u64::MAX).unwrap_err();
    assert_eq!(error.to_string(), "`train.metric`: must be one of accuracy, loss, is \"f1\"");
    assert!(matches!(error, Error::Config(_)) && !path.exists());
    assert!(run(&begin(&path), &settings(2, 0), "data", &learner, &mut params, u64::MAX).is_err());
    assert!(!path.exists());
}

#[test]
fn a_run_stopped_anywhere_ends_at_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    // Ties and a measure at its worst among them, so that what they need is part of the checkpoint.
    let script = [(0.0, 2.0), (0.0, 1.0), (0.5, 0.5), (0.5, 0.4), (0.5, 0.45), (0.5, 0.42)];
    let settings = TrainSettings { average: 2, ..settings(12, 3) };
    let undisturbed = place.path().join("whole");
    let outcome = whole(&undisturbed, &settings, &script);
    assert_eq!((outcome.end, outcome.epochs, outcome.best_epoch), (End::Patience, 6, 4));
    for batches in 1..18 {
        let path = place.path().join(batches.to_string());
        let (learner, mut params) = Scripted::new(&script);
        let stopped = run(&begin(&path), &settings, "data", &learner, &mut params, batches).unwrap();
        assert_eq!((stopped.end, state(&path).unwrap()), (End::Stopped, Place::Interrupted));
        assert_eq!(Record::read(&path).unwrap().stage, Stage::Stopped);
        folder::check(&path).unwrap();
        let (_, mut params) = Scripted::new(&script);
        let other = run(&resume(&path).unwrap(), &settings, "other data", &learner, &mut params, u64::MAX).unwrap_err();
        assert!(other.to_string().contains("other settings or other data"), "{other}");
        let outcome = run(&resume(&path).unwrap(), &settings, "data", &learner, &mut params, u64::MAX).unwrap();
        assert_eq!((outcome.end, outcome.epochs, outcome.best_epoch), (End::Patience, 6, 4), "{batches}");
        for file in [WEIGHTS, folder::MANIFEST] {
            assert_eq!(std::fs::read(path.join(file)).unwrap(), std::fs::read(undisturbed.join(file)).unwrap(), "{file} after {batches}");
        }
        assert_eq!(state(&path).unwrap(), Place::Finished);
        assert!(matches!(resume(&path), Err(Error::Folder(FolderError::Finished { epochs: Some(6), .. }))));
    }
}

#[test]
fn without_a_checkpoint_other_data_are_refused_too() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let (learner, mut params) = Scripted::new(&[(0.5, 1.0)]);
    run(&begin(&path), &settings(2, 0), "data", &learner, &mut params, 4).unwrap();
    std::fs::remove_file(checkpoint_path(&path)).unwrap();
    let error = run(&resume(&path).unwrap(), &settings(2, 0), "other", &learner, &mut params, 4).unwrap_err();
    assert!(matches!(error, Error::Folder(FolderError::OtherRun { .. })), "{error}");
    run(&resume(&path).unwrap(), &settings(2, 0), "data", &learner, &mut params, u64::MAX).unwrap();
}

#[test]
fn weights_are_averaged_over_the_last_evaluations() {
    let place = tempfile::tempdir().unwrap();
    let seen = |average: usize| {
        let (learner, mut params) = Scripted::new(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0), (0.4, 1.0)]);
        let settings = TrainSettings { average, rate: 0.1, ..settings(4, 0) };
        run(&begin(&place.path().join(average.to_string())), &settings, "data", &learner, &mut params, u64::MAX).unwrap();
        assert_eq!(params.flat(), learner.seen.lock().unwrap()[3], "the mean is what is kept");
        learner.seen.into_inner().unwrap()
    };
    let (own, mean) = (seen(1), seen(3));
    assert_eq!(own[0], mean[0]);
    for i in 0..own[0].len() {
        let of_last = (1..4).map(|epoch| own[epoch][i] as f64).sum::<f64>() / 3.0;
        assert!((mean[3][i] as f64 - of_last).abs() < 1e-7 && (of_last - own[3][i] as f64).abs() > 1e-4);
    }
}

const ALL: [f64; 8] = [0.3, 0.1, 0.2, 0.4, 0.6, 0.5, 0.7, 0.8];

/// Finds out how many epochs are best, and learns from all examples. The weights it ends with, too.
fn twice(folder: &ModelFolder, settings: &TrainSettings, script: &[(f64, f64)], batches: u64) -> (Outcome, Vec<f32>) {
    let stop = AtomicBool::new(false);
    let run = Run { folder, settings, seed: 1, fingerprint: "data".into(), checkpoint_every: Duration::MAX, stop: &stop };
    let ((first, mut params), (last, mut known)) = (Scripted::new(script), Scripted::new(script));
    let frame = |path: &Path| {
        std::fs::create_dir_all(path).unwrap();
        std::fs::write(path.join(CONFIG), "task = \"bags\"\n").unwrap();
        std::fs::write(path.join("labels.txt"), "of all examples").unwrap();
        Ok(())
    };
    let parts = Parts { train: &EXAMPLES, dev: &EXAMPLES, all: &ALL };
    let outcome = run.train_twice((&first, &mut params), (&last, &mut known), &parts, frame, &mut StopAfter(batches, &stop)).unwrap();
    assert!(last.seen.lock().unwrap().is_empty(), "nothing is measured with examples that are learnt from");
    (outcome, known.flat().to_vec())
}

#[test]
fn all_examples_are_learnt_from_for_as_many_epochs_as_were_best() {
    let place = tempfile::tempdir().unwrap();
    // The fourth epoch is as good as the second, as far as six examples can tell; the last is not.
    let script = [(0.2, 1.0), (0.9, 0.9), (0.5, 0.8), (0.85, 0.7), (0.3, 0.6)];
    let settings = TrainSettings { schedule: ScheduleName::Constant, rate: 0.1, ..settings(5, 0) };
    let path = place.path().join("model");
    let (outcome, weights) = twice(&begin(&path), &settings, &script, u64::MAX);
    assert_eq!((outcome.epochs, outcome.best_epoch, outcome.again, &outcome.measures["accuracy"]), (5, 2, Some(4), &json!(0.9)));
    let (learner, mut params) = Scripted::new(&[(0.5, 1.0)]);
    let stop = AtomicBool::new(false);
    let plain = TrainSettings { epochs: 4, ..settings };
    let folder = begin(&place.path().join("plain"));
    let run = Run { folder: &folder, settings: &plain, seed: 1, fingerprint: "data".into(), checkpoint_every: Duration::MAX, stop: &stop };
    run.train(&learner, &mut params, &ALL, &EXAMPLES, &mut StopAfter(u64::MAX, &stop)).unwrap();
    assert_eq!(weights, learner.seen.lock().unwrap()[3]);
    let (_, mut kept) = Scripted::new(&[]);
    weights::load(&mut kept, &path.join(WEIGHTS)).unwrap();
    assert_eq!(kept.flat(), weights);
    assert_eq!(std::fs::read_to_string(path.join("labels.txt")).unwrap(), "of all examples");
    let record = Record::read(&path).unwrap();
    assert_eq!((record.stage, record.epochs, record.again), (Stage::Finished, 5, Some(4)));
    folder::check(&path).unwrap();
}

#[test]
fn stopped_while_all_examples_are_learnt_from_it_ends_at_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let script = [(0.2, 1.0), (0.9, 0.9), (0.5, 0.8), (0.85, 0.7), (0.3, 0.6)];
    let settings = TrainSettings { average: 2, ..settings(5, 0) };
    let undisturbed = place.path().join("whole");
    let (_, whole) = twice(&begin(&undisturbed), &settings, &script, u64::MAX);
    // 15 batches find the epoch, 16 follow.
    for batches in [1, 14, 15, 16, 22, 30] {
        let path = place.path().join(batches.to_string());
        let (outcome, _) = twice(&begin(&path), &settings, &script, batches);
        assert_eq!((outcome.end, outcome.again.is_some()), (End::Stopped, batches > 15), "{batches}");
        assert_eq!(state(&path).unwrap(), Place::Interrupted);
        // Until then the model of before can be asked.
        folder::check(&path).unwrap();
        let (outcome, weights) = twice(&resume(&path).unwrap(), &settings, &script, u64::MAX);
        assert_eq!((outcome.end, outcome.epochs, weights), (End::Finished, 5, whole.clone()), "{batches}");
        for file in [WEIGHTS, folder::MANIFEST, METRICS] {
            let course = |path: &Path| std::fs::read_to_string(path.join(file)).map(|text| text.lines().count()).unwrap_or_default();
            match file == METRICS {
                true => assert_eq!(course(&path), course(&undisturbed)),
                false => assert_eq!(std::fs::read(path.join(file)).unwrap(), std::fs::read(undisturbed.join(file)).unwrap(), "{file}"),
            }
        }
    }
}
