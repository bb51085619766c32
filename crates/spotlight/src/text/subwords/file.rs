//! The file of a table of subwords: `tokenizer.json`, as the `tokenizers` library reads and writes it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::merges::Merges;
use super::scores::Scores;
use super::{Algorithm, Model, SPECIAL_NAMES, Subwords, Table, UNKNOWN, WORD_MARKER};

/// What the file says of byte-pair encoding besides its tables. We compute with these settings and no others.
fn bpe_settings() -> [(&'static str, Value); 8] {
    [
        ("type", "BPE".into()),
        ("dropout", Value::Null),
        ("unk_token", SPECIAL_NAMES[UNKNOWN as usize].into()),
        ("continuing_subword_prefix", Value::Null),
        ("end_of_word_suffix", Value::Null),
        ("fuse_unk", true.into()),
        ("byte_fallback", false.into()),
        ("ignore_merges", false.into()),
    ]
}

pub(super) fn write(subwords: &Subwords) -> Value {
    let pieces = &subwords.table.pieces;
    let model = match &subwords.model {
        Model::Bpe(merges) => {
            let mut model: serde_json::Map<String, Value> =
                bpe_settings().map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
            let text = |unit: u32| &pieces[unit as usize];
            model.insert(
                "vocab".into(),
                pieces.iter().cloned().zip(0..).map(|(piece, unit): (_, u32)| (piece, Value::from(unit))).collect(),
            );
            model.insert("merges".into(), merges.pairs().into_iter().map(|(left, right)| json!([text(left), text(right)])).collect());
            Value::Object(model)
        }
        Model::Unigram(scores) => {
            let vocab: Vec<(&String, &f64)> = pieces.iter().zip(&scores.by_unit).collect();
            json!({ "type": "Unigram", "unk_id": UNKNOWN, "vocab": vocab, "byte_fallback": false })
        }
    };
    // Texts are split in `words`; the file says the same for other programs that read it.
    let metaspace = json!({ "type": "Metaspace", "replacement": WORD_MARKER, "prepend_scheme": "always", "split": true });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": metaspace,
        "post_processor": null,
        "decoder": metaspace,
        "model": model,
    })
}

/// The tables of a model of byte-pair encoding.
#[derive(Deserialize)]
struct Bpe {
    vocab: BTreeMap<String, usize>,
    merges: Vec<(String, String)>,
}

/// The table of a unigram model.
#[derive(Deserialize)]
struct Unigram {
    vocab: Vec<(String, f64)>,
}

pub(super) fn read(algorithm: Algorithm, json: &[u8]) -> Result<Subwords, String> {
    let file: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let model = &file["model"];
    let (kind, has_unknown) = match algorithm {
        Algorithm::Bpe => ("BPE", model["unk_token"] == SPECIAL_NAMES[UNKNOWN as usize]),
        Algorithm::Unigram => ("Unigram", model["unk_id"] == UNKNOWN),
    };
    if model["type"] != kind {
        return Err(format!("expected a {kind} model, found {}", model["type"]));
    }
    if !has_unknown {
        return Err(format!("its unknown unit is not {}", SPECIAL_NAMES[UNKNOWN as usize]));
    }
    match algorithm {
        Algorithm::Bpe => read_bpe(model),
        Algorithm::Unigram => read_unigram(model),
    }
}

fn read_bpe(model: &Value) -> Result<Subwords, String> {
    for (key, wanted) in bpe_settings() {
        if model.get(key).is_some_and(|found| *found != wanted) {
            return Err(format!("{key} is {}, expected {wanted}", model[key]));
        }
    }
    let Bpe { vocab, merges } = Bpe::deserialize(model).map_err(|error| error.to_string())?;
    let mut pieces = vec![None; vocab.len()];
    for (piece, unit) in vocab {
        let slot = pieces.get_mut(unit).ok_or_else(|| format!("unit {piece:?} has number {unit}, beyond the end"))?;
        *slot = Some(piece);
    }
    let pieces: Option<Vec<String>> = pieces.into_iter().collect();
    let table = Table::new(pieces.ok_or("two units have the same number")?)?;
    let number =
        |piece: &str| table.numbers.get(piece).copied().ok_or_else(|| format!("{piece:?} belongs to a pair to join, but is no unit"));
    let merge = |(left, right): &(String, String)| Ok(((number(left)?, number(right)?), number(&format!("{left}{right}"))?));
    let merges = merges.iter().map(merge).collect::<Result<Vec<_>, String>>()?;
    Ok(Subwords { model: Model::Bpe(Merges::new(merges)), table })
}

fn read_unigram(model: &Value) -> Result<Subwords, String> {
    if model["byte_fallback"] == true {
        return Err("byte_fallback is true, expected false".into());
    }
    let Unigram { vocab } = Unigram::deserialize(model).map_err(|error| error.to_string())?;
    let (pieces, scores): (Vec<String>, Vec<f64>) = vocab.into_iter().unzip();
    let table = Table::new(pieces)?;
    Ok(Subwords { model: Model::Unigram(Scores::new(scores, &table.pieces)), table })
}
