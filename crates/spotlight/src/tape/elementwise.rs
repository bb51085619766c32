//! Operations on one number at a time, and on the features of one row.

use spotlight_kernels::{Float, map};

use super::{Tape, Var};
use crate::error::Shape;
use crate::{Error, Result};

/// How a side of a two-sided operation is spread over the result.
#[derive(Clone, Copy)]
enum Spread {
    Full,
    /// One row for all rows.
    Row,
    /// One number for each row.
    Column,
    Scalar,
}

impl Spread {
    fn of(shape: Shape, result: Shape) -> Option<Spread> {
        match shape {
            s if s == result => Some(Spread::Full),
            (1, 1) => Some(Spread::Scalar),
            (1, c) if c == result.1 => Some(Spread::Row),
            (r, 1) if r == result.0 => Some(Spread::Column),
            _ => None,
        }
    }

    #[inline(always)]
    fn index(self, i: usize, cols: usize) -> usize {
        match self {
            Spread::Full => i,
            Spread::Row => i % cols,
            Spread::Column => i / cols,
            Spread::Scalar => 0,
        }
    }
}

impl<'p, T: Float> Tape<'p, T> {
    /// One function of one number, with its derivative given `x` and `y`.
    fn unary(&self, x: Var, f: impl Fn(T) -> T, derivative: impl Fn(T, T) -> T + 'p) -> Var {
        let (rows, cols) = self.shape(x);
        let mut value = self.buffer(rows * cols);
        for (y, &x) in value.iter_mut().zip(self.value(x).iter()) {
            *y = f(x);
        }
        self.push(value, rows, cols, self.axis(x), &[x], |y| {
            Box::new(move |back, dy| {
                let (xs, ys) = (back.values.get(x), back.values.get(y));
                for (((dx, &dy), &x), &y) in back.grads.of(x).iter_mut().zip(dy).zip(xs).zip(ys) {
                    *dx += dy * derivative(x, y);
                }
            })
        })
    }

    /// One function of two numbers, with its derivatives by each given `a`, `b` and `y`.
    ///
    /// A side of one row goes with every row, a side of one column with every column, and a single number with everything.
    fn binary(
        &self,
        op: &'static str,
        a: Var,
        b: Var,
        f: impl Fn(T, T) -> T,
        by_a: impl Fn(T, T, T) -> T + 'p,
        by_b: impl Fn(T, T, T) -> T + 'p,
    ) -> Result<Var> {
        let (left, right) = (self.shape(a), self.shape(b));
        let result = (spread_size(left.0, right.0), spread_size(left.1, right.1));
        let (Some(sa), Some(sb)) = (Spread::of(left, result), Spread::of(right, result)) else {
            return Err(Error::Shapes { op, left, right });
        };
        let axis = match (left.0 == result.0, right.0 == result.0) {
            (true, true) => self.common_axis(op, a, b)?,
            (true, false) => self.axis(a),
            _ => self.axis(b),
        };
        let (rows, cols) = result;
        let mut value = self.buffer(rows * cols);
        {
            let (av, bv) = (self.value(a), self.value(b));
            for (i, y) in value.iter_mut().enumerate() {
                *y = f(av[sa.index(i, cols)], bv[sb.index(i, cols)]);
            }
        }
        Ok(self.push(value, rows, cols, axis, &[a, b], |y| {
            Box::new(move |back, dy| {
                let (av, bv, yv) = (back.values.get(a), back.values.get(b), back.values.get(y));
                if back.grads.wants(a) {
                    let da = back.grads.of(a);
                    for (i, &dy) in dy.iter().enumerate() {
                        da[sa.index(i, cols)] += dy * by_a(av[sa.index(i, cols)], bv[sb.index(i, cols)], yv[i]);
                    }
                }
                if back.grads.wants(b) {
                    let db = back.grads.of(b);
                    for (i, &dy) in dy.iter().enumerate() {
                        db[sb.index(i, cols)] += dy * by_b(av[sa.index(i, cols)], bv[sb.index(i, cols)], yv[i]);
                    }
                }
            })
        }))
    }

    /// `a + b`
    pub fn add(&self, a: Var, b: Var) -> Result<Var> {
        self.binary("add", a, b, |a, b| a + b, |_, _, _| T::ONE, |_, _, _| T::ONE)
    }

    /// `a - b`
    pub fn sub(&self, a: Var, b: Var) -> Result<Var> {
        self.binary("sub", a, b, |a, b| a - b, |_, _, _| T::ONE, |_, _, _| -T::ONE)
    }

    /// `a b`, number by number.
    pub fn mul(&self, a: Var, b: Var) -> Result<Var> {
        self.binary("mul", a, b, |a, b| a * b, |_, b, _| b, |a, _, _| a)
    }

    /// `a / b`
    pub fn div(&self, a: Var, b: Var) -> Result<Var> {
        self.binary("div", a, b, |a, b| a / b, |_, b, _| T::ONE / b, |_, b, y| -y / b)
    }

    /// `ln(e^a + e^b)`, without overflow.
    pub fn log_add_exp(&self, a: Var, b: Var) -> Result<Var> {
        let f = |a: T, b: T| {
            let (high, low) = if a > b { (a, b) } else { (b, a) };
            if high == T::NEG_INFINITY { high } else { high + (T::ONE + (low - high).exp()).ln() }
        };
        // Both sides −∞ would give NaN; their share of the gradient is then none.
        let share = |x: T, y: T| if y == T::NEG_INFINITY { T::ZERO } else { (x - y).exp() };
        self.binary("log_add_exp", a, b, f, move |a, _, y| share(a, y), move |_, b, y| share(b, y))
    }

    /// `tanh x`
    pub fn tanh(&self, x: Var) -> Var {
        self.unary(x, |x| x.tanh(), |_, y| T::ONE - y * y)
    }

    /// `1 / (1 + e^-x)`
    pub fn sigmoid(&self, x: Var) -> Var {
        self.unary(x, |x| x.sigmoid(), |_, y| y * (T::ONE - y))
    }

    /// `max(x, 0)`
    pub fn relu(&self, x: Var) -> Var {
        self.unary(x, |x| T::max(x, T::ZERO), |x, _| if x > T::ZERO { T::ONE } else { T::ZERO })
    }

    /// `x Φ(x)`, with the normal distribution function `Φ`, exactly. Hendrycks and Gimpel, 2016.
    pub fn gelu(&self, x: Var) -> Var {
        let (half, root_half) = (T::from_f64(0.5), T::from_f64(std::f64::consts::FRAC_1_SQRT_2));
        let density = T::from_f64(1.0 / std::f64::consts::TAU.sqrt());
        let phi = move |x: T| half * (T::ONE + (x * root_half).erf());
        self.unary(x, move |x| x * phi(x), move |x, _| phi(x) + x * density * (-half * x * x).exp())
    }

    /// [`Tape::gelu`] with `Φ` approximated by a `tanh`, less than 1e-3 away: what GPT-2 was trained with, and several times as fast.
    pub fn gelu_tanh(&self, x: Var) -> Var {
        let root = T::from_f64((2.0 / std::f64::consts::PI).sqrt());
        let (cubic, half, three) = (T::from_f64(0.044715), T::from_f64(0.5), T::from_f64(3.0));
        let inner = move |x: T| (root * (x + cubic * x * x * x)).tanh();
        self.unary(
            x,
            move |x| half * x * (T::ONE + inner(x)),
            move |x, _| {
                let t = inner(x);
                half * (T::ONE + t) + half * x * (T::ONE - t * t) * root * (T::ONE + three * cubic * x * x)
            },
        )
    }

    /// `e^x`
    pub fn exp(&self, x: Var) -> Var {
        self.unary(x, |x| x.exp(), |_, y| y)
    }

    /// `ln x`
    pub fn log(&self, x: Var) -> Var {
        self.unary(x, |x| x.ln(), |x, _| T::ONE / x)
    }

    /// `-x`
    pub fn neg(&self, x: Var) -> Var {
        self.scale(x, -1.0)
    }

    /// `factor x`
    pub fn scale(&self, x: Var, factor: f64) -> Var {
        let factor = T::from_f64(factor);
        self.unary(x, move |x| x * factor, move |_, _| factor)
    }

    /// `a` where `mask` is not 0, else `b`. The gradient goes only to the side that was taken.
    pub fn select(&self, mask: Var, a: Var, b: Var) -> Result<Var> {
        let (m, left, right) = (self.shape(mask), self.shape(a), self.shape(b));
        let size = |i: fn(Shape) -> usize| spread_size(spread_size(i(left), i(right)), i(m));
        let result = (size(|s| s.0), size(|s| s.1));
        let (Some(sa), Some(sb)) = (Spread::of(left, result), Spread::of(right, result)) else {
            return Err(Error::Shapes { op: "select", left, right });
        };
        let Some(sm) = Spread::of(m, result) else {
            return Err(Error::Shapes { op: "select (mask)", left: m, right: result });
        };
        let (rows, cols) = result;
        let mut on: Option<Var> = None;
        for x in [a, b, mask].into_iter().filter(|&x| self.shape(x).0 == rows && self.axis(x).is_some()) {
            self.common_axis("select", *on.get_or_insert(x), x)?;
        }
        let axis = on.and_then(|x| self.axis(x));
        let mut value = self.buffer(rows * cols);
        {
            let (mv, av, bv) = (self.value(mask), self.value(a), self.value(b));
            for (i, y) in value.iter_mut().enumerate() {
                *y = if mv[sm.index(i, cols)] != T::ZERO { av[sa.index(i, cols)] } else { bv[sb.index(i, cols)] };
            }
        }
        Ok(self.push(value, rows, cols, axis, &[a, b], |_| {
            Box::new(move |back, dy| {
                let mv = back.values.get(mask);
                for (side, spread, taken) in [(a, sa, true), (b, sb, false)] {
                    if back.grads.wants(side) {
                        let d = back.grads.of(side);
                        for (i, &dy) in dy.iter().enumerate() {
                            if (mv[sm.index(i, cols)] != T::ZERO) == taken {
                                d[spread.index(i, cols)] += dy;
                            }
                        }
                    }
                }
            })
        }))
    }

    /// While learning, sets each number to 0 with probability `p` and divides the others by `1 - p`; else does nothing. Srivastava and others, 2014.
    pub fn dropout(&self, x: Var, p: f64) -> Result<Var> {
        if !(0.0..1.0).contains(&p) {
            return Err(Error::Value { what: "the dropout probability".into(), got: p.to_string(), expected: "from 0 to below 1".into() });
        }
        if p == 0.0 || !self.is_training() {
            return Ok(x);
        }
        let (rows, cols) = self.shape(x);
        let keep = T::from_f64(1.0 / (1.0 - p));
        let mut mask = self.buffer(rows * cols);
        self.fill_mask(&mut mask, p, keep);
        let mut value = self.copy_of(x);
        for (y, &m) in value.iter_mut().zip(&mask) {
            *y *= m;
        }
        Ok(self.push(value, rows, cols, self.axis(x), &[x], |_| {
            Box::new(move |back, dy| {
                map::add_product(back.grads.of(x), dy, &mask);
                back.grads.recycle(mask);
            })
        }))
    }

    fn fill_mask(&self, mask: &mut [T], p: f64, keep: T) {
        use rand::Rng;
        // Sixteen random bits a number are enough for a probability, and four times as fast as sixty-four.
        let threshold = (p * 65536.0).round() as u16;
        let mut random = self.random.borrow_mut();
        for four in mask.chunks_mut(4) {
            let bits = random.next_u64();
            for (i, m) in four.iter_mut().enumerate() {
                *m = if ((bits >> (16 * i)) as u16) < threshold { T::ZERO } else { keep };
            }
        }
    }

    /// Puts the features of several tables side by side.
    pub fn concat(&self, parts: &[Var]) -> Result<Var> {
        let Some(&first) = parts.first() else {
            return Err(Error::Value {
                what: "the number of tables to concatenate".into(),
                got: "0".into(),
                expected: "at least 1".into(),
            });
        };
        let rows = self.shape(first).0;
        let mut widths = Vec::with_capacity(parts.len());
        let mut on: Option<Var> = None;
        for &part in parts {
            let shape = self.shape(part);
            if shape.0 != rows {
                return Err(Error::Shapes { op: "concat", left: self.shape(first), right: shape });
            }
            widths.push(shape.1);
            // The first part that is on an axis speaks for all.
            self.common_axis("concat", on.unwrap_or(part), part)?;
            on = on.or(self.axis(part).map(|_| part));
        }
        let axis = on.and_then(|part| self.axis(part));
        let cols: usize = widths.iter().sum();
        let mut value = self.buffer(rows * cols);
        let mut from = 0;
        for (&part, &width) in parts.iter().zip(&widths) {
            copy_columns(&self.value(part), width, 0, &mut value, cols, from, width);
            from += width;
        }
        let parts = parts.to_vec();
        Ok(self.push(value, rows, cols, axis, &parts.clone(), |_| {
            Box::new(move |back, dy| {
                let mut from = 0;
                for (&part, &width) in parts.iter().zip(&widths) {
                    if back.grads.wants(part) {
                        let d = back.grads.of(part);
                        for (d, dy) in d.chunks_exact_mut(width.max(1)).zip(dy.chunks_exact(cols.max(1))) {
                            map::add_assign(d, &dy[from..from + width]);
                        }
                    }
                    from += width;
                }
            })
        }))
    }

    /// The features `from..from + width` of every row.
    pub fn slice(&self, x: Var, from: usize, width: usize) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        if from.saturating_add(width) > cols {
            let expected = format!("at least {} columns", from.saturating_add(width));
            return Err(Error::Shape { op: "slice", expected, got: (rows, cols) });
        }
        let mut value = self.buffer(rows * width);
        copy_columns(&self.value(x), cols, from, &mut value, width, 0, width);
        Ok(self.push(value, rows, width, self.axis(x), &[x], |_| {
            Box::new(move |back, dy| {
                let d = back.grads.of(x);
                for (d, dy) in d.chunks_exact_mut(cols.max(1)).zip(dy.chunks_exact(width.max(1))) {
                    map::add_assign(&mut d[from..from + width], dy);
                }
            })
        }))
    }

    /// The inner product of each row of `a` with the same row of `b`. A table of one row goes with every row of the other.
    pub fn dot(&self, a: Var, b: Var) -> Result<Var> {
        self.expect_same_features("dot", a, b)?;
        self.row_sum(self.mul(a, b)?)
    }

    /// Rows of two tables can only be compared if they have the same features.
    fn expect_same_features(&self, op: &'static str, a: Var, b: Var) -> Result<()> {
        let (left, right) = (self.shape(a), self.shape(b));
        let rows_fit = left.0 == right.0 || left.0 == 1 || right.0 == 1;
        if left.1 == right.1 && rows_fit { Ok(()) } else { Err(Error::Shapes { op, left, right }) }
    }

    /// The length of each row; its derivative at 0 is taken as 0.
    pub fn norm(&self, x: Var) -> Result<Var> {
        let squares = self.dot(x, x)?;
        Ok(self.unary(squares, |s| s.sqrt(), |_, y| if y > T::ZERO { T::from_f64(0.5) / y } else { T::ZERO }))
    }

    /// The cosine of the angle between each row of `a` and the same row of `b`; 0 where one of them is 0.
    pub fn cosine(&self, a: Var, b: Var) -> Result<Var> {
        self.expect_same_features("cosine", a, b)?;
        let lengths = self.mul(self.norm(a)?, self.norm(b)?)?;
        // Dividing by the product or a tiny number, whichever is larger, as PyTorch does.
        let tiny = T::from_f64(1e-8);
        let bounded = self.unary(lengths, move |l| T::max(l, tiny), move |l, _| if l > tiny { T::ONE } else { T::ZERO });
        self.div(self.dot(a, b)?, bounded)
    }

    /// The sum of each row's features.
    pub fn row_sum(&self, x: Var) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        let mut value = self.buffer(rows);
        for (r, y) in value.iter_mut().enumerate() {
            *y = self.value(x)[r * cols..(r + 1) * cols].iter().copied().sum();
        }
        Ok(self.push(value, rows, 1, self.axis(x), &[x], |_| {
            Box::new(move |back, dy| {
                for (dx, &dy) in back.grads.of(x).chunks_exact_mut(cols.max(1)).zip(dy) {
                    dx.iter_mut().for_each(|dx| *dx += dy);
                }
            })
        }))
    }

    /// The sum of all numbers, as a table of 1 x 1.
    pub fn sum_all(&self, x: Var) -> Result<Var> {
        let total = self.value(x).iter().copied().sum();
        Ok(self.push(vec![total], 1, 1, None, &[x], |_| Box::new(move |back, dy| back.grads.of(x).iter_mut().for_each(|dx| *dx += dy[0]))))
    }
}

/// The size that two sizes give when 1 stretches.
fn spread_size(a: usize, b: usize) -> usize {
    if a == 1 { b } else { a }
}

/// Copies `width` columns of a table with `from_cols` columns into one with `to_cols`.
fn copy_columns<T: Float>(from: &[T], from_cols: usize, from_at: usize, to: &mut [T], to_cols: usize, to_at: usize, width: usize) {
    if width == 0 {
        return;
    }
    for (from, to) in from.chunks_exact(from_cols).zip(to.chunks_exact_mut(to_cols)) {
        to[to_at..to_at + width].copy_from_slice(&from[from_at..from_at + width]);
    }
}
