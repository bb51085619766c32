//! Whether a model fits into memory, asked before anything is allocated.
//!
//! A setting with a zero too many asks for more memory than the machine has, and an allocation that fails ends the program on the spot. So the sizes are multiplied
//! out first, in numbers that cannot overflow, and what does not fit is refused with the setting to change:
//!
//! ```
//! use spotlight::memory::Demand;
//!
//! let mut demand = Demand::default();
//! demand.parameters("model.hidden", &[4 * 64, 64], 1);
//! demand.activations("train.batch", &[2000, 64]);
//! assert!(demand.check().is_ok());
//!
//! demand.parameters("model.hidden", &[4 * 10_000_000, 10_000_000], 1);
//! let error = demand.check().unwrap_err().to_string();
//! assert!(error.starts_with("`model.hidden`: training would need "), "{error}");
//! ```

use std::fs;

use crate::config::ConfigError;

/// Taken for the memory of a machine that does not tell.
const UNKNOWN_MACHINE: u64 = 16 << 30;

/// Bytes of a number.
const NUMBER: u128 = 4;

/// What a training run keeps in memory, summed up by the setting that decides it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Setting, and bytes it is responsible for.
    parts: Vec<(&'static str, u128)>,
}

impl Demand {
    /// Adds a parameter of this shape. Training keeps for each number: itself, two moments of the optimiser, the best so far, and a gradient for each thread.
    pub fn parameters(&mut self, key: &'static str, shape: &[usize], threads: usize) {
        self.add(key, elements(shape).saturating_mul(NUMBER * (4 + threads.max(1) as u128)));
    }

    /// Adds a table of this shape that is computed in a training step; it is kept for the backward pass, with a gradient of its own.
    pub fn activations(&mut self, key: &'static str, shape: &[usize]) {
        self.add(key, elements(shape).saturating_mul(2 * NUMBER));
    }

    fn add(&mut self, key: &'static str, bytes: u128) {
        match self.parts.iter_mut().find(|(k, _)| *k == key) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => self.parts.push((key, bytes)),
        }
    }

    /// All bytes.
    pub fn bytes(&self) -> u128 {
        self.parts.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// An error that names the setting with the largest share, if all of it does not fit into the memory that is [`available`] now.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_against(available())
    }

    /// The same for this many bytes.
    pub fn check_against(&self, available: u64) -> Result<(), ConfigError> {
        let needed = self.bytes();
        let Some((key, _)) = self.parts.iter().max_by_key(|(_, bytes)| *bytes).filter(|_| needed > u128::from(available)) else {
            return Ok(());
        };
        let problem = format!(
            "training would need {} of memory at least, and {} are free here; make it smaller",
            size(needed),
            size(available.into())
        );
        Err(ConfigError::Value { key: (*key).into(), problem })
    }
}

/// The sizes of a model of sequences that decide how much memory it takes, before there is a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Units of the source.
    pub source_units: usize,
    /// Units of the target; 0 without one.
    pub target_units: usize,
    /// Features of an embedded unit.
    pub embedding: usize,
    /// Features of a state.
    pub hidden: usize,
    /// Layers of the encoder.
    pub layers: usize,
    /// 2 if the encoder reads both ways, else 1.
    pub directions: usize,
    /// Gates of a cell: rows of its matrices for each feature of a state.
    pub gates: usize,
    /// Positions of a batch (`train.batch`).
    pub positions: usize,
    /// Units of the longest source and of the longest target, which no batch is smaller than.
    pub longest: (usize, usize),
    /// Threads that share a batch.
    pub threads: usize,
}

impl Sizes {
    /// What training needs at the very least, whatever mechanism it is: nothing that could run is refused.
    ///
    /// With `V` units, `E` features of an embedding, `H` of a state, `G` gates, `P` positions of a batch, `S` and `T` the longest source and target:
    ///
    /// - parameters: `V E` for each side (the output may share the target's), `G H (E + H)` for each layer and direction, and for a decoder of a target;
    /// - of a step: `P H` for each layer and direction, with a target `P V` for the scores of the units and `S T` for the weights of the attention.
    pub fn demand(&self) -> Demand {
        let Sizes { embedding: e, hidden: h, threads, longest: (source, target), .. } = *self;
        let runs = self.layers.saturating_mul(self.directions);
        let positions = self.positions.max(source.saturating_add(target));
        let mut demand = Demand::default();
        for units in [self.source_units, self.target_units] {
            demand.parameters("model.embedding", &[units, e], threads);
        }
        let decoder = usize::from(self.target_units > 0);
        let recurrences = runs.saturating_add(decoder);
        demand.parameters(if e > h { "model.embedding" } else { "model.hidden" }, &[recurrences, self.gates, h, e], threads);
        demand.parameters("model.hidden", &[recurrences, self.gates, h, h], threads);
        demand.activations("train.batch", &[runs, positions, h]);
        demand.activations("train.batch", &[positions, self.target_units]);
        demand.activations("data.longest", &[source, target]);
        demand
    }
}

/// How many numbers a table of this shape has; the largest number there is if it is even more.
pub fn elements(shape: &[usize]) -> u128 {
    shape.iter().fold(1, |product: u128, &side| product.saturating_mul(side as u128))
}

/// Bytes that can be allocated now: what the system says is available, or less if this process is allowed less.
pub fn available() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_in(&text));
    let limit = |path: &str| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    // In a container: what its group may use, less what it uses already (version 2 of control groups, then version 1).
    let group = |max: &str, used: &str| Some(limit(max)?.saturating_sub(limit(used)?));
    let group = group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
        .or_else(|| group("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"));
    [meminfo, group].into_iter().flatten().min().unwrap_or(UNKNOWN_MACHINE)
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes that nobody asks the system about.
const SMALL: u128 = 1 << 28;

/// An error if `numbers` of this size each, all at once, do not fit into the memory that is [`available`] now; for what depends on an input.
pub(crate) fn fits(what: impl FnOnce() -> String, numbers: u128, bytes: usize) -> crate::Result<()> {
    let needed = numbers.saturating_mul(bytes as u128);
    if needed <= SMALL {
        return Ok(());
    }
    let free = available();
    if needed <= u128::from(free) {
        return Ok(());
    }
    let expected = format!("at most {}, what is free here: shorten the input", size(free.into()));
    Err(crate::Error::Value { what: what(), got: size(needed), expected })
}

/// Bytes as people say them.
fn size(bytes: u128) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let (mut number, mut unit) = (bytes as f64 / 1e3, 0);
    while number >= 1000.0 && unit + 1 < UNITS.len() {
        (number, unit) = (number / 1e3, unit + 1);
    }
    match number {
        number if number >= 1e6 => format!("more than a million {}", UNITS[unit]),
        number if number >= 10.0 => format!("{number:.0} {}", UNITS[unit]),
        number => format!("{number:.1} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_takes_most_is_named() {
        let mut demand = Demand::default();
        demand.parameters("model.hidden", &[1000, 1000], 2);
        demand.parameters("text.vocab_size", &[500, 1000], 2);
        demand.parameters("text.vocab_size", &[1000, 1000], 2);
        demand.activations("train.batch", &[1000, 100]);
        // 6 numbers of 4 bytes for each parameter, 2 for each number of a step.
        assert_eq!(demand.bytes(), 24_000_000 + 12_000_000 + 24_000_000 + 800_000);
        assert!(demand.check_against(60_800_000).is_ok());
        let error = demand.check_against(60_799_999).unwrap_err().to_string();
        assert_eq!(error, "`text.vocab_size`: training would need 61 MB of memory at least, and 61 MB are free here; make it smaller");
    }

    #[test]
    fn no_size_overflows() {
        let mut demand = Demand::default();
        demand.parameters("model.hidden", &[usize::MAX; 4], usize::MAX);
        demand.activations("train.batch", &[usize::MAX]);
        let error = demand.check_against(u64::MAX).unwrap_err().to_string();
        assert!(
            error.starts_with("`model.hidden`: training would need more than a million PB of memory at least, and 18447 PB are free"),
            "{error}"
        );
        assert_eq!((elements(&[]), elements(&[3, 0]), elements(&[usize::MAX; 9])), (1, 0, u128::MAX));
    }

    #[test]
    fn sizes_that_cannot_fit_are_told_by_their_setting() {
        let usual = Sizes {
            source_units: 60,
            target_units: 50,
            embedding: 64,
            hidden: 128,
            layers: 1,
            directions: 2,
            gates: 3,
            positions: 2000,
            longest: (30, 30),
            threads: 2,
        };
        // 110 embeddings and 3 recurrences of 3 gates: 6 numbers each; states, scores, weights: 2 numbers each.
        let numbers = 6 * (110 * 64 + 3 * 3 * 128 * 192) + 2 * (2 * 2000 * 128 + 2000 * 50 + 900);
        assert_eq!(usual.demand().bytes(), 4 * numbers);
        assert!(usual.demand().check_against(1 << 30).is_ok());
        let cases = [
            (Sizes { hidden: 10_000_000, ..usual }, "`model.hidden`"),
            (Sizes { embedding: 1 << 30, source_units: 100_000, ..usual }, "`model.embedding`"),
            (Sizes { positions: 1 << 40, ..usual }, "`train.batch`"),
            (Sizes { longest: (1_000_000, 1_000_000), ..usual }, "`data.longest`"),
        ];
        for (sizes, key) in cases {
            let error = sizes.demand().check_against(1 << 40).unwrap_err().to_string();
            assert!(error.starts_with(key), "{error}");
        }
        // Without a target nothing is decoded.
        let reader = Sizes { target_units: 0, longest: (30, 0), ..usual };
        assert_eq!(reader.demand().bytes(), 4 * (6 * (60 * 64 + 2 * 3 * 128 * 192) + 2 * 2 * 2000 * 128));
    }

    #[test]
    fn the_system_is_asked() {
        assert_eq!(available_in("MemTotal: 9 kB\nMemAvailable:     24 kB\n"), Some(24 * 1024));
        for broken in ["", "MemAvailable: many kB", "MemAvailable: 5", "MemAvailable: 18446744073709551615 kB"] {
            assert_eq!(available_in(broken), None, "{broken}");
        }
        assert!(available() > 1 << 20);
    }

    #[test]
    fn sizes_are_read_easily() {
        assert_eq!([0, 1500, 25_000_000, 3_400_000_000].map(size), ["0.0 kB", "1.5 kB", "25 MB", "3.4 GB"]);
    }
}
