//! What every setting of a recipe is: its name, its default, its meaning, and how it is chosen where nobody sets it.
//!
//! Nothing of it is written twice. The keys and the defaults are those of the settings themselves, as they are written to `config.toml`; the meaning of a key is the
//! comment of its field, read from the source ([`comments`]). Only how a value is chosen from the data stands in a table of its own ([`chosen`]), and a test compares
//! it with what is chosen.
//!
//! ```
//! use spotlight::model::Task;
//!
//! let settings = Task::Seq2seq.settings();
//! let beam = settings.iter().find(|s| s.key == "search.beam").unwrap();
//! assert_eq!((beam.default.as_str(), beam.meaning.as_str()), ("1", "Hypotheses kept; 1 is greedy."));
//! ```

mod chosen;
mod comments;
mod show;
#[cfg(test)]
mod tests;

use toml::{Table, Value};

pub(super) use show::show;

use super::kind::Model;
use crate::config::{find, keys};

/// One setting of a recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, with the section: `model.hidden`.
    pub key: String,
    /// The value that it has in a recipe that does not name it, as TOML.
    pub default: String,
    /// What it decides.
    pub meaning: String,
    /// How it is chosen from the data, where there is no recipe and nobody sets it.
    pub chosen: Option<&'static str>,
}

/// Every setting of a task, in the order in which they are declared, which is that of `config.toml`.
pub(super) fn settings<M: Model>() -> Vec<Setting> {
    let defaults = table(&M::Config::default());
    let mut meanings = comments::of(M::TASK);
    // One without a comment is found by the tests; it is a setting all the same.
    let bare = leaves(&defaults).into_iter().map(|(key, _)| key).filter(|key| meanings.iter().all(|(known, _)| known != key));
    meanings.extend(bare.map(|key| (key, String::new())).collect::<Vec<_>>());
    let setting = |(key, meaning): (String, String)| {
        let default = find(&defaults, &key)?.to_string();
        Some(Setting { default, meaning, chosen: chosen::of(M::TASK, &key).map(|choice| choice.how), key })
    };
    meanings.into_iter().filter_map(setting).collect()
}

/// Settings as a table. Settings are plain structs of values that TOML has, so there is always one.
fn table<C: serde::Serialize>(config: &C) -> Table {
    Table::try_from(config).unwrap_or_default()
}

/// Whether a setting is one of those that are chosen from the data where nobody gives them.
pub(super) fn is_chosen(task: super::Task, key: &str) -> bool {
    chosen::of(task, key).is_some()
}

/// All keys that are not sections, with their values.
fn leaves(table: &Table) -> Vec<(String, &Value)> {
    keys(table, "")
        .into_iter()
        .filter_map(|key| find(table, &key).filter(|value| !value.is_table()).map(|value| (key.clone(), value)))
        .collect()
}
