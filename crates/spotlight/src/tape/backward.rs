//! The backward pass: from a loss back to the parameters, node by node.

use spotlight_kernels::Float;

use super::{Pool, Role, Tape, Value, Var};
use crate::params::{Gradients, ParamId, Params};
use crate::{Error, Result};

/// How a gradient goes back from a value (or a group of values made together) to those it was made of. It gets the gradient that arrived.
pub type Backward<'p, T> = Box<dyn FnOnce(&mut Back<'_, '_, T>, &[T]) + 'p>;

impl<T: Float> Tape<'_, T> {
    /// Sends the gradient 1 back from a loss of 1 x 1 and adds what arrives at the parameters to the tape's gradients. Returns the loss.
    pub fn backward(self, loss: Var) -> Result<f64> {
        let shape = self.shape(loss);
        if shape != (1, 1) {
            return Err(Error::Shape { op: "backward", expected: "a loss of 1 x 1".into(), got: shape });
        }
        let value = self.item(loss);
        self.backward_with(&[(loss, vec![T::ONE])], &[])?;
        Ok(value)
    }

    /// Sends the given gradients back from several values at once, and returns the gradients that arrive at `inputs` (made by [`Tape::input`]).
    pub fn backward_with(self, outputs: &[(Var, Vec<T>)], inputs: &[Var]) -> Result<Vec<Vec<T>>> {
        let Tape { params, nodes, gradients, pool, .. } = self;
        let nodes = nodes.into_inner();
        let mut unused = Gradients::new(&Params::new(0));
        let flat = match gradients {
            Some(cell) => cell.into_inner(),
            None => &mut unused,
        };
        let sizes = nodes.iter().map(|n| n.rows * n.cols).collect::<Vec<_>>();
        let wanted = nodes.iter().map(|n| n.wanted).collect();
        let mut values = Vec::with_capacity(nodes.len());
        let mut passes = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(node.value);
            passes.push((node.backward, node.role));
        }
        let local = std::iter::repeat_with(|| None).take(values.len()).collect();
        let mut grads = Grads { local, flat, params: params.entries().len(), sizes, wanted, pool };
        for (output, gradient) in outputs {
            let size = grads.sizes[output.0];
            if gradient.len() != size {
                return Err(Error::Shape { op: "backward", expected: format!("{size} gradients"), got: (1, gradient.len()) });
            }
            grads.add(*output, gradient);
        }
        let mut found = vec![Vec::new(); inputs.len()];
        for i in (params.entries().len()..values.len()).rev() {
            let (pass, role) = (passes[i].0.take(), passes[i].1);
            if role == Role::Beside {
                continue;
            }
            let mut gradient = grads.local[i].take();
            if gradient.is_none() && (role == Role::Main || inputs.contains(&Var(i))) {
                gradient = Some(grads.zeros(grads.sizes[i]));
            }
            if let Some(gradient) = gradient {
                if let Some(pass) = pass {
                    pass(&mut Back { values: Values { values: &values, params }, grads: &mut grads }, &gradient);
                }
                match inputs.iter().position(|input| input.0 == i) {
                    Some(at) => found[at] = gradient,
                    None => grads.recycle(gradient),
                }
            }
            // What shares these numbers came later, and is done.
            if let Value::Own(value) = std::mem::replace(&mut values[i], Value::Own(Vec::new())) {
                grads.recycle(value);
            }
        }
        Ok(found)
    }
}

/// What a backward pass sees: the values of the forward pass, and the gradients so far.
pub struct Back<'b, 'a, T> {
    /// Values of the forward pass.
    pub values: Values<'b, T>,
    /// Gradients on their way back.
    pub grads: &'b mut Grads<'a, T>,
}

/// The values of the forward pass.
#[derive(Clone, Copy)]
pub struct Values<'b, T> {
    values: &'b [Value<T>],
    params: &'b Params<T>,
}

impl<'b, T: Float> Values<'b, T> {
    /// The numbers of a value, row after row.
    pub fn get(&self, x: Var) -> &'b [T] {
        if x.0 < self.params.entries().len() {
            return self.params.get(ParamId(x.0));
        }
        match &self.values[x.0] {
            Value::Own(value) => value,
            Value::Of(other) => self.get(*other),
        }
    }
}

/// Gradients on their way back.
pub struct Grads<'a, T> {
    local: Vec<Option<Vec<T>>>,
    flat: &'a mut Gradients<T>,
    params: usize,
    sizes: Vec<usize>,
    wanted: Vec<bool>,
    pool: Option<&'a Pool<T>>,
}

impl<T: Float> Grads<'_, T> {
    /// Whether a gradient is of use there.
    pub fn wants(&self, x: Var) -> bool {
        self.wanted[x.0]
    }

    /// The gradient of a value, to add to.
    pub fn of(&mut self, x: Var) -> &mut [T] {
        if x.0 < self.params {
            return self.flat.add(x.0);
        }
        if self.local[x.0].is_none() {
            self.local[x.0] = Some(self.zeros(self.sizes[x.0]));
        }
        self.local[x.0].as_deref_mut().unwrap_or_default()
    }

    /// Lets count what a loss wrote provisionally to the gradient of a parameter.
    pub(super) fn make_good(&mut self, x: Var) {
        if x.0 < self.params {
            self.flat.make_good(x.0);
        }
    }

    /// The gradient of a value, and whether it holds something to add to; if not, it must be overwritten.
    pub(crate) fn write(&mut self, x: Var) -> (&mut [T], bool) {
        if x.0 < self.params {
            return self.flat.write(x.0);
        }
        let add = self.local[x.0].is_some();
        if !add {
            self.local[x.0] = Some(self.buffer(self.sizes[x.0]));
        }
        (self.local[x.0].as_deref_mut().unwrap_or_default(), add)
    }

    /// Adds to the gradient of a value, if one is of use there.
    pub fn add(&mut self, x: Var, gradient: &[T]) {
        if self.wants(x) {
            let (to, add) = self.write(x);
            if add { spotlight_kernels::map::add_assign(to, gradient) } else { to.copy_from_slice(gradient) }
        }
    }

    /// Adds `dy[i]` to row `rows[i]` of a value's gradient, touching no other row.
    pub(crate) fn add_rows(&mut self, x: Var, rows: &[u32], cols: usize, dy: &[T]) {
        if x.0 < self.params {
            return self.flat.add_rows(x.0, rows, dy);
        }
        let to = self.of(x);
        for (&row, dy) in rows.iter().zip(dy.chunks_exact(cols.max(1))) {
            spotlight_kernels::map::add_assign(&mut to[row as usize * cols..][..cols], dy);
        }
    }

    /// Takes a value's gradient out (zeros, if there is none yet) so that several can be written at once; give it back with [`Grads::put`].
    pub(crate) fn take(&mut self, x: Var) -> Vec<T> {
        match self.local.get_mut(x.0).and_then(Option::take) {
            Some(gradient) => gradient,
            None => self.zeros(self.sizes[x.0]),
        }
    }

    /// Gives back what [`Grads::take`] took.
    pub(crate) fn put(&mut self, x: Var, gradient: Vec<T>) {
        if x.0 >= self.params && self.local[x.0].is_none() && self.wants(x) {
            self.local[x.0] = Some(gradient);
        } else {
            self.add(x, &gradient);
            self.recycle(gradient);
        }
    }

    /// A buffer of arbitrary content.
    pub(crate) fn buffer(&self, len: usize) -> Vec<T> {
        match self.pool {
            Some(pool) => pool.take(len),
            None => T::zeros(len),
        }
    }

    /// A buffer of zeros.
    pub(crate) fn zeros(&self, len: usize) -> Vec<T> {
        let mut buffer = self.buffer(len);
        buffer.fill(T::ZERO);
        buffer
    }

    /// Gives a buffer back for later use.
    pub(crate) fn recycle(&self, buffer: Vec<T>) {
        if let Some(pool) = self.pool {
            pool.put(buffer);
        }
    }
}
