//! `spotlight compare`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use spotlight::metrics::{Difference, Tallies, paired_bootstrap};
use spotlight::model;

use crate::Common;
use crate::output::{WrongUsage, grouped, note, say, tell};
use crate::tasks;

/// Say whether models differ by more than chance.
///
/// All models answer the same file. Its examples are drawn with replacement, again and again, and each draw measures every model: the spread of the differences
/// shows how much they depend on which examples happened to be in the file (paired bootstrap).
#[derive(Args)]
pub struct Compare {
    /// Folders of two or more models; the others are compared with the first
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// File of examples that no model has learnt from
    #[arg(long, value_name = "FILE")]
    on: PathBuf,
    /// How often the examples are drawn
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    draws: u32,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    answering: tasks::Answering,
}

impl Compare {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        if self.on == Path::new("-") {
            return Err(WrongUsage("every model reads the examples: give a file, not standard input".into()).into());
        }
        let mut task = None;
        let mut all: Vec<Vec<Tallies>> = Vec::new();
        for path in &self.models {
            let model = model::open(path)?;
            if *task.get_or_insert(model.task()) != model.task() {
                let problem =
                    format!("{} is a model for {}, the first is not: they have no measure in common", path.display(), model.task().name());
                return Err(WrongUsage(problem).into());
            }
            let options = self.answering.options(common, model.task())?;
            // What is left out of the file is the same for all, unless they read it differently; then the numbers of examples tell.
            let mut heard = |line: &str| {
                if all.is_empty() {
                    note(line)
                }
            };
            all.push(model.tallies(&self.on, &options, &mut heard).with_context(|| path.display().to_string())?);
        }
        // Measures that every model has.
        let names = all[0].iter().map(|t| t.name).filter(|name| all.iter().all(|own| own.iter().any(|t| t.name == *name)));
        let mut measures = Vec::new();
        for name in names {
            let tallies: Vec<Tallies> = all.iter().filter_map(|own| own.iter().find(|t| t.name == name).cloned()).collect();
            let differences = paired_bootstrap(&tallies, self.draws as usize, common.seed.unwrap_or(1))
                .map_err(|error| anyhow::anyhow!("the models do not read the same examples from {} ({error})", self.on.display()))?;
            measures.push((tallies, differences));
        }
        if self.json { say(self.object(&measures)) } else { self.table(&measures) }
    }

    /// A model's name and figure, and for all but the first how it differs.
    fn rows<'a>(
        &'a self,
        (tallies, differences): &'a (Vec<Tallies>, Vec<Difference>),
    ) -> impl Iterator<Item = (String, f64, Option<&'a Difference>)> {
        let differences = std::iter::once(None).chain(differences.iter().map(Some));
        let names = self.models.iter().map(|path| path.display().to_string());
        names.zip(tallies).zip(differences).map(|((name, tallies), difference)| (name, tallies.value(), difference))
    }

    fn object(&self, measures: &[(Vec<Tallies>, Vec<Difference>)]) -> Value {
        let model = |(name, value, difference): (String, f64, Option<&Difference>)| {
            let mut object = json!({"model": name, "value": value});
            if let Some(d) = difference {
                object["difference"] = json!(d.value);
                object["low"] = json!(d.low);
                object["high"] = json!(d.high);
                object["p"] = json!(d.p);
                object["may_be_chance"] = json!(d.may_be_chance());
            }
            object
        };
        let measure = |measure: &(Vec<Tallies>, Vec<Difference>)| json!({"measure": measure.0[0].name, "lower_is_better": measure.0[0].falling, "models": self.rows(measure).map(model).collect::<Vec<_>>()});
        let examples = measures.first().map_or(0, |(tallies, _)| tallies[0].len());
        json!({"file": self.on.display().to_string(), "examples": examples, "draws": self.draws, "measures": measures.iter().map(measure).collect::<Vec<_>>()})
    }

    fn table(&self, measures: &[(Vec<Tallies>, Vec<Difference>)]) -> Result<()> {
        let examples = measures.first().map_or(0, |(tallies, _)| tallies[0].len());
        say(format_args!("{} examples of {}, drawn {} times", grouped(examples), self.on.display(), grouped(self.draws as usize)))?;
        let widest = self.models.iter().map(|path| path.display().to_string().chars().count()).max().unwrap_or(0).min(24);
        for measure in measures {
            let falling = if measure.0[0].falling { ", lower is better" } else { "" };
            say(format_args!("\n{}{falling}", measure.0[0].name))?;
            for (name, value, difference) in self.rows(measure) {
                // A long name has a line of its own, so that the figures stand under each other.
                if name.chars().count() > widest {
                    say(format_args!("  {name}"))?;
                }
                let name = if name.chars().count() > widest { "" } else { &name };
                let style = measure.0[0].style;
                let signed = |x: f64| format!("{}{}", if x < 0.0 { "-" } else { "+" }, style.format(x.abs()));
                let differs = difference.map(|d| {
                    let verdict = if d.may_be_chance() { "may be chance" } else { "hardly chance" };
                    format!("  {} ({} to {})  p {}  {verdict}", signed(d.value), signed(d.low), signed(d.high), probability(d.p))
                });
                say(format_args!("  {name:<widest$}  {:>6}{}", style.format(value), differs.unwrap_or_default()))?;
            }
        }
        say("")?;
        tell(
            "In brackets, where 95 of 100 differences lie when the examples are drawn anew. p: how often chance alone would show a difference \
             as large; below 0.05 it is called hardly chance.",
        )
    }
}

/// A probability for people.
fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}
