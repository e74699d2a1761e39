//! All figures of an evaluation: in all, by source, by family of rules, and without each source.
//!
//! A good total can hide a source on which everything goes wrong, and a source that makes the total.
//! The first is seen in the figures by source; the second in those without each source, which are
//! what would have been reported had that source never been found.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sprag_core::RuleId;

use super::figures::Figures;
use super::label::Label;
use super::metric::Metric;
use super::replay::Replayed;
use super::run::{EvalRun, FirstVerdict};

/// The figures of all runs under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalReport {
    /// All runs.
    pub all: Figures,
    /// The runs of each source.
    pub sources: BTreeMap<String, Figures>,
    /// All runs, as if only the rules of one family had spoken; families that said nothing are not there.
    pub families: BTreeMap<String, Figures>,
    /// The runs of all sources but one.
    pub without: BTreeMap<String, Figures>,
    /// Every answer that is not the one wished for.
    pub wrong: Vec<WrongAnswer>,
}

/// A run on the wrong side of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongAnswer {
    /// The question.
    pub metric: Metric,
    /// The run.
    #[serde(flatten)]
    pub run: JudgedRun,
}

/// A run as it is listed behind a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedRun {
    /// Which run.
    pub trace: String,
    /// Whether the answer is yes.
    pub hit: bool,
    /// How many calls it made.
    pub calls: usize,
    /// The step at which a stop was due, where there is one.
    pub stuck_seq: Option<u64>,
    /// The first warning.
    pub warn: Option<FirstVerdict>,
    /// The first refusal.
    pub stop: Option<FirstVerdict>,
    /// What a reader said of it.
    pub reader: Option<String>,
}

type Pair<'a> = (&'a Label, &'a EvalRun);

impl EvalReport {
    /// The figures under the policy of this number; none where there is no such policy.
    #[must_use]
    pub fn of(replayed: &[Replayed], policy: usize) -> Option<Self> {
        let pairs: Option<Vec<Pair<'_>>> = replayed
            .iter()
            .map(|one| Some((&one.label, one.runs.get(policy)?)))
            .collect();
        let pairs = pairs?;
        let sources: BTreeSet<&str> = pairs
            .iter()
            .map(|(label, _)| label.source.as_str())
            .collect();
        let each = |keep: &dyn Fn(&str, &str) -> bool| {
            let figures = |source: &&str| {
                let kept = pairs
                    .iter()
                    .filter(|(label, _)| keep(&label.source, source));
                ((*source).to_owned(), Figures::of(kept.copied()))
            };
            sources.iter().map(figures).collect()
        };
        Some(Self {
            all: Figures::of(pairs.iter().copied()),
            sources: each(&|is, source| is == source),
            without: each(&|is, source| is != source),
            families: families(&pairs),
            wrong: Metric::ALL
                .iter()
                .flat_map(|&metric| wrong(metric, &pairs))
                .collect(),
        })
    }

    /// The runs behind a number, under the policy of this number.
    #[must_use]
    pub fn behind(replayed: &[Replayed], policy: usize, metric: Metric) -> Vec<JudgedRun> {
        let pairs = replayed
            .iter()
            .filter_map(|one| Some((&one.label, one.runs.get(policy)?)));
        let asked = pairs.filter(|(label, run)| metric.asks(label, run));
        asked.map(|pair| JudgedRun::new(metric, pair)).collect()
    }
}

fn families(pairs: &[Pair<'_>]) -> BTreeMap<String, Figures> {
    let spoke: BTreeSet<&str> = pairs
        .iter()
        .flat_map(|(_, run)| run.rules.keys().map(|rule: &RuleId| rule.family()))
        .collect();
    let figures = |family: &str| {
        let alone: Vec<EvalRun> = pairs.iter().map(|(_, run)| run.by_family(family)).collect();
        let labels = pairs.iter().map(|(label, _)| *label);
        (family.to_owned(), Figures::of(labels.zip(&alone)))
    };
    spoke.into_iter().map(figures).collect()
}

fn wrong(metric: Metric, pairs: &[Pair<'_>]) -> Vec<WrongAnswer> {
    let asked = pairs.iter().filter(|(label, run)| metric.asks(label, run));
    let judged = asked.map(|pair| JudgedRun::new(metric, *pair));
    judged
        .filter(|run| metric.is_wrong(run.hit))
        .map(|run| WrongAnswer { metric, run })
        .collect()
}

impl JudgedRun {
    fn new(metric: Metric, (label, run): Pair<'_>) -> Self {
        Self {
            trace: label.trace.clone(),
            hit: metric.hit(run),
            calls: run.calls.len(),
            stuck_seq: label.stuck_seq,
            warn: run.warn.clone(),
            stop: run.stop.clone(),
            reader: label.reader.as_ref().map(|reader| reader.why.clone()),
        }
    }
}
