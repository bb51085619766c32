//! Dropout without a stored mask. Srivastava and others, 2014.
//!
//! Whether a number is dropped is a function of a key and the number's place, so the way back asks again instead of remembering: no memory, no random generator
//! to wait for, and the same answer on any thread. The function mixes the bits of the place with those of the key in two rounds of multiplications and shifts,
//! all in 32 bits, so that eight places are mixed by one instruction each.

use crate::Float;

/// Drops numbers with a probability and divides those that stay by what is left of 1.
#[derive(Clone, Copy, Debug)]
pub struct Dropout<T> {
    key: [u32; 2],
    /// Places whose mixed bits are below this are dropped.
    threshold: u32,
    keep: T,
}

impl<T: Float> Dropout<T> {
    /// Drops with probability `p` (from 0 to below 1); `key` decides which.
    pub fn new(key: u64, p: f64) -> Self {
        Dropout { key: [key as u32, (key >> 32) as u32], threshold: (p * 4_294_967_296.0) as u32, keep: T::from_f64(1.0 / (1.0 - p)) }
    }

    /// What the number at `place` is multiplied by: 0, or one over the probability to stay.
    #[inline(always)]
    pub fn factor(&self, place: usize) -> T {
        if mix(mix(place as u32 ^ self.key[0]) ^ self.key[1]) < self.threshold { T::ZERO } else { self.keep }
    }

    /// What those that stay are multiplied by.
    #[inline(always)]
    pub fn keep(&self) -> T {
        self.keep
    }
}

/// One-to-one on 32 bits; each bit of the result depends on all bits of `x`.
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 13;
    x = x.wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

simd! {
    /// `y = a + b`, with numbers of `b` dropped: what a residual connection adds.
    pub fn add_forward<T>(a: &[T], b: &[T], dropout: Option<Dropout<T>>, y: &mut [T]) {
        match dropout {
            Some(dropout) => {
                for (i, ((y, &a), &b)) in y.iter_mut().zip(a).zip(b).enumerate() {
                    *y = T::fma::<FMA>(dropout.factor(i), b, a);
                }
            }
            None => {
                for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
                    *y = a + b;
                }
            }
        }
    }
}

simd! {
    /// `y = x`, with numbers dropped; the place of the first is `first`. Also the way back.
    pub fn apply<T>(dropout: Dropout<T>, first: usize, x: &[T], y: &mut [T]) {
        for (i, (y, &x)) in y.iter_mut().zip(x).enumerate() {
            *y = dropout.factor(first + i) * x;
        }
    }
}

simd! {
    /// `y += x`, with numbers of `x` dropped.
    pub fn add_assign<T>(dropout: Dropout<T>, x: &[T], y: &mut [T]) {
        for (i, (y, &x)) in y.iter_mut().zip(x).enumerate() {
            *y = T::fma::<FMA>(dropout.factor(i), x, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of dropped numbers, and of dropped pairs at some distances, are within four deviations of what independent draws give.
    #[test]
    fn drops_as_often_as_told_and_independently() {
        for (key, p) in [(1u64, 0.1), (2, 0.5), (u64::MAX, 0.3)] {
            let dropout = Dropout::<f32>::new(key, p);
            let n = 200_000;
            let dropped: Vec<bool> = (0..n).map(|i| dropout.factor(i) == 0.0).collect();
            let near = |count: usize, p: f64| (count as f64 - n as f64 * p).abs() < 4.0 * (n as f64 * p * (1.0 - p)).sqrt();
            assert!(near(dropped.iter().filter(|&&d| d).count(), p), "{key} {p}");
            for distance in [1, 2, 16, 64, 256, 1024] {
                let both = (0..n).filter(|&i| dropped[i] && dropout.factor(i + distance) == 0.0).count();
                assert!(near(both, p * p), "{key} {p}: {both} pairs at distance {distance}");
            }
            // Another key drops others.
            let other = Dropout::<f32>::new(key ^ 1, p);
            let both = (0..n).filter(|&i| dropped[i] && other.factor(i) == 0.0).count();
            assert!(near(both, p * p), "{key} {p}: {both} with another key");
        }
    }

    #[test]
    fn those_that_stay_make_up_for_those_that_go() {
        let dropout = Dropout::<f64>::new(3, 0.25);
        let mut y = [0.0; 64];
        apply(dropout, 0, &[3.0; 64], &mut y);
        assert!(y.iter().all(|&y| y == 0.0 || y == 4.0) && y.contains(&0.0) && y.contains(&4.0));
        assert!((0..1000).all(|i| Dropout::<f64>::new(9, 0.0).factor(i) == 1.0));
        // The place of the first number counts.
        let mut later = [0.0; 32];
        apply(dropout, 32, &[3.0; 32], &mut later);
        assert_eq!(later, y[32..]);
    }
}
