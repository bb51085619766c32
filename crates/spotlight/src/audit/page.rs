//! A report as a page.

use super::bootstrap::Interval;
use super::report::{Agreement, Bin, HeadReport, PooledReport, Report, WrittenReport};
use super::table::{
    BEAM, COST, many, rows_of_imitated, say_alignment, say_conicity, say_heads, say_needed, say_only, say_order, say_stable, say_views,
    say_written,
};
use crate::view::sheet::{Body, Section, Sheet};

/// The page of a report: strips for some texts, histograms, tables, and a sentence under each.
pub fn page(report: &Report) -> Sheet {
    let mut lead = vec![format!("Verdict: {}: {}.", report.verdict.grade.name(), report.verdict.reason)];
    lead.push(format!("{} answered, {} studied; intervals of 95 %.", many(report.answered, "example"), report.studied));
    lead.extend(report.notes.iter().cloned());
    let mut sections = Vec::new();
    if let Some(report) = &report.pooled {
        sections.extend(pooled(report));
    }
    if let Some(report) = &report.written {
        sections.extend(written(report));
    }
    sections.push(Section { heading: "The rule".into(), body: Vec::new(), sentence: report.verdict.rule.clone() });
    Sheet { title: "Spotlight: how far can the picture be trusted?".into(), lead, sections }
}

fn texts(row: &[&str]) -> Vec<String> {
    row.iter().map(|text| text.to_string()).collect()
}

fn or_dash(interval: Option<&Interval>) -> String {
    interval.map_or_else(|| "-".into(), ToString::to_string)
}

/// Two columns: what, and how much.
fn facts(rows: &[(&str, String)]) -> Body {
    Body::Table { head: texts(&["", "value"]), rows: rows.iter().map(|(name, value)| vec![name.to_string(), value.clone()]).collect() }
}

fn by_weight(name: &str, bins: &[Bin]) -> Body {
    let bar = |bin: &Bin| (format!("{:.2}-", bin.from), bin.divergence);
    Body::Bars { name: format!("{name}, by the largest weight (from 0, 0.25, 0.5, 0.75)"), bars: bins.iter().map(bar).collect() }
}

fn histogram(agreement: &Agreement) -> Body {
    let bar = |(i, &count): (usize, &usize)| (format!("{:.1}", -1.0 + i as f64 / 10.0), count as f64);
    Body::Bars {
        name: format!("tau of {} with {}, examples in each tenth from -1 to 1", agreement.one, agreement.other),
        bars: agreement.histogram.iter().enumerate().map(bar).collect(),
    }
}

fn pooled(report: &PooledReport) -> Vec<Section> {
    let mut sections = Vec::new();
    let strips = |s: &super::report::Strips| Body::Strips {
        name: format!("{} ({:.3}); right is {}", s.label, s.probability, s.gold),
        units: s.units.clone(),
        rows: s.rows.iter().map(|(name, numbers)| (name.to_string(), numbers.clone())).collect(),
    };
    sections.push(Section {
        heading: "Some examples, seen in several ways".into(),
        body: report.strips.iter().map(strips).collect(),
        sentence: "Each row has its own scale: the brightest is its largest. What speaks against the answer stands in brackets. Adversarial weights give the same answer.".into(),
    });
    let needed = &report.needed;
    let mut rows = vec![
        (report.figure, needed.own.to_string()),
        ("with uniform weights put in", needed.uniform.to_string()),
        ("lost by that", needed.lost.to_string()),
    ];
    if let Some(trained) = &needed.trained {
        let spread = |x: &[f64]| crate::metrics::Spread::of(x).map_or_else(|| "-".into(), |s| format!("{s:.3}"));
        rows.push(("trained with attention", spread(&trained.attention)));
        rows.push(("trained with uniform weights", spread(&trained.uniform)));
        rows.push(("gap, by seed", trained.gap.to_string()));
    }
    rows.push(("100 permutations of the weights, median change of p", or_dash(needed.permuted.as_ref())));
    sections.push(Section { heading: "Is attention needed?".into(), body: vec![facts(&rows)], sentence: say_needed(report) });
    let orders = Body::Table {
        head: texts(&["taken away by", "comprehensiveness", "sufficiency", "until flip"]),
        rows: report
            .order
            .orders
            .iter()
            .map(|by| vec![by.by.to_string(), by.comprehensiveness.to_string(), by.sufficiency.to_string(), by.flip.to_string()])
            .collect(),
    };
    sections.push(Section { heading: "Does its order carry the answer?".into(), body: vec![orders], sentence: say_order(report) });
    if let Some(stable) = &report.stable {
        let rows = [("divergence between seeds", stable.divergence.to_string()), ("of two random draws", format!("{:.3}", stable.random))];
        sections.push(Section {
            heading: "Is the picture stable?".into(),
            body: vec![facts(&rows), by_weight("Divergence between seeds", &stable.bins)],
            sentence: say_stable(stable),
        });
    }
    let mut rows = vec![("largest divergence with the same answer", or_dash(report.only.divergence.as_ref()))];
    let trained = report.only.trained.as_ref().map(rows_of_imitated);
    rows.extend(trained.iter().flatten().map(|(name, value)| (name.as_str(), value.clone())));
    sections.push(Section {
        heading: "Is it the only one?".into(),
        body: vec![facts(&rows), by_weight("Divergence with the same answer", &report.only.bins)],
        sentence: say_only(report),
    });
    let tau =
        |model: &str, a: &Agreement| vec![format!("{model}: {}, {}", a.one, a.other), or_dash(a.tau.as_ref()), a.undefined.to_string()];
    let rows =
        report.views.own.iter().map(|a| tau("this model", a)).chain(report.views.average.iter().map(|a| tau("average", a))).collect();
    let mut body = vec![Body::Table { head: texts(&["views", "tau", "undefined"]), rows }];
    body.extend(report.views.own.iter().take(2).map(histogram));
    sections.push(Section { heading: "Does it agree with other views?".into(), body, sentence: say_views(report) });
    if let Some(conicity) = &report.conicity {
        sections.push(Section {
            heading: "Likely cause".into(),
            body: vec![facts(&[
                ("conicity of the states", conicity.to_string()),
                ("largest weight, times an even share (median)", format!("{:.2}", report.peak)),
            ])],
            sentence: say_conicity(conicity),
        });
    }
    sections
}

fn written(report: &WrittenReport) -> Vec<Section> {
    let changed = Body::Table {
        head: texts(&["weights", "accuracy", "same answer"]),
        rows: report.changed.iter().map(|c| vec![c.weights.to_string(), c.accuracy.to_string(), c.same.to_string()]).collect(),
    };
    let pictures = Body::Table {
        head: texts(&["picture", "tau with cost", "brightest is costliest"]),
        rows: report.pictures.iter().map(|p| vec![p.by.to_string(), p.tau.to_string(), p.top.to_string()]).collect(),
    };
    let rows = [
        ("by chance, the brightest is costliest", report.top_random.map_or_else(|| "-".into(), |x| format!("{x:.3}"))),
        ("two units swapped: the look moved along", or_dash(report.moved.as_ref())),
    ];
    let mut sections = vec![
        Section { heading: "Answers with other weights".into(), body: vec![changed], sentence: say_written(report).into() },
        Section { heading: "Does a step look at what it would miss?".into(), body: vec![pictures, facts(&rows)], sentence: COST.into() },
    ];
    if !report.heads.is_empty() {
        let row = |h: &HeadReport| {
            vec![format!("layer {}, head {}", h.layer, h.head), h.lost.to_string(), h.same.to_string(), or_dash(h.tau.as_ref())]
        };
        let table = Body::Table {
            head: texts(&["", "lost without it", "same answer", "tau with cost"]),
            rows: report.heads.iter().map(row).collect(),
        };
        sections.push(Section { heading: "Head by head".into(), body: vec![table], sentence: say_heads(report) });
    }
    if let Some(alignment) = &report.alignment {
        let rows = [("F1 with gold links", alignment.f1.to_string()), ("F1 of the diagonal", alignment.diagonal.to_string())];
        sections.push(Section { heading: "Alignment".into(), body: vec![facts(&rows)], sentence: say_alignment(alignment).into() });
    }
    let rows = [("steps of a beam that look as when forced", or_dash(report.beam.as_ref()))];
    sections.push(Section { heading: "Search".into(), body: vec![facts(&rows)], sentence: BEAM.into() });
    sections
}
