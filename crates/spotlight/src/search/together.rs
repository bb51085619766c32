//! Several models that write one answer.

use super::{Session, Stepped, Writer};
use crate::Result;
use crate::tape::Pool;

/// Writers of the same units as one: at every step the probability of a unit is the mean of what they say, and where each of them looks is kept as heads of its own.
pub struct Together<'w>(pub Vec<Box<dyn Writer + 'w>>);

impl Writer for Together<'_> {
    fn begin<'a>(&'a self, sources: &[&[u32]], width: usize, pool: &'a Pool<f32>) -> Result<Box<dyn Session + 'a>> {
        let sessions = self.0.iter().map(|writer| writer.begin(sources, width, pool)).collect::<Result<_>>()?;
        Ok(Box::new(Sessions(sessions)))
    }

    fn longest(&self) -> Option<usize> {
        self.0.iter().filter_map(|writer| writer.longest()).min()
    }
}

struct Sessions<'a>(Vec<Box<dyn Session + 'a>>);

impl Session for Sessions<'_> {
    fn step(&mut self, rows: &[usize], units: &[u32]) -> Result<Stepped> {
        let said = self.0.iter_mut().map(|session| session.step(rows, units)).collect::<Result<Vec<_>>>()?;
        Ok(joined(&said))
    }
}

/// `ln (Σ p / n)` of every unit, and the heads of all side by side.
fn joined(said: &[Stepped]) -> Stepped {
    let Some(first) = said.first() else { return Stepped { units: 0, log_probs: Vec::new(), weights: Vec::new(), heads: 0 } };
    let mean = |i: usize| {
        let most = said.iter().map(|s| s.log_probs[i]).fold(f32::NEG_INFINITY, f32::max);
        if most == f32::NEG_INFINITY {
            return most;
        }
        let sum: f64 = said.iter().map(|s| f64::from(s.log_probs[i] - most).exp()).sum();
        (f64::from(most) + (sum / said.len() as f64).ln()) as f32
    };
    let log_probs = (0..first.log_probs.len()).map(mean).collect();
    let positions = first.weights.len().checked_div(first.heads).unwrap_or(0);
    let weights = (0..positions).flat_map(|at| said.iter().flat_map(move |s| s.weights[at * s.heads..(at + 1) * s.heads].iter().copied()));
    Stepped { units: first.units, log_probs, weights: weights.collect(), heads: said.iter().map(|s| s.heads).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_averaged_and_heads_stand_side_by_side() {
        let one = Stepped { units: 2, log_probs: vec![0.2f32.ln(), 0.8f32.ln()], weights: vec![0.1, 0.9], heads: 1 };
        let two = Stepped { units: 2, log_probs: vec![0.6f32.ln(), 0.4f32.ln()], weights: vec![0.3, 0.5, 0.7, 0.5], heads: 2 };
        let both = joined(&[one.clone(), two]);
        assert!((both.log_probs[0].exp() - 0.4).abs() < 1e-6 && (both.log_probs[1].exp() - 0.6).abs() < 1e-6);
        assert_eq!((both.heads, both.weights), (3, vec![0.1, 0.3, 0.5, 0.9, 0.7, 0.5]));
        let never = Stepped { log_probs: vec![f32::NEG_INFINITY; 2], ..one };
        assert_eq!(joined(&[never.clone(), never]).log_probs, [f32::NEG_INFINITY; 2]);
    }
}
