//! Memory that is used again from batch to batch.

use std::cell::RefCell;
use std::collections::BTreeMap;

use spotlight_kernels::Float;

/// Buffers given back by earlier tapes, by capacity.
///
/// Fresh memory costs more than it seems: the system hands it out page by page, each one cleared. After the first few batches of a run a tape with a
/// pool asks for none.
#[derive(Debug)]
pub struct Pool<T> {
    free: RefCell<BTreeMap<usize, Vec<Vec<T>>>>,
}

impl<T: Float> Pool<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Pool { free: RefCell::new(BTreeMap::new()) }
    }

    /// A buffer of `len` numbers of arbitrary content.
    pub(crate) fn take(&self, len: usize) -> Vec<T> {
        let capacity = size_class(len);
        let mut free = self.free.borrow_mut();
        if let Some((_, buffers)) = free.range_mut(capacity..=2 * capacity).find(|(_, buffers)| !buffers.is_empty())
            && let Some(mut buffer) = buffers.pop()
        {
            buffer.resize(len, T::ZERO);
            return buffer;
        }
        let mut buffer = Vec::with_capacity(capacity);
        buffer.resize(len, T::ZERO);
        buffer
    }

    pub(crate) fn put(&self, buffer: Vec<T>) {
        if buffer.capacity() > 0 {
            self.free.borrow_mut().entry(buffer.capacity()).or_default().push(buffer);
        }
    }
}

impl<T: Float> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Capacities come in eighths of powers of two, so that batches of slightly different shapes share buffers.
fn size_class(len: usize) -> usize {
    let step = (len.next_power_of_two() / 8).max(16);
    len.div_ceil(step).max(1) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back() {
        let pool = Pool::<f32>::new();
        let first = pool.take(1000);
        let address = first.as_ptr();
        pool.put(first);
        let second = pool.take(990);
        assert_eq!((second.as_ptr(), second.len()), (address, 990));
        assert_eq!(pool.take(5).len(), 5);
    }
}
