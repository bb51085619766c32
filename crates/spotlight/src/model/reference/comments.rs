//! The comments of the settings' fields, read from the source that declares them.

use crate::model::Task;

/// Where sections are declared that several tasks have. A section of its own file is added here.
const SHARED: &[&str] = &[
    include_str!("../../text/read/format.rs"),
    include_str!("../../train/settings.rs"),
    include_str!("../attention.rs"),
    include_str!("../encoder.rs"),
    include_str!("../transformer.rs"),
    include_str!("../units.rs"),
];

/// Where the settings of a task are declared.
fn own(task: Task) -> &'static str {
    match task {
        Task::Seq2seq => include_str!("../seq2seq/config.rs"),
        Task::Classify => include_str!("../classify/config.rs"),
        Task::Match => include_str!("../matching/config.rs"),
        Task::Bags => include_str!("../bags/config.rs"),
    }
}

/// Every key of a recipe of this task with the comment of its field.
pub(super) fn of(task: Task) -> Vec<(String, String)> {
    let sources = [&[own(task)], SHARED].concat();
    let mut found = Vec::new();
    collect(&sources, "Config", "", &mut found);
    found
}

/// Adds the keys of a struct, and those of the structs in it.
fn collect(sources: &[&str], name: &str, prefix: &str, found: &mut Vec<(String, String)>) {
    for field in sources.iter().find_map(|source| fields(source, name)).unwrap_or_default() {
        let key = format!("{prefix}{}", field.name);
        match sources.iter().any(|source| fields(source, field.kind).is_some()) {
            true if field.flat => collect(sources, field.kind, prefix, found),
            true => collect(sources, field.kind, &format!("{key}."), found),
            false => found.push((key, field.comment)),
        }
    }
}

/// A field of a struct.
struct Field<'a> {
    name: &'a str,
    kind: &'a str,
    comment: String,
    /// Whether the fields of its own stand beside it in a recipe.
    flat: bool,
}

/// The fields of a struct, if it is declared in this source: as rustfmt writes it, a line each.
fn fields<'a>(source: &'a str, name: &str) -> Option<Vec<Field<'a>>> {
    let start = source.find(&format!("pub struct {name} {{\n"))?;
    let (mut fields, mut comment, mut flat, mut called) = (Vec::new(), Vec::new(), false, None);
    for line in source[start..].lines().skip(1).take_while(|line| *line != "}").map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if line.starts_with("#[") {
            flat |= line.contains("flatten");
            called = line.strip_prefix("#[serde(rename = \"").and_then(|rest| rest.split('"').next());
        } else if let Some((name, kind)) = line.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
            let kind = kind.trim_end_matches(',');
            fields.push(Field { name: called.unwrap_or(name), kind, comment: comment.join(" "), flat });
            (comment, flat, called) = (Vec::new(), false, None);
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_their_comments() {
        let source = "/// Not this.\npub struct Other {\n    /// Nor this.\n    pub x: f64,\n}\n\npub struct Config {\n    /// The first,\n    /// in two lines.\n    \
                      pub one: usize,\n    /// `[inner]`\n    pub inner: Inner,\n    #[serde(flatten)]\n    pub flat: Other,\n}\n\npub struct Inner {\n    /// The last.\n    \
                      #[serde(rename = \"last\")]\n    pub end: Option<u8>,\n}\n";
        let mut found = Vec::new();
        collect(&[source], "Config", "", &mut found);
        let found: Vec<(&str, &str)> = found.iter().map(|(key, meaning)| (key.as_str(), meaning.as_str())).collect();
        assert_eq!(found, [("one", "The first, in two lines."), ("inner.last", "The last."), ("x", "Nor this.")]);
    }
}
