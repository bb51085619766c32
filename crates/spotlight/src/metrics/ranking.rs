//! MAP and MRR: does a right answer stand near the top of each question's candidates?
//!
//! The definitions are trec_eval's (`map` and `recip_rank`). Two matters it leaves to file names
//! and habits are settled here:
//!
//! - **Ties.** Candidates of equal score rank in the reverse of the order given: the later row
//!   first. trec_eval does the same when documents are named by their row number. A model that
//!   gives every candidate the same score so gains nothing from right answers that stand early in
//!   the file.
//! - **Questions without a right answer.** No ranking of theirs is better than another, so
//!   [`Unanswered::Drop`] leaves them out, as work on WikiQA does. trec_eval counts them as 0:
//!   [`Unanswered::Zero`].

use super::{MetricError, Tallies};

/// A candidate answer as the model scored it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The higher, the nearer to the top.
    pub score: f64,
    /// Whether it is a right answer.
    pub relevant: bool,
}

/// What a question without any right answer counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unanswered {
    /// Nothing: it is left out of the mean, as in work on WikiQA.
    #[default]
    Drop,
    /// Zero, as in trec_eval.
    Zero,
}

/// The means over all questions that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankScores {
    /// Mean average precision.
    pub map: f64,
    /// Mean reciprocal rank of the first right answer.
    pub mrr: f64,
    /// Number of questions the means are taken over.
    pub questions: usize,
    /// Number of questions without a right answer that were left out.
    pub dropped: usize,
}

/// MAP and MRR over the candidates of each question.
///
/// ```
/// use spotlight::metrics::{Candidate, Unanswered, rank_scores};
///
/// let row = |score, relevant| Candidate { score, relevant };
/// let questions = [
///     vec![row(0.9, false), row(0.7, true), row(0.2, false)], // Right is the second of three.
///     vec![row(0.1, false), row(0.8, true)],                  // The first of two.
///     vec![row(0.5, false)],                                  // None is.
/// ];
/// let scores = rank_scores(&questions, Unanswered::Drop)?;
/// assert_eq!((scores.mrr, scores.questions, scores.dropped), (0.75, 2, 1));
/// assert_eq!(rank_scores(&questions, Unanswered::Zero)?.mrr, 0.5);
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
pub fn rank_scores<Q: AsRef<[Candidate]>>(questions: &[Q], unanswered: Unanswered) -> Result<RankScores, MetricError> {
    let mut all_scores = questions.iter().flat_map(AsRef::as_ref).map(|candidate| candidate.score);
    if let Some(position) = all_scores.position(f64::is_nan) {
        return Err(MetricError::NotANumber { position: position + 1 });
    }
    let (mut map, mut mrr, mut counted) = (0.0, 0.0, 0);
    for question in questions {
        let ranked = rank(question.as_ref());
        if unanswered == Unanswered::Drop && !ranked.contains(&true) {
            continue;
        }
        map += average_precision(&ranked);
        mrr += reciprocal_rank(&ranked);
        counted += 1;
    }
    if counted == 0 {
        return Err(MetricError::Empty("question with a right answer"));
    }
    Ok(RankScores { map: map / counted as f64, mrr: mrr / counted as f64, questions: counted, dropped: questions.len() - counted })
}

/// MAP and MRR of the same, question by question. Those without a right answer count for nothing.
pub fn rank_tallies<Q: AsRef<[Candidate]>>(questions: &[Q]) -> Vec<Tallies> {
    let ranked: Vec<Vec<bool>> = questions.iter().map(|question| rank(question.as_ref())).collect();
    let tallies = |name, of: fn(&[bool]) -> f64| {
        Tallies::ratio(name, false, ranked.iter().map(|ranks| (of(ranks), f64::from(ranks.contains(&true)))))
    };
    vec![tallies("MAP", average_precision), tallies("MRR", reciprocal_rank)]
}

/// Which ranks hold a right answer, best score first, of equal scores the later row first.
fn rank(candidates: &[Candidate]) -> Vec<bool> {
    let mut ranked: Vec<&Candidate> = candidates.iter().rev().collect();
    // Stable, so ties stay reversed. Scores are numbers; `+ 0.0` makes -0 tie with 0.
    ranked.sort_by(|a, b| (b.score + 0.0).total_cmp(&(a.score + 0.0)));
    ranked.iter().map(|candidate| candidate.relevant).collect()
}

/// The mean, over the right answers, of the precision at their rank; 0 if there are none.
///
/// `ranked` says for each rank, from the top, whether a right answer stands there.
pub fn average_precision(ranked: &[bool]) -> f64 {
    let (mut found, mut sum) = (0, 0.0);
    for (index, _) in ranked.iter().enumerate().filter(|(_, relevant)| **relevant) {
        found += 1;
        sum += f64::from(found) / (index + 1) as f64;
    }
    if found == 0 { 0.0 } else { sum / f64::from(found) }
}

/// One over the rank of the first right answer; 0 if there is none.
pub fn reciprocal_rank(ranked: &[bool]) -> f64 {
    match ranked.iter().position(|&relevant| relevant) {
        Some(index) => 1.0 / (index + 1) as f64,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_score_gains_nothing_from_early_answers() {
        let early = [true, false, false].map(|relevant| Candidate { score: 1.0, relevant });
        assert_eq!(rank(&early), [false, false, true]);
    }

    #[test]
    fn tallies_give_the_scores() {
        let candidate = |score, relevant| Candidate { score, relevant };
        let questions = [
            vec![candidate(0.2, true), candidate(0.9, false), candidate(0.1, true)],
            vec![candidate(0.2, true), candidate(0.1, false)],
            vec![candidate(0.2, false)],
        ];
        let scores = rank_scores(&questions, Unanswered::Drop).unwrap();
        let tallies = rank_tallies(&questions);
        assert_eq!((tallies[0].name, tallies[0].value(), tallies[0].len()), ("MAP", scores.map, 3));
        assert_eq!((tallies[1].name, tallies[1].value()), ("MRR", scores.mrr));
    }

    #[test]
    fn what_cannot_be_ranked_is_an_error() {
        let nan = [[Candidate { score: 1.0, relevant: true }], [Candidate { score: f64::NAN, relevant: false }]];
        assert_eq!(rank_scores(&nan, Unanswered::Drop), Err(MetricError::NotANumber { position: 2 }));
        let wrong = [[Candidate { score: 1.0, relevant: false }]];
        assert!(matches!(rank_scores(&wrong, Unanswered::Drop), Err(MetricError::Empty(_))));
        assert_eq!(rank_scores(&wrong, Unanswered::Zero).unwrap().map, 0.0);
    }
}
