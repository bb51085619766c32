//! Weights on disk: safetensors with PyTorch's names, layouts and gate order.
//!
//! A file is either what the model needs, to the last tensor, or refused with the name of the tensor that is wrong.
//!
//! A layer writes its tensors under its own name and a dot. `torch` reads them into the module named here without transposing or renaming;
//! `bench/load_in_torch.py` does so and compares the outputs.
//!
//! | layer | tensors | `torch` |
//! |---|---|---|
//! | [`Linear`](crate::nn::Linear) | `weight` `[out, in]`, `bias` `[out]` | `nn.Linear` |
//! | [`Embedding`](crate::nn::Embedding) | `weight` `[units, features]` | `nn.Embedding` |
//! | [`LayerNorm`](crate::nn::LayerNorm) | `weight` `[features]`, `bias` `[features]` | `nn.LayerNorm` |
//! | [`Rnn`](crate::nn::Rnn) | for each layer `k` from 0: `weight_ih_lk` `[G H, in]`, `weight_hh_lk` `[G H, H]`, `bias_ih_lk` `[G H]`, `bias_hh_lk` `[G H]`; the same with `_reverse` after them for the backward direction | `nn.RNN` (`G` = 1), `nn.GRU` (3), `nn.LSTM` (4) |
//!
//! The `G` gates are blocks of `H` rows: reset, update, new in a GRU; input, forget, cell, output in an LSTM. From the second layer on, `in` is `H` times
//! the number of directions. Numbers are written as `f32`; `f32` and `f64` are read.
//!
//! ```
//! use spotlight::params::{Init, Params};
//! use spotlight::weights;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let file = folder.path().join("model.safetensors");
//! let mut params = Params::<f32>::new(1);
//! params.add("output.weight", &[2, 3], Init::Glorot);
//! weights::save(&params, &file)?;
//!
//! let mut other = Params::<f32>::new(2);
//! other.add("output.weight", &[2, 4], Init::Glorot);
//! let error = weights::load(&mut other, &file).unwrap_err();
//! assert!(error.to_string().ends_with("tensor output.weight has shape [2, 3], the model needs [2, 4]"));
//! # Ok::<(), spotlight::Error>(())
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use spotlight_kernels::Float;

use crate::params::Params;
use crate::{Error, Result};

/// Writes all parameters as `f32`, whole or not at all.
pub fn save<T: Float>(params: &Params<T>, path: &Path) -> Result<()> {
    write_whole(path, &to_bytes(params, path)?)
}

/// What [`save`] writes to `path`.
pub fn to_bytes<T: Float>(params: &Params<T>, path: &Path) -> Result<Vec<u8>> {
    let bytes: Vec<Vec<u8>> = params
        .entries()
        .iter()
        .map(|e| params.flat()[e.range.clone()].iter().flat_map(|x| (x.to_f64() as f32).to_le_bytes()).collect())
        .collect();
    let weights = |problem: String| Error::Weights { path: path.to_path_buf(), problem };
    let mut views = Vec::with_capacity(bytes.len());
    for (entry, bytes) in params.entries().iter().zip(&bytes) {
        let view = TensorView::new(Dtype::F32, entry.shape.clone(), bytes).map_err(|e| weights(format!("{}: {e}", entry.name)))?;
        views.push((entry.name.as_str(), view));
    }
    safetensors::serialize(views, None).map_err(|e| weights(e.to_string()))
}

/// Replaces a file by new content, or leaves it as it was: the content goes to a temporary name beside it, is synced, and renamed.
pub fn write_whole(path: &Path, data: &[u8]) -> Result<()> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(data)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&partial, path)) {
        let _ = fs::remove_file(&partial);
        return Err(io(error));
    }
    // The rename itself must reach the disk too; some systems cannot sync a folder, and then nothing more can be done.
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Reads all parameters. Nothing is changed unless the file holds exactly the tensors of `params`, each of its shape, with finite numbers.
pub fn load<T: Float>(params: &mut Params<T>, path: &Path) -> Result<()> {
    let data = fs::read(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    let weights = |problem: String| Error::Weights { path: path.to_path_buf(), problem };
    let file = SafeTensors::deserialize(&data).map_err(|e| {
        weights(match cut_tensor(&data) {
            Some(name) => format!("the file ends before tensor {name} is whole; it was cut short: copy or train the model again"),
            None => format!("not a whole safetensors file ({e}); it may have been cut short: copy or train the model again"),
        })
    })?;
    let mut flat = T::zeros(params.len());
    for entry in params.entries() {
        let tensor = file.tensor(&entry.name).map_err(|_| weights(format!("tensor {} is missing", entry.name)))?;
        if tensor.shape() != entry.shape {
            return Err(weights(format!("tensor {} has shape {:?}, the model needs {:?}", entry.name, tensor.shape(), entry.shape)));
        }
        let to = &mut flat[entry.range.clone()];
        match tensor.dtype() {
            Dtype::F32 => read_numbers(tensor.data(), to, |b: [u8; 4]| f32::from_le_bytes(b) as f64),
            Dtype::F64 => read_numbers(tensor.data(), to, f64::from_le_bytes),
            other => return Err(weights(format!("tensor {} holds {other:?}, only F32 and F64 are read", entry.name))),
        }
        if let Some(i) = to.iter().position(|x| !x.is_finite()) {
            return Err(weights(format!("tensor {} has {} at place {i}", entry.name, to[i])));
        }
    }
    if let Some(extra) = file.names().into_iter().filter(|name| params.find(name).is_none()).min() {
        return Err(weights(format!("tensor {extra} does not belong to this model")));
    }
    params.flat_mut().copy_from_slice(&flat);
    Ok(())
}

/// The first tensor that a file promises and is too short for, if its header can be read: eight bytes of length, then the places of the tensors as JSON.
fn cut_tensor(data: &[u8]) -> Option<String> {
    let (length, rest) = data.split_first_chunk::<8>()?;
    let (header, numbers) = rest.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
    let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(header).ok()?;
    let end_of = |tensor: &serde_json::Value| tensor.get("data_offsets")?.get(1)?.as_u64();
    let cut = header.iter().filter_map(|(name, tensor)| Some((end_of(tensor)?, name))).filter(|(end, _)| *end > numbers.len() as u64);
    cut.min().map(|(_, name)| name.clone())
}

fn read_numbers<T: Float, const N: usize>(bytes: &[u8], to: &mut [T], number: impl Fn([u8; N]) -> f64) {
    for (to, &bytes) in to.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *to = T::from_f64(number(bytes));
    }
}
