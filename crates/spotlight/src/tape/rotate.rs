//! Columns turned by position, and rows of a weight made for several outputs.

use spotlight_kernels::gemm::{Onto, View, product};
use spotlight_kernels::{Float, map, rotary};

use super::{Tape, Var};
use crate::params::ParamId;
use crate::{Error, Result};

impl<'p, T: Float> Tape<'p, T> {
    /// Turns the first `heads * size` columns of each row, pair of features by pair, by angles that grow with the row's position. Su and others, 2021.
    pub fn rotate(&self, x: Var, heads: usize, size: usize, positions: &[usize]) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        if positions.len() != rows || heads * size > cols || !size.is_multiple_of(2) {
            let expected = format!("{} rows, a position each, with {heads} heads of an even size, here {size}", positions.len());
            return Err(Error::Shape { op: "rotate", expected, got: (rows, cols) });
        }
        // Sines are dear, and most positions occur many times.
        let mut distinct = positions.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let which: Vec<usize> = positions.iter().map(|p| distinct.partition_point(|q| q < p)).collect();
        let mut angles = self.buffer(distinct.len() * size);
        rotary::angles(&distinct, size, &mut angles);
        let mut value = self.copy_of(x);
        rotary::rotate(&which, &angles, heads, size, cols, false, &mut value);
        Ok(self.push(value, rows, cols, self.axis(x), &[x], |_| {
            Box::new(move |back, dy| {
                let mut dx = back.grads.buffer(dy.len());
                dx.copy_from_slice(dy);
                rotary::rotate(&which, &angles, heads, size, cols, true, &mut dx);
                back.grads.put(x, dx);
                back.grads.recycle(angles);
            })
        }))
    }

    /// `x W[from..from + count]ᵀ + b[from..from + count]`: some rows of a weight that was made for several outputs.
    pub fn linear_rows(&self, x: Var, weight: ParamId, bias: ParamId, from: usize, count: usize) -> Result<Var> {
        let (w, b) = (self.param(weight), self.param(bias));
        let ((rows, input), (output, width)) = (self.shape(x), self.shape(w));
        if input != width || from + count > output {
            return Err(Error::Shapes { op: "linear (some rows)", left: (rows, input), right: (output, width) });
        }
        self.expect_shape("linear (bias)", b, (1, output))?;
        let part = from * input..(from + count) * input;
        let mut value = self.buffer(rows * count);
        {
            let (x, b) = (self.value(x), self.value(b));
            let onto = Onto::Row(&b[from..from + count]);
            match self.right_side(w, from..from + count, 0..input) {
                Some(right) => self.times(&x, input, &right, &mut value, count, onto),
                None => {
                    let w = self.value(w);
                    product(View::new(&x, rows, input), View::new(&w[part.clone()], count, input).t(), &mut value, count, onto);
                }
            }
        }
        Ok(self.push(value, rows, count, self.axis(x), &[x, w, b], |_| {
            Box::new(move |back, dy| {
                let gradient = View::new(dy, rows, count);
                if back.grads.wants(x) {
                    let right = View::new(&back.values.get(w)[part.clone()], count, input);
                    let (dx, add) = back.grads.write(x);
                    product(gradient, right, dx, input, add);
                }
                if back.grads.wants(w) {
                    let right = View::new(back.values.get(x), rows, input);
                    product(gradient.t(), right, &mut back.grads.of(w)[part], input, true);
                }
                if back.grads.wants(b) {
                    map::add_rows(dy, &mut back.grads.of(b)[from..from + count]);
                }
            })
        }))
    }
}
