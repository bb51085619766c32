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

/// The defaults, changed by a recipe, changed by `key=value` pairs (`model.hidden=256`).
pub fn resolve<S: Serialize + DeserializeOwned>(defaults: &S, recipe: &str, changes: &[String]) -> Result<S, ConfigError> {
    let mut settings = Table::try_from(defaults).map_err(|e| ConfigError::Syntax(e.to_string()))?;
    let known = keys(&settings, "");
    let recipe: Table = recipe.parse().map_err(|e: toml::de::Error| ConfigError::Syntax(e.to_string()))?;
    merge(&mut settings, recipe, "", &known)?;
    for change in changes {
        let (key, value) = change.split_once('=').ok_or_else(|| ConfigError::Change(change.clone()))?;
        let mut table = Value::String(value.into());
        // A value that reads as TOML is taken so: numbers, true, lists. Anything else is text.
        if let Ok(parsed) = format!("x = {value}").parse::<Table>()
            && let Some(parsed) = parsed.get("x")
        {
            table = parsed.clone();
        }
        for part in key.trim().rsplit('.') {
            table = Value::Table(Table::from_iter([(part.to_string(), table)]));
        }
        if let Value::Table(table) = table {
            merge(&mut settings, table, "", &known)?;
        }
    }
    // Deserialise section by section, so that an error knows its key.
    S::deserialize(Value::Table(settings)).map_err(|e| ConfigError::Value { key: "settings".into(), problem: e.to_string() })
}

/// All keys, with dots.
fn keys(table: &Table, prefix: &str) -> Vec<String> {
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
