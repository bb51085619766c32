//! What a residual connection adds, and dropout that is not stored.

use spotlight_kernels::Float;
use spotlight_kernels::dropout::{self, Dropout};

use super::{Tape, Var};
use crate::{Error, Result};

impl<'p, T: Float> Tape<'p, T> {
    /// `x + y`, tables of one shape; while learning, numbers of `y` are dropped with probability `p`.
    pub fn residual(&self, x: Var, y: Var, p: f64) -> Result<Var> {
        let (left, right) = (self.shape(x), self.shape(y));
        if left != right {
            return Err(Error::Shapes { op: "residual", left, right });
        }
        let axis = self.common_axis("residual", x, y)?;
        let dropout = self.dropout_of(p)?;
        let mut value = self.buffer(left.0 * left.1);
        dropout::add_forward(&self.value(x), &self.value(y), dropout, &mut value);
        Ok(self.push(value, left.0, left.1, axis, &[x, y], |_| {
            Box::new(move |back, d| {
                back.grads.add(x, d);
                match dropout {
                    Some(dropout) if back.grads.wants(y) => {
                        let (dy, add) = back.grads.write(y);
                        if add { dropout::add_assign(dropout, d, dy) } else { dropout::apply(dropout, 0, d, dy) }
                    }
                    Some(_) => (),
                    None => back.grads.add(y, d),
                }
            })
        }))
    }

    /// Dropout with probability `p` and a key of its own; none on a tape that does not learn.
    pub(crate) fn dropout_of(&self, p: f64) -> Result<Option<Dropout<T>>> {
        if !(0.0..1.0).contains(&p) {
            return Err(Error::Value { what: "the dropout probability".into(), got: p.to_string(), expected: "from 0 to below 1".into() });
        }
        let drops = p > 0.0 && self.is_training();
        Ok(drops.then(|| Dropout::new((self.uniform() * 9_007_199_254_740_992.0) as u64, p)))
    }
}
