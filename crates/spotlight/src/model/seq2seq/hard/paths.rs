//! The sum over all monotonic alignments by dynamic programming, and its slopes.
//!
//! ```text
//! t_i(k, j) = exp(s_ij + b_(j-k)) / Σ_(l >= k) exp(s_il + b_(l-k))     from position k to j >= k; b for the first order only
//! α_i(j)    = e_ij Σ_(k <= j) α_(i-1)(k) t_i(k, j)                     a walk begins at position 0
//! p(y | x)  = Σ_j α_n(j)
//! ```
//!
//! Wu and Cotterell, 2019, section 4. All in logarithms and in double precision. The slopes are the posteriors of forward and backward: with `γ_i(k, j)` the share of the walks that go from `k`
//! to `j` at step `i`, `∂ ln p / ∂ ln e_ij = Σ_k γ_i(k, j)` and `∂ ln p / ∂ s_ij = Σ_k (γ_i(k, j) - t_i(k, j) Σ_l γ_i(k, l))`, and `b` likewise.

/// One pair: `steps` units were written, each at one of `places` positions.
pub(super) struct Walks<'a> {
    pub(super) steps: usize,
    pub(super) places: usize,
    /// `ln e`: steps by places.
    pub(super) emissions: &'a [f64],
    /// `s`: steps by places.
    pub(super) scores: &'a [f64],
    /// `b`: by the length of a move, the last for all that are longer; empty for the order 0.
    pub(super) moves: &'a [f64],
}

/// `ln p`, and its slopes by emissions, scores and moves.
pub(super) struct Slopes {
    pub(super) log_prob: f64,
    pub(super) emissions: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) moves: Vec<f64>,
}

/// `ln Σ e^x`; −∞ of nothing.
pub(in crate::model::seq2seq) fn log_sum(all: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = all.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + all.map(|x| (x - most).exp()).sum::<f64>().ln() }
}

/// The bias of a move of some length.
fn bias(moves: &[f64], length: usize) -> f64 {
    moves.get(length.min(moves.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// `ln t(from, j)` for all positions from `from` on, in a row of scores.
pub(super) fn leaving(scores: &[f64], moves: &[f64], from: usize) -> Vec<f64> {
    let own: Vec<f64> = scores[from..].iter().enumerate().map(|(length, s)| s + bias(moves, length)).collect();
    let all = log_sum(own.iter().copied());
    own.into_iter().map(|x| x - all).collect()
}

/// Where a walk is after one more step, before anything is known of what is written there: `ln Σ_k α(k) t(k, j)`.
pub(super) fn arriving(before: &[f64], scores: &[f64], moves: &[f64]) -> Vec<f64> {
    let leaving: Vec<Vec<f64>> =
        (0..scores.len()).map(|from| if before[from] == f64::NEG_INFINITY { Vec::new() } else { leaving(scores, moves, from) }).collect();
    let at = |j: usize| log_sum((0..=j).map(|from| before[from] + leaving[from].get(j - from).copied().unwrap_or(f64::NEG_INFINITY)));
    (0..scores.len()).map(at).collect()
}

/// A walk before its first step.
pub(super) fn start(places: usize) -> Vec<f64> {
    (0..places).map(|j| if j == 0 { 0.0 } else { f64::NEG_INFINITY }).collect()
}

impl Walks<'_> {
    fn row<'r>(&self, of: &'r [f64], step: usize) -> &'r [f64] {
        &of[step * self.places..(step + 1) * self.places]
    }

    /// `α` after each step.
    fn forward(&self) -> Vec<Vec<f64>> {
        let mut all = vec![start(self.places)];
        for i in 0..self.steps {
            let mut next = arriving(&all[i], self.row(self.scores, i), self.moves);
            next.iter_mut().zip(self.row(self.emissions, i)).for_each(|(a, e)| *a += e);
            all.push(next);
        }
        all
    }

    /// `ln p` alone.
    pub(super) fn log_prob(&self) -> f64 {
        self.forward().last().map_or(0.0, |last| log_sum(last.iter().copied()))
    }

    /// `ln p` and its slopes.
    pub(super) fn slopes(&self) -> Slopes {
        let (n, m) = (self.steps, self.places);
        let alpha = self.forward();
        let log_prob = log_sum(alpha[n].iter().copied());
        let (mut d_emissions, mut d_scores, mut d_moves) = (vec![0.0; n * m], vec![0.0; n * m], vec![0.0; self.moves.len()]);
        let mut beta = vec![0.0; m];
        for i in (0..n).rev() {
            let (emissions, scores) = (self.row(self.emissions, i), self.row(self.scores, i));
            let mut before = vec![f64::NEG_INFINITY; m];
            for (from, before) in before.iter_mut().enumerate() {
                let leaving = leaving(scores, self.moves, from);
                let onward = |(length, t): (usize, &f64)| t + emissions[from + length] + beta[from + length];
                *before = log_sum(leaving.iter().enumerate().map(onward));
                if alpha[i][from] == f64::NEG_INFINITY || log_prob == f64::NEG_INFINITY {
                    continue;
                }
                let share: Vec<f64> = leaving.iter().enumerate().map(|x| (alpha[i][from] + onward(x) - log_prob).exp()).collect();
                let here: f64 = share.iter().sum();
                for (length, (share, t)) in share.iter().zip(&leaving).enumerate() {
                    d_emissions[i * m + from + length] += share;
                    let slope = share - here * t.exp();
                    d_scores[i * m + from + length] += slope;
                    if let Some(last) = d_moves.len().checked_sub(1) {
                        d_moves[length.min(last)] += slope;
                    }
                }
            }
            beta = before;
        }
        Slopes { log_prob, emissions: d_emissions, scores: d_scores, moves: d_moves }
    }
}
