//! Head by head, and layer upon layer: what a model that writes loses without one head, and how the pictures of its heads and its rollout compare with what erasing a source unit costs.

use std::sync::Arc;

use super::bootstrap::mean;
use super::kendall::kendall;
use super::report::{ByPicture, HeadReport};
use super::written::{Step, largest, of_examples};
use super::{Course, Progress};
use crate::Result;
use crate::attention::{Glance, Intervening};
use crate::model::seq2seq::{Hypothesis, Inside, Transducer};

/// A head that looks at nothing. The heads of a decoder of several layers are counted one layer after the other.
pub(super) fn without(head: usize) -> Intervening {
    Intervening(Arc::new(move |g: Glance, w: &mut [f32]| {
        if let Some(own) = head.checked_sub(g.layer * g.heads).filter(|&own| own < g.heads) {
            w.iter_mut().skip(own).step_by(g.heads).for_each(|w| *w = 0.0);
        }
    }))
}

/// Layers of the decoder that look at the source.
pub(super) fn layers(model: &Transducer) -> usize {
    let m = &model.config.model;
    if m.architecture.writes_by_attention() { m.decoder_layers } else { 1 }
}

/// Every head of a model with several: `answers` gives the texts that are written with an intervention, and `right` says which are.
pub(super) fn heads(
    own: (&[Hypothesis], &[String], &[f64]),
    layers: usize,
    steps: &[Vec<Step>],
    answers: &dyn Fn(&Intervening) -> Result<Vec<String>>,
    right: &dyn Fn(&str, usize) -> f64,
    course: &Course,
    progress: &Progress,
) -> Result<Vec<HeadReport>> {
    let (hypotheses, texts, was_right) = own;
    let count = hypotheses.iter().map(|h| h.heads.len()).max().unwrap_or(0);
    let mut reports = Vec::with_capacity(count);
    for head in 0..count {
        progress("heads", head, count);
        let found = answers(&without(head))?;
        let lost: Vec<f64> = found.iter().enumerate().map(|(i, text)| was_right[i] - right(text, i)).collect();
        let same: Vec<f64> = found.iter().zip(texts).map(|(a, b)| f64::from(u8::from(a == b))).collect();
        let tau = of_examples(steps, &|s| kendall(s.heads.get(head)?, &s.costs));
        let per_layer = (count / layers.max(1)).max(1);
        let (Some(lost), Some(same)) = (mean(&lost, course.seed), mean(&same, course.seed)) else { continue };
        let tau = mean(&tau.into_iter().flatten().collect::<Vec<_>>(), course.seed);
        reports.push(HeadReport { layer: head / per_layer + 1, head: head % per_layer + 1, lost, same, tau });
    }
    Ok(reports)
}

/// For each step of an answer where it looked, followed through the layers of the encoder down to the units: `Σ_j a_j R_j`, with `R` the rollout (Abnar and Zuidema, 2020). None without
/// layers that look.
pub(super) fn through_layers(model: &Transducer, source: &[u32], h: &Hypothesis) -> Result<Option<Vec<Vec<f64>>>> {
    if source.is_empty() || h.ids.is_empty() || !model.config.model.architecture.reads_by_attention() {
        return Ok(None);
    }
    let inside = Inside::of(&model.net, &model.params, source, &h.ids)?;
    let rollout = inside.rollout();
    let down = |row: &Vec<f32>| {
        let at = |i: usize| row.iter().zip(&rollout).map(|(w, below)| *w as f64 * below[i] as f64).sum();
        (0..source.len()).map(at).collect()
    };
    Ok(Some(h.attention.iter().map(down).collect()))
}

/// How a picture compares with what erasing a unit costs.
pub(super) fn picture(by: &'static str, steps: &[Vec<Step>], of: &dyn Fn(&Step) -> Option<&[f64]>, seed: u64) -> Option<ByPicture> {
    let interval = |figure: &dyn Fn(&[f64], &Step) -> Option<f64>| {
        let all = of_examples(steps, &|s| of(s).and_then(|picture| figure(picture, s)));
        mean(&all.into_iter().flatten().collect::<Vec<_>>(), seed)
    };
    let tau = interval(&|picture, s| kendall(picture, &s.costs))?;
    let top = interval(&|picture, s| Some(f64::from(u8::from(largest(picture) == largest(&s.costs)))))?;
    Some(ByPicture { by, tau, top })
}
