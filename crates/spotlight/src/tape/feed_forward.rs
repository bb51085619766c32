//! Two products with a bend between them, as one node: `f(x W1ᵀ + b1) W2ᵀ + b2`.
//!
//! Vaswani and others, 2017, equation 2. The middle is several times as wide as the rows that go in, so it is made and used a block of rows at a time, while it is
//! near. On the way back the gradient of the middle never exists as a whole:
//!
//! ```text
//! a = f(x W1ᵀ + b1)        dh = f' * (dy W2)        dW2 += dyᵀ a        dW1 += dhᵀ x        dx += dh W1
//! ```

use std::sync::Arc;

use spotlight_kernels::activation::{self, Activation};
use spotlight_kernels::gemm::{Onto, Packed, View, product, product_packed};
use spotlight_kernels::{Float, map};

use super::{Right, Tape, Var};
use crate::params::ParamId;
use crate::{Error, Result};

/// Rows of the middle made at once: together they fit the second-level cache.
const ROWS: usize = 96;
/// The same on the way back, where sums over the rows are formed: long enough that adding them up does not count.
const ROWS_BACK: usize = 480;

/// The parameters of a feed-forward layer, in PyTorch's layout.
#[derive(Clone, Copy, Debug)]
pub struct FeedForwardWeights {
    /// `[middle, features]`
    pub weight1: ParamId,
    /// `[middle]`
    pub bias1: ParamId,
    /// `[out, middle]`
    pub weight2: ParamId,
    /// `[out]`
    pub bias2: ParamId,
}

impl<'p, T: Float> Tape<'p, T> {
    /// `dropout(f(x W1ᵀ + b1)) W2ᵀ + b2`; while learning, numbers of the middle are dropped with probability `p`.
    pub fn feed_forward(&self, x: Var, weights: FeedForwardWeights, kind: Activation, p: f64) -> Result<Var> {
        let [w1, b1, w2, b2] = [weights.weight1, weights.bias1, weights.weight2, weights.bias2].map(|id| self.param(id));
        let ((rows, input), (middle, width), (output, _)) = (self.shape(x), self.shape(w1), self.shape(w2));
        if input != width {
            return Err(Error::Shapes { op: "feed_forward", left: (rows, input), right: (middle, width) });
        }
        self.expect_shape("feed_forward (first bias)", b1, (1, middle))?;
        self.expect_shape("feed_forward (second weight)", w2, (output, middle))?;
        self.expect_shape("feed_forward (second bias)", b2, (1, output))?;
        let dropout = self.dropout_of(p)?;
        let parents = [x, w1, b1, w2, b2];
        let keeps = parents.iter().any(|&p| self.wants(p));
        let mut value = self.buffer(rows * output);
        // Where nothing goes back, one block of the middle serves all.
        let mut kept = self.buffer(if keeps { rows } else { rows.min(ROWS) } * middle);
        let mut slopes = self.buffer(if keeps && kind.keeps_slopes() { rows * middle } else { 0 });
        // Packed once for all blocks or, on the tape of a search, for all steps.
        let packed = |weight: Var| {
            let (rows, cols) = self.shape(weight);
            let make = || Right::Numbers(Arc::new(Packed::new(View::new(&self.value(weight), rows, cols).t())));
            self.right_side(weight, 0..rows, 0..cols).unwrap_or_else(make)
        };
        let (first, second) = (packed(w1), packed(w2));
        {
            let (x, b1, b2) = (self.value(x), self.value(b1), self.value(b2));
            for from in (0..rows).step_by(ROWS) {
                let count = ROWS.min(rows - from);
                let block = if keeps { from * middle..(from + count) * middle } else { 0..count * middle };
                let hidden = &mut kept[block.clone()];
                self.times(&x[from * input..(from + count) * input], input, &first, hidden, middle, Onto::Row(&b1));
                let slopes = if slopes.is_empty() { &mut [] } else { &mut slopes[block] };
                activation::forward(kind, dropout, from * middle, hidden, slopes);
                self.times(hidden, middle, &second, &mut value[from * output..], output, Onto::Row(&b2));
            }
        }
        Ok(self.push(value, rows, output, self.axis(x), &parents, |_| {
            Box::new(move |back, dy| {
                let (xv, w1v, w2v) = (back.values.get(x), back.values.get(w1), back.values.get(w2));
                let (to_middle, to_input) = (Packed::new(View::new(w2v, output, middle)), Packed::new(View::new(w1v, middle, input)));
                let mut d_middle = back.grads.buffer(rows.min(ROWS_BACK) * middle);
                // Whether the rows that go in have a gradient already.
                let add_to_x = back.grads.wants(x) && back.grads.write(x).1;
                for from in (0..rows).step_by(ROWS_BACK) {
                    let count = ROWS_BACK.min(rows - from);
                    let block = from * middle..(from + count) * middle;
                    let (dy, x_view) = (View::new(&dy[from * output..], count, output), View::new(&xv[from * input..], count, input));
                    let d = &mut d_middle[..count * middle];
                    product_packed(dy, &to_middle, d, middle, false);
                    let slopes = if slopes.is_empty() { &[] } else { &slopes[block.clone()] };
                    activation::backward(kind, dropout, &kept[block.clone()], slopes, d);
                    let d_view = View::new(d, count, middle);
                    if back.grads.wants(x) {
                        let (dx, _) = back.grads.write(x);
                        product_packed(d_view, &to_input, &mut dx[from * input..], input, add_to_x);
                    }
                    if back.grads.wants(w1) {
                        let (dw, add) = back.grads.write(w1);
                        product(d_view.t(), x_view, dw, input, add);
                    }
                    if back.grads.wants(b1) {
                        map::add_rows(d, back.grads.of(b1));
                    }
                    if back.grads.wants(w2) {
                        let (dw, add) = back.grads.write(w2);
                        product(dy.t(), View::new(&kept[block], count, middle), dw, middle, add);
                    }
                }
                if back.grads.wants(b2) {
                    map::add_rows(dy, back.grads.of(b2));
                }
                for buffer in [kept, slopes, d_middle] {
                    back.grads.recycle(buffer);
                }
            })
        }))
    }
}
