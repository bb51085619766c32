//! What is left of an answer when units are taken away in some order.
//!
//! With `p` the probability of the label that was chosen, and `R_k` the first `k` percent of the units in an order (one at least; DeYoung and others, 2020):
//!
//! ```text
//! comprehensiveness = mean_k p(text) - p(text without R_k)      high if these units carried the answer
//! sufficiency       = mean_k p(text) - p(R_k alone)             low if they are enough for it
//! flip              = share of the units taken away, one by one, until another label is chosen; 1 if none ever is
//! ```

/// Shares of the units.
pub const SHARES: [f64; 5] = [0.01, 0.05, 0.10, 0.20, 0.50];

/// Units in each of the [`SHARES`] of a text of `n`.
pub fn counts(n: usize) -> [usize; 5] {
    SHARES.map(|share| ((share * n as f64).ceil() as usize).clamp(1, n.max(1)))
}

/// Units from the most to the least; of equal ones the first stands first.
pub fn order(of: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[b].total_cmp(&of[a]));
    order
}

/// For each unit whether it stays when the first `count` of an order are taken away; or, `alone`, whether it is one of them.
pub fn kept(order: &[usize], count: usize, alone: bool) -> Vec<bool> {
    let mut keep = vec![!alone; order.len()];
    order[..count.min(order.len())].iter().for_each(|&unit| keep[unit] = alone);
    keep
}

/// The mean over the [`SHARES`] of how much was lost: `left` is the probability that is left at each.
pub fn aopc(whole: f64, left: &[f64]) -> f64 {
    left.iter().map(|left| whole - left).sum::<f64>() / left.len().max(1) as f64
}

/// The share taken away when the answer changes first: `changed` says of 1, 2, ... units of `n` whether it did. 1 if it never does.
pub fn flip(changed: impl Iterator<Item = bool>, n: usize) -> f64 {
    let first = changed.take(n).position(|changed| changed).map_or(n, |at| at + 1);
    first as f64 / n.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!((counts(1), counts(10), counts(100)), ([1; 5], [1, 1, 1, 2, 5], [1, 5, 10, 20, 50]));
        assert_eq!(order(&[0.2, 0.5, 0.2, 0.9]), [3, 1, 0, 2]);
        assert_eq!(kept(&[2, 0, 1], 1, false), [true, true, false]);
        assert_eq!(kept(&[2, 0, 1], 2, true), [true, false, true]);
        assert!((aopc(0.9, &[0.8, 0.6, 0.4, 0.2, 0.0]) - 0.5).abs() < 1e-15);
        assert_eq!(flip([false, true, false].into_iter(), 4), 0.5);
        assert_eq!(flip([false, false, false].into_iter(), 3), 1.0);
    }
}
