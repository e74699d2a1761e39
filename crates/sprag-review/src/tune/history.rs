//! What happened, digested once and folded many times.
//!
//! A grid asks the same history a hundred questions. Digesting costs far more than judging, and an
//! observation holds what any policy may ask for, so events are digested only once.

use std::collections::{HashMap, HashSet};

use sprag::Judge;
use sprag_core::{Event, Id, Observation, Observed, Policy};

use super::knob::{Knob, Needs};
use crate::eval::{
    EvalError, Flaw, Label, NEED_TIME, TimeSource, Trace, TraceFile, each, read_bytes, split,
};

/// A user's history: traces, each folded by itself, or logs.
#[derive(Debug, Default)]
pub struct History {
    pub(super) groups: Vec<EventGroup>,
    pub(super) units: Vec<Unit>,
    pub(super) wrong_stops: usize,
    /// The lines that are not events.
    pub flaws: Vec<Flaw>,
}

/// What is stopped or not: a labelled run, or a session of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) finished: bool,
}

/// Events that are folded into the same cells.
#[derive(Debug)]
pub(super) struct EventGroup {
    time: TimeSource,
    seen: Vec<Needs>,
    /// Each event with the place of its unit.
    pub(super) events: Vec<(usize, Observation)>,
}

impl EventGroup {
    /// Whether this rule could fire here.
    pub(super) fn concerns(&self, knob: &Knob) -> bool {
        let timed = self.time == TimeSource::Recorded || !NEED_TIME.contains(&knob.rule);
        let seen = |needs| self.seen.contains(&needs);
        let has = match knob.needs {
            Needs::CallsAlone => seen(Needs::Calls) && !seen(Needs::Steps),
            needs => seen(needs),
        };
        timed && has
    }
}

impl History {
    /// Reads and digests `files`; `policy` decides which arguments name what is destroyed.
    ///
    /// # Errors
    /// Returns an error if a file can't be read.
    pub fn read(
        files: &[TraceFile],
        labels: &HashMap<String, Label>,
        policy: &Policy,
    ) -> Result<Self, EvalError> {
        let mut history = Self::default();
        for part in each(files, |file| read_file(file, labels, policy)) {
            history.join(part?);
        }
        Ok(history)
    }

    /// Adds a session that was observed elsewhere, with its times; `finished` means that it came to a good end. What users
    /// wrote in it is not talk between agents, so limits on messages are left out.
    pub fn add(&mut self, name: &str, finished: bool, observations: Vec<Observation>) {
        let place = self.units.len();
        self.units.push(Unit {
            name: name.to_owned(),
            finished,
        });
        let mut group = EventGroup::recorded();
        for observation in observations {
            group.see_observed(&observation.what);
            group.events.push((place, observation));
        }
        group.seen.retain(|seen| *seen != Needs::Messages);
        self.groups.push(group);
    }

    /// How many runs or sessions there are, and how many of them finished.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let finished = self.units.iter().filter(|unit| unit.finished).count();
        (self.units.len(), finished)
    }

    /// How many sessions have a stop that a person marked as wrong.
    #[must_use]
    pub fn wrong_stops(&self) -> usize {
        self.wrong_stops
    }

    /// Whether any of what happened in `group` finished.
    pub(super) fn has_finished(&self, group: &EventGroup) -> bool {
        let mut units = group
            .events
            .iter()
            .filter_map(|(place, _)| self.units.get(*place));
        units.any(|unit| unit.finished)
    }

    fn join(&mut self, part: Self) {
        let before = self.units.len();
        self.units.extend(part.units);
        self.wrong_stops += part.wrong_stops;
        self.flaws.extend(part.flaws);
        self.groups.extend(part.groups.into_iter().map(|mut group| {
            for (unit, _) in &mut group.events {
                *unit += before;
            }
            group
        }));
    }

    fn take(&mut self, trace: &Trace, label: Option<&Label>, policy: &Policy) {
        let judge = Judge::new(policy.clone());
        let killed: HashSet<&Id> = trace
            .events
            .iter()
            .filter_map(|one| killed(&one.event))
            .collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut group = EventGroup {
            time: label.map_or(TimeSource::Recorded, |label| label.time),
            seen: Vec::new(),
            events: Vec::with_capacity(trace.events.len()),
        };
        for traced in &trace.events {
            let session = traced.event.session();
            let Ok(observation) = judge.observe(&traced.event, traced.at) else {
                continue;
            };
            let name = if trace.is_named {
                trace.name.as_str()
            } else {
                session.as_str()
            };
            let place = *places.entry(name).or_insert_with(|| {
                let finished = match label {
                    Some(label) => label.is_good(),
                    None => !killed.contains(session),
                };
                self.units.push(Unit {
                    name: name.to_owned(),
                    finished,
                });
                self.units.len() - 1
            });
            group.see(&traced.event);
            group.events.push((place, observation));
        }
        self.groups.push(group);
    }
}

impl EventGroup {
    /// An empty one, for events with their times.
    pub(super) fn recorded() -> Self {
        Self {
            time: TimeSource::Recorded,
            seen: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn see_observed(&mut self, what: &Observed) {
        match what {
            Observed::Message(_) => self.note(Needs::Messages),
            Observed::Call(_) => self.note(Needs::Calls),
            Observed::Step(_) => self.note(Needs::Steps),
            _ => {}
        }
    }

    fn see(&mut self, event: &Event) {
        let seen = match event {
            Event::Message(_) => Needs::Messages,
            Event::Call(_) => Needs::Calls,
            Event::Step(_) => Needs::Steps,
            _ => return,
        };
        self.note(seen);
    }

    fn note(&mut self, seen: Needs) {
        if !self.seen.contains(&seen) {
            self.seen.push(seen);
        }
    }
}

fn killed(event: &Event) -> Option<&Id> {
    match event {
        Event::Kill(order) => Some(&order.session),
        _ => None,
    }
}

fn read_file(
    file: &TraceFile,
    labels: &HashMap<String, Label>,
    policy: &Policy,
) -> Result<History, EvalError> {
    let bytes = read_bytes(&file.path)?;
    let mut history = History::default();
    for trace in split(&bytes, &file.stem()) {
        history.take(&trace, labels.get(&trace.name), policy);
        history
            .flaws
            .extend(trace.flaws.into_iter().map(|(line, why)| Flaw {
                path: file.path.clone(),
                line,
                why,
            }));
    }
    Ok(history)
}
