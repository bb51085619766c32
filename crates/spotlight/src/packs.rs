//! Weights made ready for products: once for all searches of a model, on all threads, until a parameter may have changed.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use spotlight_kernels::bytes::Bytes;
use spotlight_kernels::gemm::Packed;

/// A parameter by its number, and rows and columns of it.
pub(crate) type PartOf = (usize, Range<usize>, Range<usize>);

/// What was made, by what it was made of.
struct Made<K, V>(RwLock<HashMap<K, Arc<V>>>);

impl<K: Eq + Hash, V> Made<K, V> {
    fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        // A panic while the lock is held leaves a map that is whole.
        if let Some(made) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return made.clone();
        }
        let made = Arc::new(make());
        self.0.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone()
    }

    fn forget(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl<K, V> Default for Made<K, V> {
    fn default() -> Self {
        Made(RwLock::default())
    }
}

/// Right sides of products, made of parameters.
pub(crate) struct Packs<T> {
    numbers: Made<PartOf, Packed<T>>,
    bytes: Made<PartOf, Bytes>,
}

impl<T> Packs<T> {
    pub(crate) fn numbers(&self, part: PartOf, make: impl FnOnce() -> Packed<T>) -> Arc<Packed<T>> {
        self.numbers.get(part, make)
    }

    pub(crate) fn bytes(&self, part: PartOf, make: impl FnOnce() -> Bytes) -> Arc<Bytes> {
        self.bytes.get(part, make)
    }

    /// For whoever may change a parameter.
    pub(crate) fn forget(&mut self) {
        self.numbers.forget();
        self.bytes.forget();
    }
}

impl<T> Default for Packs<T> {
    fn default() -> Self {
        Packs { numbers: Made::default(), bytes: Made::default() }
    }
}

/// A copy makes its own, as soon as it is searched.
impl<T> Clone for Packs<T> {
    fn clone(&self) -> Self {
        Packs::default()
    }
}

impl<T> fmt::Debug for Packs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packs")
    }
}
