//! Going on with new examples: a model that has learnt takes in the units and labels of new ones, and keeps every number it has.
//!
//! Which number belongs to which unit is known by name: a model says what the rows and columns of its parameters stand for ([`Named`]), and [`carry`] takes over what both have.

use std::collections::HashMap;

use crate::config::ConfigError;
use crate::params::{Entry, Params};
use crate::text::vocab::SPECIALS;
use crate::text::{Inventory, Tokenizer};

/// What the rows of a parameter stand for, and its columns, if they stand for something. A vector has one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name of the parameter.
    pub param: &'static str,
    /// One name per row.
    pub rows: Vec<String>,
    /// One name per column; none if they are features that have no names.
    pub columns: Option<Vec<String>>,
}

impl Named {
    /// Rows with names, columns without.
    pub fn rows(param: &'static str, rows: &[String]) -> Self {
        Named { param, rows: rows.to_vec(), columns: None }
    }
}

/// The units of a vocabulary by their numbers.
pub(super) fn units(tokenizer: &Tokenizer) -> Vec<String> {
    let name = |id: u32| match SPECIALS.get(id as usize) {
        // No unit of the data has a zero byte before it.
        Some(special) => format!("\0{special}"),
        None => tokenizer.text(id).unwrap_or_default().to_string(),
    };
    (0..tokenizer.len() as u32).map(name).collect()
}

/// The labels in their order.
pub(super) fn labels(labels: &Inventory) -> Vec<String> {
    labels.iter().map(str::to_string).collect()
}

/// Takes over every number of `old` that has a place in `new`: where rows or columns have names, by name, else where the shape is the same. A parameter of another shape is an error:
/// the settings were changed in a way that leaves nothing to go on with.
pub fn carry(old: (&Params<f32>, &[Named]), new: (&mut Params<f32>, &[Named])) -> Result<(), ConfigError> {
    let (params, names) = new;
    for entry in params.entries().to_vec() {
        let named = |all: &[Named]| all.iter().find(|n| n.param == entry.name).cloned();
        let Some(from) = old.0.entries().iter().find(|e| e.name == entry.name) else { return Err(unfit(&entry)) };
        let source = &old.0.flat()[from.range.clone()];
        let target = &mut params.flat_mut()[entry.range.clone()];
        match (named(old.1), named(names)) {
            (Some(before), Some(now)) => {
                let widths = (source.len() / before.rows.len().max(1), target.len() / now.rows.len().max(1));
                let columns = pairs(before.columns.as_deref(), now.columns.as_deref(), widths).ok_or_else(|| unfit(&entry))?;
                for (a, b) in matching(&before.rows, &now.rows) {
                    columns.iter().for_each(|&(x, y)| target[b * widths.1 + y] = source[a * widths.0 + x]);
                }
            }
            _ if from.shape == entry.shape => target.copy_from_slice(source),
            _ => return Err(unfit(&entry)),
        }
    }
    Ok(())
}

fn unfit(entry: &Entry) -> ConfigError {
    let problem =
        format!("the model to go on with has no {} of shape {:?}: settings that change shapes cannot be changed", entry.name, entry.shape);
    ConfigError::Value { key: "train.from".into(), problem }
}

/// Columns that are the same: by name, or one for one if they have none and are as many.
fn pairs(old: Option<&[String]>, new: Option<&[String]>, widths: (usize, usize)) -> Option<Vec<(usize, usize)>> {
    match (old, new) {
        (Some(old), Some(new)) => Some(matching(old, new)),
        _ => (widths.0 == widths.1).then(|| (0..widths.0).map(|i| (i, i)).collect()),
    }
}

/// Places of the same name in both.
fn matching(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let places: HashMap<&str, usize> = old.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    new.iter().enumerate().filter_map(|(b, name)| places.get(name.as_str()).map(|&a| (a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Init;

    #[test]
    fn numbers_follow_their_names() {
        let strings = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let mut old = Params::<f32>::new(1);
        old.add("table", &[2, 2], Init::Normal(1.0));
        old.add("bias", &[2], Init::Normal(1.0));
        old.add("inner", &[3, 3], Init::Normal(1.0));
        let mut new = Params::<f32>::new(2);
        let [table, bias, inner] =
            [("table", &[3, 3][..]), ("bias", &[3]), ("inner", &[3, 3])].map(|(n, s)| new.add(n, s, Init::Normal(1.0)));
        let drawn = new.clone();
        let names = |rows: &[&str], columns: &[&str]| {
            vec![
                Named { param: "table", rows: strings(rows), columns: Some(strings(columns)) },
                Named { param: "bias", rows: strings(columns), columns: None },
            ]
        };
        carry((&old, &names(&["a", "b"], &["x", "y"])), (&mut new, &names(&["b", "c", "a"], &["x", "w", "y"]))).unwrap();
        let of = old.flat();
        let table = new.get(table);
        assert_eq!([table[0], table[2], table[6], table[8]], [of[2], of[3], of[0], of[1]]);
        // What is new stays as it was drawn.
        assert_eq!((table[1], &table[3..6]), (drawn.flat()[1], &drawn.flat()[3..6]));
        assert_eq!((new.get(bias)[0], new.get(bias)[2], new.get(inner)), (of[4], of[5], &of[6..]));

        let mut wide = Params::<f32>::new(2);
        wide.add("inner", &[4, 4], Init::Zeros);
        let refused = carry((&old, &[]), (&mut wide, &[])).unwrap_err().to_string();
        assert!(refused.contains("inner") && refused.contains("train.from"), "{refused}");
    }
}
