//! Reads the numbers that PyTorch computed, see `golden/make.py`, and compares ours with them.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use spotlight::Float;

/// One case of a topic: settings, and tensors in f64.
pub struct Case {
    pub name: String,
    pub config: Value,
    tensors: HashMap<String, (Vec<usize>, Vec<f64>)>,
}

/// All cases of `golden/TOPIC.json`.
pub fn cases(topic: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{topic}.json"));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let case = |case: &Value| Case {
        name: format!("{topic}/{}", case["name"].as_str().unwrap()),
        config: case["config"].clone(),
        tensors: case["tensors"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, tensor)| {
                let shape = list(&tensor["shape"]).iter().map(|n| n.as_u64().unwrap() as usize).collect();
                let data = list(&tensor["data"]).iter().map(|x| x.as_f64().unwrap()).collect();
                (name.clone(), (shape, data))
            })
            .collect(),
    };
    list(&document["cases"]).iter().map(case).collect()
}

impl Case {
    /// Names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    pub fn shape(&self, name: &str) -> &[usize] {
        &self.tensors.get(name).unwrap_or_else(|| panic!("{}: no tensor {name}", self.name)).0
    }

    /// A tensor as numbers of either type.
    pub fn data<T: Float>(&self, name: &str) -> Vec<T> {
        self.shape(name);
        self.tensors[name].1.iter().map(|&x| T::from_f64(x)).collect()
    }

    pub fn number(&self, key: &str) -> f64 {
        self.config[key].as_f64().unwrap_or_else(|| panic!("{}: no number {key}", self.name))
    }

    pub fn flag(&self, key: &str) -> bool {
        self.config[key].as_bool().unwrap_or_else(|| panic!("{}: no flag {key}", self.name))
    }

    pub fn integers<N: TryFrom<u64, Error: std::fmt::Debug>>(&self, key: &str) -> Vec<N> {
        self.config[key].as_array().unwrap().iter().map(|n| N::try_from(n.as_u64().unwrap()).unwrap()).collect()
    }

    /// Panics unless `got` is the tensor `name`: within 1e-10 in f64, 1e-5 in f32, of the largest number of its row (the last dimension).
    ///
    /// Not of each number itself: a sum that nearly cancels has the error of what was added.
    pub fn compare<T: Float>(&self, name: &str, got: &[T]) {
        let want = self.data::<f64>(name);
        assert_eq!(got.len(), want.len(), "{}: {name}", self.name);
        let tolerance = if T::BYTES == 8 { 1e-10 } else { 1e-5 };
        let width = self.shape(name).last().copied().unwrap_or(1);
        for (row, (got, want)) in got.chunks(width).zip(want.chunks(width)).enumerate() {
            let size = want.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            for (column, (got, want)) in got.iter().zip(want).enumerate() {
                let error = (got.to_f64() - want).abs();
                assert!(error <= tolerance * size, "{}: {name} [{row}, {column}] is {got}, PyTorch has {want}", self.name);
            }
        }
    }
}
