//! The numbers as text, at most 80 columns wide.

use std::fmt::{self, Display, Formatter};

use super::Numbers;
use super::steps::{Step, letters};

/// Columns of a line.
const WIDTH: usize = 80;

/// Writes parts after a beginning, with `separator` between them; lines that follow begin below the first part.
fn wrapped(f: &mut Formatter<'_>, begin: &str, parts: &[String], separator: &str, end: &str) -> fmt::Result {
    let indent = begin.chars().count().min(WIDTH / 2);
    let mut line = begin.to_string();
    for (i, part) in parts.iter().enumerate() {
        let part = format!("{part}{}", if i + 1 == parts.len() { end } else { separator });
        if i > 0 && line.chars().count() + part.trim_end().chars().count() > WIDTH {
            writeln!(f, "{}", line.trim_end())?;
            line = " ".repeat(indent);
        }
        line += &part;
    }
    writeln!(f, "{}", line.trim_end())
}

fn vector(f: &mut Formatter<'_>, begin: &str, numbers: &[f64]) -> fmt::Result {
    let parts: Vec<String> = numbers.iter().map(|x| short(*x)).collect();
    wrapped(f, &format!("{begin}["), &parts, ", ", "]")
}

/// Three decimals; the power of ten, where they would show nothing or run away.
fn short(x: f64) -> String {
    // Without the sign of a negative zero.
    let x = if x == 0.0 { 0.0 } else { x };
    if x != 0.0 && !(0.0005..1e6).contains(&x.abs()) { format!("{x:.2e}") } else { format!("{x:.3}") }
}

/// A number that somebody wrote, as it was written; one that was computed, shortened.
fn written(x: f64) -> String {
    let text = x.to_string();
    if text.len() <= 6 { text } else { short(x) }
}

/// `(a)(b) + (c)(d) + e = value`
fn products(f: &mut Formatter<'_>, begin: &str, pairs: &[(f64, f64)], more: Option<f64>, value: f64) -> fmt::Result {
    let terms = pairs.iter().map(|(a, b)| format!("({})({})", written(*a), written(*b))).chain(more.map(|x| format!("({})", written(x))));
    wrapped(f, begin, &terms.collect::<Vec<_>>(), " + ", &format!(" = {}", short(value)))
}

fn show(f: &mut Formatter<'_>, indent: &str, step: &Step) -> fmt::Result {
    match step {
        Step::Vector(name, numbers) => vector(f, &format!("{indent}{name} = "), numbers),
        Step::Sum(name, pairs, more, value) => products(f, &format!("{indent}{name} = "), pairs, *more, *value),
        Step::Number(name, how, numbers, value) => {
            let number = |x: f64| if x.fract() == 0.0 && x != 0.0 { x.to_string() } else { short(x) };
            let computed = numbers.iter().fold(how.to_string(), |text, x| text.replacen("{}", &number(*x), 1));
            writeln!(f, "{indent}{name} = {computed} = {}", short(*value))
        }
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.inputs(f)?;
        self.scoring(f)?;
        self.softmax(f)?;
        self.mixing(f)?;
        self.words(f)
    }
}

impl Numbers {
    fn inputs(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let score = self.example.score;
        writeln!(f, "1. The memory: {} vectors", self.example.memory.len())?;
        for (i, row) in self.example.memory.iter().enumerate() {
            vector(f, &format!("   S_{i} = "), row)?;
        }
        if score.asks() {
            writeln!(f, "   The query")?;
            vector(f, "   T   = ", &self.example.query)?;
        }
        writeln!(f)
    }

    fn scoring(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let score = self.example.score;
        writeln!(f, "2. The score \"{score}\" of each vector: {}", score.formula())?;
        if !score.asks() {
            writeln!(f, "   It asks nothing: k is a vector of the memory.")?;
        } else {
            writeln!(f, "   q is the query, k a vector of the memory.")?;
        }
        let letters = letters(score);
        for parameter in &self.parameters {
            let letter = letters.iter().find(|(_, name)| *name == parameter.name).map_or("", |(letter, _)| letter);
            writeln!(f, "   {letter} ({}, {}):", parameter.name, if parameter.given { "given" } else { "drawn at random" })?;
            for row in &parameter.rows {
                vector(f, "     ", row)?;
            }
        }
        for step in self.asked_once() {
            show(f, "   ", &step)?;
        }
        for row in 0..self.scores.len() {
            match &self.way(row)[..] {
                // One step needs no name.
                [Step::Sum(_, pairs, None, value)] => products(f, &format!("   S_{row}: "), pairs, None, *value)?,
                steps => {
                    writeln!(f, "   S_{row}:")?;
                    steps.iter().try_for_each(|step| show(f, "     ", step))?;
                }
            }
        }
        writeln!(f)
    }

    fn softmax(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "3. The softmax: e to the power of each score, divided by their sum")?;
        let shift = if self.shift == 0.0 { String::new() } else { format!(" - {}", short(self.shift)) };
        if self.shift != 0.0 {
            writeln!(f, "   The largest score is subtracted first: it changes no weight.")?;
        }
        for ((i, score), (power, weight)) in self.scores.iter().enumerate().zip(self.exponentials.iter().zip(&self.weights)) {
            let (power, total) = (short(*power), short(self.total));
            writeln!(f, "   S_{i}: exp({}{shift}) = {power}, and {power} / {total} = {}", short(*score), short(*weight))?;
        }
        writeln!(f, "   The sums are {} and {}.\n", short(self.total), short(self.weights.iter().sum()))
    }

    fn mixing(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "4. The mix: each vector times its weight")?;
        for (i, (weighted, weight)) in self.weighted.iter().zip(&self.weights).enumerate() {
            vector(f, &format!("   {} x S_{i} = ", short(*weight)), weighted)?;
        }
        writeln!(f, "   and their sum, the context")?;
        vector(f, "   c = ", &self.context)
    }

    fn words(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(words) = &self.prediction else { return Ok(()) };
        writeln!(f, "\n5. The second softmax: which word comes next?")?;
        writeln!(f, "   Context and query side by side")?;
        vector(f, "   [c; T] = ", &words.combined)?;
        writeln!(f, "   through the first matrix: h = tanh(Wc [c; T])")?;
        vector(f, "   h = ", &words.state)?;
        writeln!(f, "   through the second: one number per word, Ws h")?;
        vector(f, "   Ws h = ", &words.logits)?;
        writeln!(f, "   and their softmax")?;
        for (i, p) in words.probabilities.iter().enumerate() {
            // A bar of at most 50 marks.
            let bar = "#".repeat((p * 50.0).round() as usize);
            writeln!(f, "{}", format!("   word {i}: {} {bar}", short(*p)).trim_end())?;
        }
        Ok(())
    }
}
