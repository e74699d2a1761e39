//! Folding recorded runs, each from nothing.
//!
//! After a block or kill the session's later events are skipped: they are what the stop would have
//! saved, and judging them would count a dead agent's defiance. Other sessions of the run go on.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use sprag_core::{Decision, Event, Id, Millis, Policy, Verdict};

use super::error::EvalError;
use super::files::{TraceFile, read_bytes};
use super::label::Label;
use super::policy::EvalPolicy;
use super::run::{EvalRun, FirstVerdict};
use super::split::{Trace, split};
use super::workers::each;
use sprag::Judge;

/// A run with its label, and what came of it under each policy.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// What is known of it.
    pub label: Label,
    /// What came of it, in the order of the policies.
    pub runs: Vec<EvalRun>,
}

/// A line that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

/// Replays every run in `files` under each of `policies`, on as many threads as there are cores.
/// With a `pace`, every recorded step comes that long after the one before. `done` is told after each
/// run. Runs come in the order of files and lines.
///
/// # Errors
/// Returns an error if a file can't be read.
pub fn replay(
    files: &[TraceFile],
    labels: &HashMap<String, Label>,
    policies: &[EvalPolicy],
    pace: Option<Millis>,
    done: &(dyn Fn() + Sync),
) -> Result<(Vec<Replayed>, Vec<Flaw>), EvalError> {
    let results = each(files, |file| {
        replay_file(file, labels, policies, pace, done)
    });
    let mut all = Vec::new();
    let mut flaws = Vec::new();
    for result in results {
        let (runs, skipped) = result?;
        all.extend(runs);
        flaws.extend(skipped);
    }
    all.sort_by(|a: &Replayed, b| a.label.trace.cmp(&b.label.trace));
    Ok((all, flaws))
}

fn replay_file(
    file: &TraceFile,
    labels: &HashMap<String, Label>,
    policies: &[EvalPolicy],
    pace: Option<Millis>,
    done: &(dyn Fn() + Sync),
) -> Result<(Vec<Replayed>, Vec<Flaw>), EvalError> {
    let stem = file.stem();
    let bytes = read_bytes(&file.path)?;
    let mut runs = Vec::new();
    let mut flaws = Vec::new();
    for mut trace in split(&bytes, &stem) {
        if let Some(pace) = pace {
            trace.set_pace(pace);
        }
        let label = labels.get(&trace.name).cloned();
        let label = label.unwrap_or_else(|| Label::unknown(&trace.name, &stem));
        let under = |policy: &EvalPolicy| fold(&trace, policy.for_time(label.time));
        runs.push(Replayed {
            runs: policies.iter().map(under).collect(),
            label,
        });
        flaws.extend(trace.flaws.into_iter().map(|(line, why)| Flaw {
            path: file.path.clone(),
            line,
            why,
        }));
        done();
    }
    Ok((runs, flaws))
}

fn fold(trace: &Trace, policy: &Policy) -> EvalRun {
    let mut judge = Judge::new(policy.clone());
    let mut over: HashSet<&Id> = HashSet::new();
    let mut run = EvalRun {
        trace: trace.name.clone(),
        ..EvalRun::default()
    };
    for traced in &trace.events {
        match &traced.event {
            Event::Call(_) => run.calls.push(traced.seq),
            Event::Step(_) => run.has_steps = true,
            Event::Message(_) => run.has_messages = true,
            _ => {}
        }
        let session = traced.event.session();
        if over.contains(session) {
            continue;
        }
        // An event that can't be judged changes nothing; a recording has no one to tell.
        let Ok(verdict) = judge.judge(&traced.event, traced.at) else {
            continue;
        };
        if verdict.decision >= Decision::Block {
            over.insert(session);
        }
        run.note(traced.seq, verdict);
    }
    run.calls.sort_unstable();
    run
}

impl EvalRun {
    fn note(&mut self, seq: u64, verdict: Verdict) {
        let (Some(rule), true) = (verdict.rule, verdict.decision > Decision::Allow) else {
            return;
        };
        let marks = self.rules.entry(rule).or_default();
        let (slot, first) = if verdict.refuses() {
            (&mut marks.stop, &mut self.stop)
        } else {
            (&mut marks.warn, &mut self.warn)
        };
        slot.get_or_insert(seq);
        first.get_or_insert_with(|| FirstVerdict {
            seq,
            verdict: verdict.decision,
            rule,
            message: verdict.message.unwrap_or_default(),
        });
        // What another rule would have answered is not told; that it spoke is a warning at least.
        for also in verdict.also {
            self.rules.entry(also).or_default().warn.get_or_insert(seq);
        }
    }
}
