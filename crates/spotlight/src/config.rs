//! Settings: a recipe, changes to it, and the defaults, checked before anything runs.
//!
//! A recipe is TOML. Every key it may hold stands in the default settings, so a key that does not is a mistake, and the nearest right one is suggested.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use spotlight::config::resolve;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Settings {
//!     hidden: usize,
//!     dropout: f64,
//! }
//!
//! let defaults = Settings { hidden: 64, dropout: 0.1 };
//! let settings: Settings = resolve(&defaults, "hidden = 128", &["dropout=0.3".into()])?;
//! assert_eq!((settings.hidden, settings.dropout), (128, 0.3));
//! let error = resolve(&defaults, "hiden = 128", &[]).map(|_: Settings| ()).unwrap_err();
//! assert_eq!(error.to_string(), "unknown key `hiden`; did you mean `hidden`?");
//! # Ok::<(), spotlight::config::ConfigError>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The recipe is not TOML.
    #[error("not a TOML file: {0}")]
    Syntax(String),
    /// A key that does not exist.
    #[error("unknown key `{key}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Unknown {
        /// The key as it stands there.
        key: String,
        /// The nearest one that exists.
        suggestion: Option<String>,
    },
    /// A value of the wrong kind or outside its range.
    #[error("`{key}`: {problem}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with its value.
        problem: String,
    },
    /// A change that is not `key=value`.
    #[error("`{0}` is not of the form key=value")]
    Change(String),
}

impl ConfigError {
    /// The key that it is about, if it is about one.
    pub fn key(&self) -> Option<&str> {
        match self {
            ConfigError::Unknown { key, .. } | ConfigError::Value { key, .. } => Some(key),
            ConfigError::Syntax(_) | ConfigError::Change(_) => None,
        }
    }
}

/// Where a key (`train.rate`) stands in a recipe: line and column, from 1. None if it does not, or if the recipe is not TOML.
///
/// ```
/// use spotlight::config::place_of;
///
/// let recipe = "seed = 1\n[train]\n  rate = 0.1\n";
/// assert_eq!(place_of(recipe, "train.rate"), Some((3, 3)));
/// assert_eq!(place_of(recipe, "train.clip"), None);
/// ```
pub fn place_of(recipe: &str, key: &str) -> Option<(usize, usize)> {
    let parsed = toml::de::DeTable::parse(recipe).ok()?;
    let mut table = parsed.get_ref();
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        if parts.peek().is_none() {
            let before = &recipe[..name.span().start];
            return Some((before.matches('\n').count() + 1, before.chars().rev().take_while(|&c| c != '\n').count() + 1));
        }
        table = value.get_ref().as_table()?;
    }
    None
}

/// The defaults, changed by a recipe, changed by `key=value` pairs (`model.hidden=256`).
pub fn resolve<S: Serialize + DeserializeOwned>(defaults: &S, recipe: &str, changes: &[String]) -> Result<S, ConfigError> {
    let mut settings = Table::try_from(defaults).map_err(|e| ConfigError::Syntax(e.to_string()))?;
    let known = keys(&settings, "");
    let recipe: Table = recipe.parse().map_err(|e: toml::de::Error| ConfigError::Syntax(e.to_string()))?;
    let defaults = settings.clone();
    merge(&mut settings, upgrade(recipe, &known)?, "", &known)?;
    for change in changes {
        merge(&mut settings, upgrade(as_table(change)?, &known)?, "", &known)?;
    }
    S::deserialize(Value::Table(settings.clone())).map_err(|e| {
        let (key, problem) = culprit::<S>(&defaults, &settings, &known).unwrap_or_else(|| ("settings".into(), e));
        ConfigError::Value { key, problem: problem.message().trim_end().into() }
    })
}

/// A change as a recipe of its own.
fn as_table(change: &str) -> Result<Table, ConfigError> {
    let (key, value) = change.split_once('=').ok_or_else(|| ConfigError::Change(change.into()))?;
    // A value that reads as TOML is taken so: numbers, true, lists. Anything else is text.
    let parsed = format!("x = {value}").parse::<Table>().ok().and_then(|parsed| parsed.get("x").cloned());
    let mut table = Table::new();
    put(&mut table, key.trim(), parsed.unwrap_or_else(|| Value::String(value.into())));
    Ok(table)
}

/// The keys that a recipe and changes name, with dots; those that stood elsewhere once, at their new place too. What cannot be read names none.
pub(crate) fn given_keys(recipe: &str, changes: &[String]) -> Vec<String> {
    let tables = [recipe.parse().ok()].into_iter().chain(changes.iter().map(|change| as_table(change).ok()));
    let mut given: Vec<String> = tables.flatten().flat_map(|table: Table| keys(&table, "")).collect();
    let moved = MOVED.iter().filter(|(old, _)| given.iter().any(|key| key == old)).map(|(_, new)| new.to_string());
    given.extend(moved.collect::<Vec<_>>());
    given
}

/// The first key whose value is refused even alone among the defaults, and why. An error of serde does not know its key.
fn culprit<S: DeserializeOwned>(defaults: &Table, settings: &Table, known: &[String]) -> Option<(String, toml::de::Error)> {
    known.iter().find_map(|key| {
        let value = find(settings, key).filter(|value| !value.is_table())?;
        let mut alone = defaults.clone();
        put(&mut alone, key, value.clone());
        S::deserialize(Value::Table(alone)).err().map(|problem| (key.clone(), problem))
    })
}

/// Settings that stood elsewhere once: their old place, and the new one.
const MOVED: [(&str, &str); 7] = [
    ("model.attention", "attention.score"),
    ("model.heads", "attention.heads"),
    ("model.alignment", "attention.alignment"),
    ("model.softmax", "attention.softmax"),
    ("model.half_width", "attention.half_width"),
    ("model.asked", "asked.score"),
    ("model.cell", "model.encoder"),
];

/// A recipe of an earlier version, in the words of this one: recipes and models that exist go on working.
///
/// What is known under its old name is left alone: it belongs to settings that mean something else by it.
fn upgrade(mut recipe: Table, known: &[String]) -> Result<Table, ConfigError> {
    let is_known = |key: &str| known.iter().any(|k| k == key);
    for (old, new) in MOVED {
        if is_known(new)
            && !is_known(old)
            && let Some(value) = take(&mut recipe, old)
        {
            if find(&recipe, new).is_some() {
                return Err(ConfigError::Value {
                    key: old.into(),
                    problem: format!("stands at `{new}` now, where there is another value"),
                });
            }
            put(&mut recipe, new, value);
        }
    }
    // The score by which a model pools once stood where it is said now that it pools by attention.
    let score = find(&recipe, "model.pooling").and_then(Value::as_str).map(str::to_string);
    if let Some(score) = score.filter(|score| is_known("attention.score") && !["attention", "mean", "last"].contains(&score.as_str())) {
        put(&mut recipe, "model.pooling", Value::String("attention".into()));
        put(&mut recipe, "attention.score", Value::String(score));
    }
    Ok(recipe)
}

/// The value of a key with dots.
pub(crate) fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        Some((section, rest)) => find(table.get(section)?.as_table()?, rest),
        None => table.get(key),
    }
}

/// Takes the value of a key with dots out.
fn take(table: &mut Table, key: &str) -> Option<Value> {
    match key.split_once('.') {
        Some((section, rest)) => take(table.get_mut(section)?.as_table_mut()?, rest),
        None => table.remove(key),
    }
}

/// Puts a value at a key with dots; its sections are made if they are not there.
fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        Some((section, rest)) => {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                put(section, rest, value);
            }
        }
        None => {
            table.insert(key.into(), value);
        }
    }
}

/// All keys, with dots.
pub(crate) fn keys(table: &Table, prefix: &str) -> Vec<String> {
    table
        .iter()
        .flat_map(|(key, value)| {
            let path = format!("{prefix}{key}");
            match value {
                Value::Table(inner) => [vec![path.clone()], keys(inner, &format!("{path}."))].concat(),
                _ => vec![path],
            }
        })
        .collect()
}

fn merge(settings: &mut Table, recipe: Table, prefix: &str, known: &[String]) -> Result<(), ConfigError> {
    for (key, value) in recipe {
        let path = format!("{prefix}{key}");
        let Some(old) = settings.get_mut(&key) else {
            return Err(ConfigError::Unknown { suggestion: nearest(&path, known), key: path });
        };
        match (old, value) {
            (Value::Table(old), Value::Table(new)) => merge(old, new, &format!("{path}."), known)?,
            (old @ Value::Float(_), Value::Integer(new)) => *old = Value::Float(new as f64),
            (old, new) if old.type_str() == new.type_str() => *old = new,
            (old, new) => {
                let problem = format!("expected {} such as {}, got {}", old.type_str(), brief(old), brief(&new));
                return Err(ConfigError::Value { key: path, problem });
            }
        }
    }
    Ok(())
}

fn brief(value: &Value) -> String {
    match value {
        Value::Table(_) => "a section".into(),
        other => other.to_string(),
    }
}

/// The most similar key, if one is similar at all; the last part alone may also be what was meant.
fn nearest(key: &str, known: &[String]) -> Option<String> {
    let last = |k: &str| k.rsplit('.').next().unwrap_or_default().to_string();
    let likeness = |k: &String| strsim::jaro_winkler(k, key).max(0.99 * strsim::jaro_winkler(&last(k), &last(key)));
    known.iter().map(|k| (likeness(k), k)).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(l, _)| *l > 0.75).map(|(_, k)| k.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
    struct Inner {
        hidden: usize,
        rate: f64,
        name: String,
    }

    #[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
    struct Outer {
        seed: u64,
        model: Inner,
    }

    fn defaults() -> Outer {
        Outer { seed: 1, model: Inner { hidden: 8, rate: 0.5, name: "gru".into() } }
    }

    #[test]
    fn recipe_and_changes_are_laid_over_the_defaults() {
        let changes = ["model.rate=1".to_string(), "model.name=lstm".into()];
        let got: Outer = resolve(&defaults(), "seed = 7\n[model]\nhidden = 16", &changes).unwrap();
        assert_eq!(got, Outer { seed: 7, model: Inner { hidden: 16, rate: 1.0, name: "lstm".into() } });
    }

    /// What the folders and recipes of the first version say.
    #[test]
    fn settings_that_moved_are_found() {
        use crate::attention::{ScoreKind, SoftmaxKind};
        use crate::model::pooling::PoolingKind;
        use crate::model::{classify, matching, seq2seq};

        let old = "[model]\nattention = \"general\"\nheads = 2\nalignment = 7\nsoftmax = \"sparsemax\"\nhalf_width = 3\norder = \"luong\"";
        let got: seq2seq::Config = resolve(&seq2seq::Config::default(), old, &[]).unwrap();
        let mut want = seq2seq::Config::default();
        want.model.order = crate::decoder::Order::Luong;
        (want.attention.score, want.attention.heads, want.attention.alignment) = (Some(ScoreKind::General), 2, 7);
        (want.attention.softmax, want.attention.half_width) = (SoftmaxKind::Sparsemax, 3);
        assert_eq!(got, want);
        let none: seq2seq::Config = resolve(&want, "", &["model.attention=none".into()]).unwrap();
        assert_eq!(none.attention.score, None);

        let old = "[model]\npooling = \"additive\"\nheads = 2\nalignment = 5\nsoftmax = \"gumbel\"";
        let got: classify::Config = resolve(&classify::Config::default(), old, &[]).unwrap();
        assert_eq!((got.model.pooling, got.attention.score, got.attention.heads), (PoolingKind::Attention, Some(ScoreKind::Additive), 2));
        assert_eq!((got.attention.alignment, got.attention.softmax), (5, SoftmaxKind::Gumbel));
        let got: classify::Config = resolve(&got, "", &["model.pooling=last".into()]).unwrap();
        assert_eq!((got.model.pooling, got.attention.score), (PoolingKind::Last, Some(ScoreKind::Additive)));

        let old = "[model]\npooling = \"mean\"\nasked = \"dot\"";
        let got: matching::Config = resolve(&matching::Config::default(), old, &[]).unwrap();
        assert_eq!(
            (got.model.pooling, got.asked.score, got.attention.score),
            (PoolingKind::Mean, Some(ScoreKind::Dot), Some(ScoreKind::Linear))
        );

        let both = resolve(&seq2seq::Config::default(), "[model]\nheads = 2\n[attention]\nheads = 3", &[]).unwrap_err().to_string();
        assert_eq!(both, "`model.heads`: stands at `attention.heads` now, where there is another value");
        // Elsewhere the same name may mean something else.
        let other: Outer = resolve(&defaults(), "[model]\nname = \"x\"", &[]).unwrap();
        assert_eq!(other.model.name, "x");
    }

    #[test]
    fn a_value_that_does_not_exist_is_named_by_its_key() {
        use crate::model::seq2seq::Config;
        let error = |change: &str| resolve(&Config::default(), "", &[change.into()]).map(|_: Config| ()).unwrap_err().to_string();
        assert!(
            error("model.cell=gruu").starts_with("`model.cell`: unknown variant `gruu`, expected one of"),
            "{}",
            error("model.cell=gruu")
        );
        assert!(error("model.attention=magic").starts_with("`attention.score`: must be none or one of"));
        assert!(error("attention.softmax=soft").starts_with("`attention.softmax`: unknown variant `soft`"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |recipe: &str, change: &str| {
            let changes: Vec<String> = if change.is_empty() { vec![] } else { vec![change.into()] };
            resolve(&defaults(), recipe, &changes).unwrap_err().to_string()
        };
        assert_eq!(error("[model]\nhiden = 3", ""), "unknown key `model.hiden`; did you mean `model.hidden`?");
        assert_eq!(error("", "hidden=3"), "unknown key `hidden`; did you mean `model.hidden`?");
        assert_eq!(error("", "model.hidden=many"), "`model.hidden`: expected integer such as 8, got \"many\"");
        assert_eq!(error("", "model.hidden"), "`model.hidden` is not of the form key=value");
        assert_eq!(error("", "zzz=1"), "unknown key `zzz`");
        assert!(error("seed = ", "").starts_with("not a TOML file"));
    }
}
