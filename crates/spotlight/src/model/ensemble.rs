//! Several models as one.
//!
//! An ensemble is a folder with a model in each of `member-1`, `member-2`, ...; it is opened like any model and answers with the mean of what its members say. `train --seeds` makes
//! one, and [`gather`] makes one of models that are there.

use std::path::Path;

use super::teach::parts;
use super::{Calibration, Model, Settings, Task, folder};
use crate::text::Inventory;
use crate::weights::write_whole;
use crate::{Error, Result};

/// Reads the members of an ensemble and joins them.
pub(super) fn load<M: Model>(path: &Path) -> Result<M> {
    let mut joined = M::join(members(path)?)?;
    Calibration::load(path)?.into_iter().for_each(|calibration| joined.set_calibration(calibration));
    Ok(joined)
}

fn members<M: Model>(path: &Path) -> Result<Vec<M>> {
    folder::members(path).iter().map(|member| M::load(member)).collect()
}

/// Finds out how sure an ensemble may be, on the examples that its members were developed with, and keeps it in its folder; if any has learnt from these in the end, the ensemble may be as sure as they were found to be in the
/// mean. If they were developed with different ones, or if these are gone, that is why it cannot be found out.
pub(super) fn calibrate<M: Model>(path: &Path) -> Result<Option<String>> {
    let members = members::<M>(path)?;
    let [first, others @ ..] = &members[..] else { return Ok(None) };
    let files = first.config().files();
    if others.iter().any(|other| other.config().files() != files) {
        return Ok(Some("its members were not developed with the same examples".into()));
    }
    let found = if members.iter().any(|member| member.config().learns_all()) {
        Calibration::mean(&folder::members(path).iter().map(|member| Calibration::load(member)).collect::<Result<Vec<_>>>()?)
    } else {
        let file = if files.1.is_empty() { files.0 } else { files.1 };
        if Path::new(file).metadata().is_err() {
            return Ok(Some(format!("its members were developed with examples of {file:?}, which is not there")));
        }
        let dev = match files.1 {
            "" => parts::<M>(first.config(), &mut |_| {})?.1,
            dev => M::read(Path::new(dev), first.config())?.examples,
        };
        M::join(members)?.calibrate(&dev)?
    };
    if let Some(calibration) = found {
        let (name, data) = calibration.file();
        write_whole(&path.join(name), &data)?;
    }
    Ok(None)
}

/// The task of an ensemble's members, if it is one. Members for different tasks are an error.
pub(super) fn task(path: &Path) -> Result<Option<Task>> {
    let mut found = None;
    for member in folder::members(path) {
        let task = folder::task_of(&folder::read_config(&member)?)?.ok_or_else(|| Error::NoTask { path: folder::config_path(&member) })?;
        match found {
            Some(other) if other != task => return Err(different(&format!("models for {} and for {}", Task::name(other), task.name()))),
            _ => found = Some(task),
        }
    }
    Ok(found)
}

/// Copies models that have learnt into a new folder as the members of an ensemble. What cannot be joined is an error, and nothing is left of it. Returned is why it could not be found out how sure the ensemble may be, if it
/// could not.
pub fn gather(models: &[&Path], out: &Path, force: bool) -> Result<Option<String>> {
    for model in models {
        let own = folder::members(model);
        if !own.is_empty() {
            let named: Vec<String> = own.iter().map(|member| member.display().to_string()).collect();
            return Err(Error::Value {
                what: "a member of an ensemble".into(),
                got: format!("{}, itself an ensemble", model.display()),
                expected: format!("one model; name its members instead: {}", named.join(" ")),
            });
        }
    }
    let claim = folder::claim(out, force)?;
    let made = claim.staging();
    for (model, number) in models.iter().zip(1..) {
        folder::check(model)?;
        folder::copy(model, &made.join(folder::member_name(number)))?;
    }
    // Opened once, to see whether they go together.
    let uncalibrated = super::open(&made)?.task().calibrate(&made)?;
    claim.replace()?;
    Ok(uncalibrated)
}

/// The first of several models, and the others; an error if `differ` says what one of them has that the first has not.
pub(super) fn first_and_peers<M>(members: Vec<M>, differ: impl Fn(&M, &M) -> Option<&'static str>) -> Result<(M, Vec<M>)> {
    let mut members = members.into_iter();
    let first = members.next().ok_or_else(|| different("no models"))?;
    let peers: Vec<M> = members.collect();
    match peers.iter().find_map(|peer| differ(&first, peer)) {
        Some(what) => Err(different(what)),
        None => Ok((first, peers)),
    }
}

/// What makes models of labels different, if anything: other labels.
pub(super) fn other_labels(a: &Inventory, b: &Inventory) -> Option<&'static str> {
    (!a.iter().eq(b.iter())).then_some("models with different labels")
}

/// An error for an ensemble, where only one model can be asked.
pub(super) fn alone<M>(peers: &[M]) -> Result<()> {
    match peers {
        [] => Ok(()),
        peers => Err(Error::Value {
            what: "the model".into(),
            got: format!("an ensemble of {}", peers.len() + 1),
            expected: "one model: ask its members one by one".into(),
        }),
    }
}

/// An error for models that cannot answer together.
fn different(got: &str) -> Error {
    Error::Value { what: "an ensemble".into(), got: got.into(), expected: "models of one kind with the same units and labels".into() }
}
