//! Where a row stands in its sequence.
//!
//! Attention sees a set: without positions, a sequence and its permutations are the same. Three ways to tell them apart:
//!
//! ```text
//! sinusoidal   x + p(i)     p(i)_2j = sin(i / 10000^(2j / D)),  p(i)_2j+1 = cos(i / 10000^(2j / D))      Vaswani and others, 2017, section 3.5
//! learned      x + P[i]     a row of numbers for each position, up to a limit                            Gehring and others, 2017
//! rotary       nothing is added; queries and keys of every self-attention are turned by their position   Su and others, 2021
//! ```

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use crate::axis::Axis;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PositionKind {
    /// Sines and cosines of many wavelengths; any length.
    Sinusoidal,
    /// A row of parameters for each position, up to a limit.
    Learned,
    /// Queries and keys turned by their position; any length.
    Rotary,
}

/// The position of a row that has none, such as a feature beside a text: nothing is added to it, and rotary positions leave it as it is.
pub const NOWHERE: usize = usize::MAX;

/// Positions for rows of some width.
#[derive(Clone, Copy, Debug)]
pub struct Positions {
    kind: PositionKind,
    /// Of learned ones: `[limit, features]`.
    table: Option<(ParamId, usize)>,
}

impl Positions {
    /// Makes `name.weight` with `limit` rows for learned positions; the others have no parameters.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, kind: PositionKind, width: usize, limit: usize) -> Self {
        let learned = kind == PositionKind::Learned;
        let table = learned.then(|| (params.add(format!("{name}.weight"), &[limit, width], Init::Normal(0.02)), limit));
        Positions { kind, table }
    }

    /// Which way.
    pub fn kind(&self) -> PositionKind {
        self.kind
    }

    /// The place of each row in its own sequence.
    pub fn of_axis(axis: &Axis) -> Vec<usize> {
        axis.lengths().iter().flat_map(|&n| 0..n).collect()
    }

    /// The longest sequence, if there is a limit.
    pub fn longest(&self) -> Option<usize> {
        self.table.map(|(_, limit)| limit)
    }

    /// The rows with their positions added, `places[row]` each, nothing at [`NOWHERE`]. Rotary positions add nothing here.
    pub fn add<T: Float>(&self, tape: &Tape<T>, x: Var, places: &[usize]) -> Result<Var> {
        let (rows, width) = tape.shape(x);
        if places.len() != rows {
            return Err(Error::Shape { op: "positions", expected: format!("{} rows, a position each", places.len()), got: (rows, width) });
        }
        let last = places.iter().copied().filter(|&place| place != NOWHERE).max();
        let added = match (self.kind, self.table) {
            (PositionKind::Learned, Some((table, limit))) => {
                if let Some(last) = last.filter(|&last| last >= limit) {
                    return Err(Error::Value {
                        what: "the length of a sequence".into(),
                        got: (last + 1).to_string(),
                        expected: format!(
                            "at most {limit}, the number of learned positions; sinusoidal and rotary positions have no limit"
                        ),
                    });
                }
                // Below the limit, and no table has 2^32 rows.
                let ids: Vec<u32> = places.iter().map(|&place| if place == NOWHERE { 0 } else { place as u32 }).collect();
                let added = tape.embedding(table, &ids)?;
                if places.contains(&NOWHERE) {
                    let some = |&place: &usize| if place == NOWHERE { T::ZERO } else { T::ONE };
                    tape.mul(added, tape.table(rows, 1, places.iter().map(some).collect())?)?
                } else {
                    added
                }
            }
            (PositionKind::Sinusoidal, _) => {
                let each = waves(places, width);
                let data = each.into_iter().map(T::from_f64).collect();
                tape.table(rows, width, data)?
            }
            _ => return Ok(x),
        };
        tape.residual(x, added, 0.0)
    }
}

/// Rows of sines and cosines.
fn waves(places: &[usize], width: usize) -> Vec<f64> {
    let longest = places.iter().filter(|&&place| place != NOWHERE).max().map_or(0, |&last| last + 1);
    // A sine and a cosine of the same angle side by side.
    let row = |place: usize| {
        (0..width).step_by(2).flat_map(move |i| {
            let angle = place as f64 * 10_000f64.powf(-(i as f64) / width as f64);
            let pair = if place == NOWHERE { [0.0; 2] } else { [angle.sin(), angle.cos()] };
            pair.into_iter().take(width - i)
        })
    };
    // In a search all rows stand at the same one.
    if let Some(&first) = places.first().filter(|&first| places.iter().all(|place| place == first)) {
        return row(first).collect::<Vec<f64>>().repeat(places.len());
    }
    // Most positions occur many times; a lone one, far on, does not need those before it.
    if longest <= places.len() {
        let table: Vec<f64> = (0..longest).flat_map(row).collect();
        let nothing = vec![0.0; width];
        let of = |&place: &usize| if place == NOWHERE { &nothing[..] } else { &table[place * width..(place + 1) * width] };
        places.iter().flat_map(of).copied().collect()
    } else {
        places.iter().flat_map(|&place| row(place)).collect()
    }
}
