//! How alike the states are that attention chooses among.

/// `mean_t |cos(h_t, h̄)|` of rows of `width` numbers, with `h̄` their mean (Sharma and others, 2018; Mohankumar and others, 2020): 1 if all point one way, so that any weights mix nearly
/// the same context. None without rows, or if they cancel out.
pub fn conicity(rows: &[f32], width: usize) -> Option<f64> {
    let count = rows.len().checked_div(width).filter(|&n| n > 0)?;
    let mut mean = vec![0.0f64; width];
    rows.chunks_exact(width).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, &x)| *m += x as f64 / count as f64));
    let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    let along = length(&mut mean.iter().copied());
    let cosine = |row: &[f32]| {
        let own = length(&mut row.iter().map(|&x| x as f64));
        let dot: f64 = row.iter().zip(&mean).map(|(&x, m)| x as f64 * m).sum();
        if own > 0.0 { dot.abs() / (own * along) } else { 0.0 }
    };
    (along > 1e-12).then(|| rows.chunks_exact(width).map(cosine).sum::<f64>() / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(conicity(&[1.0, 0.0, 2.0, 0.0], 2), Some(1.0));
        // The mean of two at a right angle halves the angle: cos 45°.
        assert!((conicity(&[1.0, 0.0, 0.0, 1.0], 2).unwrap() - 0.5f64.sqrt()).abs() < 1e-7);
        assert_eq!((conicity(&[], 2), conicity(&[1.0, -1.0], 1)), (None, None));
    }
}
