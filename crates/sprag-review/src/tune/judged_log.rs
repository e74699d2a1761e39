//! A log of the guard itself as a history.
//!
//! A log says more than a plain list of events: what the guard answered. A session that it stopped
//! did not finish, and neither did one that ended while a rule in shadow would still have stopped it.
//! One whose stop a person marked as wrong did.
//! Counting those as healthy would suggest limits that let loops pass.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use sprag::replay::{RecordedForm, RecordedItem};
use sprag_core::{Decision, Id, Observation, Observed, Timestamp};
use sprag_store::Noted;

use super::history::{EventGroup, History, Unit};

/// A log with what was answered.
#[derive(Debug, Default)]
pub struct JudgedLog {
    events: Vec<JudgedEvent>,
    /// Sessions whose stop a person marked as wrong.
    wrong: HashSet<Id>,
}

impl JudgedLog {
    /// Adds a record.
    pub fn add(&mut self, item: RecordedItem) {
        if let RecordedItem::Note {
            what: Noted::StopMarkedWrong { session, .. },
            ..
        } = item
        {
            self.wrong.insert(session);
        } else {
            self.events.extend(JudgedEvent::of(item));
        }
    }

    /// Adds a line of `sprag log export`.
    ///
    /// # Errors
    /// Returns an error if the line is not a record of a log.
    pub fn add_export(&mut self, line: &str) -> Result<(), serde_json::Error> {
        let ExportLine { data } = serde_json::from_str(line)?;
        match data.note {
            Some(Noted::StopMarkedWrong { session, .. }) => {
                self.wrong.insert(session);
            }
            _ => self.events.extend(JudgedEvent::from_export(data)?),
        }
        Ok(())
    }
}

/// An event of a log with what was answered.
#[derive(Debug, Clone)]
struct JudgedEvent {
    observation: Observation,
    decision: Decision,
    would: Option<Decision>,
}

impl JudgedEvent {
    /// The event of a record; none for a note.
    fn of(item: RecordedItem) -> Option<Self> {
        let RecordedItem::Event(event) = item else {
            return None;
        };
        let RecordedForm::Observed(observation) = event.what else {
            return None;
        };
        let verdict = event.recorded?;
        Some(Self {
            observation: *observation,
            decision: verdict.decision,
            would: verdict.would.map(|would| would.decision),
        })
    }

    /// The exported event; none for a note.
    fn from_export(data: ExportedRecord) -> Result<Option<Self>, serde_json::Error> {
        let (Some(mut event), Some(verdict)) = (data.event, data.verdict) else {
            return Ok(None);
        };
        event.insert("at".to_owned(), data.at.0.into());
        Ok(Some(Self {
            observation: Observation::deserialize(Value::Object(event))?,
            decision: verdict.verdict,
            would: verdict.would.map(|would| would.verdict),
        }))
    }

    fn stops(&self) -> bool {
        self.decision >= Decision::Block || matches!(self.observation.what, Observed::Kill(_))
    }
}

#[derive(Deserialize)]
struct ExportLine {
    data: ExportedRecord,
}

#[derive(Deserialize)]
struct ExportedRecord {
    at: Timestamp,
    note: Option<Noted>,
    event: Option<Map<String, Value>>,
    verdict: Option<ExportedVerdict>,
}

#[derive(Deserialize)]
struct ExportedVerdict {
    verdict: Decision,
    would: Option<ExportedWould>,
}

#[derive(Deserialize)]
struct ExportedWould {
    verdict: Decision,
}

impl History {
    /// Adds a log of the guard: one unit for each session.
    pub fn add_log(&mut self, log: JudgedLog) {
        let JudgedLog { events, wrong } = log;
        let mut places: HashMap<Id, usize> = HashMap::new();
        let mut stopped: HashSet<usize> = HashSet::new();
        let mut group = EventGroup::recorded();
        for event in events {
            let session = event.observation.what.session().clone();
            let place = *places.entry(session).or_insert_with_key(|session| {
                self.units.push(Unit {
                    name: session.to_string(),
                    finished: true,
                });
                self.units.len() - 1
            });
            let is_wrong = wrong.contains(event.observation.what.session());
            if event.stops() && !is_wrong {
                stopped.insert(place);
            }
            // In shadow the last word decides: whoever got out of a loop alone was healthy after all.
            let is_stuck = event.would.is_some_and(Decision::refuses);
            if let Some(unit) = self.units.get_mut(place) {
                unit.finished = is_wrong || !is_stuck && !stopped.contains(&place);
            }
            group.see_observed(&event.observation.what);
            group.events.push((place, event.observation));
        }
        self.wrong_stops += wrong.iter().filter(|id| places.contains_key(*id)).count();
        self.groups.push(group);
    }
}
