//! Parameters: one flat buffer with named views, and gradients in the same layout.
//!
//! ```
//! use spotlight::params::{Init, Params};
//!
//! let mut params = Params::<f32>::new(7);
//! let weight = params.add("output.weight", &[3, 4], Init::Glorot);
//! let bias = params.add("output.bias", &[3], Init::Zeros);
//! assert_eq!(params.len(), 15);
//! assert_eq!(params.get(bias), [0.0; 3]);
//! assert_eq!(params.names().collect::<Vec<_>>(), ["output.weight", "output.bias"]);
//! # let _ = weight;
//! ```

use std::collections::HashMap;
use std::ops::Range;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use spotlight_kernels::{Float, optim};

use crate::packs::Packs;

/// One parameter of a [`Params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParamId(pub(crate) usize);

/// How a parameter begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// 0 everywhere.
    Zeros,
    /// 1 everywhere.
    Ones,
    /// One number everywhere.
    Constant(f64),
    /// Uniform between `-a` and `a`.
    Uniform(f64),
    /// Normal with this standard deviation.
    Normal(f64),
    /// Glorot uniform: `a = √(6 / (in + out))`. Glorot and Bengio, 2010.
    Glorot,
    /// Glorot normal: standard deviation `√(2 / (in + out))`.
    GlorotNormal,
    /// Orthogonal rows (or columns, if there are more rows than columns), block by block: a recurrent weight of several gates gets one
    /// orthogonal block per gate. Saxe, McClelland and Ganguli, 2014.
    Orthogonal,
    /// For an embedding: normal with standard deviation `1 / √features`.
    Embedding,
}

/// Name, shape and place of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name, as it stands in a file.
    pub name: String,
    /// `[n]` or `[rows, columns]`.
    pub shape: Vec<usize>,
    /// Place in the flat buffer.
    pub range: Range<usize>,
}

impl Entry {
    /// As a table; a vector is one row.
    pub fn table(&self) -> (usize, usize) {
        match self.shape[..] {
            [rows, cols] => (rows, cols),
            _ => (1, self.range.len()),
        }
    }
}

/// All parameters of a model in one flat buffer.
#[derive(Clone, Debug)]
pub struct Params<T> {
    data: Vec<T>,
    entries: Vec<Entry>,
    index: HashMap<String, ParamId>,
    /// Decides how parameters begin; none for those that will be read.
    seed: Option<u64>,
    /// What searches have made of them.
    packs: Packs<T>,
}

impl<T: Float> Params<T> {
    /// No parameters yet; `seed` decides how those to come begin.
    pub fn new(seed: u64) -> Self {
        Params { data: Vec::new(), entries: Vec::new(), index: HashMap::new(), seed: Some(seed), packs: Packs::default() }
    }

    /// No parameters yet; those to come begin as zeros, whatever their [`Init`] says. For a model whose weights are about to be read: nothing is drawn that would be
    /// overwritten, and [`weights::load`](crate::weights::load) refuses a file that does not have them all.
    pub fn blank() -> Self {
        Params { data: Vec::new(), entries: Vec::new(), index: HashMap::new(), seed: None, packs: Packs::default() }
    }

    /// Adds a parameter. Its numbers depend on the seed and its name alone, not on what was added before.
    ///
    /// # Panics
    /// If the name is taken or the shape has more than two dimensions: both are mistakes in the program, not in its input.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], init: Init) -> ParamId {
        let name = name.into();
        assert!(matches!(shape.len(), 1 | 2), "{name}: a parameter has one or two dimensions");
        let id = ParamId(self.entries.len());
        let taken = self.index.insert(name.clone(), id);
        assert!(taken.is_none(), "two parameters are called {name}");
        let start = self.data.len();
        let len: usize = shape.iter().product();
        let entry = Entry { name, shape: shape.to_vec(), range: start..start + len };
        self.data.resize(start + len, T::ZERO);
        if let Some(seed) = self.seed {
            initialise(init, entry.table(), &mut self.data[start..], &mut named_rng(seed, &entry.name));
        }
        self.entries.push(entry);
        id
    }

    /// Numbers in all.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The flat buffer.
    pub fn flat(&self) -> &[T] {
        &self.data
    }

    /// The flat buffer, to change.
    pub fn flat_mut(&mut self) -> &mut [T] {
        self.packs.forget();
        &mut self.data
    }

    /// Name, shape and place of every parameter, in the order of the buffer.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Name, shape and place of one.
    pub fn entry(&self, id: ParamId) -> &Entry {
        &self.entries[id.0]
    }

    /// All names, in the order of the buffer.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.as_str())
    }

    /// The parameter of this name.
    pub fn find(&self, name: &str) -> Option<ParamId> {
        self.index.get(name).copied()
    }

    /// The numbers of one parameter.
    pub fn get(&self, id: ParamId) -> &[T] {
        &self.data[self.entries[id.0].range.clone()]
    }

    /// The numbers of one parameter, to change.
    pub fn get_mut(&mut self, id: ParamId) -> &mut [T] {
        self.packs.forget();
        &mut self.data[self.entries[id.0].range.clone()]
    }

    /// What searches have made of them.
    pub(crate) fn packs(&self) -> &Packs<T> {
        &self.packs
    }

    /// The same parameters in another number type.
    pub fn cast<U: Float>(&self) -> Params<U> {
        Params {
            data: self.data.iter().map(|x| U::from_f64(x.to_f64())).collect(),
            entries: self.entries.clone(),
            index: self.index.clone(),
            seed: self.seed,
            packs: Packs::default(),
        }
    }
}

/// A generator that depends on a seed and a name.
fn named_rng(seed: u64, name: &str) -> ChaCha8Rng {
    // FNV-1a spreads the name over 64 bits; the generator does the rest.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3));
    ChaCha8Rng::seed_from_u64(seed ^ hash)
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn initialise<T: Float>(init: Init, (rows, cols): (usize, usize), data: &mut [T], rng: &mut ChaCha8Rng) {
    let fan = (rows + cols) as f64;
    let mut fill = |f: &mut dyn FnMut(&mut ChaCha8Rng) -> f64| data.iter_mut().for_each(|x| *x = T::from_f64(f(rng)));
    match init {
        Init::Zeros => fill(&mut |_| 0.0),
        Init::Ones => fill(&mut |_| 1.0),
        Init::Constant(c) => fill(&mut |_| c),
        Init::Uniform(a) => fill(&mut |rng| (rng.random::<f64>() * 2.0 - 1.0) * a),
        Init::Normal(deviation) => fill(&mut |rng| normal(rng) * deviation),
        Init::Glorot => fill(&mut |rng| (rng.random::<f64>() * 2.0 - 1.0) * (6.0 / fan).sqrt()),
        Init::GlorotNormal => fill(&mut |rng| normal(rng) * (2.0 / fan).sqrt()),
        Init::Embedding => fill(&mut |rng| normal(rng) / (cols as f64).sqrt()),
        Init::Orthogonal => {
            // Square blocks below one another if the rows are a multiple of the columns, else one block.
            let block = if cols > 0 && rows > cols && rows.is_multiple_of(cols) { cols } else { rows };
            for data in data.chunks_mut((block * cols).max(1)) {
                orthogonal(block, cols, data, rng);
            }
        }
    }
}

/// Gram and Schmidt on normal vectors, over the shorter side.
fn orthogonal<T: Float>(rows: usize, cols: usize, data: &mut [T], rng: &mut ChaCha8Rng) {
    let (count, length) = (rows.min(cols), rows.max(cols));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    while basis.len() < count {
        let mut vector: Vec<f64> = (0..length).map(|_| normal(rng)).collect();
        // Twice: once leaves rounding errors of the size of the projection.
        for _ in 0..2 {
            for other in &basis {
                let along: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
                vector.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
        }
        let norm = vector.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 1e-6 {
            vector.iter_mut().for_each(|a| *a /= norm);
            basis.push(vector);
        }
    }
    for (i, x) in data.iter_mut().enumerate() {
        let (r, c) = (i / cols, i % cols);
        *x = T::from_f64(if rows <= cols { basis[r][c] } else { basis[c][r] });
    }
}

/// What has happened to a parameter's gradient since [`Gradients::begin`].
#[derive(Clone, Debug)]
enum Touch {
    /// All zero.
    Zero,
    /// Left over from the step before: to be overwritten.
    Stale,
    /// Written by a loss in the forward pass; counts as nothing until a backward pass makes it good.
    Provisional,
    /// Written.
    Dense,
    /// All zero but for these rows.
    Rows(Vec<u32>),
}

/// Gradients in the layout of a [`Params`].
///
/// Nothing is cleared that need not be: the first product into a parameter's gradient overwrites what was left there, and an embedding's gradient
/// touches only the rows of the units that occurred.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    data: Vec<T>,
    ranges: Vec<(Range<usize>, usize)>,
    touched: Vec<Touch>,
}

impl<T: Float> Gradients<T> {
    /// Zeros in the layout of `params`.
    pub fn new(params: &Params<T>) -> Self {
        Gradients {
            data: T::zeros(params.len()),
            ranges: params.entries.iter().map(|e| (e.range.clone(), e.table().1)).collect(),
            touched: vec![Touch::Zero; params.entries.len()],
        }
    }

    /// Starts a new step: all gradients count as zero.
    pub fn begin(&mut self) {
        for (touched, (range, cols)) in self.touched.iter_mut().zip(&self.ranges) {
            match touched {
                Touch::Dense | Touch::Provisional => *touched = Touch::Stale,
                Touch::Rows(rows) => {
                    let data = &mut self.data[range.clone()];
                    for &row in rows.iter() {
                        data[row as usize * cols..(row as usize + 1) * cols].fill(T::ZERO);
                    }
                    *touched = Touch::Zero;
                }
                Touch::Zero | Touch::Stale => {}
            }
        }
    }

    /// The finished gradients as one slice: what was left over and never touched becomes zero.
    pub fn flat(&mut self) -> &mut [T] {
        for (touched, (range, _)) in self.touched.iter_mut().zip(&self.ranges) {
            if matches!(touched, Touch::Stale | Touch::Provisional) {
                self.data[range.clone()].fill(T::ZERO);
                *touched = Touch::Zero;
            }
        }
        &mut self.data
    }

    /// Forgets what losses wrote whose backward pass never came: their tape is gone. Called for every new tape.
    pub(crate) fn forget_provisional(&mut self) {
        self.touched.iter_mut().filter(|touched| matches!(touched, Touch::Provisional)).for_each(|touched| *touched = Touch::Stale);
    }

    /// Lets count what was written provisionally.
    pub(crate) fn make_good(&mut self, id: usize) {
        if matches!(self.touched[id], Touch::Provisional) {
            self.touched[id] = Touch::Dense;
        }
    }

    /// Whether [`Gradients::provisional`] has room.
    pub(crate) fn has_room(&self, id: usize) -> bool {
        !matches!(self.touched[id], Touch::Dense | Touch::Rows(_))
    }

    /// The gradient of one parameter, for a loss that knows its own gradient in the forward pass; and whether it holds something to add to. None if earlier
    /// backward passes have written there: their sum must not be touched before this one's backward pass comes.
    ///
    /// The backward pass must come back with [`Gradients::make_good`].
    pub(crate) fn provisional(&mut self, id: usize) -> Option<(&mut [T], bool)> {
        let add = match self.touched[id] {
            Touch::Dense | Touch::Rows(_) => return None,
            Touch::Provisional => true,
            Touch::Zero | Touch::Stale => false,
        };
        self.touched[id] = Touch::Provisional;
        Some((&mut self.data[self.ranges[id].0.clone()], add))
    }

    /// The gradient of one parameter, finished.
    pub fn get(&mut self, id: ParamId) -> &[T] {
        let range = self.ranges[id.0].0.clone();
        &self.flat()[range]
    }

    /// Makes the gradient of one parameter zero.
    pub fn clear(&mut self, id: ParamId) {
        self.data[self.ranges[id.0].0.clone()].fill(T::ZERO);
    }

    /// The gradient of one parameter, and whether it holds something to add to; if not, it must be overwritten.
    pub(crate) fn write(&mut self, id: usize) -> (&mut [T], bool) {
        let add = matches!(self.touched[id], Touch::Dense | Touch::Rows(_) | Touch::Provisional);
        self.touched[id] = Touch::Dense;
        (&mut self.data[self.ranges[id].0.clone()], add)
    }

    /// The gradient of one parameter, to add to.
    pub(crate) fn add(&mut self, id: usize) -> &mut [T] {
        let stale = matches!(self.touched[id], Touch::Stale);
        let (data, _) = self.write(id);
        if stale {
            data.fill(T::ZERO);
        }
        data
    }

    /// Adds `dy[i]` to row `rows[i]` of one parameter's gradient.
    pub(crate) fn add_rows(&mut self, id: usize, rows: &[u32], dy: &[T]) {
        let (range, cols) = self.ranges[id].clone();
        let data = &mut self.data[range];
        match &mut self.touched[id] {
            Touch::Dense => {}
            provisional @ Touch::Provisional => *provisional = Touch::Dense,
            Touch::Rows(touched) => touched.extend(rows),
            touched => {
                if matches!(touched, Touch::Stale) {
                    data.fill(T::ZERO);
                }
                *touched = Touch::Rows(rows.to_vec());
            }
        }
        for (&row, dy) in rows.iter().zip(dy.chunks_exact(cols.max(1))) {
            spotlight_kernels::map::add_assign(&mut data[row as usize * cols..][..cols], dy);
        }
    }

    /// Adds another one's gradients to these: of what it touched only.
    pub(crate) fn add_touched(&mut self, other: &Gradients<T>) {
        for (id, theirs) in other.touched.iter().enumerate() {
            let (range, cols) = &other.ranges[id];
            let numbers = &other.data[range.clone()];
            match theirs {
                Touch::Zero | Touch::Stale | Touch::Provisional => {}
                Touch::Dense => add_in_chunks(self.add(id), numbers),
                Touch::Rows(rows) => {
                    let rows = distinct(rows);
                    let gathered: Vec<T> = rows.iter().flat_map(|&row| &numbers[row as usize * cols..][..*cols]).copied().collect();
                    self.add_rows(id, &rows, &gathered);
                }
            }
        }
    }

    /// The places in the flat buffer where a gradient may differ from zero, in their order: a whole parameter, or rows of it.
    pub fn touched(&self) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (touched, (range, cols)) in self.touched.iter().zip(&self.ranges) {
            match touched {
                Touch::Zero | Touch::Stale | Touch::Provisional => {}
                Touch::Dense => places.push(range.clone()),
                Touch::Rows(rows) => {
                    for row in distinct(rows) {
                        let first = range.start + row as usize * cols;
                        match places.last_mut() {
                            Some(last) if last.end == first => last.end = first + cols,
                            _ => places.push(first..first + cols),
                        }
                    }
                }
            }
        }
        places
    }

    /// All numbers, with what is left over where nothing was touched.
    pub(crate) fn raw(&self) -> &[T] {
        &self.data
    }
}

/// Sorted, each once.
fn distinct(rows: &[u32]) -> Vec<u32> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// `to += from`, in pieces that threads can divide.
fn add_in_chunks<T: Float>(to: &mut [T], from: &[T]) {
    const CHUNK: usize = 1 << 15;
    to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| optim::add_shards(to, from));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orthogonal_blocks_are_orthogonal() {
        let mut params = Params::<f64>::new(3);
        for shape in [[12, 4], [4, 4], [3, 5], [5, 3]] {
            let id = params.add(format!("{shape:?}"), &shape, Init::Orthogonal);
            let (w, [rows, cols]) = (params.get(id), shape);
            let block = if rows == 12 { 4 } else { rows };
            let row = |r: usize| &w[r * cols..(r + 1) * cols];
            let product: Vec<f64> = if block <= cols {
                (0..block * block).map(|i| row(i / block).iter().zip(row(i % block)).map(|(a, b)| a * b).sum()).collect()
            } else {
                (0..cols * cols).map(|i| (0..rows).map(|r| row(r)[i / cols] * row(r)[i % cols]).sum()).collect()
            };
            let n = block.min(cols);
            for (i, x) in product.iter().enumerate() {
                let want = if i / n == i % n { 1.0 } else { 0.0 };
                assert!((x - want).abs() < 1e-12, "{shape:?} {i} {x}");
            }
        }
    }

    #[test]
    fn blank_parameters_are_not_drawn() {
        let mut params = Params::<f32>::blank();
        for init in [Init::Glorot, Init::Ones, Init::Orthogonal, Init::Embedding, Init::Constant(2.0)] {
            let id = params.add(format!("{init:?}"), &[3, 3], init);
            assert_eq!(params.get(id), [0.0; 9]);
        }
    }

    #[test]
    fn a_parameter_begins_the_same_whatever_came_before() {
        let mut a = Params::<f32>::new(1);
        let alone = a.add("w", &[2, 2], Init::Glorot);
        let mut b = Params::<f32>::new(1);
        b.add("v", &[5], Init::Normal(1.0));
        let after = b.add("w", &[2, 2], Init::Glorot);
        assert_eq!(a.get(alone), b.get(after));
        let mut c = Params::<f32>::new(2);
        let other = c.add("w", &[2, 2], Init::Glorot);
        assert_ne!(a.get(alone), c.get(other));
    }

    #[test]
    fn initialisers_have_their_spread() {
        let mut params = Params::<f64>::new(5);
        let spread = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt();
        for (name, init, want) in [
            ("glorot", Init::Glorot, (2.0 / 300.0f64).sqrt()),
            ("normal", Init::GlorotNormal, (2.0 / 300.0f64).sqrt()),
            ("embedding", Init::Embedding, 0.1),
            ("uniform", Init::Uniform(0.3), 0.3 / 3f64.sqrt()),
        ] {
            let id = params.add(name, &[200, 100], init);
            let got = spread(params.get(id));
            assert!((got / want - 1.0).abs() < 0.03, "{name}: {got} instead of {want}");
        }
    }

    #[test]
    fn gradients_forget_what_was_left_over() {
        let mut params = Params::<f32>::new(0);
        params.add("dense", &[2], Init::Zeros);
        params.add("table", &[3, 2], Init::Zeros);
        let mut g = Gradients::new(&params);
        g.add(0).copy_from_slice(&[1.0, 2.0]);
        g.add_rows(1, &[2, 2], &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(g.flat(), [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0]);
        g.begin();
        g.add_rows(1, &[0], &[3.0, 3.0]);
        assert_eq!(g.flat(), [0.0, 0.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        g.begin();
        let (dense, add) = g.write(1);
        assert!(!add);
        dense.fill(4.0);
        g.add_rows(1, &[1], &[1.0, 1.0]);
        assert_eq!(g.get(ParamId(1)), [4.0, 4.0, 5.0, 5.0, 4.0, 4.0]);
    }

    #[test]
    fn what_was_touched_is_known_and_added() {
        let mut params = Params::<f32>::new(0);
        for (name, shape) in [("dense", &[2][..]), ("table", &[5, 2]), ("idle", &[3])] {
            params.add(name, shape, Init::Zeros);
        }
        let (mut a, mut b) = (Gradients::new(&params), Gradients::new(&params));
        a.add_rows(1, &[3, 0, 3], &[1.0; 6]);
        assert_eq!(a.touched(), [2..4, 8..10]);
        b.add(0).copy_from_slice(&[5.0, 6.0]);
        b.add_rows(1, &[1, 1], &[2.0; 4]);
        a.add_touched(&b);
        assert_eq!(a.touched(), [0..6, 8..10]);
        assert_eq!(a.flat(), [5.0, 6.0, 1.0, 1.0, 4.0, 4.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        a.begin();
        b.begin();
        // What is left over from the step before counts for nothing.
        b.add_rows(1, &[2], &[7.0, 7.0]);
        a.add_touched(&b);
        assert_eq!(a.touched(), vec![6..8; 1]);
        assert_eq!(a.flat().iter().sum::<f32>(), 14.0);
    }
}
