//! The matrix product against three loops, on shapes around every block and tile size, strided, transposed and added.

use crate::common::{as_f64, assert_close, numbers};
use proptest::prelude::*;
use spotlight_kernels::Float;
use spotlight_kernels::gemm::{KC, MC, MR_WIDEST, NC, NR, Onto, Packed, View, product, product_packed};

/// A matrix inside a slice that is larger than it.
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    cols: usize,
    /// Unused numbers after each stored row.
    gap: usize,
    /// Whether it is stored column by column.
    transposed: bool,
}

impl Shape {
    fn stored(self) -> (usize, usize) {
        if self.transposed { (self.cols, self.rows) } else { (self.rows, self.cols) }
    }

    fn numbers<T: Float>(self, seed: u64) -> Vec<T> {
        let (rows, cols) = self.stored();
        // No gap after the last row: a view may end where its data ends.
        numbers(seed, (rows * (cols + self.gap)).saturating_sub(self.gap))
    }

    fn view<T: Float>(self, data: &[T]) -> View<'_, T> {
        let (rows, cols) = self.stored();
        let view = View::strided(data, rows, cols, cols + self.gap);
        if self.transposed { view.t() } else { view }
    }

    fn at(self, row: usize, col: usize) -> usize {
        let stride = self.stored().1 + self.gap;
        if self.transposed { col * stride + row } else { row * stride + col }
    }
}

/// Sizes from 0 over odd ones to just around `edge`, the size of a block.
fn around(small: usize, edge: usize) -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0..=small, 1 => edge - 1..=edge + 2]
}

prop_compose! {
    fn shapes()(m in around(2 * MR_WIDEST + 2, MC), k in around(20, KC), n in around(5 * NR + 8, NC), gaps in (0usize..3, 0usize..3, 0usize..3),
                transposed in any::<(bool, bool)>(), add in any::<bool>(), seed in any::<u64>())
                -> (Shape, Shape, usize, bool, u64) {
        let a = Shape { rows: m, cols: k, gap: gaps.0, transposed: transposed.0 };
        let b = Shape { rows: k, cols: n, gap: gaps.1, transposed: transposed.1 };
        (a, b, n + gaps.2, add, seed)
    }
}

fn check<T: Float>(a: Shape, b: Shape, stride: usize, add: bool, seed: u64) {
    let (left, right) = (a.numbers::<T>(seed), b.numbers::<T>(seed + 1));
    let before = numbers::<T>(seed + 2, (a.rows * stride).saturating_sub(stride - b.cols));
    let (l, r) = (as_f64(&left), as_f64(&right));
    let mut want = as_f64(&before);
    for i in 0..a.rows {
        for j in 0..b.cols {
            let sum: f64 = (0..a.cols).map(|p| l[a.at(i, p)] * r[b.at(p, j)]).sum();
            let c = &mut want[i * stride + j];
            *c = if add { *c + sum } else { sum };
        }
    }
    let mut plain = before.clone();
    product(a.view(&left), b.view(&right), &mut plain, stride, add);
    assert_close("product", &plain, &want);
    let mut packed = before.clone();
    product_packed(a.view(&left), &Packed::new(b.view(&right)), &mut packed, stride, add);
    assert_close("product_packed", &packed, &want);
    // What a recurrence relies on: packing changes no bit.
    assert!(plain == packed, "packed and not packed differ");
    // A row under all rows is the same as writing it there first.
    let row = numbers::<T>(seed + 3, b.cols);
    let (mut onto, mut added) = (before.clone(), before);
    for c in added.chunks_mut(stride.max(1)).take(a.rows) {
        c[..b.cols].copy_from_slice(&row);
    }
    product(a.view(&left), b.view(&right), &mut added, stride, true);
    product(a.view(&left), b.view(&right), &mut onto, stride, Onto::Row(&row));
    assert!(onto == added, "a row that is added last, and first");
    product_packed(a.view(&left), &Packed::new(b.view(&right)), &mut onto, stride, Onto::Row(&row));
    assert!(onto == added, "the same with a packed right side");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn product_is_three_loops((a, b, stride, add, seed) in shapes()) {
        check::<f32>(a, b, stride, add, seed % 1000);
        check::<f64>(a, b, stride, add, seed % 1000);
    }
}

/// More than one block in every direction at once, and a rest behind each.
#[test]
fn blocks_of_every_direction_meet() {
    let (m, k, n) = (MC + MR_WIDEST + 1, 2 * KC + 3, NC + NR + 1);
    let a = Shape { rows: m, cols: k, gap: 0, transposed: false };
    let b = Shape { rows: k, cols: n, gap: 0, transposed: true };
    check::<f32>(a, b, n, false, 1);
    check::<f64>(a, b, n, true, 2);
}

#[test]
fn a_packing_can_be_used_for_another_matrix() {
    let (first, second) = (numbers::<f32>(1, 40 * 30), numbers::<f32>(2, 3 * 5));
    let mut packed = Packed::new(View::new(&first, 40, 30));
    packed.fill(View::new(&second, 3, 5));
    assert_eq!((packed.rows(), packed.cols()), (3, 5));
    let left = numbers::<f32>(3, 2 * 3);
    let (mut got, mut want) = (vec![0.0; 10], vec![0.0; 10]);
    product_packed(View::new(&left, 2, 3), &packed, &mut got, 5, false);
    product(View::new(&left, 2, 3), View::new(&second, 3, 5), &mut want, 5, false);
    assert_eq!(got, want);
}

/// Every row of the result must depend on its own row alone: a batch gives what its items give by themselves, to the bit.
#[test]
fn rows_do_not_depend_on_their_neighbours() {
    let (m, k, n) = (50, 70, 33);
    let (a, b) = (numbers::<f32>(1, m * k), numbers::<f32>(2, k * n));
    let mut all = vec![0.0; m * n];
    product(View::new(&a, m, k), View::new(&b, k, n), &mut all, n, false);
    for (row, want) in a.chunks(k).zip(all.chunks(n)) {
        let mut one = vec![0.0; n];
        product(View::new(row, 1, k), View::new(&b, k, n), &mut one, n, false);
        assert_eq!(one, want);
    }
}
