//! Compile a loop for several instruction sets and choose at run time.

/// Defines a function generic over [`Float`](crate::Float) whose body is compiled for the baseline processor and for AVX2 + FMA.
///
/// Inside the body, `FMA` is a constant that says whether a fused multiply-add is an instruction here; write `T::fma::<FMA>(a, b, c)`
/// for `a * b + c`. Without the constant the baseline version would call a library function for every product.
macro_rules! simd {
    ($(#[$meta:meta])* $vis:vis fn $name:ident<T $(, const $cg:ident: usize)?>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<T: $crate::Float, const FMA: bool $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<T, true $(, $cg)?>($($arg),*)
                }
                if $crate::simd::wide() {
                    // SAFETY: `avx2` needs exactly the two features that `wide` has found.
                    return unsafe { avx2::<T $(, $cg)?>($($arg),*) };
                }
            }
            // On aarch64 the fused multiply-add belongs to the baseline.
            #[cfg(target_arch = "aarch64")]
            return body::<T, true $(, $cg)?>($($arg),*);
            #[cfg(not(target_arch = "aarch64"))]
            body::<T, false $(, $cg)?>($($arg),*)
        }
    };
}

/// Whether AVX2 and fused multiply-add are there (and no test wants to do without).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn wide() -> bool {
    #[cfg(test)]
    if tests::BASELINE.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell as Flag;

    use crate::activation::Activation;
    use crate::attend::{Attend, Columns, Meeting};
    use crate::cell::Cell;
    use crate::dropout::Dropout;
    use crate::gemm::{Packed, View, product};
    use crate::pairs::Heads;
    use crate::scan::{self, Kept, Saved, Steps};
    use crate::{Float, activation, attend, loss, map, norm, optim, segment};

    thread_local! {
        /// Whether this thread takes the baseline versions.
        pub(super) static BASELINE: Flag<bool> = const { Flag::new(false) };
    }

    fn numbers<T: Float>(seed: usize, len: usize) -> Vec<T> {
        (0..len).map(|i| T::from_f64((((i + seed) * 7919) % 1009) as f64 / 504.5 - 1.0)).collect()
    }

    /// What `f` computes is the same with and without wide instructions, but for the rounding that a fused multiply-add spares.
    fn agree<T: Float>(name: &str, f: impl Fn() -> Vec<T>) {
        let wide = f();
        BASELINE.set(true);
        let baseline = f();
        BASELINE.set(false);
        let tolerance = if T::BYTES == 8 { 1e-13 } else { 1e-5 };
        assert_eq!(wide.len(), baseline.len(), "{name}");
        for (i, (a, b)) in wide.iter().zip(&baseline).enumerate() {
            let error = (a.to_f64() - b.to_f64()).abs();
            assert!(error <= tolerance * b.to_f64().abs().max(1.0), "{name} [{i}]: {a} and {b}");
        }
    }

    fn all<T: Float>() {
        let (m, k, n) = (19, 37, 50);
        agree::<T>("product", || {
            let mut c = numbers(3, m * n);
            product(View::new(&numbers(1, m * k), m, k), View::new(&numbers(2, n * k), n, k).t(), &mut c, n, true);
            c
        });
        for cell in [Cell::Tanh, Cell::Gru, Cell::Lstm] {
            agree::<T>("scan", || whole_scan(cell));
        }
        agree::<T>("softmax", || {
            let mut y = numbers(1, 60);
            segment::softmax_forward(&[0, 7, 7, 60], 1, &mut y);
            y
        });
        agree::<T>("cross entropy", || {
            let mut logits = numbers(1, 3 * 41);
            let total = loss::cross_entropy_block(&mut logits, 41, &[4, 0, 40], T::from_f64(0.1), T::ONE);
            logits.push(T::from_f64(total));
            logits
        });
        agree::<T>("tanh", || {
            let mut y = numbers(1, 50);
            map::tanh_forward(&mut y);
            y
        });
        agree::<T>("layer norm", || {
            let (x, scale, mut y, mut kept) = (numbers::<T>(1, 3 * 37), numbers::<T>(2, 37), T::zeros(3 * 37), [[T::ZERO; 2]; 3]);
            norm::layer_norm_forward(&x, &scale, &scale, T::from_f64(1e-5), &mut y, &mut kept);
            let (mut dx, mut d) = (T::zeros(3 * 37), T::zeros(2 * 37));
            let (d_scale, d_shift) = d.split_at_mut(37);
            norm::layer_norm_backward(&x, &kept, &scale, &numbers(3, 3 * 37), false, &mut dx, d_scale, d_shift);
            [y, dx, d].concat()
        });
        for kind in [Activation::Relu, Activation::Gelu] {
            agree::<T>("activation", || {
                let (mut y, mut slopes, mut d) = (numbers::<T>(1, 50), T::zeros(50), numbers::<T>(2, 50));
                let dropout = Some(Dropout::new(7, 0.3));
                activation::forward(kind, dropout, 5, &mut y, &mut slopes);
                activation::backward(kind, dropout, &y, &slopes, &mut d);
                [y, slopes, d].concat()
            });
        }
        agree::<T>("attention with weights", || whole_attention());
        agree::<T>("dot", || vec![map::dot(&numbers(1, 50), &numbers(2, 50)), T::from_f64(optim::sum_of_squares(&numbers::<T>(1, 50)))]);
        agree::<T>("adadelta", || {
            let (mut w, mut s, mut u) = (numbers(1, 50), T::zeros(50), T::zeros(50));
            optim::adadelta(T::ONE, T::from_f64(0.9), T::from_f64(1e-3), T::ONE, &mut w, &numbers(2, 50), &mut s, &mut u);
            w
        });
    }

    /// Two heads of 19 features, three causal queries, five keys: weights, context and gradients.
    fn whole_attention<T: Float>() -> Vec<T> {
        let (queries, keys, width) = (3, 5, 2 * 19);
        let (q, k, dc) = (numbers::<T>(1, queries * width), numbers::<T>(2, keys * width), numbers::<T>(3, queries * width));
        let columns = |table| Columns { table, stride: width, first: 0 };
        let attend = Attend {
            shape: Heads { heads: 2, size: 19 },
            scale: T::from_f64(0.2),
            causal: true,
            dropout: Some(Dropout::new(7, 0.3)),
            queries: columns(&q),
            keys: columns(&k),
            values: columns(&k),
        };
        let meeting = Meeting { query: 0, queries, key: 0, keys };
        let (mut weights, mut context) = (T::zeros(meeting.weights(2)), T::zeros(queries * width));
        attend::forward(attend, meeting, 0, &mut weights, &mut context);
        let (mut dq, mut dk, mut dv) = (T::zeros(queries * width), T::zeros(keys * width), T::zeros(keys * width));
        let to = attend::Gradients { queries: &mut dq, keys: &mut dk, values: &mut dv };
        attend::backward(attend, meeting, 0, &weights, &[], &dc, to, &mut T::zeros(keys));
        [weights, context, dq, dk, dv].concat()
    }

    /// A layer forwards and backwards: states, then the gradients of gates and initial states.
    fn whole_scan<T: Float>(cell: Cell) -> Vec<T> {
        let (h, counts, rows, items) = (21, [4, 3, 3, 1], 11, 4);
        let (g, steps) = (cell.gates() * h, Steps { counts: &counts });
        let (weights, bias, state0) = (numbers::<T>(1, g * h), numbers(2, g), numbers(3, items * h));
        let (mut gates, mut extra, mut states) = (numbers(4, rows * g), T::zeros(rows * cell.extra() * h), T::zeros(rows * h));
        let kept = Kept { gates: &mut gates, extra: &mut extra, states: &mut states };
        let packed = Packed::new(View::new(&weights, g, h).t());
        scan::forward(cell, h, steps, &packed, &bias, &state0, &state0, kept, &mut T::zeros(items * g));
        let saved = Saved { gates: &gates, extra: &extra, states: &states, state0: &state0, memory0: &state0 };
        let (mut d_gates, mut d_state, mut d_memory) =
            (T::zeros(rows * cell.gradient_gates() * h), T::zeros(items * h), T::zeros(items * h));
        let packed = Packed::new(View::new(&weights, g, h));
        let d_states = numbers(5, rows * h);
        scan::backward(cell, h, steps, &packed, saved, &d_states, &[], &mut d_gates, &mut d_state, &mut d_memory);
        [states, d_gates, d_state, d_memory].concat()
    }

    #[test]
    fn wide_and_baseline_versions_agree() {
        all::<f64>();
        all::<f32>();
    }
}
