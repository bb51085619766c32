//! What an audit found, as values.

use serde::Serialize;

use super::bootstrap::Interval;
use super::verdict::Verdict;

/// Everything an audit found. The same seed gives the same bits.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The task of the model.
    pub task: &'static str,
    /// What it comes to.
    pub verdict: Verdict,
    /// Examples that were answered.
    pub answered: usize,
    /// Examples that were studied unit by unit.
    pub studied: usize,
    /// Decided what was left to chance.
    pub seed: u64,
    /// What the reader should know: parts left out, and why.
    pub notes: Vec<String>,
    /// The measures of a model whose attention makes one row of many.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub pooled: Option<PooledReport>,
    /// The measures of a model that writes.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenReport>,
}

/// The measures of a model whose attention makes one row of many: classifier, matcher, bags.
#[derive(Clone, Debug, Serialize)]
pub struct PooledReport {
    /// What a unit is called.
    pub unit: &'static str,
    /// What counts as right.
    pub figure: &'static str,
    /// Is attention needed?
    pub needed: Needed,
    /// Does its order carry the answer?
    pub order: OrderReport,
    /// Would another seed draw the same picture? None if no other model was trained.
    pub stable: Option<Stable>,
    /// Is it the only picture with this answer?
    pub only: Only,
    /// Does it agree with other views?
    pub views: Views,
    /// How alike the states are that attention chooses among; none where they have no direction to speak of.
    pub conicity: Option<Interval>,
    /// The largest weight as a multiple of what it would be if all were the same; the median of the examples.
    pub peak: f64,
    /// Some examples, unit by unit.
    pub strips: Vec<Strips>,
}

/// Is attention needed?
#[derive(Clone, Debug, Serialize)]
pub struct Needed {
    /// How often it is right.
    pub own: Interval,
    /// The same with uniform weights put in.
    pub uniform: Interval,
    /// The loss by that.
    pub lost: Interval,
    /// Models trained with and without attention.
    pub trained: Option<TrainedApart>,
    /// The median change of an answer's probability over 100 permutations of the weights; the mean of the examples.
    pub permuted: Option<Interval>,
}

/// Models trained with and without attention, on the same examples.
#[derive(Clone, Debug, Serialize)]
pub struct TrainedApart {
    /// How often each with attention is right: the audited one first.
    pub attention: Vec<f64>,
    /// How often each with uniform weights is right.
    pub uniform: Vec<f64>,
    /// Mean with less mean without, over seeds.
    pub gap: Interval,
}

/// Does the order carry the answer?
#[derive(Clone, Debug, Serialize)]
pub struct OrderReport {
    /// By each order of the units.
    pub orders: Vec<ByOrder>,
    /// What attention has of comprehensiveness more than a random order.
    pub gain: Option<Interval>,
    /// How much of the way from a random order to the order of leave-one-out attention goes.
    pub share: Option<Interval>,
}

/// Units taken away in an order.
#[derive(Clone, Debug, Serialize)]
pub struct ByOrder {
    /// What decides the order.
    pub by: &'static str,
    /// How much is lost without the first units.
    pub comprehensiveness: Interval,
    /// How much is lost when only the first are left.
    pub sufficiency: Interval,
    /// The share taken away until the answer changes.
    pub flip: Interval,
}

/// Would another seed draw the same picture?
#[derive(Clone, Debug, Serialize)]
pub struct Stable {
    /// Other models.
    pub seeds: usize,
    /// The median divergence from them; the mean of the examples.
    pub divergence: Interval,
    /// The divergence of two random draws of the same lengths.
    pub random: f64,
    /// By the largest weight.
    pub bins: Vec<Bin>,
}

/// Examples whose largest weight lies in a range.
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// From here.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// How many.
    pub count: usize,
    /// Their mean divergence.
    pub divergence: f64,
}

/// Is it the only picture with this answer?
#[derive(Clone, Debug, Serialize)]
pub struct Only {
    /// Examples for which others were looked for.
    pub looked: usize,
    /// Share of them for which some were found.
    pub found: f64,
    /// The largest divergence with the answer kept to within 0.05; the mean of the examples where some was found.
    pub divergence: Option<Interval>,
    /// By the largest weight.
    pub bins: Vec<Bin>,
    /// A model that was trained to answer the same and to look elsewhere; none if none was.
    pub trained: Option<Imitated>,
}

/// A model that was trained to answer as the audited one does, and to look elsewhere.
#[derive(Clone, Debug, Serialize)]
pub struct Imitated {
    /// How much looking elsewhere counted beside answering the same.
    pub lambda: f64,
    /// How far away it looks: the mean of the examples.
    pub divergence: Interval,
    /// How far its answers are from those of the audited model: the total variation, the mean of the examples.
    pub variation: Interval,
    /// Share of the examples that it gives the same label.
    pub same: f64,
    /// How often it is right.
    pub right: f64,
}

/// Does it agree with other views?
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// Pairs of views of this model.
    pub own: Vec<Agreement>,
    /// The same of a model that reads every unit on its own, trained on the same examples.
    pub average: Vec<Agreement>,
}

/// How far two views agree: Kendall's tau.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// One view.
    pub one: &'static str,
    /// The other.
    pub other: &'static str,
    /// The mean of the examples; none if it is defined for none of them.
    pub tau: Option<Interval>,
    /// Its standard deviation over the examples.
    pub deviation: Option<f64>,
    /// Examples for which it is not defined: one unit, or all equal.
    pub undefined: usize,
    /// Examples in each tenth from -1 to 1.
    pub histogram: Vec<usize>,
}

/// One example, unit by unit.
#[derive(Clone, Debug, Serialize)]
pub struct Strips {
    /// The units.
    pub units: Vec<String>,
    /// What the model says.
    pub label: String,
    /// With this probability.
    pub probability: f64,
    /// What is right.
    pub gold: String,
    /// Name, and a number for each unit. Weights from 0 to 1; others as they are.
    pub rows: Vec<(&'static str, Vec<f64>)>,
}

/// The measures of a model that writes.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenReport {
    /// How right the answers are, by what was done to the weights: as they are first.
    pub changed: Vec<Changed>,
    /// The loss by uniform weights.
    pub lost: Interval,
    /// Pictures of a step beside what it loses when a source unit is erased: its weights, their rollout where there are layers that look, and the diagonal, which knows nothing but the place.
    pub pictures: Vec<ByPicture>,
    /// Share of the steps for which a unit drawn at random is the one whose erasure costs most.
    pub top_random: Option<f64>,
    /// Each head, if there are several.
    pub heads: Vec<HeadReport>,
    /// Where a source with two units swapped is looked at: share of the steps whose largest weight moved along.
    pub moved: Option<Interval>,
    /// Alignment, if gold links were given.
    pub alignment: Option<Alignment>,
    /// Share of the steps of a beam's answers whose weights are those of the same answer forced.
    pub beam: Option<Interval>,
}

/// Answers with changed weights.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// What was done to the weights.
    pub weights: &'static str,
    /// Share of the answers that are right.
    pub accuracy: Interval,
    /// Share of the answers that are what they were.
    pub same: Interval,
}

/// A picture of the steps beside what erasing a source unit costs them.
#[derive(Clone, Debug, Serialize)]
pub struct ByPicture {
    /// Which.
    pub by: &'static str,
    /// Kendall's tau of the two, the mean of the examples.
    pub tau: Interval,
    /// Share of the steps whose brightest unit is the one whose erasure costs most.
    pub top: Interval,
}

/// One head of several.
#[derive(Clone, Debug, Serialize)]
pub struct HeadReport {
    /// Its layer, from 1.
    pub layer: usize,
    /// Its number there, from 1.
    pub head: usize,
    /// What is lost of the right answers when it looks at nothing.
    pub lost: Interval,
    /// Share of the answers that are then what they were.
    pub same: Interval,
    /// Agreement of its weights with what erasing a source unit costs.
    pub tau: Option<Interval>,
}

/// Agreement with gold links.
#[derive(Clone, Debug, Serialize)]
pub struct Alignment {
    /// Sentences.
    pub sentences: usize,
    /// F1 of the links of the largest weight of each step.
    pub f1: Interval,
    /// F1 of the diagonal.
    pub diagonal: Interval,
}
