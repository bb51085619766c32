//! Learning rates over time.

/// How the learning rate changes; every form is a factor on a base rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Rises linearly over `warmup` steps (0 for none), then stays.
    Warmup {
        /// Steps until the base rate is reached.
        warmup: u64,
    },
    /// Rises linearly over `warmup` steps, then falls linearly to 0 at `total`.
    Linear {
        /// Steps until the base rate is reached.
        warmup: u64,
        /// Steps in all.
        total: u64,
    },
    /// Rises linearly over `warmup` steps, then falls with the inverse square root of the step. Vaswani and others, 2017.
    InverseSqrt {
        /// Steps until the base rate is reached.
        warmup: u64,
    },
    /// Rises linearly over `warmup` steps, then follows half a cosine down to 0 at `total`. Loshchilov and Hutter, 2017.
    Cosine {
        /// Steps until the base rate is reached.
        warmup: u64,
        /// Steps in all.
        total: u64,
    },
}

impl Schedule {
    /// The factor for a step, counted from 1.
    ///
    /// ```
    /// use spotlight::train::schedule::Schedule;
    ///
    /// let rate = |step| Schedule::InverseSqrt { warmup: 100 }.factor(step);
    /// assert_eq!((rate(50), rate(100), rate(400)), (0.5, 1.0, 0.5));
    /// let rate = |step| Schedule::Cosine { warmup: 10, total: 110 }.factor(step);
    /// assert_eq!((rate(10), rate(110)), (1.0, 0.0));
    /// assert!((rate(60) - 0.5).abs() < 1e-12);
    /// let rate = |step| Schedule::Linear { warmup: 10, total: 110 }.factor(step);
    /// assert_eq!((rate(5), rate(10), rate(60), rate(110)), (0.5, 1.0, 0.5, 0.0));
    /// ```
    pub fn factor(self, step: u64) -> f64 {
        let step = step.max(1) as f64;
        let rise = |warmup: u64| (step / warmup.max(1) as f64).min(1.0);
        let fallen = |warmup: u64, total: u64| ((step - warmup as f64) / total.saturating_sub(warmup).max(1) as f64).min(1.0);
        match self {
            Schedule::Warmup { warmup } => rise(warmup),
            Schedule::InverseSqrt { warmup } => rise(warmup) * (warmup.max(1) as f64 / step.max(warmup as f64)).sqrt(),
            Schedule::Linear { warmup, .. } | Schedule::Cosine { warmup, .. } if step <= warmup as f64 => rise(warmup),
            Schedule::Linear { warmup, total } => 1.0 - fallen(warmup, total),
            Schedule::Cosine { warmup, total } => 0.5 * (1.0 + (std::f64::consts::PI * fallen(warmup, total)).cos()),
        }
    }
}

/// Reduce on plateau: the rate is multiplied by `factor` whenever a measure has not improved for more than `patience` evaluations.
///
/// ```
/// use spotlight::train::schedule::Plateau;
///
/// let mut plateau = Plateau::new(0.5, 1);
/// let rates: Vec<f64> = [3.0, 2.0, 2.0, 2.0, 1.0].iter().map(|&loss| plateau.observe(-loss)).collect();
/// assert_eq!(rates, [1.0, 1.0, 1.0, 0.5, 0.5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// What the rate is multiplied by.
    pub factor: f64,
    /// Evaluations without improvement that are borne.
    pub patience: u32,
    /// The best measure so far; larger is better.
    pub best: f64,
    /// Evaluations since.
    pub waited: u32,
    /// The factor in force.
    pub current: f64,
}

impl Plateau {
    /// Starts with the base rate.
    pub fn new(factor: f64, patience: u32) -> Self {
        Plateau { factor, patience, best: f64::NEG_INFINITY, waited: 0, current: 1.0 }
    }

    /// Takes note of a measure (larger is better) and returns the factor now in force.
    pub fn observe(&mut self, measure: f64) -> f64 {
        if measure > self.best {
            (self.best, self.waited) = (measure, 0);
        } else {
            self.waited += 1;
            if self.waited > self.patience {
                (self.current, self.waited) = (self.current * self.factor, 0);
            }
        }
        self.current
    }
}
