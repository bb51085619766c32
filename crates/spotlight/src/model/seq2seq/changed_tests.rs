//! Weights of a Transformer put in by hand, and weights that nobody asked for.

use std::sync::Arc;

use super::tests::{config, pair};
use super::*;
use crate::attention::{Glance, Intervening};
use crate::audit::Course;
use crate::decoder::Decoder;
use crate::model::Model;
use crate::text::vocab::START;

/// Two layers of two heads, with opinions.
fn transformer(architecture: &str) -> Transducer {
    let changes = [
        &*format!("model.architecture={architecture}"),
        "model.embedding=8",
        "model.hidden=8",
        "model.dropout=0.0",
        "model.decoder_layers=2",
        "transformer.heads=2",
        "transformer.feed_forward=12",
    ];
    let pairs = [pair("abcd", "xyz", 1), pair("dc", "zyxx", 2), pair("b", "yx", 3)];
    let mut model = Transducer::new(config(&changes), &pairs).unwrap();
    model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 2.0);
    model
}

fn forced() -> Explore {
    Explore { force: ["x", "y", "z"].map(String::from).to_vec(), ..Explore::default() }
}

#[test]
fn weights_put_into_a_transformer_are_used_from_there_on() {
    for architecture in ["transformer", "recurrent-transformer"] {
        let model = transformer(architecture);
        let options = SearchOptions { beam: 1, n_best: 1, ..model.search_options() };
        let explored = |edits| {
            let explore = Explore { edits, ..forced() };
            model.explore(("abcd", None), &explore, &options, false).unwrap().answer.hypotheses.remove(0).hypothesis
        };
        let plain = explored(vec![]);
        assert_eq!(plain.heads.len(), 4, "two layers of two heads");
        let all = explored(vec![Edit { step: 1, head: None, weights: vec![0.0, 0.0, 2.0, 2.0] }]);
        assert_eq!(all.heads.iter().map(|head| &head[0]).collect::<Vec<_>>(), plain.heads.iter().map(|head| &head[0]).collect::<Vec<_>>());
        assert!(all.heads.iter().all(|head| head[1] == [0.0, 0.0, 0.5, 0.5]));
        assert_ne!(all.probabilities[1], plain.probabilities[1]);
        // One head of the second layer: nothing before it changes, all others look as they would.
        let one = explored(vec![Edit { step: 1, head: Some(3), weights: vec![1.0, 0.0, 0.0, 0.0] }]);
        assert_eq!(one.heads[3][1], [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(
            (0..3).map(|head| &one.heads[head][1]).collect::<Vec<_>>(),
            (0..3).map(|head| &plain.heads[head][1]).collect::<Vec<_>>()
        );
        assert_ne!(one.probabilities[1], plain.probabilities[1]);
        // The weights as they are, put in, change nothing but roundings.
        let same = explored((0..4).map(|head| Edit { step: 1, head: Some(head), weights: plain.heads[head][1].clone() }).collect());
        assert!((same.log_prob - plain.log_prob).abs() < 1e-5);
        let refused = Explore { heads_off: vec![4], ..Explore::default() };
        let error = model.explore(("abcd", None), &refused, &options, false).unwrap_err().to_string();
        assert!(error.contains("below 4"), "{error}");
    }
}

/// A head that is off adds nothing, and what it would have added goes through its own columns of the projection that joins the heads.
#[test]
fn a_head_of_a_layer_switched_off_is_its_columns_of_the_projection_at_zero() {
    let model = transformer("transformer");
    let options = SearchOptions { beam: 1, n_best: 1, ..model.search_options() };
    for (layer, head) in [(0, 1), (1, 0)] {
        let off = Explore { heads_off: vec![layer * 2 + head], ..forced() };
        let off = model.explore(("abcd", None), &off, &options, false).unwrap().answer.hypotheses.remove(0).hypothesis;
        assert!(off.heads[layer * 2 + head].iter().flatten().all(|&weight| weight == 0.0));
        assert!(off.heads[layer * 2 + 1 - head].iter().flatten().all(|&weight| weight > 0.0));
        let mut without = model.clone();
        let weight = without.params.find(&format!("decoder.layers.{layer}.multihead_attn.out_proj.weight")).unwrap();
        for row in without.params.get_mut(weight).chunks_exact_mut(8) {
            row[head * 4..(head + 1) * 4].fill(0.0);
        }
        let without = without.explore(("abcd", None), &forced(), &options, false).unwrap().answer.hypotheses.remove(0).hypothesis;
        assert!((off.log_prob - without.log_prob).abs() < 1e-5, "{} and {}", off.log_prob, without.log_prob);
        let plain = model.explore(("abcd", None), &forced(), &options, false).unwrap().answer.hypotheses.remove(0).hypothesis;
        assert!((off.log_prob - plain.log_prob).abs() > 1e-3);
    }
}

/// The same intervention gives the same numbers over a known target as in a search, and is told where it stands.
#[test]
fn changed_weights_are_the_same_over_known_targets() {
    let model = transformer("transformer");
    let shifted = |glance: Glance, weights: &mut [f32]| {
        assert!(glance.layer < 2 && glance.heads == 2 && glance.item < 2 && glance.step < 4, "{glance:?}");
        weights.rotate_right(glance.heads.min(weights.len()));
    };
    let shifted = Intervening(Arc::new(shifted));
    let sources = ["abcd", "dc"].map(|text| model.vocabularies.source.ids(text));
    let targets = ["xyz", "zx"].map(|text| model.vocabularies.target.ids(text));
    let pairs: Vec<(&[u32], &[u32])> = sources.iter().zip(&targets).map(|(s, t)| (s.as_slice(), t.as_slice())).collect();
    let stepped = force(&model.writer().intervening(&shifted), &pairs).unwrap();
    let tape = Tape::new(&model.params);
    let mut begun = model.net.encode(&tape, &sources.concat(), &Axis::new(sources.each_ref().map(Vec::len))).unwrap();
    begun.memories = begun.memories.into_iter().map(|memory| memory.intervened(shifted.0.clone())).collect();
    let inputs: Vec<u32> = targets.iter().flat_map(|t| std::iter::once(START).chain(t.iter().copied())).collect();
    let y = tape.on_axis(model.net.embed_targets(&tape, &inputs).unwrap(), &Axis::new([4, 3])).unwrap();
    let known = model.net.decoder().teacher_forced(&tape, y, &begun, true).unwrap();
    let logits = model.net.logits(&tape, known.readout).unwrap();
    let units = tape.shape(logits).1;
    let mut rows = tape.to_vec(logits);
    rows.chunks_exact_mut(units).for_each(spotlight_kernels::loss::log_softmax);
    let probability = |row: usize, unit: u32| rows[row * units + unit as usize].exp();
    for (h, (target, first)) in stepped.iter().zip(targets.iter().zip([0, 4])) {
        for (at, &unit) in target.iter().enumerate() {
            assert!((h.probabilities[at] - probability(first + at, unit)).abs() < 1e-5);
        }
    }
    let weights = tape.to_vec(known.weights.unwrap());
    assert!((0..4).all(|j| (weights[j * 4 + 3] - stepped[0].heads[3][0][j]).abs() < 1e-5), "the fourth head of the first step");
    let free = force(&model.writer(), &pairs).unwrap();
    assert!((free[0].log_prob - stepped[0].log_prob).abs() > 1e-3);
}

#[test]
fn a_transformer_that_writes_is_audited() {
    let model = transformer("transformer");
    let pairs = [pair("abcd", "xyz", 1), pair("dc", "zyxx", 2), pair("b", "yx", 3), pair("cab", "x", 4)];
    let report = Model::audit(&model, &pairs, &Course::quick(), &|_, _, _| {}).unwrap();
    let found = report.written.unwrap();
    assert_eq!(found.changed.len(), 5);
    assert_eq!(found.beam.unwrap().value, 1.0);
    assert!(found.changed[1..].iter().any(|changed| changed.same.value < 1.0), "other weights, other answers");
    let places: Vec<(usize, usize)> = found.heads.iter().map(|head| (head.layer, head.head)).collect();
    assert_eq!(places, [(1, 1), (1, 2), (2, 1), (2, 2)]);
    assert!(found.heads.iter().any(|head| head.same.value < 1.0), "a head that is missed");
}

/// Whoever measures or prints answers alone gets them without attention, and the same ones.
#[test]
fn weights_that_nobody_wants_are_not_told() {
    let recurrent = Transducer::new(config(&["model.hidden=8"]), &[pair("abcd", "xyz", 1)]).unwrap();
    for model in [recurrent, transformer("transformer")] {
        for beam in [1, 3] {
            let options = SearchOptions { beam, n_best: beam, min_length: 2, ..model.search_options() };
            let seen = model.answer(&[("abcd", None), ("c", None)], &options, false).unwrap();
            let unseen = model.answer(&[("abcd", None), ("c", None)], &SearchOptions { look: false, ..options.clone() }, false).unwrap();
            for (seen, unseen) in seen.iter().flat_map(|a| &a.hypotheses).zip(unseen.iter().flat_map(|a| &a.hypotheses)) {
                let (seen, unseen) = (&seen.hypothesis, &unseen.hypothesis);
                assert_eq!((&seen.ids, seen.log_prob, seen.score), (&unseen.ids, unseen.log_prob, unseen.score));
                assert_eq!(seen.attention.len(), seen.ids.len());
                assert!(unseen.attention.is_empty() && unseen.heads.is_empty());
                assert!(unseen.end.as_ref().is_none_or(|end| end.heads.is_empty()));
            }
            // What is covered must be known, and so must what is copied.
            let covered = SearchOptions { look: false, coverage_penalty: 0.5, ..options.clone() };
            assert!(!model.answer(&[("abcd", None)], &covered, false).unwrap()[0].hypotheses[0].hypothesis.attention.is_empty());
        }
    }
}
