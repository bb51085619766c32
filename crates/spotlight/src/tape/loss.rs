//! Losses.

use spotlight_kernels::gemm::{Onto, View, product};
use spotlight_kernels::{Float, loss, map};

use super::{Tape, Var};
use crate::params::ParamId;
use crate::{Error, Result};

/// Logits held at once, in numbers.
const BLOCK: usize = 1 << 22;

impl<'p, T: Float> Tape<'p, T> {
    /// Linear layer, softmax and cross-entropy in one: the sum over the rows of `-ln p(target)`, times `scale`.
    ///
    /// With `smoothing` a share of each target is spread evenly over all units (Szegedy and others, 2016). The logits exist a block of rows
    /// at a time and become their own gradient there, so neither they nor their softmax are ever held as a whole.
    pub fn cross_entropy(
        &self,
        x: Var,
        weight: ParamId,
        bias: Option<ParamId>,
        targets: &[u32],
        smoothing: f64,
        scale: f64,
    ) -> Result<Var> {
        let (w, b) = (self.param(weight), bias.map(|b| self.param(b)));
        let ((rows, d), (v, width)) = (self.shape(x), self.shape(w));
        if d != width {
            return Err(Error::Shapes { op: "cross_entropy", left: (rows, d), right: (v, width) });
        }
        if targets.len() != rows {
            return Err(Error::Shape { op: "cross_entropy", expected: format!("{} rows, one per target", targets.len()), got: (rows, d) });
        }
        if let Some(&index) = targets.iter().find(|&&t| t as usize >= v) {
            return Err(Error::Index { op: "cross_entropy", index: index as usize, len: v });
        }
        if !(0.0..1.0).contains(&smoothing) {
            let got = smoothing.to_string();
            return Err(Error::Value { what: "label smoothing".into(), got, expected: "from 0 to below 1".into() });
        }
        if let Some(b) = b {
            self.expect_shape("cross_entropy (bias)", b, (1, v))?;
        }
        let layer = Layer { d, v, smoothing: T::from_f64(smoothing), scale: T::from_f64(scale) };
        let learn = self.wants(x) || self.wants(w);
        let mut dx = self.buffer(if learn { rows * d } else { 0 });
        let block = (BLOCK / v.max(1)).clamp(16, rows.max(16));
        let mut logits = self.buffer(block.min(rows) * v);
        let mut total = 0.0;
        // Whether the gradients of the weights are still to be computed in the backward pass.
        let mut own = false;
        {
            let nodes = (self.value(x), self.value(w), b.map(|b| self.value(b)));
            let (xs, ws, bs) = (&nodes.0, &nodes.1, nodes.2.as_deref());
            for (first, targets) in (0..rows).step_by(block).zip(targets.chunks(block)) {
                let n = targets.len();
                let xs = &xs[first * d..(first + n) * d];
                let logits = &mut logits[..n * v];
                total += layer.block(xs, ws, bs, targets, logits);
                if learn {
                    product(View::new(logits, n, v), View::new(ws, v, d), &mut dx[first * d..(first + n) * d], d, false);
                    own |= !self.weight_gradient(w, b, logits, xs, &layer);
                }
            }
        }
        if let Some(pool) = self.pool {
            pool.put(logits);
        }
        let targets = targets.to_vec();
        let parents: Vec<Var> = [x, w].into_iter().chain(b).collect();
        let loss = self.push(vec![T::from_f64(total)], 1, 1, None, &parents, |_| {
            Box::new(move |back, dy| {
                // The gradients were computed for a loss that counts once. If it counts otherwise, correct them by the difference. Those of the weights count once
                // where they stand already, or not at all.
                let factor = dy[0];
                let less = if own { factor } else { factor - T::ONE };
                if factor != T::ONE {
                    for d in dx.iter_mut() {
                        *d *= factor;
                    }
                }
                if back.grads.wants(w) && !own {
                    [w].into_iter().chain(b).for_each(|x| back.grads.make_good(x));
                }
                if less != T::ZERO && back.grads.wants(w) {
                    let (xs, ws) = (back.values.get(x), back.values.get(w));
                    let mut logits = back.grads.buffer(block.min(rows) * v);
                    for (xs, targets) in xs.chunks((block * d).max(1)).zip(targets.chunks(block)) {
                        let logits = &mut logits[..targets.len() * v];
                        layer.block(xs, ws, b.map(|b| back.values.get(b)), targets, logits);
                        logits.iter_mut().for_each(|l| *l *= less);
                        let n = targets.len();
                        product(View::new(logits, n, v).t(), View::new(xs, n, d), back.grads.of(w), d, true);
                        if let Some(b) = b {
                            map::add_rows(logits, back.grads.of(b));
                        }
                    }
                }
                back.grads.add(x, &dx);
                back.grads.recycle(dx);
            })
        });
        // A loss that nothing is asked of counts zero times; its backward pass must hear of that, too.
        self.always_run(loss);
        Ok(loss)
    }

    /// Adds a block's part to the gradients of the weights, at once: the block will not be there later. They are provisional until the backward pass comes. Returns
    /// false if there is no place for that, because earlier backward passes have left their sum there.
    fn weight_gradient(&self, w: Var, b: Option<Var>, logits: &[T], xs: &[T], layer: &Layer<T>) -> bool {
        let Some(gradients) = &self.gradients else { return true };
        let mut gradients = gradients.borrow_mut();
        let n = logits.len() / layer.v.max(1);
        if !gradients.has_room(w.0) || b.is_some_and(|b| !gradients.has_room(b.0)) {
            return false;
        }
        if let Some((dw, add)) = gradients.provisional(w.0) {
            product(View::new(logits, n, layer.v).t(), View::new(xs, n, layer.d), dw, layer.d, add);
        }
        if let Some((db, add)) = b.and_then(|b| gradients.provisional(b.0)) {
            if !add {
                db.fill(T::ZERO);
            }
            map::add_rows(logits, db);
        }
        true
    }

    /// The negative log-likelihood of probabilities that are given: the sum over the rows of `-ln p[target]`, times `scale`.
    ///
    /// For what is no plain softmax, such as a mixture of several: a row of `p` has one probability for each unit that may be the target, or one column if it is
    /// that of the target already. A probability below 1e-12 counts as that much, so that a target that was held impossible costs 27.6 and no more, and
    /// its gradient is finite.
    pub fn negative_log_likelihood(&self, p: Var, targets: &[u32], scale: f64) -> Result<Var> {
        let (rows, cols) = self.shape(p);
        let op = "negative_log_likelihood";
        if targets.len() != rows {
            return Err(Error::Shape { op, expected: format!("{} rows, one per target", targets.len()), got: (rows, cols) });
        }
        if let Some(&index) = targets.iter().find(|&&t| t as usize >= cols) {
            return Err(Error::Index { op, index: index as usize, len: cols });
        }
        let scale = T::from_f64(scale);
        let places: Vec<usize> = targets.iter().enumerate().map(|(row, &t)| row * cols + t as usize).collect();
        let total = {
            let p = self.value(p);
            places.iter().map(|&i| -held_possible(p[i]).ln().to_f64()).sum::<f64>()
        };
        Ok(self.push(vec![T::from_f64(total) * scale], 1, 1, None, &[p], |_| {
            Box::new(move |back, dy| {
                let values = back.values.get(p);
                let dp = back.grads.of(p);
                places.iter().for_each(|&i| dp[i] -= dy[0] * scale / held_possible(values[i]));
            })
        }))
    }

    /// The negative log-likelihood of a mixture of writing and copying: the sum over the rows of `-ln p`, times `scale`, with
    ///
    /// ```text
    /// p = write · softmax(logits)[target] + copied
    /// ```
    ///
    /// `write` and `copied` have one column. A target behind the columns of `logits` can only be copied. With `smoothing` a share of each target is spread evenly over the softmax, as by
    /// [`Tape::cross_entropy`]. A probability below 1e-12 counts as that much.
    pub fn copy_likelihood(&self, logits: Var, write: Var, copied: Var, targets: &[u32], smoothing: f64, scale: f64) -> Result<Var> {
        let (rows, units) = self.shape(logits);
        let op = "copy_likelihood";
        if targets.len() != rows {
            return Err(Error::Shape { op, expected: format!("{} rows, one per target", targets.len()), got: (rows, units) });
        }
        for x in [write, copied] {
            self.expect_shape(op, x, (rows, 1))?;
        }
        let mut softmax = self.copy_of(logits);
        let (share, even) = (1.0 - smoothing, smoothing / units.max(1) as f64);
        let mut total = 0.0;
        let mut likelihood = Vec::with_capacity(rows);
        {
            let (write, copied) = (self.value(write), self.value(copied));
            for (row, (p, &target)) in softmax.chunks_exact_mut(units.max(1)).zip(targets).enumerate() {
                loss::log_softmax(p);
                if smoothing > 0.0 {
                    total -= even * p.iter().map(|l| l.to_f64()).sum::<f64>();
                }
                p.iter_mut().for_each(|l| *l = l.exp());
                let written = p.get(target as usize).map_or(T::ZERO, |&p| write[row] * p);
                likelihood.push(held_possible(written + copied[row]));
                total -= share * likelihood[row].ln().to_f64();
            }
        }
        let targets = targets.to_vec();
        let (scale, share, even, smoothing) = (T::from_f64(scale), T::from_f64(share), T::from_f64(even), T::from_f64(smoothing));
        Ok(self.push(vec![T::from_f64(total) * scale], 1, 1, None, &[logits, write, copied], |_| {
            Box::new(move |back, dy| {
                let scale = dy[0] * scale;
                let writes = back.values.get(write).to_vec();
                let (mut d_write, mut d_copied) = (T::zeros(rows), T::zeros(rows));
                for (row, (p, &target)) in softmax.chunks_exact_mut(units.max(1)).zip(&targets).enumerate() {
                    // dL/dp, and what the softmax at the target takes of it.
                    let slope = -scale * share / likelihood[row];
                    d_copied[row] = slope;
                    let at_target = p.get(target as usize).map(|&p| (p, slope * writes[row] * p));
                    let pull = at_target.map_or(T::ZERO, |(_, pull)| pull);
                    p.iter_mut().for_each(|p| *p = scale * (smoothing * *p - even) - pull * *p);
                    if let Some((probability, pull)) = at_target {
                        d_write[row] = slope * probability;
                        p[target as usize] += pull;
                    }
                }
                back.grads.add(logits, &softmax);
                back.grads.add(write, &d_write);
                back.grads.add(copied, &d_copied);
                back.grads.recycle(softmax);
            })
        }))
    }

    /// Binary cross-entropy of logits (one column): the sum of `-(t ln σ(x) + (1 - t) ln(1 - σ(x)))`, times `scale`.
    pub fn binary_cross_entropy(&self, logits: Var, targets: &[T], scale: f64) -> Result<Var> {
        self.expect_shape("binary_cross_entropy", logits, (targets.len(), 1))?;
        let scale = T::from_f64(scale);
        let (losses, gradient): (Vec<T>, Vec<T>) =
            self.value(logits).iter().zip(targets).map(|(&x, &t)| loss::binary_cross_entropy(x, t)).unzip();
        let total = losses.into_iter().sum::<T>() * scale;
        Ok(self.push(vec![total], 1, 1, None, &[logits], |_| {
            Box::new(move |back, dy| map::axpy(dy[0] * scale, &gradient, back.grads.of(logits)))
        }))
    }

    /// Hinge ranking loss: the sum of `max(0, margin - right + wrong)` over rows of one column, times `scale`.
    pub fn ranking(&self, right: Var, wrong: Var, margin: f64, scale: f64) -> Result<Var> {
        let short = self.relu(self.add(self.sub(wrong, right)?, self.scalar(margin))?);
        Ok(self.scale(self.sum_all(short)?, scale))
    }
}

/// A probability that a logarithm can be taken of; a NaN stays one.
fn held_possible<T: Float>(p: T) -> T {
    let least = T::from_f64(1e-12);
    if p < least { least } else { p }
}

struct Layer<T> {
    d: usize,
    v: usize,
    smoothing: T,
    scale: T,
}

impl<T: Float> Layer<T> {
    /// Writes a block's logits, turns them into their gradient, and returns the block's loss.
    fn block(&self, xs: &[T], weight: &[T], bias: Option<&[T]>, targets: &[u32], logits: &mut [T]) -> f64 {
        let left = View::new(xs, targets.len(), self.d);
        product(left, View::new(weight, self.v, self.d).t(), logits, self.v, bias.map_or(Onto::Nothing, Onto::Row));
        loss::cross_entropy_block(logits, self.v, targets, self.smoothing, self.scale)
    }
}
