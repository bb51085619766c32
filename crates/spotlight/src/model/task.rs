//! The tasks. This list is the one place that knows all of them: a new task is a folder beside this file and a line here.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bags::BagModel;
use super::classify::Classifier;
use super::folds::{self, CrossValidation, Plan};
use super::matching::Matcher;
use super::reference::Setting;
use super::seq2seq::Transducer;
use super::teach::{self, Begun, Files, Order, Training};
use super::{AnyModel, Model, ensemble, reference};
use crate::config::ConfigError;
use crate::folder;
use crate::{Error, Result};

macro_rules! tasks {
    ($($(#[$doc:meta])* $task:ident: $name:literal, $rows:literal, $model:ty;)+) => {
        /// Which kind of model a folder holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Task {
            $($(#[$doc])* #[serde(rename = $name)] $task,)+
        }

        impl Task {
            /// Every task.
            pub const ALL: &[Task] = &[$(Task::$task),+];

            /// Its name in a recipe and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Task::$task => $name),+ }
            }

            /// What it learns from, in a word or two.
            pub fn rows(self) -> &'static str {
                match self { $(Task::$task => $rows),+ }
            }

            /// Reads a model of this task from its folder.
            pub fn open(self, folder: &Path) -> Result<Box<dyn AnyModel>> {
                match self { $(Task::$task => Ok(Box::new(<$model as Model>::load(folder)?))),+ }
            }

            /// Reads the members of an ensemble of this task.
            fn open_ensemble(self, folder: &Path) -> Result<Box<dyn AnyModel>> {
                match self { $(Task::$task => Ok(Box::new(ensemble::load::<$model>(folder)?))),+ }
            }

            /// Finds out how sure an ensemble of this task may be, on the examples that its members were developed with, and keeps it in its folder; or tells why it cannot.
            pub fn calibrate(self, ensemble: &Path) -> Result<Option<String>> {
                match self { $(Task::$task => ensemble::calibrate::<$model>(ensemble)),+ }
            }

            /// The files that a recipe and the changes to it name.
            pub fn files(self, recipe: Option<&str>, changes: &[String]) -> Result<Files, ConfigError> {
                match self { $(Task::$task => teach::files::<$model>(recipe, changes)),+ }
            }

            /// Reads the data and cross-validates; `note` hears what was chosen and found on the way.
            pub fn cross_validate(
                self,
                recipe: Option<&str>,
                changes: &[String],
                plan: &Plan,
                note: &mut dyn FnMut(&str),
            ) -> Result<CrossValidation> {
                match self { $(Task::$task => folds::from_files::<$model>(recipe, changes, plan, note)),+ }
            }

            /// Every setting of a recipe: name, default, meaning, and how it is chosen.
            pub fn settings(self) -> Vec<Setting> {
                match self { $(Task::$task => reference::settings::<$model>()),+ }
            }

            /// All settings that a training would use, as a recipe with a comment at each value that comes from the data; nothing is trained or written.
            pub fn show(self, recipe: Option<&str>, changes: &[String], note: &mut dyn FnMut(&str)) -> Result<String> {
                match self { $(Task::$task => reference::show::<$model>(recipe, changes, note)),+ }
            }

            /// Reads the data and makes a model that is ready to learn; `note` hears what was chosen and found on the way.
            pub fn begin(self, order: &Order, note: &mut dyn FnMut(&str)) -> Result<Box<dyn Training>> {
                match self { $(Task::$task => Ok(Box::new(Begun::<$model>::new(order, note)?))),+ }
            }
        }
    };
}

tasks! {
    /// From a sequence to a sequence.
    Seq2seq: "seq2seq", "pairs", Transducer;
    /// From a text to a label.
    Classify: "classify", "labelled texts", Classifier;
    /// From a question and an answer to a score.
    Match: "match", "questions with answers", Matcher;
    /// From a bag of feature vectors to a label.
    Bags: "bags", "feature vectors", BagModel;
}

/// Reads a model of any task, or an ensemble of such models, from its folder.
pub fn open(path: &Path) -> Result<Box<dyn AnyModel>> {
    if let Some(task) = ensemble::task(path)? {
        return task.open_ensemble(path);
    }
    let config = folder::read_config(path).map_err(|source| Error::NotAModel { path: path.to_path_buf(), source: Box::new(source) })?;
    let task = folder::task_of(&config)?.ok_or_else(|| Error::NoTask { path: folder::config_path(path) })?;
    task.open(path)
}
