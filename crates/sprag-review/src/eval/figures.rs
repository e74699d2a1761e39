//! The figures of a group of runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::label::Label;
use super::metric::{Metric, Want};
use super::run::EvalRun;

/// What came of a group of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// How many runs there are.
    pub runs: usize,
    /// The answers to each question.
    pub scores: BTreeMap<Metric, Score>,
    /// How late the terminal loops were stopped.
    pub delay: Delays,
    /// The calls that stops saved in runs that are not known to have succeeded.
    pub saved: SavedCalls,
}

/// So many of so many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// How many runs the answer was yes for.
    pub hits: usize,
    /// How many it was asked of.
    pub of: usize,
    /// The runs with a yes.
    pub traces: Vec<String>,
    /// The runs with a no, where a yes is wished for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

/// Calls between the point where a stop was due and the stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Delays {
    /// The one in the middle.
    pub median: Option<f64>,
    /// All of them, in order.
    pub all: Vec<i32>,
}

/// Calls that were saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SavedCalls {
    /// Those after a stop.
    pub calls: usize,
    /// All.
    pub of: usize,
}

impl Figures {
    /// The figures of these runs.
    #[must_use]
    pub fn of<'a>(runs: impl Iterator<Item = (&'a Label, &'a EvalRun)> + Clone) -> Self {
        let scores = Metric::ALL.iter();
        Self {
            runs: runs.clone().count(),
            scores: scores
                .map(|&metric| (metric, Score::of(metric, runs.clone())))
                .collect(),
            delay: Delays::of(runs.clone()),
            saved: SavedCalls::of(runs),
        }
    }

    /// The score of `metric`.
    #[must_use]
    pub fn score(&self, metric: Metric) -> Score {
        self.scores.get(&metric).cloned().unwrap_or_default()
    }
}

impl Score {
    fn of<'a>(metric: Metric, runs: impl Iterator<Item = (&'a Label, &'a EvalRun)>) -> Self {
        let mut score = Self::default();
        for (label, run) in runs.filter(|(label, run)| metric.asks(label, run)) {
            score.of += 1;
            if metric.hit(run) {
                score.hits += 1;
                score.traces.push(label.trace.clone());
            } else if metric.want() == Want::Many {
                score.missed.push(label.trace.clone());
            }
        }
        score
    }
}

impl Delays {
    fn of<'a>(runs: impl Iterator<Item = (&'a Label, &'a EvalRun)>) -> Self {
        let loops = runs.filter(|(label, run)| Metric::Loops.asks(label, run));
        let mut all: Vec<i32> = loops
            .filter_map(|(label, run)| run.delay(label.stuck_seq?))
            .map(|delay| i32::try_from(delay).unwrap_or(i32::MAX))
            .collect();
        all.sort_unstable();
        let median = median(&all);
        Self { median, all }
    }
}

fn median(sorted: &[i32]) -> Option<f64> {
    let upper = f64::from(*sorted.get(sorted.len() / 2)?);
    let lower = f64::from(*sorted.get((sorted.len() - 1) / 2)?);
    Some(f64::midpoint(lower, upper))
}

impl SavedCalls {
    fn of<'a>(runs: impl Iterator<Item = (&'a Label, &'a EvalRun)>) -> Self {
        let mut saved = Self::default();
        for (_, run) in runs.filter(|(label, _)| !label.succeeded()) {
            saved.of += run.calls.len();
            saved.calls += run.stop_seq().map_or(0, |stop| run.calls_after(stop));
        }
        saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4]), Some(4.0));
        assert_eq!(median(&[-1, 2]), Some(0.5));
        assert_eq!(median(&[0, 2, 9]), Some(2.0));
    }
}
