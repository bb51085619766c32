//! The measures against numbers made by SciPy (`tests/golden/audit.py`).

use serde::Deserialize;

use super::bootstrap::mean;
use super::{conicity, divergence, kendall};

const GOLDEN: &str = include_str!("../../tests/golden/audit.json");

#[derive(Deserialize)]
struct Golden {
    tau: Vec<Tau>,
    divergence: Vec<Divergence>,
    conicity: Vec<Conicity>,
    interval: Vec<Mean>,
}

#[derive(Deserialize)]
struct Tau {
    a: Vec<f64>,
    b: Vec<f64>,
    tau: f64,
}

#[derive(Deserialize)]
struct Divergence {
    p: Vec<f64>,
    q: Vec<f64>,
    divergence: f64,
}

#[derive(Deserialize)]
struct Conicity {
    width: usize,
    rows: Vec<f32>,
    conicity: f64,
}

#[derive(Deserialize)]
struct Mean {
    numbers: Vec<f64>,
    mean: f64,
    low: f64,
    high: f64,
}

#[test]
fn as_scipy_says() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    assert!(golden.tau.len() > 8 && golden.divergence.len() > 5);
    for case in &golden.tau {
        let found = kendall(&case.a, &case.b).unwrap();
        assert!((found - case.tau).abs() < 1e-12, "{found} instead of {}", case.tau);
    }
    for case in &golden.divergence {
        let found = divergence(&case.p, &case.q);
        assert!((found - case.divergence).abs() < 1e-12, "{found} instead of {}", case.divergence);
    }
    for case in &golden.conicity {
        let found = conicity(&case.rows, case.width).unwrap();
        assert!((found - case.conicity).abs() < 1e-6, "{found} instead of {}", case.conicity);
    }
    // The bootstrap draws; the normal interval of a mean is what it comes near to.
    for case in &golden.interval {
        let (found, room) = (mean(&case.numbers, 1).unwrap(), 0.15 * (case.high - case.low));
        assert!((found.value - case.mean).abs() < 1e-12);
        assert!((found.low - case.low).abs() < room && (found.high - case.high).abs() < room, "{found:?}");
    }
}
