//! The tape: values, how they came about, and the way back to gradients.
//!
//! Values are tables, rows by features, and the rows may belong to a dynamic [`Axis`]. An operation computes its value at once and leaves a
//! note on the tape how to send a gradient back; [`Tape::backward`] reads the notes in reverse. The hot paths of a model are single notes: a whole
//! recurrent layer, a whole attention decoder, a whole loss. Small operations exist beside them so that a new cell or a new score can be written in a few
//! lines.
//!
//! ```
//! use spotlight::axis::Axis;
//! use spotlight::params::{Gradients, Init, Params};
//! use spotlight::tape::Tape;
//!
//! // Attention that pools: score every row, softmax over the axis, mix.
//! let mut params = Params::<f64>::new(1);
//! let w = params.add("w", &[1, 2], Init::Ones);
//! let mut gradients = Gradients::new(&params);
//! let tape = Tape::training(&params, &mut gradients, 0);
//! let axis = Axis::new([2, 1]);
//! let rows = tape.on_axis(tape.table(3, 2, vec![1.0, 0.0, 0.0, 1.0, 5.0, 5.0])?, &axis)?;
//! let scores = tape.linear(rows, w, None)?;
//! let weights = tape.softmax(scores)?;
//! let pooled = tape.sum(tape.mul(weights, rows)?)?;
//! assert_eq!(tape.to_vec(pooled), [0.5, 0.5, 5.0, 5.0]);
//! let loss = tape.sum_all(pooled)?;
//! tape.backward(loss)?;
//! # Ok::<(), spotlight::Error>(())
//! ```

mod along;
mod attend;
mod elementwise;
mod feed_forward;
mod loss;
mod matrix;
mod pool;
mod recur;
mod residual;
mod rotate;
mod scan;

use std::cell::{Ref, RefCell};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use spotlight_kernels::Float;

pub(crate) use attend::{Attending, Part, meetings, meetings_of_items};
pub use feed_forward::FeedForwardWeights;
pub use pool::Pool;
pub(crate) use recur::{GateGradient, add_initial, copy_rows, fill_rows, scatter_rows, shift_states};
pub use recur::{Recurrent, States};
pub use scan::{Scanned, Step};

use crate::axis::Axis;
use crate::error::Shape;
use crate::params::{Gradients, ParamId, Params};
use crate::{Error, Result};

/// A value on a tape. Only meaningful together with its tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(usize);

impl Var {
    /// The by-product pushed `n` values after this one.
    pub(crate) fn beside(self, n: usize) -> Var {
        Var(self.0 + n)
    }
}

/// How a gradient goes back from one value (or a group of values made together) to those it was made of.
/// It gets the gradient that arrived.
pub(crate) type Note<'p, T> = Box<dyn FnOnce(&mut Back<'_, '_, T>, &[T]) + 'p>;

struct Node<'p, T> {
    /// Empty for a parameter: its numbers stay where they are.
    value: Vec<T>,
    rows: usize,
    cols: usize,
    axis: Option<Axis>,
    /// Whether a gradient is of use here.
    wanted: bool,
    note: Option<Note<'p, T>>,
    role: Role,
}

/// Values are made one by one, or as a group with one note.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Alone,
    /// Its note is always run: the first of a group, whose note reads the gradients of the others, or one that has something to take back.
    Main,
    /// One of the others.
    Beside,
}

/// A record of what was computed, for one batch and one thread.
pub struct Tape<'p, T: Float> {
    params: &'p Params<T>,
    nodes: RefCell<Vec<Node<'p, T>>>,
    gradients: Option<RefCell<&'p mut Gradients<T>>>,
    random: RefCell<ChaCha8Rng>,
    pool: Option<&'p Pool<T>>,
}

impl<'p, T: Float> Tape<'p, T> {
    /// A tape for answers only: nothing is kept for a way back, and dropout does nothing.
    pub fn new(params: &'p Params<T>) -> Self {
        Self::make(params, None, 0, None)
    }

    /// A tape to learn with. [`Tape::backward`] adds to `gradients`; `seed` decides dropout and other chance.
    pub fn training(params: &'p Params<T>, gradients: &'p mut Gradients<T>, seed: u64) -> Self {
        Self::make(params, Some(gradients), seed, None)
    }

    /// Like [`Tape::training`], with memory that is used again from batch to batch.
    pub fn training_in(params: &'p Params<T>, gradients: &'p mut Gradients<T>, seed: u64, pool: &'p Pool<T>) -> Self {
        Self::make(params, Some(gradients), seed, Some(pool))
    }

    fn make(params: &'p Params<T>, gradients: Option<&'p mut Gradients<T>>, seed: u64, pool: Option<&'p Pool<T>>) -> Self {
        let wanted = gradients.is_some();
        let nodes = params.entries().iter().map(|entry| {
            let (rows, cols) = entry.table();
            Node { value: Vec::new(), rows, cols, axis: None, wanted, note: None, role: Role::Alone }
        });
        Tape {
            params,
            nodes: RefCell::new(nodes.collect()),
            gradients: gradients.map(RefCell::new),
            random: RefCell::new(ChaCha8Rng::seed_from_u64(seed)),
            pool,
        }
    }

    /// Whether this tape learns.
    pub fn is_training(&self) -> bool {
        self.gradients.is_some()
    }

    /// The parameters it reads.
    pub fn params(&self) -> &'p Params<T> {
        self.params
    }

    /// A parameter as a value.
    pub fn param(&self, id: ParamId) -> Var {
        Var(id.0)
    }

    /// A table of numbers, row after row. No gradient goes back to it.
    pub fn table(&self, rows: usize, cols: usize, data: Vec<T>) -> Result<Var> {
        if data.len() != rows * cols {
            return Err(Error::Shape {
                op: "table",
                expected: format!("{} numbers for {rows} x {cols}", rows * cols),
                got: (1, data.len()),
            });
        }
        Ok(self.push(data, rows, cols, None, &[], |_| Box::new(|_, _| {})))
    }

    /// One number, which goes with a table of any shape.
    pub fn scalar(&self, x: f64) -> Var {
        self.push(vec![T::from_f64(x)], 1, 1, None, &[], |_| Box::new(|_, _| {}))
    }

    /// Zeros.
    pub fn zeros(&self, rows: usize, cols: usize) -> Var {
        self.push(T::zeros(rows * cols), rows, cols, None, &[], |_| Box::new(|_, _| {}))
    }

    /// A table of numbers with a gradient that can be asked for after [`Tape::backward_with`]: an input to explain, or to check.
    pub fn input(&self, rows: usize, cols: usize, data: Vec<T>) -> Result<Var> {
        let var = self.table(rows, cols, data)?;
        self.nodes.borrow_mut()[var.0].wanted = true;
        Ok(var)
    }

    /// Rows and columns.
    pub fn shape(&self, x: Var) -> Shape {
        let nodes = self.nodes.borrow();
        (nodes[x.0].rows, nodes[x.0].cols)
    }

    /// The dynamic axis its rows belong to, if any.
    pub fn axis(&self, x: Var) -> Option<Axis> {
        self.nodes.borrow()[x.0].axis.clone()
    }

    /// Its numbers, row after row. While the borrow lives, nothing may be added to the tape.
    pub fn value(&self, x: Var) -> Ref<'_, [T]> {
        Ref::map(self.nodes.borrow(), |nodes| value_of(nodes, self.params, x))
    }

    /// Its numbers as a copy.
    pub fn to_vec(&self, x: Var) -> Vec<T> {
        self.value(x).to_vec()
    }

    /// The one number of a table of 1 x 1 (the first of a larger one, 0 of an empty one).
    pub fn item(&self, x: Var) -> f64 {
        self.value(x).first().map_or(0.0, |x| x.to_f64())
    }

    /// The same rows, as positions of a dynamic axis.
    pub fn on_axis(&self, x: Var, axis: &Axis) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        if rows != axis.rows() {
            return Err(Error::Shape { op: "on_axis", expected: format!("{} rows for {axis:?}", axis.rows()), got: (rows, cols) });
        }
        let value = self.copy_of(x);
        Ok(self.push(value, rows, cols, Some(axis.clone()), &[x], |_| Box::new(move |back, dy| back.grads.add(x, dy))))
    }

    /// The same rows, on no axis: one per item of something else.
    pub fn off_axis(&self, x: Var) -> Var {
        let (rows, cols) = self.shape(x);
        let value = self.copy_of(x);
        self.push(value, rows, cols, None, &[x], |_| Box::new(move |back, dy| back.grads.add(x, dy)))
    }

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
        let mut notes = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(node.value);
            notes.push((node.note, node.role));
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
            let (note, role) = (notes[i].0.take(), notes[i].1);
            if role == Role::Beside {
                continue;
            }
            let mut gradient = grads.local[i].take();
            if gradient.is_none() && (role == Role::Main || inputs.contains(&Var(i))) {
                gradient = Some(grads.zeros(grads.sizes[i]));
            }
            if let Some(gradient) = gradient {
                if let Some(note) = note {
                    note(&mut Back { values: Values { values: &values, params }, grads: &mut grads }, &gradient);
                }
                match inputs.iter().position(|input| input.0 == i) {
                    Some(at) => found[at] = gradient,
                    None => grads.recycle(gradient),
                }
            }
            grads.recycle(std::mem::take(&mut values[i]));
        }
        Ok(found)
    }

    /// Adds a value that was made of `parents`. Its note is only made if a gradient can be of use.
    pub(crate) fn push(
        &self,
        value: Vec<T>,
        rows: usize,
        cols: usize,
        axis: Option<Axis>,
        parents: &[Var],
        note: impl FnOnce(Var) -> Note<'p, T>,
    ) -> Var {
        debug_assert_eq!(value.len(), rows * cols);
        let mut nodes = self.nodes.borrow_mut();
        let wanted = parents.iter().any(|p| nodes[p.0].wanted);
        let note = wanted.then(|| note(Var(nodes.len())));
        nodes.push(Node { value, rows, cols, axis, wanted, note, role: Role::Alone });
        Var(nodes.len() - 1)
    }

    /// Adds a value that is a by-product of the one before it: its gradient is read by that one's note.
    pub(crate) fn push_beside(&self, value: Vec<T>, rows: usize, cols: usize, axis: Option<Axis>, main: Var) -> Var {
        let mut nodes = self.nodes.borrow_mut();
        let wanted = nodes[main.0].wanted;
        nodes[main.0].role = Role::Main;
        nodes.push(Node { value, rows, cols, axis, wanted, note: None, role: Role::Beside });
        Var(nodes.len() - 1)
    }

    /// Runs the note of a value even if no gradient arrives there; it then gets zeros.
    pub(crate) fn always_note(&self, x: Var) {
        self.nodes.borrow_mut()[x.0].role = Role::Main;
    }

    /// A buffer of `len` numbers of arbitrary content.
    pub(crate) fn buffer(&self, len: usize) -> Vec<T> {
        match self.pool {
            Some(pool) => pool.take(len),
            None => T::zeros(len),
        }
    }

    /// A random number from 0 to below 1, by the tape's seed.
    pub(crate) fn uniform(&self) -> f64 {
        rand::RngExt::random(&mut *self.random.borrow_mut())
    }

    fn copy_of(&self, x: Var) -> Vec<T> {
        let value = self.value(x);
        let mut copy = self.buffer(value.len());
        copy.copy_from_slice(&value);
        copy
    }

    pub(crate) fn wants(&self, x: Var) -> bool {
        self.nodes.borrow()[x.0].wanted
    }

    pub(crate) fn expect_shape(&self, op: &'static str, x: Var, shape: Shape) -> Result<()> {
        let got = self.shape(x);
        if got == shape { Ok(()) } else { Err(Error::Shape { op, expected: format!("{} x {}", shape.0, shape.1), got }) }
    }

    pub(crate) fn need_axis(&self, op: &'static str, x: Var) -> Result<Axis> {
        self.axis(x).ok_or(Error::NoAxis { op })
    }

    /// The axis of the result of two tables with as many rows: theirs, if both have one it must be the same.
    pub(crate) fn common_axis(&self, op: &'static str, a: Var, b: Var) -> Result<Option<Axis>> {
        match (self.axis(a), self.axis(b)) {
            (Some(a), Some(b)) if a != b => Err(Error::Axes { op, left: a.excerpt(), right: b.excerpt() }),
            (Some(axis), _) | (None, Some(axis)) => Ok(Some(axis)),
            (None, None) => Ok(None),
        }
    }
}

impl<T: Float> std::fmt::Debug for Tape<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape of {} values", self.nodes.borrow().len())
    }
}

fn value_of<'a, T: Float>(nodes: &'a [Node<'_, T>], params: &'a Params<T>, x: Var) -> &'a [T] {
    if x.0 < params.entries().len() { params.get(ParamId(x.0)) } else { &nodes[x.0].value }
}

/// What a note sees on the way back.
pub(crate) struct Back<'b, 'a, T> {
    pub(crate) values: Values<'b, T>,
    pub(crate) grads: &'b mut Grads<'a, T>,
}

/// Values, for notes.
#[derive(Clone, Copy)]
pub(crate) struct Values<'b, T> {
    values: &'b [Vec<T>],
    params: &'b Params<T>,
}

impl<'b, T: Float> Values<'b, T> {
    pub(crate) fn get(&self, x: Var) -> &'b [T] {
        if x.0 < self.params.entries().len() { self.params.get(ParamId(x.0)) } else { &self.values[x.0] }
    }
}

/// Gradients on their way back, for notes.
pub(crate) struct Grads<'a, T> {
    local: Vec<Option<Vec<T>>>,
    flat: &'a mut Gradients<T>,
    params: usize,
    sizes: Vec<usize>,
    wanted: Vec<bool>,
    pool: Option<&'a Pool<T>>,
}

impl<T: Float> Grads<'_, T> {
    /// Whether a gradient is of use there.
    pub(crate) fn wants(&self, x: Var) -> bool {
        self.wanted[x.0]
    }

    /// The gradient of a value, to add to.
    pub(crate) fn of(&mut self, x: Var) -> &mut [T] {
        if x.0 < self.params {
            return self.flat.add(x.0);
        }
        if self.local[x.0].is_none() {
            self.local[x.0] = Some(self.zeros(self.sizes[x.0]));
        }
        self.local[x.0].as_deref_mut().unwrap_or_default()
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
    pub(crate) fn add(&mut self, x: Var, gradient: &[T]) {
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
