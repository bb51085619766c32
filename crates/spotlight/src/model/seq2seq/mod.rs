//! Sequence to sequence: from pairs of texts to a model that turns one into the other.
//!
//! In the order data meets them: [`config`] (settings), [`data`] (texts to numbers), [`net`] (the network), [`learn`] (loss and measures), [`write`](mod@write) (the network
//! as a [search](crate::search) drives it).
//! A [`Transducer`] holds them together.

pub mod align;
mod answer;
mod baseline;
pub mod beside;
#[cfg(test)]
mod changed_tests;
pub mod config;
pub mod copies;
mod copy;
#[cfg(test)]
mod copy_tests;
pub mod data;
pub mod distil;
mod explore;
pub mod hard;
mod inside;
pub mod joined;
pub mod joint;
pub mod learn;
mod limits;
pub mod made_up;
mod nearest;
pub mod neighbours;
pub mod net;
pub mod recombine;
pub mod remembered;
#[cfg(test)]
mod search_tests;
mod task;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transformer_tests;
pub mod write;

use std::path::Path;
use std::sync::Arc;

use align::Links;
pub use answer::{Answer, AnswerText, BesideNeighbour};
pub use beside::{Beside, Voices};
pub use config::Config;
pub use data::{Example, Vocabularies};
use distil::Lessons;
pub use explore::{Explore, Explored, StepNumbers, TargetScore, ThoughtText};
pub use inside::Inside;
pub use joint::Joint;
pub use learn::Seq2SeqLearner;
pub use neighbours::Neighbour;
pub use net::Net;
pub use remembered::Remembered;
pub use write::NetWriter;

pub use crate::model::touch::Edit;
pub use crate::search::{Hypothesis, SearchOptions};

use crate::Result;
use crate::axis::Axis;
use crate::config::resolve;
use crate::model::ensemble::first_and_peers;
use crate::model::{Calibration, Model, fits, folder};
use crate::params::Params;
use crate::search::{Request, Together, Writer, force};
use crate::tape::Tape;
use crate::text::vocab::UNKNOWN;
use crate::text::{Pair, Unit};
use crate::train::Learner;
use crate::weights;

/// A model that turns sequences into sequences.
#[derive(Clone, Debug)]
pub struct Transducer {
    /// All settings.
    pub config: Config,
    /// Units of both sides.
    pub vocabularies: Vocabularies,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
    /// How sure it may be of an answer, if that is known.
    pub calibration: Option<Calibration>,
    /// The other members, if it is an ensemble.
    pub peers: Vec<Transducer>,
    /// What speaks beside the network.
    pub beside: Beside,
    /// Links that its attention learns from, by the line of the pair.
    links: Option<Arc<Links>>,
    /// What its teacher says of the training pairs.
    lessons: Option<Arc<Lessons>>,
}

impl Transducer {
    /// A new model for these training pairs. The settings are checked, and the longest answer is learnt from the pairs unless it is set.
    pub fn new(config: Config, pairs: &[Pair]) -> Result<Self> {
        config.check()?;
        let vocabularies = match config.distil.teacher.as_str() {
            "" => Vocabularies::train(&config, pairs)?,
            folder => distil::with_teacher(folder, |teacher| Ok(Vocabularies { copies: None, ..teacher.vocabularies.clone() }))?,
        };
        Self::new_with(config, vocabularies, pairs)
    }

    /// The same, with units that are known.
    fn new_with(mut config: Config, vocabularies: Vocabularies, pairs: &[Pair]) -> Result<Self> {
        config.check()?;
        if config.search.max_ratio == 0.0 {
            let ratio = |p: &Pair| vocabularies.target.ids(&p.target).len() as f64 / vocabularies.source.ids(&p.source).len().max(1) as f64;
            config.search.max_ratio = pairs.iter().map(ratio).fold(1.0, f64::max).ceil();
        }
        fits::writer(&config, vocabularies.sizes(), pairs)?;
        let params = Params::new(config.seed);
        let links = links_of(&config, pairs)?;
        let lessons = match config.distil.teacher.as_str() {
            "" => None,
            folder => Some(distil::with_teacher(folder, |teacher| teacher.taught(pairs))?),
        };
        let remembered = config.model.remember.then(|| Arc::new(Remembered::of(pairs, &vocabularies, config.model.neighbours)));
        let joint = config.model.joint.then(|| Arc::new(Joint::of(pairs, &vocabularies)));
        let beside = Beside { remembered, joint, voices: None };
        Ok(Transducer { links, lessons, beside, ..Self::with_vocabularies(config, vocabularies, params)? })
    }

    fn with_vocabularies(config: Config, vocabularies: Vocabularies, mut params: Params<f32>) -> Result<Self> {
        let (source, target) = vocabularies.sizes();
        let mut net = Net::new(&mut params, &config, source, target, vocabularies.first_feature())?;
        if let Some(copies) = &vocabularies.copies {
            net = net.copying(&mut params, &config, copies.clone());
        }
        let (peers, calibration) = (Vec::new(), None);
        Ok(Transducer { config, vocabularies, net, params, calibration, peers, beside: Beside::default(), links: None, lessons: None })
    }

    /// Writes settings and vocabularies; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        self.vocabularies.save(path)?;
        self.beside.remembered.iter().try_for_each(|remembered| remembered.save(path))?;
        self.beside.joint.iter().try_for_each(|joint| joint.save(path))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder. A file that is not the one saved with the model is an error that names it.
    pub fn load(path: &Path) -> Result<Self> {
        folder::check(path)?;
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let vocabularies = Vocabularies::load(&config, path)?;
        let mut model = Self::with_vocabularies(config, vocabularies, Params::blank())?;
        weights::load(&mut model.params, &path.join(folder::WEIGHTS))?;
        model.calibration = Calibration::load(path)?;
        if model.config.model.remember {
            model.beside.remembered = Some(Arc::new(Remembered::load(path, &model.vocabularies)?));
        }
        if model.config.model.joint {
            model.beside.joint = Some(Arc::new(Joint::load(path)?));
            model.beside.voices = Voices::load(path)?;
        }
        Ok(model)
    }

    /// Pairs as numbers.
    pub fn examples(&self, pairs: &[Pair]) -> Vec<Example> {
        let links = |pair: &Pair| match self.links.as_ref().and_then(|links| links.of(pair.line)) {
            Some(gold) => self.vocabularies.unit_links(pair, gold),
            None => Vec::new(),
        };
        let said = |pair: &Pair| self.lessons.as_ref().and_then(|lessons| lessons.get(&pair.line)).cloned().unwrap_or_default();
        let around = self.around(pairs);
        let example = |(p, around): (&Pair, Vec<Neighbour>)| {
            let example = self.vocabularies.example(p, self.config.data.alternatives);
            Example { links: links(p), said: said(p), around, ..example }
        };
        pairs.iter().zip(around).map(example).collect()
    }

    /// What stands around the source of each pair, if that is counted; nothing if not.
    fn around(&self, pairs: &[Pair]) -> Vec<Vec<Neighbour>> {
        match self.config.model.neighbours {
            true => neighbours::of_pairs(pairs),
            false => vec![Vec::new(); pairs.len()],
        }
    }

    /// How it learns.
    pub fn learner(&self) -> Seq2SeqLearner {
        Seq2SeqLearner::new(&self.config, self.net.clone(), self.vocabularies.target.clone(), self.beside.clone())
    }

    /// What a search drives.
    pub fn writer(&self) -> NetWriter<'_> {
        NetWriter::new(&self.net, &self.params)
    }

    /// The same, of all members of an ensemble.
    fn all_writers(&self, look: bool, in_bytes: bool) -> Box<dyn Writer + '_> {
        match self.peers.as_slice() {
            [] => Box::new(NetWriter { look, in_bytes, ..self.writer() }),
            peers => Box::new(Together(
                std::iter::once(self)
                    .chain(peers)
                    .map(|member| Box::new(NetWriter { look, in_bytes, ..member.writer() }) as Box<dyn Writer>)
                    .collect(),
            )),
        }
    }

    /// Several models as one. An error if they do not read and write the same units.
    pub fn joined(members: Vec<Transducer>) -> Result<Transducer> {
        let differ = |a: &Transducer, b: &Transducer| {
            (!a.vocabularies.same_as(&b.vocabularies)).then_some("models that were trained on different units")
        };
        let (mut first, peers) = first_and_peers(members, differ)?;
        // What one of them may copy is numbered for all.
        first.vocabularies.copies = first.vocabularies.copies.or_else(|| peers.iter().find_map(|peer| peer.vocabularies.copies.clone()));
        // Members that have not learnt from the same pairs have nothing to remember together.
        let own = &mut first.beside;
        own.remembered = own.remembered.take().filter(|own| peers.iter().all(|peer| peer.beside.remembered.as_ref() == Some(own)));
        own.joint = own.joint.take().filter(|own| peers.iter().all(|peer| peer.beside.joint.as_ref() == Some(own)));
        let voices: Option<Vec<Voices>> = std::iter::once(own.voices).chain(peers.iter().map(|peer| peer.beside.voices)).collect();
        own.voices = voices.as_deref().and_then(Voices::mean);
        first.peers = peers;
        // What each is sure of says nothing of what they say together.
        first.calibration = first.calibration.filter(|_| first.peers.is_empty());
        Ok(first)
    }

    /// The usual search of this model.
    pub fn search_options(&self) -> SearchOptions {
        SearchOptions::from(&self.config.search)
    }

    /// Answers to sources with their features, in the same order. An empty source is answered with nothing.
    pub fn answer(&self, sources: &[(&str, Option<&str>)], options: &SearchOptions, copy_unknown: bool) -> Result<Vec<Answer>> {
        self.answer_from(&[], sources, &[], options, copy_unknown)
    }

    /// The same; every answer begins with `prefix`, and `around` has the neighbours of each source, or nothing.
    fn answer_from(
        &self,
        prefix: &[u32],
        sources: &[(&str, Option<&str>)],
        around: &[&[Neighbour]],
        options: &SearchOptions,
        copy_unknown: bool,
    ) -> Result<Vec<Answer>> {
        let units: Vec<Vec<Unit>> = sources.iter().map(|(text, features)| self.vocabularies.source_units(text, *features)).collect();
        let ids: Vec<Vec<u32>> = units.iter().map(|u| u.iter().map(|u| u.id).collect()).collect();
        let requests: Vec<Request> = ids.iter().map(|source| Request { source, prefix }).collect();
        // Weights are also needed to know what is covered, and what to copy.
        let look = options.look || options.coverage_penalty > 0.0 || copy_unknown;
        let writers = self.all_writers(look, options.int8);
        let found = self.beside.search(writers.as_ref(), &requests, around, options)?;
        let sure = self.sureness(options.sample.is_none());
        Ok(found
            .into_iter()
            .enumerate()
            .map(|(i, found)| self.in_words(sources[i], &units[i], neighbours::of(around, i), found, sure, copy_unknown))
            .collect())
    }

    /// What the model says of answers that are given: sources with their features, and the answer to each. Its score is its log-probability.
    pub fn score(&self, sources: &[(&str, Option<&str>)], targets: &[&str]) -> Result<Vec<Answer>> {
        self.score_as(sources, &[], targets, false)
    }

    /// The same, with the neighbours of each source, and by weights of one byte if `int8`.
    fn score_as(&self, sources: &[(&str, Option<&str>)], around: &[&[Neighbour]], targets: &[&str], int8: bool) -> Result<Vec<Answer>> {
        let units: Vec<Vec<Unit>> = sources.iter().map(|(text, features)| self.vocabularies.source_units(text, *features)).collect();
        let ids: Vec<Vec<u32>> = units.iter().map(|u| u.iter().map(|u| u.id).collect()).collect();
        let v = &self.vocabularies;
        let targets: Vec<Vec<u32>> = targets.iter().zip(&units).map(|(target, units)| v.target_ids(target, &v.beyond(units))).collect();
        let pairs: Vec<(&[u32], &[u32])> = ids.iter().zip(&targets).map(|(s, t)| (s.as_slice(), t.as_slice())).collect();
        let writers = self.all_writers(true, int8);
        let mut found = force(writers.as_ref(), &pairs)?;
        self.beside.judge_given(writers.as_ref(), &ids, around, &self.search_options(), &mut found)?;
        Ok(found
            .into_iter()
            .enumerate()
            .map(|(i, found)| self.in_words(sources[i], &units[i], neighbours::of(around, i), vec![found], self.calibration, false))
            .collect())
    }

    /// What the encoder makes of a source: a row of numbers for each of its units.
    pub fn encoder_states(&self, source: &str, features: Option<&str>) -> Result<Vec<(Unit, Vec<f32>)>> {
        let units = self.vocabularies.source_units(source, features);
        let ids: Vec<u32> = units.iter().map(|u| u.id).collect();
        let tape = Tape::new(&self.params);
        let states = self.net.encode(&tape, &ids, &Axis::new([ids.len()]))?.memories[0].values;
        let rows: Vec<Vec<f32>> = tape.value(states).chunks_exact(tape.shape(states).1).map(<[f32]>::to_vec).collect();
        Ok(units.into_iter().zip(rows).collect())
    }

    /// How sure it may be of answers that were judged by all voices, or not. Where several speak, this was found out of shares, which the network alone does not give.
    fn sureness(&self, judged: bool) -> Option<Calibration> {
        self.calibration.filter(|_| judged || self.beside.voices.is_none())
    }

    fn in_words(
        &self,
        (source, features): (&str, Option<&str>),
        units: &[Unit],
        around: &[Neighbour],
        found: Vec<Hypothesis>,
        sure: Option<Calibration>,
        copy_unknown: bool,
    ) -> Answer {
        let v = &self.vocabularies;
        let display: Vec<String> = units.iter().map(|u| v.display_source(u)).collect();
        let ids: Vec<u32> = units.iter().map(|u| u.id).collect();
        // A feature is a word of its own, also one that is as unknown as a unit of the text can be.
        let text_units = units.len() - v.feature_units(features);
        let mut source_words = v.source.word_of(&ids[..text_units]);
        for _ in text_units..units.len() {
            source_words.push(source_words.last().map_or(0, |w| w + 1));
        }
        let source_characters = v.source.character_of(&ids[..text_units]);
        // Of all that was found, the part of each.
        let beyond = v.beyond(units);
        let whole: f64 = found.iter().map(|h| h.log_prob.exp()).sum();
        let several = found.len() > 1;
        let beside = |neighbour: &Neighbour, answer: &[u32]| {
            let remembered = self.beside.remembered.as_ref()?.times_beside(&ids, neighbour, answer)?;
            Some(BesideNeighbour { place: neighbour.0, source: neighbour.1.clone(), remembered })
        };
        let hypotheses = found
            .into_iter()
            .map(|h| {
                // Where an unknown unit was written, the source unit that was looked at most stands for it.
                let copied = |position: usize| {
                    let row = h.attention.get(position)?;
                    let most = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?.0;
                    units.get(most).map(|u| u.text.clone())
                };
                let unknown = |position: usize| match copy_unknown && h.ids[position] == UNKNOWN {
                    true => copied(position).unwrap_or_else(|| v.target.display(h.ids[position])),
                    false => v.target_text(h.ids[position], &beyond),
                };
                AnswerText {
                    text: v.target.decode_with(&h.ids, unknown),
                    tokens: h.ids.iter().map(|&id| v.target_text(id, &beyond)).collect(),
                    words: v.target.word_of(&h.ids),
                    characters: v.target.character_of(&h.ids),
                    share: (several && whole > 0.0).then(|| h.log_prob.exp() / whole),
                    remembered: self.beside.remembered.as_ref().and_then(|remembered| remembered.times(&ids, &h.ids)),
                    neighbours: around.iter().filter_map(|neighbour| beside(neighbour, &h.ids)).collect(),
                    joint: self.beside.counted(&ids, &h.ids),
                    // To nothing there is no right answer.
                    confidence: sure.filter(|_| !units.is_empty()).map(|c| c.confidence(h.log_prob)),
                    hypothesis: h,
                    stacked: self.peers.is_empty() && self.config.model.architecture.writes_by_attention(),
                    inside: None,
                }
            })
            .collect();
        let members = match self.peers.as_slice() {
            [] => Vec::new(),
            peers => (1..).zip(std::iter::once(self).chain(peers)).filter(|(_, m)| m.blind().is_none()).map(|(number, _)| number).collect(),
        };
        Answer { source: source.to_string(), source_tokens: display, source_words, source_characters, members, hypotheses }
    }
}

/// The links that the settings ask for.
fn links_of(config: &Config, pairs: &[Pair]) -> Result<Option<Arc<Links>>> {
    match config.alignment.links.as_str() {
        _ if !config.learns_links() => Ok(None),
        "ibm" => {
            let words: Vec<(Vec<&str>, Vec<&str>)> =
                pairs.iter().map(|p| (p.source.split_whitespace().collect(), p.target.split_whitespace().collect())).collect();
            let mut links = Links::default();
            pairs.iter().zip(align::ibm::symmetric(&words)).for_each(|(pair, gold)| links.insert(pair.line, gold));
            Ok(Some(Arc::new(links)))
        }
        file => Links::read(Path::new(file), pairs, Path::new(&config.data.train)).map(|links| Some(Arc::new(links))),
    }
}

impl Seq2SeqLearner {
    /// The mean loss of a target unit with these parameters, and nothing left to chance as it is while learning.
    pub fn mean_loss(&self, params: &Params<f32>, examples: &[&Example]) -> Result<f64> {
        let tape = Tape::new(params);
        let targets: usize = examples.iter().map(|e| self.targets(e)).sum();
        let loss = self.loss(&tape, examples, 1.0 / targets.max(1) as f64)?;
        Ok(tape.item(loss))
    }
}
