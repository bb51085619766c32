//! A report as text, at most 80 columns wide, with a sentence under each part.

use std::fmt;

use super::bootstrap::Interval;
use super::report::{Agreement, Alignment, Bin, ByOrder, Imitated, PooledReport, Report, Stable, WrittenReport};

/// Columns.
const WIDTH: usize = 80;

/// Breaks words into lines that begin with `indent` spaces.
pub fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word.to_string();
        } else if indent + lines[last].chars().count() + 1 + word.chars().count() <= WIDTH {
            lines[last] += " ";
            lines[last] += word;
        } else {
            lines.push(word.to_string());
        }
    }
    lines.iter().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect()
}

/// A name and what is to be said of it.
fn row(name: &str, value: impl fmt::Display) -> String {
    format!("  {name:<40}{value}\n")
}

/// An interval with two digits, where three stand side by side.
fn short(interval: Interval) -> String {
    // No -0.00.
    let [value, low, high] = [interval.value, interval.low, interval.high].map(|x| if x.abs() < 0.005 { 0.0 } else { x });
    format!("{value:.2} [{low:.2},{high:.2}]")
}

fn or_dash(interval: Option<&Interval>) -> String {
    interval.map_or_else(|| "-".into(), ToString::to_string)
}

/// What the loss by uniform weights means.
pub fn say_needed(report: &PooledReport) -> String {
    let lost = &report.needed.lost;
    let mut text = if lost.above(0.0) {
        format!("With the same weight for every {}, it is right less often.", report.unit)
    } else {
        format!(
            "With the same weight for every {}, it is as often right: the weights make no difference that can be seen here.",
            report.unit
        )
    };
    if let Some(trained) = &report.needed.trained {
        text += match trained.gap.above(0.0) {
            true => " Models trained so do worse than those with attention, beyond the spread of seeds.",
            false => " Models trained so do as well as those with attention.",
        };
    }
    text
}

/// What the order means.
pub fn say_order(report: &PooledReport) -> String {
    match (&report.order.gain, &report.order.share) {
        (Some(gain), Some(share)) if gain.above(0.0) => {
            format!("Its order costs more than a random one, and goes {share} of the way from there to leave-one-out.")
        }
        _ => "Its order costs no more than a random one.".into(),
    }
}

/// What the divergence between seeds means.
pub fn say_stable(stable: &Stable) -> String {
    let share = stable.divergence.value / stable.random.max(1e-12);
    match stable.divergence.high < 0.5 * stable.random {
        true => format!("Another seed draws much the same picture: {share:.2} of the divergence of random weights."),
        false => format!("Another seed would draw another picture: {share:.2} of the divergence of random weights."),
    }
}

/// What other weights with the same answer mean.
pub fn say_only(report: &PooledReport) -> String {
    let other = report.only.divergence.map_or(0.0, |d| d.value);
    let beside = match &report.stable {
        Some(stable) => format!("; other seeds differ by {:.3}", stable.divergence.value),
        None => String::new(),
    };
    let mut text = format!(
        "Other weights that give the same answer exist for {:.0} % of the examples, {other:.3} away (0.693 is the most{beside}).",
        100.0 * report.only.found
    );
    if let Some(trained) = &report.only.trained {
        let (same, away) = (100.0 * trained.same, trained.divergence.value);
        text += &format!(" A model trained to look elsewhere gives the same label to {same:.0} % of them, and looks {away:.3} away.");
    }
    text
}

/// A model trained to look elsewhere, in rows of name and value.
pub fn rows_of_imitated(trained: &Imitated) -> [(String, String); 3] {
    [
        (format!("a model trained so (lambda {})", trained.lambda), trained.divergence.to_string()),
        ("its change of the answers".into(), trained.variation.to_string()),
        ("it is right".into(), format!("{:.3}", trained.right)),
    ]
}

/// What agreement means.
pub fn say_views(report: &PooledReport) -> String {
    let tau = |all: &[Agreement], at: usize| all.get(at).and_then(|a| a.tau).map(|t| t.value);
    let mut text = "Rank correlation alone decides nothing: compare it with what the two other views reach among themselves.".to_string();
    if let (Some(own), Some(average)) = (tau(&report.views.own, 0), tau(&report.views.average, 0)) {
        text += &format!(" With gradient x input, attention of this model reaches {own:.2}, that of a model without context {average:.2}.");
    }
    text
}

/// What the likeness of the states means.
pub fn say_conicity(conicity: &Interval) -> String {
    match conicity.value > 0.5 {
        true => {
            "The states are much alike, so that any weights mix nearly the same: the likely cause of weights that do not matter.".into()
        }
        false => "The states differ, so that it matters which are mixed.".into(),
    }
}

fn bins(all: &[Bin]) -> String {
    let one = |bin: &Bin| {
        let name = if bin.count == 1 { "example " } else { "examples" };
        format!("    largest weight {:.2} to {:.2}  {:>5} {name}   {:.3}\n", bin.from, bin.to, bin.count, bin.divergence)
    };
    all.iter().map(one).collect()
}

fn pooled(report: &PooledReport) -> String {
    let mut text = String::new();
    let needed = &report.needed;
    text += "\n1 Is attention needed?\n";
    text += &row(report.figure, needed.own);
    text += &row("with uniform weights put in", needed.uniform);
    text += &row("lost by that", needed.lost);
    if let Some(trained) = &needed.trained {
        let spread = |x: &[f64]| crate::metrics::Spread::of(x).map_or_else(|| "-".into(), |s| format!("{s:.3}"));
        text += &row("trained with attention", spread(&trained.attention));
        text += &row("trained with uniform weights", spread(&trained.uniform));
        text += &row("gap, by seed", trained.gap);
    }
    text += &row("100 permutations, median change of p", or_dash(needed.permuted.as_ref()));
    text += &wrapped(&say_needed(report), 2);

    text += &format!("\n2 Does its order carry the answer? ({}s taken away)\n", report.unit);
    text += &format!("  {:<20}{:>19}{:>20}{:>19}\n", "by", "comprehensiveness", "sufficiency", "until flip");
    let one = |by: &ByOrder| {
        let [comprehensiveness, sufficiency, flip] = [by.comprehensiveness, by.sufficiency, by.flip].map(short);
        format!("  {:<20}{comprehensiveness:>19}{sufficiency:>20}{flip:>19}\n", by.by)
    };
    text += &report.order.orders.iter().map(one).collect::<String>();
    text += &row("from random to leave-one-out", or_dash(report.order.share.as_ref()));
    text += &wrapped(&say_order(report), 2);

    text += "\n3 Is the picture stable?\n";
    match &report.stable {
        Some(stable) => {
            text += &row(&format!("divergence from {} other seeds", stable.seeds), stable.divergence);
            text += &row("divergence of two random draws", format!("{:.3}", stable.random));
            text += &bins(&stable.bins);
            text += &wrapped(&say_stable(stable), 2);
        }
        None => text += "  not measured: no other model was trained\n",
    }

    text += "\n4 Is it the only one?\n";
    text += &row("largest divergence with the same answer", or_dash(report.only.divergence.as_ref()));
    text += &bins(&report.only.bins);
    let trained = report.only.trained.as_ref().map(rows_of_imitated);
    text += &trained.iter().flatten().map(|(name, value)| row(name, value)).collect::<String>();
    text += &wrapped(&say_only(report), 2);

    text += "\n5 Does it agree with other views? (Kendall's tau)\n";
    let agree = |a: &Agreement| {
        let beside = if a.undefined > 0 { format!("  ({} undefined)", a.undefined) } else { String::new() };
        row(&format!("{}, {}", a.one, a.other), format!("{}{beside}", or_dash(a.tau.as_ref())))
    };
    text += &report.views.own.iter().map(agree).collect::<String>();
    if !report.views.average.is_empty() {
        text += "  and of a model that reads every unit on its own:\n";
        text += &report.views.average.iter().map(agree).collect::<String>();
    }
    text += &wrapped(&say_views(report), 2);

    text += "\nLikely cause\n";
    match &report.conicity {
        Some(conicity) => {
            text += &row("conicity of the states", conicity);
            text += &wrapped(&say_conicity(conicity), 2);
        }
        None => text += "  conicity: the states of this model have no direction to speak of\n",
    }
    text += &row("largest weight by even share, median", format!("{:.2}", report.peak));
    text
}

fn written(report: &WrittenReport) -> String {
    let mut text = String::new();
    text += "\n1 Answers with other weights, greedy\n";
    text += &format!("  {:<26}{:<26}{}\n", "weights", "accuracy", "same answer");
    for changed in &report.changed {
        text += &format!("  {:<26}{:<26}{}\n", changed.weights, changed.accuracy.to_string(), changed.same);
    }
    text += &row("lost by uniform weights", report.lost);
    text += &wrapped(say_written(report), 2);
    text += "\n2 Does a step look at what it would miss?\n";
    text += &format!("  {:<26}{:<26}{}\n", "picture", "tau with cost", "brightest is costliest");
    for picture in &report.pictures {
        text += &format!("  {:<26}{:<26}{}\n", picture.by, picture.tau.to_string(), picture.top);
    }
    text += &format!("  {:<52}{}\n", "a unit drawn at random", report.top_random.map_or_else(|| "-".into(), |x| format!("{x:.3}")));
    text += &row("two units swapped: the look moved along", or_dash(report.moved.as_ref()));
    text += &wrapped(COST, 2);
    if !report.heads.is_empty() {
        text += "\n3 Head by head\n";
        text += &format!("  {:<9}{:<24}{:<24}{}\n", "", "lost without it", "same answer", "tau with cost");
        for head in &report.heads {
            let name = format!("{}.{}", head.layer, head.head);
            text += &format!("  {name:<9}{:<24}{:<24}{}\n", head.lost.to_string(), head.same.to_string(), or_dash(head.tau.as_ref()));
        }
        text += &wrapped(&say_heads(report), 2);
    }
    if let Some(alignment) = &report.alignment {
        text += "\nAlignment\n";
        text += &row(&format!("F1 with gold links, {}", many(alignment.sentences, "pair")), alignment.f1);
        text += &row("F1 of the diagonal", alignment.diagonal);
        text += &wrapped(say_alignment(alignment), 2);
    }
    text += "\nSearch\n";
    text += &row("beam's steps that look as if forced", or_dash(report.beam.as_ref()));
    text += &wrapped(BEAM, 2);
    text
}

/// What a cost is.
pub const COST: &str = "Cost: the change of the log-probability of what the step wrote, with that unit left out of the source.";
/// What the agreement of beam and forced decoding is.
pub const BEAM: &str = "What `look` draws of an answer that a beam found is where the model looks when it is made to write that answer.";

/// How many, in words.
pub fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What single heads mean.
pub fn say_heads(report: &WrittenReport) -> String {
    let needed = report.heads.iter().filter(|head| head.lost.above(0.0)).count();
    let all = report.heads.len();
    let names = "Layer and number; \"without\": its weights are all 0.";
    match needed {
        0 => format!("{names} None of the {all} heads is missed when it alone is gone."),
        1 => format!("{names} One of the {all} heads is missed when it alone is gone."),
        _ => format!("{names} {needed} of the {all} heads are missed when one alone is gone."),
    }
}

/// What the agreement with gold links means.
pub fn say_alignment(alignment: &Alignment) -> &'static str {
    match alignment.f1.low > alignment.diagonal.high {
        true => "The largest weights are nearer to the gold links than the diagonal is.",
        false => "The largest weights are no nearer to the gold links than the diagonal is, as far as these pairs tell.",
    }
}

/// What the loss means for a model that writes.
pub fn say_written(report: &WrittenReport) -> &'static str {
    match report.lost.above(0.0) {
        true => "Without its own weights it is right less often: it needs to look.",
        false => "Without its own weights it is as often right.",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "verdict: {}", self.verdict.grade.name())?;
        f.write_str(&wrapped(&format!("{}.", self.verdict.reason), 2))?;
        let seeds = self.pooled.as_ref().and_then(|p| p.stable.as_ref()).map_or(0, |s| s.seeds);
        let answered = many(self.answered, "example");
        writeln!(f, "\n{answered} answered, {} studied, {}; intervals of 95 %", self.studied, many(seeds, "other seed"))?;
        self.notes.iter().try_for_each(|note| f.write_str(&wrapped(note, 0)))?;
        if let Some(report) = &self.pooled {
            f.write_str(&pooled(report))?;
        }
        if let Some(report) = &self.written {
            f.write_str(&written(report))?;
        }
        writeln!(f, "\nThe rule")?;
        f.write_str(&wrapped(&self.verdict.rule, 2))
    }
}
