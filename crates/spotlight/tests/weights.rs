//! Weights on disk: what is read is what was written, and a file that is not what the model needs changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use spotlight::nn::{Linear, Rnn, RnnConfig};
use spotlight::params::Params;
use spotlight::{Cell, Float, weights};

fn model<T: Float>(seed: u64) -> Params<T> {
    let mut params = Params::new(seed);
    Rnn::new(&mut params, "encoder", RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Lstm, 2, 3) });
    Linear::new(&mut params, "output", 6, 4);
    params
}

/// A tensor as it may stand in a file.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The tensors of a model, to be spoilt.
fn tensors(params: &Params<f32>) -> Vec<Tensor> {
    let bytes = |id: usize| params.flat()[params.entries()[id].range.clone()].iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensor = |(id, e): (usize, &spotlight::params::Entry)| Tensor {
        name: e.name.clone(),
        dtype: Dtype::F32,
        shape: e.shape.clone(),
        bytes: bytes(id),
    };
    params.entries().iter().enumerate().map(tensor).collect()
}

fn write(path: &Path, tensors: &[Tensor]) {
    let views = tensors.iter().map(|t| (t.name.as_str(), TensorView::new(t.dtype, t.shape.clone(), &t.bytes).unwrap()));
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// Loads what cannot be loaded: the error names the file and `word`, and no number changes.
fn refused(path: &Path, word: &str) {
    let mut params = model::<f32>(9);
    let before = params.flat().to_vec();
    let error = weights::load(&mut params, path).unwrap_err().to_string();
    assert!(error.contains(word), "{error:?} does not say {word:?}");
    assert!(error.contains(path.file_name().unwrap().to_str().unwrap()), "{error:?} does not name the file");
    assert_eq!(params.flat(), before, "{error}");
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.safetensors");
    (folder, file)
}

#[test]
fn what_is_read_is_what_was_written() {
    let (folder, file) = place();
    let written = model::<f32>(1);
    weights::save(&written, &file).unwrap();
    let mut read = model::<f32>(2);
    assert_ne!(read.flat(), written.flat());
    weights::load(&mut read, &file).unwrap();
    assert_eq!(read.flat(), written.flat());
    // Once more over the old file, from the other type, with nothing left beside it.
    weights::save(&model::<f64>(3), &file).unwrap();
    let mut wide = model::<f64>(4);
    weights::load(&mut wide, &file).unwrap();
    assert_eq!(wide.cast::<f32>().flat(), model::<f64>(3).cast::<f32>().flat());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn f64_tensors_are_read() {
    let (_folder, file) = place();
    let params = model::<f32>(1);
    let mut all = tensors(&params);
    for (tensor, entry) in all.iter_mut().zip(params.entries()) {
        tensor.dtype = Dtype::F64;
        tensor.bytes = params.flat()[entry.range.clone()].iter().flat_map(|&x| (x as f64).to_le_bytes()).collect();
    }
    write(&file, &all);
    let mut read = model::<f32>(2);
    weights::load(&mut read, &file).unwrap();
    assert_eq!(read.flat(), params.flat());
}

#[test]
fn names_and_layouts_are_pytorchs() {
    let (_folder, file) = place();
    weights::save(&model::<f32>(1), &file).unwrap();
    let data = fs::read(&file).unwrap();
    let read = safetensors::SafeTensors::deserialize(&data).unwrap();
    let mut found: Vec<(String, Vec<usize>)> = read.tensors().into_iter().map(|(name, t)| (name, t.shape().to_vec())).collect();
    found.sort();
    let mut want = vec![("output.weight".to_string(), vec![4, 6]), ("output.bias".to_string(), vec![4])];
    for direction in ["", "_reverse"] {
        for (name, shape) in [("weight_ih", vec![12, 2]), ("weight_hh", vec![12, 3]), ("bias_ih", vec![12]), ("bias_hh", vec![12])] {
            want.push((format!("encoder.{name}_l0{direction}"), shape));
        }
    }
    want.sort();
    assert_eq!(found, want);
    // The forget gate is the second block of an LSTM's bias.
    let bias = read.tensor("encoder.bias_ih_l0").unwrap().data().as_chunks::<4>().0;
    let bias: Vec<f32> = bias.iter().map(|&b| f32::from_le_bytes(b)).collect();
    assert_eq!(bias, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let (_folder, file) = place();
    weights::save(&model::<f32>(1), &file).unwrap();
    let whole = fs::read(&file).unwrap();
    for end in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        fs::write(&file, &whole[..end]).unwrap();
        refused(&file, "cut short");
    }
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    // In the file tensors of one type are ordered by name.
    for (end, tensor) in [(header, "encoder.bias_hh_l0 "), (whole.len() - 1, "output.weight ")] {
        fs::write(&file, &whole[..end]).unwrap();
        refused(&file, tensor);
    }
}

#[test]
fn a_file_with_something_after_its_end_is_refused() {
    let (_folder, file) = place();
    weights::save(&model::<f32>(1), &file).unwrap();
    let mut data = fs::read(&file).unwrap();
    data.push(0);
    fs::write(&file, data).unwrap();
    refused(&file, "not a whole safetensors file");
}

#[test]
fn no_file_is_an_error_too() {
    refused(Path::new("no such folder/model.safetensors"), "");
}

#[test]
fn a_wrong_tensor_is_named() {
    let (_folder, file) = place();
    let spoil = |f: fn(&mut Vec<Tensor>), word: &str| {
        let mut all = tensors(&model(1));
        f(&mut all);
        write(&file, &all);
        refused(&file, word);
    };
    spoil(|all| all[1].shape.reverse(), "tensor encoder.weight_hh_l0 has shape [3, 12], the model needs [12, 3]");
    spoil(|all| drop(all.remove(4)), "tensor encoder.weight_ih_l0_reverse is missing");
    spoil(|all| all[9].name = "other.weight".into(), "tensor output.weight is missing");
    spoil(
        |all| all.push(Tensor { name: "spare.bias".into(), dtype: Dtype::F32, shape: vec![1], bytes: vec![0; 4] }),
        "tensor spare.bias does not belong to this model",
    );
    spoil(|all| all[9].bytes[20..24].copy_from_slice(&f32::NAN.to_le_bytes()), "tensor output.weight has NaN at place 5");
    spoil(|all| all[0].bytes[..4].copy_from_slice(&f32::INFINITY.to_le_bytes()), "tensor encoder.weight_ih_l0 has inf at place 0");
    spoil(|all| all[9].dtype = Dtype::I32, "tensor output.weight holds I32, only F32 and F64 are read");
}
