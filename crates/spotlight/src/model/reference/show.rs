//! The settings that a training would use, without training.

use toml::Table;

use super::{chosen, leaves, table};
use crate::Result;
use crate::config::{find, given_keys};
use crate::model::kind::{Model, resolved};
use crate::model::teach::prepare;

/// What marks a value that nobody set.
const FROM_DATA: &str = "from the data";

/// All settings that a training would use, as a recipe: TOML with a comment at each value that was chosen from the data. `note` hears what was found there.
/// Nothing is written.
pub fn show<M: Model>(recipe: Option<&str>, changes: &[String], note: &mut dyn FnMut(&str)) -> Result<String> {
    let given = given_keys(recipe.unwrap_or_default(), changes);
    let before = table(&M::defaults(&resolved::<M>(recipe, changes)?));
    let model = prepare::<M>(recipe, changes, note)?.model;
    let after = table(model.config());
    let text = toml::to_string(model.config()).map_err(|e| crate::config::ConfigError::Syntax(e.to_string()))?;
    let marked: Vec<String> = leaves(&after)
        .into_iter()
        .filter(|(key, value)| {
            !given.contains(key) && (find(&before, key) != Some(*value) || recipe.is_none() && is_choice(M::TASK, key, &after))
        })
        .map(|(key, _)| key)
        .collect();
    Ok(with_comments(&text, &marked))
}

/// Whether a setting is one that is chosen from the data, beside these others.
fn is_choice(task: crate::model::Task, key: &str, settings: &Table) -> bool {
    let holds = |(key, value): (&str, &str)| key.is_empty() || find(settings, key).and_then(|v| v.as_str()) == Some(value);
    chosen::of(task, key).is_some_and(|choice| holds(choice.with))
}

/// Adds the comment to the lines of these keys.
fn with_comments(toml: &str, marked: &[String]) -> String {
    let (mut text, mut section) = (String::new(), String::new());
    for line in toml.lines() {
        text.push_str(line);
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ")
            && marked.contains(&format!("{section}{key}"))
        {
            text.push_str(&format!("  # {FROM_DATA}"));
        }
        text.push('\n');
    }
    text
}
