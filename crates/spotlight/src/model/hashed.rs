//! Features known by a hash of 64 bits, and the rows that those have which a model knows.

use std::collections::HashMap;
use std::path::Path;

use crate::weights::write_whole;
use crate::{Error, Result};

/// Rows of a table at most.
const MOST_ROWS: usize = 1 << 20;

/// FNV-1a of a text given in parts, its bits mixed once more so that the low ones are good.
pub(super) fn hash(kind: u8, parts: &[&str]) -> u64 {
    hash_bytes(std::iter::once(kind).chain(parts.iter().flat_map(|part| part.bytes())))
}

/// The hash of a feature that is two others together.
pub(super) fn join(kind: u8, a: u64, b: u64) -> u64 {
    hash_bytes(std::iter::once(kind).chain(a.to_le_bytes()).chain(b.to_le_bytes()))
}

fn hash_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Which features have a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashRows {
    /// In ascending order; the place is the row.
    hashes: Vec<u64>,
}

impl HashRows {
    /// Rows for the features that were counted `least` times or more, and their counts. If that is too many, the rarest are left out.
    pub(super) fn of_counts(mut counts: HashMap<u64, u32>, least: u32) -> (Self, Vec<u32>) {
        let mut least = least;
        counts.retain(|_, count| *count >= least);
        while counts.len() > MOST_ROWS {
            least += 1;
            counts.retain(|_, count| *count >= least);
        }
        let mut known: Vec<(u64, u32)> = counts.into_iter().collect();
        known.sort_unstable();
        let (hashes, counts) = known.into_iter().unzip();
        (HashRows { hashes }, counts)
    }

    /// The row of a feature, if it has one.
    pub fn row(&self, hash: u64) -> Option<u32> {
        self.hashes.binary_search(&hash).ok().map(|row| row as u32)
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether no feature is known.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Writes the hashes: eight bytes each, the lowest first.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_whole(path, &self.hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<u8>>())
    }

    /// Reads what [`HashRows::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let data = std::fs::read(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
        let (hashes, rest) = data.as_chunks::<8>();
        let hashes: Vec<u64> = hashes.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        if !rest.is_empty() || !hashes.is_sorted_by(|a, b| a < b) {
            let problem = "not a table of units: expected hashes of eight bytes in ascending order; copy or train the model again".into();
            return Err(Error::Weights { path: path.to_path_buf(), problem });
        }
        Ok(HashRows { hashes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_features_have_no_row() {
        let counts = HashMap::from([(9, 3), (2, 1), (5, 2)]);
        let (rows, counts) = HashRows::of_counts(counts, 2);
        assert_eq!((rows.row(5), rows.row(9), rows.row(2)), (Some(0), Some(1), None));
        assert_eq!((rows.len(), rows.is_empty(), counts), (2, false, vec![2, 3]));
    }

    #[test]
    fn kinds_and_parts_tell_features_apart() {
        let all = [hash(b'a', &["x"]), hash(b'b', &["x"]), join(b'a', 1, 2), join(b'a', 2, 1), join(b'b', 1, 2)];
        assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
        assert_eq!(hash(b'a', &["x", "y"]), hash(b'a', &["xy"]));
    }
}
