//! Weights on disk: safetensors with PyTorch's names, layouts and gate order.
//!
//! A file is either what the model needs, to the last tensor, or refused with the name of the tensor that is wrong.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use spotlight_kernels::Float;

use crate::params::Params;
use crate::{Error, Result};

/// Writes all parameters as `f32`, whole or not at all.
pub fn save<T: Float>(params: &Params<T>, path: &Path) -> Result<()> {
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
    let data = safetensors::serialize(views, None).map_err(|e| weights(e.to_string()))?;
    write_whole(path, &data)
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
    let file = SafeTensors::deserialize(&data)
        .map_err(|e| weights(format!("not a whole safetensors file ({e}); it may have been cut short: copy or train the model again")))?;
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

fn read_numbers<T: Float, const N: usize>(bytes: &[u8], to: &mut [T], number: impl Fn([u8; N]) -> f64) {
    for (to, &bytes) in to.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *to = T::from_f64(number(bytes));
    }
}
