//! A log of the guard itself as a history.
//!
//! A log says more than a plain list of events: what the guard answered. A session that it stopped
//! did not finish, and neither did one that ended while a rule in shadow would still have stopped it.
//! Counting those as healthy would suggest limits that let loops pass.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use sprag_core::{Decision, Id, Observation, Observed, Timestamp};

use super::history::{EventGroup, History, Unit};
use crate::replay::{RecordedForm, RecordedItem};

/// An event of a log with what was answered.
#[derive(Debug, Clone)]
pub struct JudgedEvent {
    observation: Observation,
    decision: Decision,
    would: Option<Decision>,
}

impl JudgedEvent {
    /// The event of a record; none for a note.
    #[must_use]
    pub fn of(item: RecordedItem) -> Option<Self> {
        let RecordedItem::Event(event) = item else {
            return None;
        };
        let RecordedForm::Observed(observation) = event.what else {
            return None;
        };
        let verdict = event.recorded?;
        Some(Self {
            observation,
            decision: verdict.decision,
            would: verdict.would.map(|would| would.decision),
        })
    }

    /// The event in a line of `sprag log export`; none for a note.
    ///
    /// # Errors
    /// Returns an error if the line is not a record of a log.
    pub fn from_export(line: &str) -> Result<Option<Self>, serde_json::Error> {
        let ExportLine { data } = serde_json::from_str(line)?;
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
    pub fn add_log(&mut self, events: impl IntoIterator<Item = JudgedEvent>) {
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
            if event.stops() {
                stopped.insert(place);
            }
            // In shadow the last word decides: whoever got out of a loop alone was healthy after all.
            let is_stuck = event.would.is_some_and(Decision::refuses);
            if let Some(unit) = self.units.get_mut(place) {
                unit.finished = !is_stuck && !stopped.contains(&place);
            }
            group.see_observed(&event.observation.what);
            group.events.push((place, event.observation));
        }
        self.groups.push(group);
    }
}
