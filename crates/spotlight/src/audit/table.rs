//! A report as text, at most 80 columns wide, with a sentence under each part.

use std::fmt;

use super::bootstrap::Interval;
use super::report::{Agreement, Bin, ByOrder, PooledReport, Report, Stable, WrittenReport};

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
    format!(
        "Other weights that give the same answer exist for {:.0} % of the examples, {other:.3} away (0.693 is the most{beside}).",
        100.0 * report.only.found
    )
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
    let one =
        |bin: &Bin| format!("    largest weight {:.2} to {:.2}  {:>5} examples   {:.3}\n", bin.from, bin.to, bin.count, bin.divergence);
    all.iter().map(one).collect()
}

fn pooled(report: &PooledReport) -> String {
    let mut text = String::new();
    let needed = &report.needed;
    text += "\n1 Is attention needed?\n";
    text += &row(report.figure, format!("{:.3}", needed.own));
    text += &row("with uniform weights put in", format!("{:.3}", needed.uniform));
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
    text += &format!("  {:<22}{:<24}{:>12}{:>14}\n", "by", "comprehensiveness", "sufficiency", "until flip");
    let one = |by: &ByOrder| {
        format!("  {:<22}{:<24}{:>12.3}{:>14.3}\n", by.by, by.comprehensiveness.to_string(), by.sufficiency.value, by.flip.value)
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
    text += &format!("  {:<40}{:>10}{:>16}\n", "weights", "accuracy", "same answer");
    for changed in &report.changed {
        text += &format!("  {:<40}{:>10.3}{:>16.3}\n", changed.weights, changed.accuracy, changed.same);
    }
    text += &row("lost by uniform weights", report.lost);
    text += &wrapped(say_written(report), 2);
    text += "\n2 Does a step look at what it would miss?\n";
    text += &row("tau, weights and cost of erasing", or_dash(report.erased.as_ref()));
    text += &row("tau, diagonal and cost of erasing", or_dash(report.diagonal.as_ref()));
    text += &row("most looked at is costliest", or_dash(report.top.as_ref()));
    text += &row("the same by chance", report.top_random.map_or_else(|| "-".into(), |x| format!("{x:.3}")));
    text += &row("two units swapped: the look moved along", or_dash(report.moved.as_ref()));
    text += &wrapped("Cost: the change of the log-probability of what the step wrote, with that unit left out of the source.", 2);
    if let Some(alignment) = &report.alignment {
        text += "\n3 Alignment\n";
        text += &row(&format!("F1 with gold links, {} sentences", alignment.sentences), format!("{:.3}", alignment.f1));
        text += &row("F1 of the diagonal", format!("{:.3}", alignment.diagonal));
    }
    text += "\nSearch\n";
    text += &row("beam's steps that look as if forced", or_dash(report.beam.as_ref()));
    text
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
        writeln!(f, "\n{} examples answered, {} studied, {seeds} other seeds; intervals of 95 %", self.answered, self.studied)?;
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
