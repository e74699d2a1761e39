//! One record of the log, as people and replays read it.

use sprag_core::{Observation, Timestamp, Verdict};

use crate::draft::Captured;
use crate::hash::Hash;
use crate::note::Noted;

/// What a record is about.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordKind {
    /// Something that an agent, a user or an operator did.
    Event {
        /// What happened, with everything resolved.
        observation: Box<Observation>,
        /// Its payload, where capture was on.
        captured: Option<Captured>,
    },
    /// Something that the guard or the store did.
    Note(Noted),
}

/// One record of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number: 1, 2, 3…
    pub seq: u64,
    /// When it happened, as the event says. Clocks differ: only `seq` orders records.
    pub at: Timestamp,
    /// What it is about.
    pub kind: RecordKind,
    /// What was answered; `allow` for a note.
    pub verdict: Verdict,
    /// The digest of the policy in force.
    pub policy: String,
    /// The rules it was judged under.
    pub rules_version: u32,
    /// The hash of the record before.
    pub prev: Hash,
    /// Its hash.
    pub hash: Hash,
}

impl Record {
    /// The same, with an answer that says that it could not be written.
    #[must_use]
    pub fn not_durable(&self) -> Self {
        let mut record = self.clone();
        record.verdict.durable = Some(false);
        record
    }

    /// The event, where it is one.
    #[must_use]
    pub fn observation(&self) -> Option<&Observation> {
        match &self.kind {
            RecordKind::Event { observation, .. } => Some(observation),
            RecordKind::Note(_) => None,
        }
    }

    /// The note, where it is one.
    #[must_use]
    pub fn note(&self) -> Option<&Noted> {
        match &self.kind {
            RecordKind::Event { .. } => None,
            RecordKind::Note(noted) => Some(noted),
        }
    }
}
