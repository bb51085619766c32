//! The sources around one: in running text they say which of its targets is meant.
//!
//! Where a source has had several targets, training pairs are counted with the source two rows before, two rows after, one before and one after, in this order, each on top of what was said without it:
//!
//! ```text
//! p_j(y | x) = (c(z_j, x, y) + k p_{j-1}(y | x)) / (n(z_j, x) + k)      z_j the source at place j, p_0 what is remembered of x alone, k = 4
//! ```
//!
//! A neighbour that was never there changes nothing. Rows are neighbours if their lines are: an empty line, or a row that was set aside, parts them.

use std::collections::HashMap;

use crate::text::Pair;

/// Rows from a source to its neighbours; the last one has the last word.
pub const PLACES: [isize; 4] = [-2, 2, -1, 1];
/// How many rows away a neighbour is at the most.
pub const REACH: usize = 2;
/// How many pairs count as much as what was said without the neighbour. The best of 1, 2, 4 and 8 on the training rows of `spelling-ridges`, each left out once.
pub const WORTH: f64 = 4.0;

/// Rows that are enough to find out whether neighbours help.
const ENOUGH: usize = 100_000;

/// A source that stands beside another: how many rows further, and what it is.
pub type Neighbour = (isize, String);

/// The neighbours of each source, in the order of [`PLACES`]. Each source has the number of its line; those of empty ones are nobody's neighbours.
pub fn around(rows: &[(usize, &str)]) -> Vec<Vec<Neighbour>> {
    let at = |i: usize, place: isize| {
        let (line, source) = rows.get(i.checked_add_signed(place)?)?;
        let near = rows[i].0.checked_add_signed(place) == Some(*line) && !source.is_empty();
        near.then(|| (place, source.to_string()))
    };
    (0..rows.len()).map(|i| PLACES.iter().filter_map(|&place| at(i, place)).collect()).collect()
}

/// The neighbours of the source of each pair.
pub fn of_pairs(pairs: &[Pair]) -> Vec<Vec<Neighbour>> {
    around(&pairs.iter().map(|pair| (pair.line, pair.source.as_str())).collect::<Vec<_>>())
}

/// The neighbours of one of many sources; none if none are given.
pub(super) fn of<'a>(around: &[&'a [Neighbour]], item: usize) -> &'a [Neighbour] {
    around.get(item).copied().unwrap_or_default()
}

/// Whether neighbours tell which target is meant: targets of the training pairs, each judged by the other pairs, are more probable with them, by more than two standard deviations of chance.
pub fn help(pairs: &[Pair]) -> bool {
    let pairs = &pairs[..pairs.len().min(ENOUGH)];
    let around = of_pairs(pairs);
    type Asked<'a> = (&'a str, Option<&'a str>, Option<&'a Neighbour>);
    fn asked<'a>(pair: &'a Pair, beside: Option<&'a Neighbour>) -> Asked<'a> {
        (&pair.source, pair.features.as_deref(), beside)
    }
    // How often each target was the answer, and how often it was asked.
    let mut counts: HashMap<Asked, (HashMap<&str, u32>, u32)> = HashMap::new();
    for (pair, around) in pairs.iter().zip(&around) {
        for beside in std::iter::once(None).chain(around.iter().map(Some)) {
            let (targets, all) = counts.entry(asked(pair, beside)).or_default();
            *targets.entry(&pair.target).or_default() += 1;
            *all += 1;
        }
    }
    let mut gains = Vec::new();
    for (pair, around) in pairs.iter().zip(&around) {
        // How often others have the target, and how many others there are.
        let others = |beside: Option<&Neighbour>| {
            let (targets, all) = &counts[&asked(pair, beside)];
            [targets[pair.target.as_str()] - 1, all - 1]
        };
        let [own, all] = others(None);
        if 0 < own && own < all {
            let alone = f64::from(own) / f64::from(all);
            let together = around.iter().fold(alone, |before, beside| on_top(others(Some(beside)), WORTH, before));
            gains.push((together / alone).ln());
        }
    }
    let count = gains.len() as f64;
    let sum: f64 = gains.iter().sum();
    let spread: f64 = gains.iter().map(|gain| (gain - sum / count).powi(2)).sum();
    sum > 2.0 * spread.sqrt()
}

/// A probability, and so many pairs of so many counted on top of it.
pub(super) fn on_top([own, all]: [u32; 2], worth: f64, before: f64) -> f64 {
    (f64::from(own) + worth * before) / (f64::from(all) + worth)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::config::resolve;
    use crate::model::Model;
    use crate::model::answer::Drawing;
    use crate::model::ask::{AnswerOptions, Input};
    use crate::model::seq2seq::tests::{config, pair};
    use crate::model::seq2seq::{Config, Remembered, Transducer};
    use crate::train::{Learner, Measure};

    #[test]
    fn neighbours_are_rows_of_neighbouring_lines() {
        let rows = [(1, "a"), (2, "b"), (3, "c"), (5, "d"), (6, ""), (7, "e")];
        let found = around(&rows);
        let say = |all: &[(isize, &str)]| all.iter().map(|&(place, source)| (place, source.to_string())).collect::<Vec<Neighbour>>();
        assert_eq!(found[0], say(&[(2, "c"), (1, "b")]));
        assert_eq!(found[1], say(&[(-1, "a"), (1, "c")]));
        assert_eq!(found[2], say(&[(-2, "a"), (-1, "b")]), "line 4 is not there");
        assert_eq!((found[3].clone(), found[4].clone()), (say(&[(2, "e")]), say(&[(-1, "d"), (1, "e")])));
        assert!(around(&[]).is_empty() && around(&[(1, "a")]) == [vec![]]);
    }

    /// `das` is an article before a noun and `dass` after a verb.
    fn running() -> Vec<Pair> {
        let one = [("er", "er"), ("sagt", "sagt"), ("das", "dass"), ("das", "das"), ("haus", "haus"), ("steht", "steht")];
        (0..120).map(|i| pair(one[i % 6].0, one[i % 6].1, i + 1)).collect()
    }

    #[test]
    fn they_help_where_rows_follow_each_other() {
        assert!(help(&running()));
        for seed in 0..20 {
            let mut shuffled = running();
            shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
            shuffled.iter_mut().enumerate().for_each(|(i, pair)| pair.line = i + 1);
            assert!(!help(&shuffled), "{seed}");
        }
        assert!(!help(&running()[..6]) && !help(&[]));
    }

    fn model(pairs: &[Pair]) -> Transducer {
        Transducer::new(config(&["model.remember=true", "model.neighbours=true", "data.alternatives=false"]), pairs).unwrap()
    }

    #[test]
    fn they_are_counted_on_top_of_what_is_remembered() {
        let blank = Transducer::new(config(&["model.remember=true", "data.alternatives=false"]), &running()).unwrap();
        let model = model(&running());
        // Beside `er` two rows before and `sagt` one before it was always `dass`; `baum` never stood anywhere.
        let given = [(-2, "er".to_string()), (-1, "sagt".to_string()), (1, "baum".to_string())];
        for (target, times) in [("dass", [20, 20]), ("das", [0, 20]), ("haus", [0, 20])] {
            let alone = blank.score(&[("das", None)], &[target]).unwrap().remove(0).hypotheses.remove(0);
            let expected = on_top(times, 4.0, on_top(times, 4.0, alone.hypothesis.log_prob.exp()));
            let found = model.score_as(&[("das", None)], &[&given], &[target], false).unwrap().remove(0).hypotheses.remove(0);
            assert!((found.hypothesis.log_prob.exp() - expected).abs() < 1e-9, "{target}");
            let said: Vec<(isize, &str, [u32; 2])> = found.neighbours.iter().map(|n| (n.place, n.source.as_str(), n.remembered)).collect();
            assert_eq!(said, [(-2, "er", times), (-1, "sagt", times)]);
            assert!(alone.neighbours.is_empty());
        }
        let answer = model.score_as(&[("das", None)], &[&given], &["dass"], false).unwrap().remove(0);
        let said = answer.matrices(&Drawing::default())[0].score_is();
        assert!(said.contains("20 of 40 training pairs and 2 of the rows around"), "{said}");
        // A source that was always answered with the same needs none.
        let sure = model.score_as(&[("haus", None)], &[&[(-1, "das".to_string())]], &["haus"], false).unwrap().remove(0);
        assert!(sure.hypotheses[0].neighbours.is_empty());
    }

    /// Rows of a file are answered as they are measured, also where a chunk of them ends; a text by itself has no neighbours.
    #[test]
    fn rows_of_a_file_have_their_neighbours() {
        // `a` is `x` before `b` and `y` before `c`, which is rarer; the 512th row is such an `a`, the last of a chunk.
        let one = ["ax", "be", "ee", "ee", "ax", "be", "ee", "ee", "ay", "ce", "ee", "ee"];
        let row = |i: usize| if i < 11 { "ee" } else { one[(i - 11) % 12] };
        let rows: Vec<Pair> = (0..1104).map(|i| pair(&row(i)[..1], &row(i)[1..], i + 1)).collect();
        assert_eq!(rows[511].target, "y");
        let model = model(&rows);
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("text.txt");
        let text: String = rows.iter().map(|row| format!("{}\n", row.source)).collect();
        std::fs::write(&path, &text).unwrap();
        let answers = |input: Input| -> Vec<String> {
            let replies = model.answers(input, &AnswerOptions::default()).unwrap();
            replies.map(|reply| reply.unwrap().read().unwrap().text()).collect()
        };
        let (file, lines) = (answers(Input::File(&path)), answers(Input::Content(&text)));
        let wrong = |texts: &[String]| {
            texts.iter().zip(&rows).filter(|(text, row)| **text != row.target).map(|(_, row)| row.line).collect::<Vec<_>>()
        };
        let rare: Vec<usize> = rows.iter().filter(|row| row.target == "y").map(|row| row.line).collect();
        assert_eq!((wrong(&file), wrong(&lines)), (vec![], rare));
        let accuracy = |measures: Vec<Measure>| measures.iter().find(|m| m.name == "accuracy").unwrap().value;
        assert_eq!(accuracy(model.learner().measure(&model.params, &model.examples(&rows)).unwrap()), 1.0);
        assert_eq!(Model::scores(&model, &rows, &AnswerOptions::default()).unwrap().report.get("accuracy"), Some(1.0));
    }

    #[test]
    fn they_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let model = model(&running());
        let kept = model.beside.remembered.as_deref().unwrap();
        kept.save(place.path()).unwrap();
        assert_eq!(&Remembered::load(place.path(), &model.vocabularies).unwrap(), kept);
        // New rows count on top of the old ones.
        let grown = model.grown(model.config.clone(), &[pair("wo", "wo", 1), pair("das", "das", 2), pair("das", "dass", 3)]).unwrap();
        let ids = |text: &str| grown.vocabularies.source.ids(text);
        let target = grown.vocabularies.target.ids("das");
        let times = |place, neighbour: &str| {
            grown.beside.remembered.as_deref().unwrap().times_beside(&ids("das"), &(place, neighbour.to_string()), &target)
        };
        assert_eq!([times(-1, "das"), times(-1, "wo"), times(1, "wo")], [Some([20, 21]), Some([1, 1]), None]);
    }

    #[test]
    fn they_are_chosen_for_running_text() {
        let chosen =
            |changes: &[&str]| Transducer::choose(&running(), &changes.iter().map(|c| c.to_string()).collect::<Vec<_>>()).unwrap().config;
        assert!(chosen(&[]).model.neighbours && !chosen(&["model.remember=false"]).model.neighbours);
        let error = resolve(&Config::default(), "", &["model.neighbours=true".into()]).unwrap().check().unwrap_err().to_string();
        assert!(error.contains("model.remember"), "{error}");
    }
}
