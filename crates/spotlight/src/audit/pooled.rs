//! The experiments with a model whose attention makes one row of many.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adversary::{Adversary, Found, apart};
use super::bootstrap::{bootstrap, mean, mean_of, median};
use super::divergence::{divergence, total_variation};
use super::erasure::{aopc, counts, flip, kept, order};
use super::imitate::LAMBDA;
use super::kendall::kendall;
use super::read::{Reading, integrated, read, slopes};
use super::report::*;
use super::siblings::{Siblings, stopped};
use super::{Course, Progress, verdict};
use crate::model::probe::{Asked, Probe, best};
use crate::{Error, Result};

/// Steps of integrated gradients.
const STEPS: usize = 50;
/// Permutations of the weights.
const PERMUTATIONS: usize = 100;
/// Cases whose erasures are read together.
const TOGETHER: usize = 64;
/// Erasures of one case in one order, one by one; of a longer one some are left out.
const ERASURES: usize = 40;
/// Examples that are shown unit by unit.
const SHOWN: usize = 8;
/// The longest of them.
const LONGEST_SHOWN: usize = 60;

/// One case that is studied unit by unit, and how each view orders its units.
struct Study {
    /// Its place among all.
    at: usize,
    target: usize,
    attention: Vec<f64>,
    gradient: Vec<f64>,
    integrated: Option<Vec<f64>>,
    /// What is lost of the target without each unit.
    without: Vec<f64>,
    random: Vec<f64>,
    contributions: Option<Vec<f64>>,
    other: Option<Found>,
}

/// Puts a model to the test. `others` are models that differ from it in one thing.
pub fn experiment<P: Probe>(
    probe: &P,
    rows: &[P::Row],
    others: &Siblings<P>,
    course: &Course,
    progress: &Progress,
) -> Result<(usize, usize, PooledReport, verdict::Verdict, Vec<String>)> {
    let mut notes = Vec::new();
    if let Some(reason) = probe.closed() {
        return Err(Error::Audit(reason));
    }
    let asked = probe.asked(rows)?;
    if asked.is_empty() {
        return Err(refused("the examples", "none".into(), "at least one"));
    }
    if let Some(got) = probe.one_sided(&asked) {
        let expected = "examples of at least two labels: with one, a model that always says the same is always right";
        return Err(refused("the examples", got, expected));
    }
    let readings = read(probe, &asked.iter().map(|a| &a.case).collect::<Vec<_>>())?;
    let chosen = choose(&asked, P::UNIT, course, &mut notes);
    if chosen.is_empty() {
        return Err(refused("the examples", format!("none with two {}s", P::UNIT), "some: a single one has all the weight there is"));
    }
    let needed = needed(rows, &asked, &readings, others, course)?;
    let studies = study(probe, &asked, &readings, &chosen, course, progress)?;
    if course.quick {
        notes.push("quick: integrated gradients were left out".into());
    }
    let order = erase(probe, &asked, &readings, &studies, course, progress)?;
    let stable = stability(rows, &readings, &studies, others, course)?;
    let only = Only {
        looked: studies.len(),
        found: studies.iter().filter(|s| s.other.is_some()).count() as f64 / studies.len() as f64,
        divergence: mean(&studies.iter().filter_map(|s| s.other.as_ref().map(|o| o.divergence)).collect::<Vec<_>>(), course.seed),
        bins: bins(studies.iter().filter_map(|s| Some((&s.attention, s.other.as_ref()?.divergence)))),
        trained: others.adversary.as_ref().map(|other| imitated(other, rows, &readings, &chosen, course)).transpose()?.flatten(),
    };
    let average = match &others.average {
        Some(average) => {
            progress("views of the average model", 0, 1);
            views_of(average, rows, &chosen, course)?
        }
        None => Vec::new(),
    };
    let conicity: Vec<f64> = chosen.iter().filter_map(|&at| readings[at].conicity).collect();
    let peaks = |s: &Study| s.attention.iter().copied().fold(0.0, f64::max) * s.attention.len() as f64;
    let report = PooledReport {
        unit: P::UNIT,
        figure: P::FIGURE,
        views: Views { own: views(&studies, course), average },
        conicity: mean(&conicity, course.seed),
        peak: median(&mut studies.iter().map(peaks).collect::<Vec<_>>()).unwrap_or(1.0),
        strips: strips(probe, &asked, &readings, &studies),
        needed,
        order,
        stable,
        only,
    };
    let verdict = verdict::judge(studies.len(), &report.needed, &report.order, report.stable.as_ref());
    Ok((asked.len(), studies.len(), report, verdict, notes))
}

fn refused(what: &str, got: String, expected: &str) -> Error {
    Error::Audit(format!("{what}: {got}; it takes {expected}"))
}

/// The cases to study unit by unit: drawn, if there are more than wanted, and in their order.
fn choose<C>(asked: &[Asked<C>], unit: &str, course: &Course, notes: &mut Vec<String>) -> Vec<usize> {
    let studied: Vec<usize> = (0..asked.len()).filter(|&at| asked[at].studied).collect();
    let mut chosen: Vec<usize> = studied.iter().copied().filter(|&at| asked[at].units.len() > 1).collect();
    if chosen.len() < studied.len() {
        notes.push(match studied.len() - chosen.len() {
            1 => format!("1 of the examples has fewer than two {unit}s, and was only answered"),
            few => format!("{few} of the examples have fewer than two {unit}s, and were only answered"),
        });
    }
    if chosen.len() > course.examples {
        let mut random = ChaCha8Rng::seed_from_u64(course.seed);
        shuffle(&mut chosen, &mut random);
        chosen.truncate(course.examples);
        chosen.sort_unstable();
    }
    chosen
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, ((random.random::<f64>() * (i + 1) as f64) as usize).min(i));
    }
}

/// How right the answers are with these weights.
fn rightness<P: Probe>(asked: &[Asked<P::Case>], readings: &[Reading], uniform: bool) -> Vec<Option<f64>> {
    let answer = |r: &Reading| if uniform { r.mixture.probabilities(&r.mixture.uniform()) } else { r.probabilities.clone() };
    P::right(asked, &readings.iter().map(answer).collect::<Vec<_>>())
}

/// Is attention needed?
fn needed<P: Probe>(
    rows: &[P::Row],
    asked: &[Asked<P::Case>],
    readings: &[Reading],
    others: &Siblings<P>,
    course: &Course,
) -> Result<Needed> {
    let (own, uniform) = (rightness::<P>(asked, readings, false), rightness::<P>(asked, readings, true));
    let both: Vec<(f64, f64)> = own.iter().zip(&uniform).filter_map(|(own, uniform)| Some(((*own)?, (*uniform)?))).collect();
    let lost = mean(&both.iter().map(|(own, uniform)| own - uniform).collect::<Vec<_>>(), course.seed);
    let unjudged = || refused("the examples", "none that can be right or wrong".into(), "some with both");
    let lost = lost.ok_or_else(unjudged)?;
    let interval = |of: fn(&(f64, f64)) -> f64| mean(&both.iter().map(of).collect::<Vec<_>>(), course.seed).ok_or_else(unjudged);
    let figure = |right: Vec<Option<f64>>| mean_of(right.into_iter().flatten()).unwrap_or(0.0);
    let of_sibling = |sibling: &P| -> Result<f64> {
        let asked = sibling.asked(rows)?;
        let readings = read(sibling, &asked.iter().map(|a| &a.case).collect::<Vec<_>>())?;
        Ok(figure(rightness::<P>(&asked, &readings, false)))
    };
    let trained = if others.uniform.is_empty() {
        None
    } else {
        let mut attention = vec![figure(own.clone())];
        attention.extend(others.seeds.iter().map(of_sibling).collect::<Result<Vec<_>>>()?);
        let uniform = others.uniform.iter().map(of_sibling).collect::<Result<Vec<_>>>()?;
        let gaps: Vec<f64> = attention.iter().zip(&uniform).map(|(a, u)| a - u).collect();
        mean(&gaps, course.seed).map(|gap| TrainedApart { attention, uniform, gap })
    };
    let permuted = |at: &usize| -> Option<f64> {
        let reading = &readings[*at];
        let mut random = ChaCha8Rng::seed_from_u64(course.seed);
        random.set_stream(1 + *at as u64);
        let mut places: Vec<usize> = (0..reading.mixture.units()).collect();
        let change = |_| {
            shuffle(&mut places, &mut random);
            let weights = &reading.mixture.weights;
            let moved: Vec<f64> = weights.chunks(places.len()).flat_map(|head| places.iter().map(|&i| head[i])).collect();
            total_variation(&reading.mixture.probabilities(&moved), &reading.probabilities)
        };
        median(&mut (0..PERMUTATIONS).map(change).collect::<Vec<_>>())
    };
    let studied: Vec<usize> = (0..asked.len()).filter(|&at| asked[at].studied && asked[at].units.len() > 1).collect();
    let changes: Vec<f64> = studied.par_iter().filter_map(permuted).collect();
    Ok(Needed { own: interval(|both| both.0)?, uniform: interval(|both| both.1)?, lost, trained, permuted: mean(&changes, course.seed) })
}

/// All views of the chosen cases.
fn study<P: Probe>(
    probe: &P,
    asked: &[Asked<P::Case>],
    readings: &[Reading],
    chosen: &[usize],
    course: &Course,
    progress: &Progress,
) -> Result<Vec<Study>> {
    let mut studies = Vec::with_capacity(chosen.len());
    for (part, chosen) in chosen.chunks(TOGETHER).enumerate() {
        if course.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(stopped());
        }
        progress("views", part * TOGETHER, asked.len().min(course.examples));
        let targets: Vec<usize> = chosen.iter().map(|&at| asked[at].target.unwrap_or_else(|| best(&readings[at].probabilities))).collect();
        let cases: Vec<&P::Case> = chosen.iter().map(|&at| &asked[at].case).collect();
        let gradients = slopes(probe, &cases, &targets, 1.0, true)?;
        let integrated = if course.quick {
            vec![None; cases.len()]
        } else {
            integrated(probe, &cases, &targets, STEPS)?.into_iter().map(Some).collect()
        };
        let without = leave_one_out(probe, &cases)?;
        let parts = chosen.iter().zip(targets).zip(gradients).zip(integrated).zip(without);
        let first = studies.len();
        for ((((&at, target), gradient), integrated), without) in parts {
            let reading = &readings[at];
            let mut random = ChaCha8Rng::seed_from_u64(course.seed);
            random.set_stream((1 << 32) + at as u64);
            studies.push(Study {
                at,
                target,
                attention: reading.mixture.attention(),
                gradient,
                integrated,
                without: without.iter().map(|p| reading.probabilities[target] - p[target]).collect(),
                random: (0..asked[at].units.len()).map(|_| random.random()).collect(),
                contributions: reading.mixture.contributions().map(|rows| rows.iter().map(|row| against_others(row, target)).collect()),
                other: None,
            });
        }
        studies[first..].par_iter_mut().for_each(|s| {
            s.other = Adversary::default().find(&readings[s.at].mixture, course.seed ^ (s.at as u64) << 20);
        });
    }
    Ok(studies)
}

/// What a unit adds to the logit of a label more than, on average, to the others.
fn against_others(row: &[f64], label: usize) -> f64 {
    let others = row.len().saturating_sub(1).max(1) as f64;
    row[label] - (row.iter().sum::<f64>() - row[label]) / others
}

/// For each case and each of its units, the answer without it: the probabilities of the labels.
pub fn leave_one_out<P: Probe>(probe: &P, cases: &[&P::Case]) -> Result<Vec<Vec<Vec<f64>>>> {
    let left = |case: &&P::Case| {
        let n = probe.length(case);
        (0..n).map(|unit| probe.left(case, &(0..n).map(|i| i != unit).collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    let all: Vec<P::Case> = cases.iter().flat_map(left).collect();
    let mut found = read(probe, &all.iter().collect::<Vec<_>>())?.into_iter().map(|r| r.probabilities);
    Ok(cases.iter().map(|case| found.by_ref().take(probe.length(case)).collect()).collect())
}

/// The orders in which units are taken away; by what, and how each unit stands in it. What has a sign keeps it: what speaks against the answer comes last.
fn orders(study: &Study) -> Vec<(&'static str, &[f64])> {
    let mut orders: Vec<(&'static str, &[f64])> =
        vec![(ATTENTION, &study.attention), (RANDOM, &study.random), (GRADIENT, &study.gradient), (WITHOUT, &study.without)];
    orders.extend(study.integrated.as_deref().map(|x| (INTEGRATED, x)));
    orders.extend(study.contributions.as_deref().map(|x| (CONTRIBUTIONS, x)));
    orders
}

/// Names of the views.
pub const ATTENTION: &str = "attention";
/// See [`ATTENTION`].
pub const RANDOM: &str = "random";
/// See [`ATTENTION`].
pub const GRADIENT: &str = "gradient x input";
/// See [`ATTENTION`].
pub const WITHOUT: &str = "leave-one-out";
/// See [`ATTENTION`].
pub const INTEGRATED: &str = "integrated gradients";
/// See [`ATTENTION`].
pub const CONTRIBUTIONS: &str = "contributions";
/// See [`ATTENTION`].
pub const ADVERSARIAL: &str = "adversarial weights";

/// How many units are taken away, step by step.
fn erasures(n: usize) -> Vec<usize> {
    let mut steps: Vec<usize> =
        if n <= ERASURES { (1..=n).collect() } else { (1..=ERASURES).map(|k| k * n / ERASURES).chain(counts(n)).collect() };
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Comprehensiveness, sufficiency and flip of one case in one order.
struct Erased {
    comprehensiveness: f64,
    sufficiency: f64,
    flip: f64,
}

/// Does the order carry the answer?
fn erase<P: Probe>(
    probe: &P,
    asked: &[Asked<P::Case>],
    readings: &[Reading],
    studies: &[Study],
    course: &Course,
    progress: &Progress,
) -> Result<OrderReport> {
    let names: Vec<&'static str> = studies.first().map_or(Vec::new(), |s| orders(s).into_iter().map(|o| o.0).collect());
    let mut by_order: Vec<Vec<Erased>> = names.iter().map(|_| Vec::with_capacity(studies.len())).collect();
    for (part, some) in studies.chunks(TOGETHER).enumerate() {
        if course.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(stopped());
        }
        progress("erasing", part * TOGETHER, studies.len());
        let mut left = Vec::new();
        for study in some {
            let case = &asked[study.at].case;
            let n = study.attention.len();
            for (_, by) in orders(study) {
                let order = order(by);
                left.extend(erasures(n).into_iter().map(|k| probe.left(case, &kept(&order, k, false))));
                left.extend(counts(n).into_iter().map(|k| probe.left(case, &kept(&order, k, true))));
            }
        }
        let mut found = read(probe, &left.iter().collect::<Vec<_>>())?.into_iter().map(|r| r.probabilities);
        for study in some {
            let (n, whole) = (study.attention.len(), &readings[study.at].probabilities);
            let (steps, shares) = (erasures(n), counts(n));
            for all in &mut by_order {
                let without: Vec<Vec<f64>> = found.by_ref().take(steps.len()).collect();
                let alone: Vec<f64> = found.by_ref().take(shares.len()).map(|p| p[study.target]).collect();
                let at = |k: &usize| steps.iter().position(|step| step == k).map_or(0.0, |i| without[i][study.target]);
                let said = best(whole);
                // Between two steps that were read, the answer is taken to be that of the later one.
                let changed = (1..=n).map(|k| {
                    let i = steps.partition_point(|&step| step < k).min(steps.len() - 1);
                    steps[i] == k && best(&without[i]) != said
                });
                all.push(Erased {
                    comprehensiveness: aopc(whole[study.target], &shares.iter().map(at).collect::<Vec<_>>()),
                    sufficiency: aopc(whole[study.target], &alone),
                    flip: flip(changed, n),
                });
            }
        }
    }
    let column = |erased: &[Erased], of: fn(&Erased) -> f64| erased.iter().map(of).collect::<Vec<f64>>();
    let none = || refused("the examples", "none to study".into(), "some");
    let mut orders = Vec::new();
    for (&by, erased) in names.iter().zip(&by_order) {
        let interval = |of| mean(&column(erased, of), course.seed).ok_or_else(none);
        orders.push(ByOrder {
            by,
            comprehensiveness: interval(|e| e.comprehensiveness)?,
            sufficiency: interval(|e| e.sufficiency)?,
            flip: interval(|e| e.flip)?,
        });
    }
    let lost = |name: &str| {
        let at = names.iter().position(|&by| by == name).unwrap_or(0);
        column(&by_order[at], |e| e.comprehensiveness)
    };
    let (own, random, most) = (lost(ATTENTION), lost(RANDOM), lost(WITHOUT));
    let over = |sample: &[usize], of: &[f64]| mean_of(sample.iter().map(|&i| of[i] - random[i])).unwrap_or(0.0);
    let gain = bootstrap(own.len(), course.seed, |sample| Some(over(sample, &own)));
    let share = bootstrap(own.len(), course.seed, |sample| {
        let room = over(sample, &most);
        (room > 1e-9).then(|| over(sample, &own) / room)
    });
    Ok(OrderReport { orders, gain, share })
}

/// Would another seed draw the same picture?
fn stability<P: Probe>(
    rows: &[P::Row],
    readings: &[Reading],
    studies: &[Study],
    others: &Siblings<P>,
    course: &Course,
) -> Result<Option<Stable>> {
    if others.seeds.is_empty() {
        return Ok(None);
    }
    let mut theirs = Vec::new();
    for other in &others.seeds {
        let asked = other.asked(rows)?;
        theirs.push(read(other, &studies.iter().map(|s| &asked[s.at].case).collect::<Vec<_>>())?);
    }
    let of_study = |(i, s): (usize, &Study)| {
        let mixture = &readings[s.at].mixture;
        let same = theirs.iter().filter(|them| them[i].mixture.weights.len() == mixture.weights.len());
        median(&mut same.map(|them| apart(&them[i].mixture.weights, &mixture.weights, mixture.units())).collect::<Vec<_>>())
    };
    let found: Vec<Option<f64>> = studies.iter().enumerate().map(of_study).collect();
    let random = studies.iter().map(|s| two_draws(s.attention.len(), course.seed, s.at as u64));
    let Some(divergence) = mean(&found.iter().flatten().copied().collect::<Vec<_>>(), course.seed) else { return Ok(None) };
    Ok(Some(Stable {
        seeds: others.seeds.len(),
        divergence,
        random: mean_of(random).unwrap_or(0.0),
        bins: bins(studies.iter().zip(&found).filter_map(|(s, d)| Some((&s.attention, (*d)?)))),
    }))
}

/// How far away a model looks that has learnt to answer as this one does.
fn imitated<P: Probe>(other: &P, rows: &[P::Row], readings: &[Reading], chosen: &[usize], course: &Course) -> Result<Option<Imitated>> {
    let asked = other.asked(rows)?;
    let theirs = read(other, &asked.iter().map(|a| &a.case).collect::<Vec<_>>())?;
    let probabilities: Vec<Vec<f64>> = theirs.iter().map(|r| r.probabilities.clone()).collect();
    let right = mean_of(P::right(&asked, &probabilities).into_iter().flatten()).unwrap_or(0.0);
    let alike = chosen.iter().filter(|&&at| theirs[at].mixture.weights.len() == readings[at].mixture.weights.len());
    let alike: Vec<(&Reading, &Reading)> = alike.map(|&at| (&theirs[at], &readings[at])).collect();
    let of = |figure: &dyn Fn(&Reading, &Reading) -> f64| {
        mean(&alike.iter().map(|(theirs, own)| figure(theirs, own)).collect::<Vec<f64>>(), course.seed)
    };
    let divergence = of(&|theirs, own| apart(&theirs.mixture.weights, &own.mixture.weights, own.mixture.units()));
    let variation = of(&|theirs, own| total_variation(&theirs.probabilities, &own.probabilities));
    let same = of(&|theirs, own| f64::from(u8::from(best(&theirs.probabilities) == best(&own.probabilities))));
    Ok(divergence.zip(variation).zip(same).map(|((divergence, variation), same)| Imitated {
        lambda: LAMBDA,
        divergence,
        variation,
        same: same.value,
        right,
    }))
}

/// The divergence of two draws from all weights of this length, each as likely as the other.
fn two_draws(n: usize, seed: u64, stream: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((2 << 32) + stream);
    let mut draw = || {
        let parts: Vec<f64> = (0..n).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
        let sum: f64 = parts.iter().sum();
        parts.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
    };
    divergence(&draw(), &draw())
}

/// Mean divergence by the largest weight, in four equal ranges; empty ones are left out.
fn bins<'a>(all: impl Iterator<Item = (&'a Vec<f64>, f64)>) -> Vec<Bin> {
    let mut found = [(0usize, 0.0); 4];
    for (weights, divergence) in all {
        let most = weights.iter().copied().fold(0.0, f64::max);
        let bin = &mut found[((most * 4.0) as usize).min(3)];
        *bin = (bin.0 + 1, bin.1 + divergence);
    }
    let bin = |(i, &(count, sum)): (usize, &(usize, f64))| {
        let from = i as f64 / 4.0;
        (count > 0).then(|| Bin { from, to: from + 0.25, count, divergence: sum / count as f64 })
    };
    found.iter().enumerate().filter_map(bin).collect()
}

/// Two views of the same units.
type Both = (Vec<f64>, Vec<f64>);

/// How far the views agree. Of what has a sign the size counts, as it is usual.
fn views(studies: &[Study], course: &Course) -> Vec<Agreement> {
    let size = |x: &[f64]| x.iter().map(|x| x.abs()).collect::<Vec<f64>>();
    let agree = |one: &'static str, other: &'static str, of: &dyn Fn(&Study) -> Option<Both>| {
        let pairs: Vec<Both> = studies.iter().filter_map(of).collect();
        let taus: Vec<f64> = pairs.iter().filter_map(|(a, b)| kendall(a, b)).collect();
        let mut histogram = vec![0; 20];
        taus.iter().for_each(|tau| histogram[(((tau + 1.0) * 10.0) as usize).min(19)] += 1);
        Agreement {
            one,
            other,
            tau: mean(&taus, course.seed),
            deviation: crate::metrics::Spread::of(&taus).and_then(|spread| spread.deviation),
            undefined: pairs.len() - taus.len(),
            histogram,
        }
    };
    let mut all = vec![
        agree(ATTENTION, GRADIENT, &|s| Some((s.attention.clone(), size(&s.gradient)))),
        agree(ATTENTION, WITHOUT, &|s| Some((s.attention.clone(), size(&s.without)))),
        agree(GRADIENT, WITHOUT, &|s| Some((size(&s.gradient), size(&s.without)))),
    ];
    if studies.iter().any(|s| s.integrated.is_some()) {
        all.push(agree(ATTENTION, INTEGRATED, &|s| Some((s.attention.clone(), size(s.integrated.as_deref()?)))));
    }
    all
}

/// The first three views of another model.
fn views_of<P: Probe>(probe: &P, rows: &[P::Row], chosen: &[usize], course: &Course) -> Result<Vec<Agreement>> {
    let asked = probe.asked(rows)?;
    let readings = read(probe, &asked.iter().map(|a| &a.case).collect::<Vec<_>>())?;
    let cases: Vec<&P::Case> = chosen.iter().map(|&at| &asked[at].case).collect();
    let targets: Vec<usize> = chosen.iter().map(|&at| asked[at].target.unwrap_or_else(|| best(&readings[at].probabilities))).collect();
    let gradients = slopes(probe, &cases, &targets, 1.0, true)?;
    let mut studies = Vec::with_capacity(chosen.len());
    for (i, part) in cases.chunks(TOGETHER).enumerate() {
        for (j, without) in leave_one_out(probe, part)?.into_iter().enumerate() {
            let at = chosen[i * TOGETHER + j];
            let target = targets[i * TOGETHER + j];
            studies.push(Study {
                at,
                target,
                attention: readings[at].mixture.attention(),
                gradient: gradients[i * TOGETHER + j].clone(),
                integrated: None,
                without: without.iter().map(|p| readings[at].probabilities[target] - p[target]).collect(),
                random: Vec::new(),
                contributions: None,
                other: None,
            });
        }
    }
    Ok(views(&studies, course))
}

/// Some examples, spread over all, unit by unit.
fn strips<P: Probe>(probe: &P, asked: &[Asked<P::Case>], readings: &[Reading], studies: &[Study]) -> Vec<Strips> {
    let fit: Vec<&Study> = studies.iter().filter(|s| s.attention.len() <= LONGEST_SHOWN).collect();
    let one = |s: &&&Study| {
        let said = best(&readings[s.at].probabilities);
        let mut rows = vec![(ATTENTION, s.attention.clone()), (GRADIENT, s.gradient.clone()), (WITHOUT, s.without.clone())];
        rows.extend(s.integrated.clone().map(|x| (INTEGRATED, x)));
        rows.extend(s.other.as_ref().map(|o| (ADVERSARIAL, readings[s.at].mixture.mean(&o.weights))));
        rows.extend(s.contributions.clone().map(|x| (CONTRIBUTIONS, x)));
        Strips {
            units: asked[s.at].units.clone(),
            label: probe.label(&asked[s.at].case, said),
            probability: readings[s.at].probabilities[said],
            gold: probe.label(&asked[s.at].case, asked[s.at].gold),
            rows,
        }
    };
    fit.iter().step_by(fit.len().div_ceil(SHOWN).max(1)).map(|s| one(&s)).collect()
}
