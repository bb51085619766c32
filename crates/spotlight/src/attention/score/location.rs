//! The location-aware score: additive, with features of where the step before looked. Chorowski and others, 2015, section 2.1.
//!
//! `v . tanh(W q + U k_j + L f_j)`, where `f = F * a` are the weights `a` of the step before under some learned filters `F`. A decoder that must walk along its
//! memory, as in speech, learns to move on from where it was.

use spotlight_kernels::Float;

use super::{Additive, ScoreConfig, Scoring, Sizes};
use crate::attention::Question;
use crate::attention::config::Refused;
use crate::axis::Axis;
use crate::nn;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// `v . tanh(W q + U k + L f)`; those of [`Additive`] and `C (width + A)` more for `C` filters.
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// `W`, `U` and `v`.
    pub additive: Additive,
    /// `F`: `C x width`
    pub kernel: ParamId,
    /// `L`: `A x C`
    pub location: nn::Linear,
}

impl Scoring for Location {
    const ASKS: bool = true;
    const LOOKS_BACK: bool = true;
    const READS_COVERAGE: bool = true;

    fn check(config: &ScoreConfig) -> Result<(), Refused> {
        let (filters, width) = (config.filters, config.filter_width);
        let refuse = |setting, got| Err(Refused::new(setting, "the filters of the location score", got, "at least one, of an odd width"));
        match (filters, width % 2) {
            (0, _) => refuse("filters", format!("{filters} of width {width}")),
            (_, 0) => refuse("filter_width", format!("{filters} of width {width}")),
            _ => Ok(()),
        }
    }

    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        let (filters, width) = (config.filters, config.filter_width);
        let additive = Additive::new(params, name, config, sizes)?;
        let kernel = params.add(format!("{name}.location.kernel"), &[filters, width], Init::Glorot);
        let a = config.alignment(sizes.query);
        Ok(Location { additive, kernel, location: nn::Linear::without_bias(params, &format!("{name}.location"), filters, a) })
    }

    /// `U k`
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        self.additive.keys(tape, memory)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        let Some(previous) = question.previous else {
            return Err(Error::Value {
                what: "the previous weights of the location score".into(),
                got: "missing".into(),
                expected: "given; only a mechanism that goes step by step has them".into(),
            });
        };
        let features = convolve(tape, previous, tape.param(self.kernel), question.pairs.axis())?;
        let more = self.location.forward(tape, features)?;
        self.additive.scores_with(tape, keys, question, Some(more))
    }
}

/// `f[j, c] = Σ_t F[c, t] a[j + t - (width - 1) / 2]` along each sequence of `axis`, with zeros outside it.
fn convolve<T: Float>(tape: &Tape<T>, a: Var, kernel: Var, axis: &Axis) -> Result<Var> {
    tape.expect_shape("score (previous weights)", a, (axis.rows(), 1))?;
    let (filters, width) = tape.shape(kernel);
    let mut features = tape.buffer(axis.rows() * filters);
    features.fill(T::ZERO);
    {
        let (a, kernel) = (tape.value(a), tape.value(kernel));
        touching(axis, width, |j, t, from| {
            for c in 0..filters {
                features[j * filters + c] += kernel[c * width + t] * a[from];
            }
        });
    }
    let kept = axis.clone();
    Ok(tape.push(features, axis.rows(), filters, Some(axis.clone()), &[a, kernel], |_| {
        Box::new(move |back, dy| {
            let (mut da, mut dk) = (back.grads.take(a), back.grads.take(kernel));
            let (av, kv) = (back.values.get(a), back.values.get(kernel));
            touching(&kept, width, |j, t, from| {
                for c in 0..filters {
                    let d = dy[j * filters + c];
                    da[from] += kv[c * width + t] * d;
                    dk[c * width + t] += av[from] * d;
                }
            });
            back.grads.put(a, da);
            back.grads.put(kernel, dk);
        })
    }))
}

/// Calls `f(row, place under the filter, row under that place)` for all that are inside a sequence.
fn touching(axis: &Axis, width: usize, mut f: impl FnMut(usize, usize, usize)) {
    for item in 0..axis.items() {
        let range = axis.range(item);
        for row in range.clone() {
            for t in 0..width {
                if let Some(from) = (row + t).checked_sub(width / 2)
                    && range.contains(&from)
                {
                    f(row, t, from);
                }
            }
        }
    }
}
