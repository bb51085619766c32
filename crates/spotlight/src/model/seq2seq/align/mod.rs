//! Links between the words of a source and those of its target: read from a file, learnt from, and compared with where a model looks.
//!
//! What is learnt from them is added to the loss: for every unit of the target whose word has links, `-ln Σ a_j` over the units `j` of the source that belong to linked words. Mi, Wang and
//! Ittycheriah, 2016; Chen and others, 2016.

pub mod ibm;
mod links;
mod measure;
mod score;
#[cfg(test)]
mod tests;

use spotlight_kernels::Float;

pub use links::{Gold, Link, Links};
pub use measure::{diagonal, linked_words};
pub use score::{AlignmentReport, AlignmentScore};

use crate::decoder::DecoderOutput;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The loss of an attention that looks elsewhere: the sum over all queries with links of `-ln Σ a_j`, times `scale`. `links` has pairs of a query's row and a row of the memory; the
/// attention is the mean of all heads.
pub(super) fn loss<T: Float>(tape: &Tape<T>, decoded: &DecoderOutput, links: &[(usize, usize)], scale: f64) -> Result<Var> {
    let (Some(weights), Some(pairs)) = (decoded.weights, &decoded.pairs) else {
        return Err(Error::Index { op: "alignment (attention)", index: 0, len: 0 });
    };
    let heads = tape.shape(weights).1;
    let mean = tape.on_axis(tape.off_axis(tape.scale(tape.row_sum(weights)?, 1.0 / heads.max(1) as f64)), pairs.axis())?;
    let mut linked = T::zeros(pairs.axis().rows());
    for &(query, row) in links {
        let span = pairs.spans()[query];
        if (span.first..span.first + span.count).contains(&row) {
            linked[span.pair + row - span.first] = T::ONE;
        }
    }
    let seen = tape.sum(tape.mul(mean, tape.table(linked.len(), 1, linked)?)?)?;
    let mut queries: Vec<usize> = links.iter().map(|link| link.0).collect();
    queries.sort_unstable();
    queries.dedup();
    let seen = tape.gather(seen, &queries)?;
    tape.negative_log_likelihood(seen, &vec![0; queries.len()], scale)
}
