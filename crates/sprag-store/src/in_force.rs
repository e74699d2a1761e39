//! What notes put in force for everyone who shares a store: a policy, a pause, a panic.
//!
//! The log says when each of them changed. The store also keeps the latest, because every event
//! needs to know whether a pause or a panic is in force, and searching the log for the last note that says so
//! would cost more than judging the event.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sprag_core::{Panic, Timestamp};

use crate::error::StoreError;
use crate::note::Noted;
use crate::record::Record;

/// Every rule is in shadow until somebody resumes or the time is up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Pause {
    /// Whether it has ended by itself at `at`.
    #[must_use]
    pub fn is_over(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }
}

/// What an operator ordered for everyone who shares a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingOrders {
    /// The pause that was noted last and not ended by a note; it may have run out.
    pub pause: Option<Pause>,
    /// The panic that was noted last and not ended.
    pub panic: Option<Panic>,
}

impl StandingOrders {
    /// Reads what [`Record::puts_in_force`] wrote under [`PAUSE`] and [`PANIC`]; no bytes mean none.
    pub(crate) fn from_bytes(pause: &[u8], panic: &[u8]) -> Result<Self, StoreError> {
        Ok(Self {
            pause: read("the pause", pause)?,
            panic: read("the panic", panic)?,
        })
    }

    /// Takes over what a record changes.
    pub(crate) fn apply(&mut self, record: &Record) {
        match record.note() {
            Some(Noted::Paused(pause)) => self.pause = Some(pause.clone()),
            Some(Noted::Resumed { .. }) => self.pause = None,
            Some(Noted::Panicked(panic)) => self.panic = Some(panic.clone()),
            Some(Noted::Calmed { .. }) => self.panic = None,
            _ => {}
        }
    }
}

fn read<T: DeserializeOwned>(place: &str, bytes: &[u8]) -> Result<Option<T>, StoreError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let order = serde_json::from_slice(bytes);
    order.map(Some).map_err(|error| StoreError::Damaged {
        place: place.to_owned(),
        what: error.to_string(),
    })
}

/// The name under which a database keeps the pause.
pub(crate) const PAUSE: &str = "pause";
/// The name under which a database keeps the panic.
pub(crate) const PANIC: &str = "panic";
/// The name under which a database keeps the digest of the policy that was noted last.
pub(crate) const POLICY: &str = "policy";

impl Record {
    /// What this record puts in force, as the name and the bytes under which a database keeps it.
    pub(crate) fn puts_in_force(&self) -> Option<(&'static str, Vec<u8>)> {
        match self.note()? {
            // A few texts in a map always serialise.
            Noted::Paused(pause) => Some((PAUSE, serde_json::to_vec(pause).unwrap_or_default())),
            Noted::Resumed { .. } => Some((PAUSE, Vec::new())),
            Noted::Panicked(panic) => Some((PANIC, serde_json::to_vec(panic).unwrap_or_default())),
            Noted::Calmed { .. } => Some((PANIC, Vec::new())),
            Noted::PolicyLoaded { .. } | Noted::PolicyChanged { .. } => {
                Some((POLICY, self.policy.as_bytes().to_vec()))
            }
            _ => None,
        }
    }
}

/// What is in force, for a store that keeps it in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct InForce {
    pub(crate) policy: Option<String>,
    pub(crate) orders: StandingOrders,
}

impl InForce {
    /// Takes over what a record changes.
    pub(crate) fn apply(&mut self, record: &Record) {
        self.orders.apply(record);
        let note = record.note();
        if let Some(Noted::PolicyLoaded { .. } | Noted::PolicyChanged { .. }) = note {
            self.policy = Some(record.policy.clone());
        }
    }
}
