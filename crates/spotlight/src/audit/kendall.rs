//! Kendall's τ: how far two orders of the same things agree.

/// `τ_b = (C - D) / √((P - T_a)(P - T_b))`: of all `P` pairs, `C` stand in the same order in both, `D` in opposite ones, `T` are tied on one side (Kendall, 1945).
///
/// From -1 to 1; none if all of one side are equal, or there are fewer than two.
///
/// ```
/// use spotlight::audit::kendall;
///
/// assert_eq!(kendall(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
/// assert_eq!(kendall(&[1.0, 2.0, 3.0], &[9.0, 9.0, 9.0]), None);
/// ```
pub fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mut together, mut ties_a, mut ties_b, mut pairs) = (0i64, 0i64, 0i64, 0i64);
    for i in 0..a.len().min(b.len()) {
        for j in 0..i {
            let (x, y) = (a[i].total_cmp(&a[j]) as i64, b[i].total_cmp(&b[j]) as i64);
            // -0 and 0 are one number.
            let (x, y) = (if a[i] == a[j] { 0 } else { x }, if b[i] == b[j] { 0 } else { y });
            together += x * y;
            ties_a += i64::from(x == 0);
            ties_b += i64::from(y == 0);
            pairs += 1;
        }
    }
    let room = (pairs - ties_a) as f64 * (pairs - ties_b) as f64;
    (room > 0.0).then(|| together as f64 / room.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Pairs: (1,2) same, (1,3) same, (2,3) opposite: 1/3.
        assert!((kendall(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]).unwrap() - 1.0 / 3.0).abs() < 1e-15);
        // One tie on the left: C = 2, D = 0, (3 - 1)(3 - 0) = 6.
        assert!((kendall(&[1.0, 1.0, 3.0], &[1.0, 2.0, 3.0]).unwrap() - 2.0 / 6f64.sqrt()).abs() < 1e-15);
        assert_eq!((kendall(&[], &[]), kendall(&[1.0], &[2.0]), kendall(&[0.0, -0.0], &[1.0, 2.0])), (None, None, None));
    }
}
