//! How a transducer learns: teacher forcing, and what is measured.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use spotlight_kernels::Float;

use super::config::Config;
use super::copies;
use super::data::Example;
use super::neighbours::Neighbour;
use super::net::{Batch, Net};
use super::write::NetWriter;
use super::{Beside, Voices, align, distil};
use crate::decoder::Coverage;
use crate::metrics::{self, Segments, Unit};
use crate::model::Calibration;
use crate::params::Params;
use crate::search::{Hypothesis, Request, SearchOptions};
use crate::tape::{Tape, Var};
use crate::text::batch::{Lengths, by_length};
use crate::text::{Tokenizer, UnitKind};
use crate::train::{Learner, Measure};
use crate::{Error, Result};

/// Positions in a batch while measuring.
const MEASURE_BATCH: usize = 4000;

/// A transducer as the training loop sees it.
#[derive(Clone, Debug)]
pub struct Seq2SeqLearner {
    net: Net,
    target: Tokenizer,
    smoothing: f64,
    coverage: f64,
    sampling: f64,
    /// Weight of the links, and how many steps after a unit its links are learnt.
    links: (f64, usize),
    /// Share of the loss that is what a teacher says.
    taught: f64,
    search: SearchOptions,
    /// Hypotheses while it is found out how much each voice counts.
    beam: usize,
    /// What speaks beside the network.
    beside: Beside,
}

impl Seq2SeqLearner {
    /// For a network, the units of its target, and what speaks beside it.
    pub fn new(config: &Config, net: Net, target: Tokenizer, beside: Beside) -> Self {
        let penalty = config.model.coverage != Coverage::Off;
        Seq2SeqLearner {
            net,
            target,
            smoothing: config.train.smoothing,
            coverage: if penalty { config.model.coverage_weight } else { 0.0 },
            sampling: config.model.scheduled_sampling,
            taught: config.distil.weight,
            links: (config.alignment.weight, usize::from(config.alignment.after)),
            // Greedy while learning: it is measured after every epoch.
            search: SearchOptions { beam: 1, ..SearchOptions::from(&config.search) },
            beam: config.search.beam,
            beside,
        }
    }

    /// Replaces some of the units before by what the model would have written there. Bengio and others, 2015; both passes at once as in Mihaylova and Martins, 2019.
    fn sample_inputs<T: Float>(&self, tape: &Tape<T>, batch: &mut Batch) -> Result<()> {
        let guesses = {
            let blind = Tape::new(tape.params());
            let encoded = self.net.encode(&blind, &batch.source, &batch.source_axis)?;
            let decoded = self.net.decode(&blind, &encoded, &batch.inputs, &batch.target_axis, false)?;
            let logits = self.net.logits(&blind, decoded.readout)?;
            let units = blind.shape(logits).1;
            let best = |row: &[T]| (1..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best }) as u32;
            blind.value(logits).chunks_exact(units).map(best).collect::<Vec<u32>>()
        };
        let mut random = ChaCha8Rng::seed_from_u64((tape.uniform() * (1u64 << 52) as f64) as u64);
        for item in 0..batch.target_axis.items() {
            for row in batch.target_axis.range(item).skip(1) {
                if random.random_bool(self.sampling) {
                    batch.inputs[row] = guesses[row - 1];
                }
            }
        }
        Ok(())
    }

    fn writer<'a>(&'a self, params: &'a Params<f32>) -> NetWriter<'a> {
        NetWriter { look: self.search.coverage_penalty > 0.0, ..NetWriter::new(&self.net, params) }
    }

    /// How much each voice counts, found out with the development examples.
    fn voices(&self, params: &Params<f32>, examples: &[Example]) -> Result<Option<Voices>> {
        let sources: Vec<&[u32]> = examples.iter().map(|e| e.source.as_slice()).collect();
        let options = SearchOptions { beam: self.beam, ..self.search.clone() };
        let references = references(examples);
        let right = |i: usize, ids: &[u32]| {
            references.contains(&(examples[i].key.as_str(), copies::decode(&self.target, ids, &examples[i].beyond).as_str()))
        };
        Ok(Voices::fit(&self.beside.lists(&self.writer(params), &sources, &options, right)?))
    }

    /// The text of each answer and the logarithm of its probability.
    fn answers(&self, params: &Params<f32>, examples: &[Example], beside: &Beside, options: &SearchOptions) -> Result<Vec<(String, f64)>> {
        let requests: Vec<Request> = examples.iter().map(|e| Request::new(&e.source)).collect();
        let around: Vec<&[Neighbour]> = examples.iter().map(|e| e.around.as_slice()).collect();
        let found = beside.search(&self.writer(params), &requests, &around, options)?;
        let text = |(h, e): (&Vec<Hypothesis>, &Example)| {
            h.first().map(|h| (copies::decode(&self.target, &h.ids, &e.beyond), h.log_prob)).unwrap_or_default()
        };
        Ok(found.iter().zip(examples).map(text).collect())
    }

    fn batch_loss<T: Float>(&self, tape: &Tape<T>, batch: &Batch, smoothing: f64, scale: f64) -> Result<Var> {
        // Links are learnt, not measured.
        let links: &[(usize, usize)] = if tape.is_training() { &batch.links } else { &[] };
        let (mut loss, decoded) = self.net.loss(tape, batch, !links.is_empty(), smoothing, scale)?;
        if !links.is_empty() {
            let (weight, later) = self.links;
            // Every target has its end, so that the step after a unit is one of its own.
            let links: Vec<(usize, usize)> = links.iter().map(|&(target, source)| (target + later, source)).collect();
            loss = tape.add(loss, align::loss(tape, &decoded, &links, weight * scale)?)?;
        }
        if tape.is_training() && !batch.said.is_empty() {
            let logits = self.net.logits(tape, decoded.readout)?;
            let taught = distil::loss(tape, logits, &batch.said, &batch.targets, self.taught * scale)?;
            loss = tape.add(tape.scale(loss, 1.0 - self.taught), taught)?;
        }
        match decoded.coverage_penalty {
            Some(penalty) if tape.is_training() && self.coverage > 0.0 => tape.add(loss, tape.scale(penalty, self.coverage * scale)),
            _ => Ok(loss),
        }
    }
}

impl Learner for Seq2SeqLearner {
    type Example = Example;

    fn lengths(&self, example: &Example) -> Lengths {
        Lengths { source: example.source.len(), target: example.target.len() }
    }

    fn targets(&self, example: &Example) -> usize {
        example.target.len()
    }

    fn line(&self, example: &Example) -> usize {
        example.line
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
        let mut batch = Batch::new(examples);
        if self.sampling > 0.0 && tape.is_training() {
            self.sample_inputs(tape, &mut batch)?;
        }
        self.batch_loss(tape, &batch, self.smoothing, scale)
    }

    fn measures(&self, _: &[Example]) -> Option<Vec<&'static str>> {
        let of_texts: &[&str] = if self.target.kind().spells() { &[] } else { &["bleu", "chrf"] };
        Some([&["loss", "accuracy", "cer"][..], of_texts].concat())
    }

    /// The loss of a target unit; then of greedy answers: `accuracy` (one of the references exactly), `cer` (edits for each grapheme cluster), and for words and
    /// subwords `bleu` and `chrf`.
    fn measure(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Measure>> {
        let lengths: Vec<Lengths> = examples.iter().map(|e| self.lengths(e)).collect();
        let losses = by_length(&lengths, MEASURE_BATCH)
            .par_iter()
            .map(|members| {
                let tape = Tape::new(params);
                let batch = Batch::new(&members.iter().map(|&i| &examples[i]).collect::<Vec<_>>());
                Ok(tape.item(self.batch_loss(&tape, &batch, 0.0, 1.0)?))
            })
            .collect::<Result<Vec<f64>>>()?;
        let targets: usize = examples.iter().map(|e| e.target.len()).sum();
        let mut measures = vec![Measure::falling("loss", losses.iter().sum::<f64>() / targets.max(1) as f64)];
        let texts: Vec<String> = self.answers(params, examples, &self.beside, &self.search)?.into_iter().map(|(text, _)| text).collect();
        measures.extend(text_measures(examples, &texts, self.target.kind())?);
        Ok(measures)
    }

    /// How sure the model may be of its answers.
    fn closing(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let voices = self.voices(params, examples)?;
        // With several voices answers are chosen among those of a whole beam.
        let options = SearchOptions { beam: if voices.is_some() { self.beam } else { 1 }, ..self.search.clone() };
        let answers = self.answers(params, examples, &Beside { voices, ..self.beside.clone() }, &options)?;
        let texts: Vec<&str> = answers.iter().map(|(text, _)| text.as_str()).collect();
        let judged: Vec<(f64, bool)> = answers.iter().map(|a| a.1).zip(right(examples, &texts)).collect();
        let calibration = Calibration::of_answers(&judged);
        Ok(calibration.iter().map(Calibration::file).chain(voices.iter().map(Voices::file)).collect())
    }
}

/// What is right: for what is asked, as text, each of its references.
fn references(examples: &[Example]) -> HashSet<(&str, &str)> {
    examples.iter().map(|e| (e.key.as_str(), e.reference.as_str())).collect()
}

/// Whether each answer is one of the references of its source.
pub(super) fn right(examples: &[Example], answers: &[&str]) -> Vec<bool> {
    let references = references(examples);
    examples.iter().zip(answers).map(|(e, answer)| references.contains(&(e.key.as_str(), *answer))).collect()
}

/// Measures of answers against references; rows with the same source share their references.
pub fn text_measures(examples: &[Example], answers: &[String], units: UnitKind) -> Result<Vec<Measure>> {
    let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
    let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
    let segments = Segments::by_source(&keys, answers, &references).map_err(|e| Error::Value {
        what: "the examples to measure".into(),
        got: e.to_string(),
        expected: "at least one".into(),
    })?;
    let mut measures = vec![
        Measure::rising("accuracy", metrics::exact_match(&segments)),
        Measure::falling("cer", metrics::edit_rate(&segments, Unit::Grapheme)),
    ];
    if !units.spells() {
        measures.push(Measure::rising("bleu", metrics::bleu(&segments, metrics::Tokenizer::V13a).score).up_to(100.0));
        measures.push(Measure::rising("chrf", metrics::chrf(&segments).score).up_to(100.0));
    }
    Ok(measures)
}
