//! Streaming attention needs memory that grows with the length, not with its square. Alone in its file: it counts every allocation of the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use spotlight::attention::streaming_attention;
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Params};
use spotlight::tape::Tape;

/// The system's allocator, counting the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Peak bytes of attention of a sequence to itself, one head of 4, forward and back.
fn peak(length: usize) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let params = Params::<f32>::new(0);
    let mut gradients = Gradients::new(&params);
    let tape = Tape::training(&params, &mut gradients, 0);
    let x = tape.input(length, 4, vec![0.5; length * 4]).unwrap();
    let on_axis = tape.on_axis(x, &Axis::new([length])).unwrap();
    let y = streaming_attention(&tape, on_axis, on_axis, on_axis, 1, 0.5, true).unwrap();
    let gradient = tape.backward_with(&[(y, vec![1.0; length * 4])], &[x]).unwrap();
    assert!(gradient[0].iter().all(|x| x.is_finite()));
    PEAK.load(Ordering::Relaxed) - before
}

#[test]
fn memory_grows_with_the_length() {
    peak(1024); // threads and their scratch memory are there from now on
    let (short, long) = (peak(4096), peak(16_384));
    assert!(long < 5 * short, "{short} bytes for 4,096 positions, {long} for 16,384");
    // One table of weights would have 4 * 16,384 * 16,384 / 2 bytes.
    assert!(long < 100 << 20, "{long} bytes");
}
