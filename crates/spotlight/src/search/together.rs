//! Several models that write one answer.

use super::{Copied, Session, Stepped, Writer};
use crate::Result;
use crate::tape::Pool;

/// Writers of the same units as one: at every step the probability of a unit is the mean of what they say, and where each of them looks is a head of its own, the mean of its heads: so each counts the same.
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

/// `ln (Σ p / n)` of every unit, and where the members look side by side, those that look. A unit that a member does not know, because it cannot copy, has the probability 0 there.
fn joined(said: &[Stepped]) -> Stepped {
    let Some(first) = said.first() else {
        return Stepped { units: 0, log_probs: Vec::new(), weights: Vec::new(), heads: 0, copied: None };
    };
    let units = said.iter().map(|s| s.units).max().unwrap_or(0);
    let rows = first.log_probs.len().checked_div(first.units).unwrap_or(0);
    let of = |s: &Stepped, i: usize| match i % units {
        unit if unit < s.units => s.log_probs[i / units * s.units + unit],
        _ => f32::NEG_INFINITY,
    };
    let mean = |i: usize| {
        let most = said.iter().map(|s| of(s, i)).fold(f32::NEG_INFINITY, f32::max);
        if most == f32::NEG_INFINITY {
            return most;
        }
        let sum: f64 = said.iter().map(|s| f64::from(of(s, i) - most).exp()).sum();
        (f64::from(most) + (sum / said.len() as f64).ln()) as f32
    };
    let log_probs = (0..rows * units).map(mean).collect();
    let looking: Vec<&Stepped> = said.iter().filter(|s| s.heads > 0).collect();
    let positions = looking.first().map_or(0, |s| s.weights.len() / s.heads);
    let mean_of_heads = |s: &Stepped, at: usize| s.weights[at * s.heads..(at + 1) * s.heads].iter().sum::<f32>() / s.heads as f32;
    let weights = (0..positions).flat_map(|at| looking.iter().map(move |s| mean_of_heads(s, at))).collect();
    Stepped { units, log_probs, weights, heads: looking.len(), copied: joined_copies(said, rows, units) }
}

/// The mean of what the members copy; one that cannot copy writes everything.
fn joined_copies(said: &[Stepped], rows: usize, units: usize) -> Option<Copied> {
    said.iter().any(|s| s.copied.is_some()).then(|| {
        let share = 1.0 / said.len() as f32;
        let mut copied = Copied { gates: vec![0.0; rows], masses: vec![0.0; rows * units] };
        for member in said {
            for (row, gate) in copied.gates.iter_mut().enumerate() {
                *gate += share * member.copied.as_ref().map_or(1.0, |c| c.gates[row]);
                let own = member.copied.iter().flat_map(|c| &c.masses[row * member.units..(row + 1) * member.units]);
                copied.masses[row * units..].iter_mut().zip(own).for_each(|(to, mass)| *to += share * mass);
            }
        }
        copied
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_averaged_and_members_look_side_by_side() {
        let one = Stepped { units: 2, log_probs: vec![0.2f32.ln(), 0.8f32.ln()], weights: vec![0.1, 0.9], heads: 1, copied: None };
        let two =
            Stepped { units: 2, log_probs: vec![0.6f32.ln(), 0.4f32.ln()], weights: vec![0.3, 0.5, 0.7, 0.5], heads: 2, copied: None };
        // One that does not look takes nobody's place.
        let blind = Stepped { weights: vec![], heads: 0, ..one.clone() };
        let blind_first = joined(&[blind, two.clone()]);
        assert_eq!((blind_first.heads, blind_first.weights), (1, vec![0.4, 0.6]));
        let both = joined(&[one.clone(), two]);
        assert!((both.log_probs[0].exp() - 0.4).abs() < 1e-6 && (both.log_probs[1].exp() - 0.6).abs() < 1e-6);
        assert_eq!((both.heads, both.weights), (2, vec![0.1, 0.4, 0.9, 0.6]));
        let never = Stepped { log_probs: vec![f32::NEG_INFINITY; 2], ..one };
        assert_eq!(joined(&[never.clone(), never]).log_probs, [f32::NEG_INFINITY; 2]);
    }

    /// A member that copies and one that cannot: a unit beyond the vocabulary has half of what the first gives it.
    #[test]
    fn what_one_member_copies_counts_half() {
        let (none, ln) = (f32::NEG_INFINITY, f32::ln);
        let plain = Stepped { units: 2, log_probs: vec![0.0, none, ln(0.5), ln(0.5)], weights: vec![], heads: 0, copied: None };
        let copied = Copied { gates: vec![0.4, 1.0], masses: vec![0.2, 0.0, 0.4, 0.0, 0.0, 0.0] };
        let copies = Stepped {
            units: 3,
            log_probs: vec![ln(0.4), ln(0.2), ln(0.4), 0.0, none, none],
            weights: vec![],
            heads: 0,
            copied: Some(copied),
        };
        for both in [joined(&[plain.clone(), copies.clone()]), joined(&[copies, plain])] {
            let p: Vec<f32> = both.log_probs.iter().map(|l| l.exp()).collect();
            assert!(p.iter().zip([0.7, 0.1, 0.2, 0.75, 0.25, 0.0]).all(|(p, want)| (p - want).abs() < 1e-6), "{p:?}");
            let found = both.copied.unwrap();
            assert_eq!((found.gates, found.masses), (vec![0.7, 1.0], vec![0.1, 0.0, 0.2, 0.0, 0.0, 0.0]));
        }
    }
}
