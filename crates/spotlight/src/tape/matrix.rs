//! Products with weights, embeddings; softmax and layer norm over the features of a row.

use spotlight_kernels::gemm::{Onto, View, product};
use spotlight_kernels::{Float, map, norm, segment};

use super::{Tape, Var};
use crate::params::ParamId;
use crate::{Error, Result};

impl<'p, T: Float> Tape<'p, T> {
    /// `x Wᵀ + b`: PyTorch's layout, one row of `weight` for each feature that comes out.
    pub fn linear(&self, x: Var, weight: ParamId, bias: Option<ParamId>) -> Result<Var> {
        self.linear_columns(x, weight, 0, bias)
    }

    /// `x W[:, from..]ᵀ + b`: some columns of a weight that was made for several inputs side by side.
    pub fn linear_columns(&self, x: Var, weight: ParamId, from: usize, bias: Option<ParamId>) -> Result<Var> {
        let (w, b) = (self.param(weight), bias.map(|b| self.param(b)));
        let ((rows, input), (output, width)) = (self.shape(x), self.shape(w));
        if from + input > width {
            return Err(Error::Shapes { op: "linear", left: (rows, input), right: (output, width) });
        }
        if let Some(b) = b {
            self.expect_shape("linear (bias)", b, (1, output))?;
        }
        let mut value = self.buffer(rows * output);
        {
            let bias = b.map(|b| self.value(b));
            let onto = bias.as_ref().map_or(Onto::Nothing, |bias| Onto::Row(bias));
            match self.right_side(w, 0..output, from..from + input) {
                Some(_) if self.is_looked_up(x) => {
                    // Rows that are looked up are added.
                    match &bias {
                        Some(bias) => super::fill_rows(&mut value, bias),
                        None => value.fill(T::ZERO),
                    }
                    let add_row = |row: usize, projected: &[T]| map::add_assign(&mut value[row * output..(row + 1) * output], projected);
                    self.projected_rows(x, w, from, add_row);
                }
                Some(right) => self.times(&self.value(x), input, &right, &mut value, output, onto),
                None => {
                    let (x, w) = (self.value(x), self.value(w));
                    let right = View::strided(&w[from..], output, input, width).t();
                    product(View::new(&x, rows, input), right, &mut value, output, onto);
                }
            }
        }
        let parents: Vec<Var> = [x, w].into_iter().chain(b).collect();
        Ok(self.push(value, rows, output, self.axis(x), &parents, |_| {
            Box::new(move |back, dy| {
                let dy_view = View::new(dy, rows, output);
                if back.grads.wants(x) {
                    let right = View::strided(&back.values.get(w)[from..], output, input, width);
                    let (dx, add) = back.grads.write(x);
                    product(dy_view, right, dx, input, add);
                }
                if back.grads.wants(w) {
                    let right = View::new(back.values.get(x), rows, input);
                    // Overwriting would lose the columns that belong to other inputs.
                    let (dw, add) = if input == width { back.grads.write(w) } else { (back.grads.of(w), true) };
                    product(dy_view.t(), right, &mut dw[from..], width, add);
                }
                if let Some(b) = b
                    && back.grads.wants(b)
                {
                    map::add_rows(dy, back.grads.of(b));
                }
            })
        }))
    }

    /// `a b`
    pub fn matmul(&self, a: Var, b: Var) -> Result<Var> {
        let (left, right) = (self.shape(a), self.shape(b));
        if left.1 != right.0 {
            return Err(Error::Shapes { op: "matmul", left, right });
        }
        let (m, k, n) = (left.0, left.1, right.1);
        let mut value = self.buffer(m * n);
        product(View::new(&self.value(a), m, k), View::new(&self.value(b), k, n), &mut value, n, false);
        Ok(self.push(value, m, n, self.axis(a), &[a, b], |_| {
            Box::new(move |back, dy| {
                let (av, bv, dy) = (back.values.get(a), back.values.get(b), View::new(dy, m, n));
                if back.grads.wants(a) {
                    let (da, add) = back.grads.write(a);
                    product(dy, View::new(bv, k, n).t(), da, k, add);
                }
                if back.grads.wants(b) {
                    let (db, add) = back.grads.write(b);
                    product(View::new(av, m, k).t(), dy, db, n, add);
                }
            })
        }))
    }

    /// Row `ids[i]` of `table` as row `i`. The gradient touches only the rows used.
    pub fn embedding(&self, table: ParamId, ids: &[u32]) -> Result<Var> {
        let table = self.param(table);
        let (len, cols) = self.shape(table);
        if let Some(&index) = ids.iter().find(|&&id| id as usize >= len) {
            return Err(Error::Index { op: "embedding", index: index as usize, len });
        }
        let mut value = self.buffer(ids.len() * cols);
        {
            let rows = self.value(table);
            for (to, &id) in value.chunks_exact_mut(cols.max(1)).zip(ids) {
                to.copy_from_slice(&rows[id as usize * cols..][..cols]);
            }
        }
        let ids = ids.to_vec();
        let rows = ids.len();
        let looked_up = ids.clone();
        let x = self.push(value, rows, cols, None, &[table], |_| Box::new(move |back, dy| back.grads.add_rows(table, &ids, cols, dy)));
        self.note_lookup(x, table, &looked_up);
        Ok(x)
    }

    /// Softmax over the features of each row: a distribution over units or labels. Over the positions of a sequence it is [`Tape::softmax`]; −∞ and NaN are treated
    /// in the same way.
    pub fn row_softmax(&self, x: Var) -> Var {
        let (rows, cols) = self.shape(x);
        let mut value = self.copy_of(x);
        segment::row_softmax_forward(cols, &mut value);
        self.push(value, rows, cols, self.axis(x), &[x], |y| {
            Box::new(move |back, dy| segment::row_softmax_backward(cols, back.values.get(y), dy, back.grads.of(x)))
        })
    }

    /// The logarithm of [`Tape::row_softmax`], without going through numbers that are too small to have one.
    pub fn row_log_softmax(&self, x: Var) -> Var {
        let (rows, cols) = self.shape(x);
        let mut value = self.copy_of(x);
        segment::row_log_softmax_forward(cols, &mut value);
        self.push(value, rows, cols, self.axis(x), &[x], |y| {
            Box::new(move |back, dy| segment::row_log_softmax_backward(cols, back.values.get(y), dy, back.grads.of(x)))
        })
    }

    /// Every row to mean 0 and variance 1, then times `scale` plus `shift`. Ba, Kiros and Hinton, 2016.
    pub fn layer_norm(&self, x: Var, scale: ParamId, shift: ParamId, epsilon: f64) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        let (scale, shift) = (self.param(scale), self.param(shift));
        self.expect_shape("layer_norm (scale)", scale, (1, cols))?;
        self.expect_shape("layer_norm (shift)", shift, (1, cols))?;
        let (mut value, mut kept) = (self.buffer(rows * cols), self.buffer(2 * rows));
        {
            let (x, scale, shift) = (self.value(x), self.value(scale), self.value(shift));
            norm::layer_norm_forward(&x, &scale, &shift, T::from_f64(epsilon), &mut value, kept.as_chunks_mut().0);
        }
        Ok(self.push(value, rows, cols, self.axis(x), &[x, scale, shift], |_| {
            Box::new(move |back, dy| {
                let (x_value, scale_value) = (back.values.get(x), back.values.get(scale));
                let (mut d_scale, mut d_shift) = (T::zeros(cols), T::zeros(cols));
                let mut unused = Vec::new();
                let (dx, add) = if back.grads.wants(x) {
                    back.grads.write(x)
                } else {
                    unused = back.grads.buffer(rows * cols);
                    (&mut unused[..], false)
                };
                norm::layer_norm_backward(x_value, kept.as_chunks().0, scale_value, dy, add, dx, &mut d_scale, &mut d_shift);
                back.grads.add(scale, &d_scale);
                back.grads.add(shift, &d_shift);
                back.grads.recycle(unused);
                back.grads.recycle(kept);
            })
        }))
    }
}
