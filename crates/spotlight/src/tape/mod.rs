//! The tape: values, how they came about, and the way back to gradients.
//!
//! Values are tables, rows by features, and the rows may belong to a dynamic [`Axis`]. An operation computes its value at once and adds a *node* to the tape: the
//! value, and the backward pass that sends a gradient on to what it was made of. [`Tape::backward`] visits the nodes in reverse. The hot paths of a model are single
//! nodes: a whole recurrent layer, a whole attention decoder, a whole loss. Small operations exist beside them so that a new cell or a new score can be written in a
//! few lines, and [`Tape::operation`] adds one that does not exist yet.
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
mod backward;
mod bag;
mod elementwise;
mod feed_forward;
mod loss;
mod matrix;
mod pool;
mod recur;
mod residual;
mod rotate;
mod scan;
mod search;

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use spotlight_kernels::Float;

pub(crate) use attend::{Attending, Part, meetings, meetings_of_items};
pub use backward::{Back, Backward, Grads, Values};
pub use bag::Bags;
pub use feed_forward::FeedForwardWeights;
pub use pool::Pool;
pub(crate) use recur::{GateGradient, add_initial, copy_rows, fill_rows, scatter_rows, shift_states};
pub use recur::{Recurrent, States};
pub use scan::{Scanned, Step};
pub(crate) use search::Mark;
use search::{Lookup, Right, Searching};

use crate::axis::Axis;
use crate::error::Shape;
use crate::params::{Gradients, ParamId, Params};
use crate::{Error, Result};

/// A value on a tape. Only meaningful together with its tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Var(usize);

impl Var {
    /// The by-product pushed `n` values after this one.
    pub(crate) fn beside(self, n: usize) -> Var {
        Var(self.0 + n)
    }
}

struct Node<'p, T> {
    value: Value<T>,
    rows: usize,
    cols: usize,
    axis: Option<Axis>,
    /// Whether a gradient is of use here.
    wanted: bool,
    backward: Option<Backward<'p, T>>,
    role: Role,
    /// In a search: where its rows come from.
    lookup: Option<Rc<Lookup>>,
}

/// Where the numbers of a node are.
enum Value<T> {
    /// Here.
    Own(Vec<T>),
    /// They are those of another node (or parameter) that came before: the same rows on another axis.
    Of(Var),
}

/// Nodes are made one by one, or as a group with one backward pass.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Alone,
    /// Its backward pass is always run: the first of a group, which reads the gradients of the others, or one that has something to take back.
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
    searching: Option<Searching<T>>,
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
        pool.begin();
        Self::make(params, Some(gradients), seed, Some(pool))
    }

    /// A tape for a search: answers only, the same layers step after step. What a step computed is dropped by [`Tape::rewind`], its memory used again by the next,
    /// and weights are made ready for products once. `width` hypotheses will meet each source; if `in_bytes`, the weights of linear layers have one byte each.
    pub(crate) fn searching(params: &'p Params<T>, pool: &'p Pool<T>, width: usize, in_bytes: bool) -> Self {
        pool.begin();
        Tape { searching: Some(Searching::new(width, in_bytes)), ..Self::make(params, None, 0, Some(pool)) }
    }

    fn make(params: &'p Params<T>, gradients: Option<&'p mut Gradients<T>>, seed: u64, pool: Option<&'p Pool<T>>) -> Self {
        let wanted = gradients.is_some();
        let mut gradients = gradients;
        if let Some(gradients) = &mut gradients {
            gradients.forget_provisional();
        }
        let nodes = params.entries().iter().map(|entry| {
            let (rows, cols) = entry.table();
            Node { value: Value::Own(Vec::new()), rows, cols, axis: None, wanted, backward: None, role: Role::Alone, lookup: None }
        });
        Tape {
            params,
            nodes: RefCell::new(nodes.collect()),
            gradients: gradients.map(RefCell::new),
            random: RefCell::new(ChaCha8Rng::seed_from_u64(seed)),
            pool,
            searching: None,
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
        Ok(self.same_rows(x, Some(axis.clone())))
    }

    /// The same rows, on no axis: one per item of something else.
    pub fn off_axis(&self, x: Var) -> Var {
        self.same_rows(x, None)
    }

    /// The rows of `x` on another axis, or none. Nothing is copied.
    fn same_rows(&self, x: Var, axis: Option<Axis>) -> Var {
        let mut nodes = self.nodes.borrow_mut();
        let Node { rows, cols, wanted, ref lookup, .. } = nodes[x.0];
        let lookup = lookup.clone();
        let value = Value::Of(root(&nodes, x));
        let backward: Option<Backward<'p, T>> =
            wanted.then(|| Box::new(move |back: &mut Back<'_, '_, T>, dy: &[T]| back.grads.add(x, dy)) as _);
        nodes.push(Node { value, rows, cols, axis, wanted, backward, role: Role::Alone, lookup });
        Var(nodes.len() - 1)
    }

    /// Adds an operation of your own: `value` has `shape` (rows, columns) and was computed from `parents`; `backward` gets the gradient that arrives at it, of the same shape,
    /// and adds to the gradients of the parents. It is only kept if a gradient is of use to one of them.
    ///
    /// The square of every number, which could as well be `tape.mul(x, x)`:
    ///
    /// ```
    /// # use spotlight::{params::Params, tape::Tape};
    /// # let params = Params::<f64>::new(0);
    /// # let tape = Tape::new(&params);
    /// let x = tape.input(1, 3, vec![1.0, 2.0, 3.0])?;
    /// let squares = tape.value(x).iter().map(|x| x * x).collect();
    /// let y = tape.operation(squares, tape.shape(x), tape.axis(x), &[x], move |back, dy| {
    ///     let dx: Vec<f64> = back.values.get(x).iter().zip(dy).map(|(x, dy)| 2.0 * x * dy).collect();
    ///     back.grads.add(x, &dx);
    /// })?;
    /// assert_eq!(tape.to_vec(y), [1.0, 4.0, 9.0]);
    /// let loss = tape.sum_all(y)?;
    /// assert_eq!(tape.backward_with(&[(loss, vec![1.0])], &[x])?, [[2.0, 4.0, 6.0]]);
    /// # Ok::<(), spotlight::Error>(())
    /// ```
    pub fn operation(
        &self,
        value: Vec<T>,
        (rows, cols): Shape,
        axis: Option<Axis>,
        parents: &[Var],
        backward: impl FnOnce(&mut Back<'_, '_, T>, &[T]) + 'p,
    ) -> Result<Var> {
        let op = "operation";
        if rows.checked_mul(cols) != Some(value.len()) {
            return Err(Error::Shape { op, expected: format!("{} numbers", value.len()), got: (rows, cols) });
        }
        if let Some(axis) = axis.as_ref().filter(|axis| axis.rows() != rows) {
            return Err(Error::Shape { op, expected: format!("{} rows for {axis:?}", axis.rows()), got: (rows, cols) });
        }
        Ok(self.push(value, rows, cols, axis, parents, |_| Box::new(backward)))
    }

    /// Adds a node with a value that was made of `parents`. Its backward pass is only made if a gradient can be of use.
    pub(crate) fn push(
        &self,
        value: Vec<T>,
        rows: usize,
        cols: usize,
        axis: Option<Axis>,
        parents: &[Var],
        backward: impl FnOnce(Var) -> Backward<'p, T>,
    ) -> Var {
        debug_assert_eq!(value.len(), rows * cols);
        let mut nodes = self.nodes.borrow_mut();
        let wanted = parents.iter().any(|p| nodes[p.0].wanted);
        let backward = wanted.then(|| backward(Var(nodes.len())));
        nodes.push(Node { value: Value::Own(value), rows, cols, axis, wanted, backward, role: Role::Alone, lookup: None });
        Var(nodes.len() - 1)
    }

    /// Adds a value that is a by-product of the one before it: its gradient is read by that one's backward pass.
    pub(crate) fn push_beside(&self, value: Vec<T>, rows: usize, cols: usize, axis: Option<Axis>, main: Var) -> Var {
        let mut nodes = self.nodes.borrow_mut();
        let wanted = nodes[main.0].wanted;
        nodes[main.0].role = Role::Main;
        nodes.push(Node { value: Value::Own(value), rows, cols, axis, wanted, backward: None, role: Role::Beside, lookup: None });
        Var(nodes.len() - 1)
    }

    /// Runs the backward pass of a node even if no gradient arrives there; it then gets zeros.
    pub(crate) fn always_run(&self, x: Var) {
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
    if x.0 < params.entries().len() {
        return params.get(ParamId(x.0));
    }
    match &nodes[x.0].value {
        Value::Own(value) => value,
        Value::Of(other) => value_of(nodes, params, *other),
    }
}

/// The node that really holds the numbers of `x`.
fn root<T>(nodes: &[Node<'_, T>], x: Var) -> Var {
    match nodes[x.0].value {
        Value::Own(_) => x,
        Value::Of(other) => other,
    }
}
