//! Memory that is used again from batch to batch.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use spotlight_kernels::Float;

/// Buffers given back by earlier tapes, by capacity.
///
/// Fresh memory costs more than it seems: the system hands it out page by page, each one cleared. After the first few batches of a run a tape with a
/// pool asks for little. What nobody has asked for during the last few tapes goes: not all that is given back was taken here, such as a table that was filled elsewhere, and it would
/// become more with every batch.
#[derive(Debug)]
pub struct Pool<T> {
    /// By capacity, the latest last.
    free: RefCell<BTreeMap<usize, Vec<Free<T>>>>,
    tapes: Cell<u64>,
}

/// A buffer that was given back.
#[derive(Debug)]
struct Free<T> {
    buffer: Vec<T>,
    /// The number of the tape that gave it back.
    tape: u64,
}

/// Tapes after which a buffer that was not asked for goes.
const KEPT: u64 = 16;

thread_local! {
    static OF_THREAD: Pool<f32> = Pool::new();
}

impl Pool<f32> {
    /// Runs `f` with a pool that this thread keeps: searches are short, and one after another has batches of the same size.
    pub(crate) fn of_thread<R>(f: impl FnOnce(&Pool<f32>) -> R) -> R {
        OF_THREAD.with(f)
    }
}

impl<T: Float> Pool<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Pool { free: RefCell::new(BTreeMap::new()), tapes: Cell::new(0) }
    }

    /// A new tape begins.
    pub(crate) fn begin(&self) {
        let tape = self.tapes.get() + 1;
        self.tapes.set(tape);
        if tape.is_multiple_of(KEPT) {
            self.free.borrow_mut().retain(|_, buffers| {
                buffers.retain(|free| free.tape + KEPT > tape);
                !buffers.is_empty()
            });
        }
    }

    /// A buffer of `len` numbers of arbitrary content.
    pub(crate) fn take(&self, len: usize) -> Vec<T> {
        let capacity = size_class(len);
        let mut free = self.free.borrow_mut();
        if let Some((_, buffers)) = free.range_mut(capacity..=2 * capacity).find(|(_, buffers)| !buffers.is_empty())
            && let Some(Free { mut buffer, .. }) = buffers.pop()
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
            self.free.borrow_mut().entry(buffer.capacity()).or_default().push(Free { buffer, tape: self.tapes.get() });
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

    #[test]
    fn what_nobody_asks_for_goes() {
        let pool = Pool::<f32>::new();
        let mut address = None;
        for tape in 0..200 {
            pool.begin();
            let used = pool.take(1000);
            assert_eq!(*address.get_or_insert(used.as_ptr()), used.as_ptr(), "tape {tape}");
            pool.put(used);
            // From elsewhere, and of a size that is not asked for.
            pool.put(vec![0.0; 7777]);
        }
        assert!(pool.free.borrow().values().map(Vec::len).sum::<usize>() <= 2 * KEPT as usize + 1);
    }
}
