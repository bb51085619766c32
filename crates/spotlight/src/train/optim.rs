//! Optimisers over the flat buffers.
//!
//! ```
//! use spotlight::train::optim::{Optimiser, Rule};
//!
//! let mut weights = vec![1.0f32];
//! let mut sgd = Optimiser::new(Rule::Sgd { momentum: 0.0 }, 1);
//! sgd.step(&mut weights, &[0.5], 0.1, 1.0);
//! assert_eq!(weights, [0.95]);
//! ```

use rayon::prelude::*;
use spotlight_kernels::{Float, optim};

use crate::params::Gradients;

/// Numbers handled by one task. Fixed, so that the result does not depend on the number of threads.
const CHUNK: usize = 1 << 16;

/// How gradients change weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Gradient descent; `momentum` 0 for none.
    Sgd {
        /// Share of the last velocity that is kept.
        momentum: f64,
    },
    /// Kingma and Ba, 2015; with `decay`, AdamW (Loshchilov and Hutter, 2019).
    Adam {
        /// Decay of the first moment.
        beta1: f64,
        /// Decay of the second moment.
        beta2: f64,
        /// Added to the root of the second moment.
        epsilon: f64,
        /// Weight decay, decoupled from the gradient.
        decay: f64,
    },
    /// Duchi, Hazan and Singer, 2011. Rows of a table that a batch does not touch cost nothing.
    Adagrad {
        /// What the sums of squares begin with.
        initial: f64,
        /// Added to their roots.
        epsilon: f64,
    },
    /// Zeiler, 2012.
    Adadelta {
        /// Decay of both running means.
        rho: f64,
        /// Added under both roots.
        epsilon: f64,
    },
}

impl Rule {
    /// Adam with its usual settings.
    pub const ADAM: Rule = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.0 };

    /// AdamW with this weight decay.
    pub fn adamw(decay: f64) -> Rule {
        Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay }
    }

    /// Adam with another `beta2`; other rules stay as they are.
    pub fn keeping(self, share: f64) -> Rule {
        match self {
            Rule::Adam { beta1, epsilon, decay, .. } => Rule::Adam { beta1, beta2: share, epsilon, decay },
            other => other,
        }
    }

    /// Adadelta with PyTorch's settings.
    pub const ADADELTA: Rule = Rule::Adadelta { rho: 0.9, epsilon: 1e-6 };

    /// Adagrad whose first steps are not larger than its rate.
    pub const ADAGRAD: Rule = Rule::Adagrad { initial: 1e-4, epsilon: 1e-7 };

    /// Whether a number with a gradient of zero stays as it is, and the rule can pass over it.
    fn is_sparse(self) -> bool {
        matches!(self, Rule::Adagrad { .. } | Rule::Sgd { momentum: 0.0 })
    }

    /// How many numbers a parameter needs beside itself.
    fn moments(self) -> usize {
        match self {
            Rule::Sgd { momentum: 0.0 } => 0,
            Rule::Sgd { .. } | Rule::Adagrad { .. } => 1,
            Rule::Adam { .. } | Rule::Adadelta { .. } => 2,
        }
    }
}

/// A rule and what it remembers.
#[derive(Clone, Debug)]
pub struct Optimiser<T> {
    rule: Rule,
    steps: u64,
    first: Vec<T>,
    second: Vec<T>,
}

impl<T: Float> Optimiser<T> {
    /// For `len` parameters.
    pub fn new(rule: Rule, len: usize) -> Self {
        let moments = rule.moments();
        let buffer = |needed: bool| T::zeros(if needed { len } else { 0 });
        let mut first = buffer(moments > 0);
        if let Rule::Adagrad { initial, .. } = rule {
            first.fill(T::from_f64(initial));
        }
        Optimiser { rule, steps: 0, first, second: buffer(moments > 1) }
    }

    /// One update: every gradient is multiplied by `scale`, then the rule is applied with learning rate `rate`, in one pass.
    pub fn step(&mut self, weights: &mut [T], gradient: &[T], rate: f64, scale: f64) {
        self.steps += 1;
        let (rate, scale) = (T::from_f64(rate), T::from_f64(scale));
        let pieces = weights.par_chunks_mut(CHUNK).zip(gradient.par_chunks(CHUNK));
        let (first, second) = (&mut self.first, &mut self.second);
        match self.rule {
            Rule::Sgd { momentum: 0.0 } => pieces.for_each(|(w, g)| optim::sgd(rate, T::ZERO, scale, w, g, &mut [])),
            Rule::Sgd { momentum } => {
                let momentum = T::from_f64(momentum);
                pieces.zip(first.par_chunks_mut(CHUNK)).for_each(|((w, g), v)| optim::sgd(rate, momentum, scale, w, g, v));
            }
            Rule::Adagrad { epsilon, .. } => {
                let epsilon = T::from_f64(epsilon);
                pieces.zip(first.par_chunks_mut(CHUNK)).for_each(|((w, g), s)| optim::adagrad(rate, epsilon, scale, w, g, s));
            }
            Rule::Adam { beta1, beta2, epsilon, decay } => {
                let settings = optim::Adam {
                    rate,
                    beta1: T::from_f64(beta1),
                    beta2: T::from_f64(beta2),
                    epsilon: T::from_f64(epsilon),
                    correction1: T::from_f64(1.0 - beta1.powf(self.steps as f64)),
                    correction2: T::from_f64(1.0 - beta2.powf(self.steps as f64)),
                    decay: T::from_f64(decay),
                    scale,
                };
                let moments = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
                pieces.zip(moments).for_each(|((w, g), (m, v))| optim::adam(settings, w, g, m, v));
            }
            Rule::Adadelta { rho, epsilon } => {
                let (rho, epsilon) = (T::from_f64(rho), T::from_f64(epsilon));
                let moments = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
                pieces.zip(moments).for_each(|((w, g), (s, u))| optim::adadelta(rate, rho, epsilon, scale, w, g, s, u));
            }
        }
    }

    /// The length of a gradient and, after `scale_of` has seen it, one update by it. Where the rule allows, only what was touched is visited.
    pub fn update(&mut self, weights: &mut [T], gradients: &mut Gradients<T>, scale_of: impl FnOnce(f64) -> Option<(f64, f64)>) -> f64 {
        if !self.rule.is_sparse() {
            let gradient = gradients.flat();
            let norm = global_norm(gradient);
            if let Some((rate, scale)) = scale_of(norm) {
                self.step(weights, gradient, rate, scale);
            }
            return norm;
        }
        let (touched, gradient) = (gradients.touched(), gradients.raw());
        let norm = touched.iter().map(|place| optim::sum_of_squares(&gradient[place.clone()])).sum::<f64>().sqrt();
        let Some((rate, scale)) = scale_of(norm) else { return norm };
        self.steps += 1;
        let (rate, scale) = (T::from_f64(rate), T::from_f64(scale));
        for place in touched {
            let (w, g) = (&mut weights[place.clone()], &gradient[place.clone()]);
            match self.rule {
                Rule::Adagrad { epsilon, .. } => optim::adagrad(rate, T::from_f64(epsilon), scale, w, g, &mut self.first[place]),
                _ => optim::sgd(rate, T::ZERO, scale, w, g, &mut []),
            }
        }
        norm
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What the rule remembers, to be saved: steps and moments.
    pub fn state(&self) -> (u64, [&[T]; 2]) {
        (self.steps, [&self.first, &self.second])
    }

    /// Puts back what [`Optimiser::state`] gave. Returns false, and changes nothing, if the sizes are not those of this rule.
    pub fn restore(&mut self, steps: u64, moments: [&[T]; 2]) -> bool {
        if moments[0].len() != self.first.len() || moments[1].len() != self.second.len() {
            return false;
        }
        self.steps = steps;
        self.first.copy_from_slice(moments[0]);
        self.second.copy_from_slice(moments[1]);
        true
    }
}

/// The length of the whole gradient.
pub fn global_norm<T: Float>(gradient: &[T]) -> f64 {
    let parts: Vec<f64> = gradient.par_chunks(CHUNK).map(optim::sum_of_squares).collect();
    parts.iter().sum::<f64>().sqrt()
}

/// What to multiply a gradient of this length by so that it is no longer than `limit`. Pascanu, Mikolov and Bengio, 2013.
pub fn clip_scale(norm: f64, limit: f64) -> f64 {
    if norm > limit { limit / (norm + 1e-6) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Init, Params};

    #[test]
    fn passing_over_what_was_not_touched_changes_nothing() {
        for rule in [Rule::ADAGRAD, Rule::Sgd { momentum: 0.0 }] {
            let mut params = Params::<f32>::new(3);
            params.add("table", &[6, 2], Init::Normal(1.0));
            params.add("bias", &[3], Init::Normal(1.0));
            let mut gradients = Gradients::new(&params);
            let (mut sparse, mut dense) = (Optimiser::new(rule, params.len()), Optimiser::new(rule, params.len()));
            let mut copy = params.flat().to_vec();
            for step in 0..4u32 {
                gradients.begin();
                gradients.add_rows(0, &[step, 5, step], &[0.5, -1.0, 2.0, 0.25, 1.0, 1.0]);
                gradients.add(1).fill(0.1 * step as f32);
                let all = gradients.clone().flat().to_vec();
                let norm = sparse.update(params.flat_mut(), &mut gradients, |norm| Some((0.1, clip_scale(norm, 1.0))));
                assert!((norm - global_norm(&all)).abs() < 1e-6);
                dense.step(&mut copy, &all, 0.1, clip_scale(norm, 1.0));
                assert_eq!(params.flat(), copy);
            }
            assert_eq!((sparse.state(), sparse.steps()), (dense.state(), 4));
        }
    }

    #[test]
    fn a_step_that_is_called_off_changes_nothing() {
        let mut params = Params::<f32>::new(3);
        params.add("w", &[2], Init::Ones);
        let mut gradients = Gradients::new(&params);
        gradients.add(0).fill(f32::NAN);
        for rule in [Rule::ADAM, Rule::ADAGRAD] {
            let mut optimiser = Optimiser::new(rule, 2);
            assert!(optimiser.update(params.flat_mut(), &mut gradients, |_| None).is_nan());
            assert_eq!((params.flat(), optimiser.steps()), (&[1.0, 1.0][..], 0));
        }
    }
}
