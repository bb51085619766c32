//! Experiments with the attention of a classifier, of either form.

use spotlight_kernels::Float;

use super::{Classifier, Form, Net, Text, Units, evidence};
use crate::Result;
use crate::axis::Axis;
use crate::encoder::EncoderName;
use crate::model::encoder::side_by_side;
use crate::model::head::number_of;
use crate::model::pooling::{PoolingKind, mixed};
use crate::model::probe::{Asked, Differs, Looked, Mixture, Opened, Probe, sums};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Labelled;

/// A text that words can be taken from.
#[derive(Clone, Debug)]
pub struct Case {
    text: Text,
    /// For the form of evidence, whose pairs of words change with the words around them.
    words: Vec<String>,
}

impl Classifier {
    /// What the text of a case is made of, for the form of evidence.
    fn evidence_of<'c>(cases: &[&'c Case]) -> Vec<&'c evidence::EvidenceText> {
        let of = |case: &&'c Case| if let Text::Evidence(text) = &case.text { Some(text) } else { None };
        cases.iter().filter_map(of).collect()
    }
}

impl Probe for Classifier {
    type Row = Labelled;
    type Case = Case;

    const UNIT: &'static str = "word";

    fn labels(&self) -> Vec<String> {
        self.labels.iter().map(str::to_string).collect()
    }

    fn numbers(&self) -> &Params<f32> {
        &self.params
    }

    fn closed(&self) -> Option<String> {
        match (self.config.model.form, self.config.model.pooling) {
            (Form::Pooled, PoolingKind::Last) => self.config.model.pooling.blind(),
            (Form::Pooled, PoolingKind::Mean) => {
                Some("every word has the same weight in this model: there is no attention to audit (model.pooling = \"mean\")".into())
            }
            _ => None,
        }
    }

    fn asked(&self, rows: &[Labelled]) -> Result<Vec<Asked<Case>>> {
        let one = |(group, row): (usize, &Labelled)| {
            let (units, _) = self.shown(&row.text);
            let words = if let Units::Table(_) = self.units { units.clone() } else { Vec::new() };
            let gold = number_of(&self.labels, &row.label, row.line)? as usize;
            Ok(Asked { case: Case { text: self.text(&row.text), words }, units, gold, target: None, studied: true, group })
        };
        rows.iter().enumerate().map(one).collect()
    }

    fn length(&self, case: &Case) -> usize {
        case.text.len()
    }

    fn size(&self, case: &Case) -> usize {
        if let Text::Evidence(_) = case.text { 1 } else { self.length(case) }
    }

    fn left(&self, case: &Case, keep: &[bool]) -> Case {
        let kept = |at: &usize| keep.get(*at).copied().unwrap_or(true);
        match &case.text {
            Text::Pooled(ids) => {
                let ids = (0..ids.len()).filter(kept).map(|at| ids[at]).collect();
                Case { text: Text::Pooled(ids), words: Vec::new() }
            }
            Text::Evidence(_) => {
                let words: Vec<String> = (0..case.words.len()).filter(kept).map(|at| case.words[at].clone()).collect();
                Case { text: self.text(&words.join(" ")), words }
            }
        }
    }

    fn open(&self, tape: &Tape<f32>, cases: &[&Case], scale: f32) -> Result<Opened> {
        match &self.net {
            Net::Evidence(net) => {
                let texts = Self::evidence_of(cases);
                let axis = Axis::new(texts.iter().map(|t| t.words()).collect::<Vec<_>>());
                let bags = net.bags(tape, &texts);
                let input = |x: Var| {
                    let (rows, cols) = tape.shape(x);
                    tape.input(rows, cols, tape.to_vec(x).iter().map(|x| x * scale).collect::<Vec<f32>>())
                };
                let rows = input(tape.embedding_bag(net.table, bags.clone())?)?;
                let linear = input(tape.embedding_bag(net.linear, bags)?)?;
                let judged = net.judge(tape, &texts, rows, Some(linear))?;
                let values = tape.mul(judged.evidence, judged.totals)?;
                Ok(Opened { inputs: vec![rows, linear], axis, weights: judged.weights, values, states: None, beside: Some(judged.bias) })
            }
            Net::Pooled(net) => {
                let (ids, axis) = side_by_side(cases.iter().map(|case| case.text.ids()));
                let (input, read) = net.encoder.open(tape, &ids, &axis, scale)?;
                let (weights, values) = net.pooling.open(tape, read.states)?.unwrap_or((read.states, read.states));
                Ok(Opened { inputs: vec![input], axis, weights, values, states: Some(read.states), beside: None })
            }
        }
    }

    fn logits(&self, tape: &Tape<f32>, opened: &Opened, weights: Var) -> Result<Var> {
        let mix = mixed(tape, weights, opened.values, &opened.axis)?;
        match (&self.net, opened.beside) {
            (Net::Pooled(net), _) => net.head.logits(tape, mix),
            (Net::Evidence(_), Some(bias)) => tape.add(mix, bias),
            (Net::Evidence(_), None) => Ok(mix),
        }
    }

    fn mixtures(&self, tape: &Tape<f32>, opened: &Opened) -> Result<Vec<Mixture>> {
        match (&self.net, opened.beside) {
            (Net::Pooled(net), _) => {
                let by_head = net.head.by_head(tape, opened.values, tape.shape(opened.weights).1)?;
                Ok(sums(tape, opened, &by_head, net.head.bias(&self.params)))
            }
            (Net::Evidence(_), bias) => {
                let bias = bias.map_or_else(|| vec![0.0; self.labels.len()], |bias| tape.to_vec(bias));
                Ok(sums(tape, opened, &[opened.values], &bias))
            }
        }
    }

    fn look<T: Float>(&self, tape: &Tape<T>, cases: &[&Case]) -> Result<Option<Looked>> {
        match &self.net {
            Net::Evidence(net) => {
                let texts = Self::evidence_of(cases);
                let bags = net.bags(tape, &texts);
                let (rows, linear) = (tape.embedding_bag(net.table, bags.clone())?, tape.embedding_bag(net.linear, bags)?);
                let judged = net.judge(tape, &texts, rows, Some(linear))?;
                Ok(Some(Looked { logits: judged.logits, weights: judged.weights }))
            }
            Net::Pooled(net) => {
                let (ids, axis) = side_by_side(cases.iter().map(|case| case.text.ids()));
                let rows = net.forward(tape, &ids, &axis)?;
                let logits = net.head.logits(tape, rows.context)?;
                Ok(rows.weights.map(|weights| Looked { logits, weights }))
            }
        }
    }

    fn sibling(&self, differs: Differs, rows: &[Labelled]) -> Result<Option<Self>> {
        let mut config = self.config.clone();
        config.seed = differs.seed();
        match (config.model.form, differs) {
            (_, Differs::Seed(_) | Differs::Adversary(_)) => {}
            (Form::Evidence, Differs::Uniform(_)) => {
                let mut model = Classifier::new(config, rows)?;
                if let Net::Evidence(net) = &mut model.net {
                    net.uniform = true;
                }
                return Ok(Some(model));
            }
            (Form::Pooled, Differs::Uniform(_)) => (config.model.pooling, config.attention.heads) = (PoolingKind::Mean, 1),
            (Form::Pooled, Differs::Average(_)) if config.model.encoder.cell != EncoderName::Average => {
                (config.model.encoder.cell, config.model.encoder.layers) = (EncoderName::Average, 1);
            }
            (_, Differs::Average(_)) => return Ok(None),
        }
        Classifier::new(config, rows).map(Some)
    }
}
