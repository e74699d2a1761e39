//! A log as a recording, page by page.

use sprag_core::Id;
use sprag_store::{LogQuery, LogScope, Record, RecordKind, Store, StoreError};

use super::error::ReplayError;
use super::recorded::{RecordedEvent, RecordedForm, RecordedItem};

/// The records of a store as they were when this was made; later ones are left out.
pub struct LogRecording<'a> {
    store: &'a dyn Store,
    query: LogQuery,
    last: u64,
    page: std::vec::IntoIter<Record>,
    done: bool,
}

impl std::fmt::Debug for LogRecording<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogRecording")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl<'a> LogRecording<'a> {
    /// Everything.
    #[must_use]
    pub fn all(store: &'a dyn Store) -> Self {
        Self::of(store, LogScope::All)
    }

    /// Everything after record `seq`.
    #[must_use]
    pub fn after(store: &'a dyn Store, seq: u64) -> Self {
        let mut recording = Self::all(store);
        recording.query.after = Some(seq);
        recording
    }

    /// What concerns one session: every event that shares a cell with it.
    #[must_use]
    pub fn session(store: &'a dyn Store, session: Id) -> Self {
        Self::of(store, LogScope::Sharing(session))
    }

    /// What the recorded verdicts of one session depend on: enough to prove them again, and less than
    /// [`session`](Self::session) if no policy of the log counts over the sessions of an agent.
    #[must_use]
    pub fn recorded(store: &'a dyn Store, session: Id) -> Self {
        Self::of(store, LogScope::Recorded(session))
    }

    /// The events of one session and no others.
    #[must_use]
    pub fn own(store: &'a dyn Store, session: Id) -> Self {
        Self::of(store, LogScope::Session(session))
    }

    fn of(store: &'a dyn Store, scope: LogScope) -> Self {
        Self {
            store,
            query: LogQuery {
                scope,
                ..LogQuery::default()
            },
            last: store.status().last_seq,
            page: Vec::new().into_iter(),
            done: false,
        }
    }

    fn next_record(&mut self) -> Result<Option<Record>, StoreError> {
        loop {
            if let Some(record) = self.page.next() {
                return Ok(Some(record).filter(|record| record.seq <= self.last));
            }
            if self.done {
                return Ok(None);
            }
            let page = self.store.records(&self.query)?;
            self.done = page.next.is_none();
            self.query.after = page.next;
            self.page = page.items.into_iter();
        }
    }
}

impl Iterator for LogRecording<'_> {
    type Item = Result<RecordedItem, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_record() {
            Ok(record) => record.map(|record| Ok(RecordedItem::from(record))),
            Err(error) => {
                self.done = true;
                Some(Err(error.into()))
            }
        }
    }
}

impl From<Record> for RecordedItem {
    fn from(record: Record) -> Self {
        match record.kind {
            RecordKind::Note(what) => Self::Note {
                number: record.seq,
                at: record.at,
                what,
            },
            RecordKind::Event { observation, .. } => Self::Event(Box::new(RecordedEvent {
                number: record.seq,
                at: record.at,
                what: RecordedForm::Observed(observation),
                recorded: Some(record.verdict),
                policy: Some(record.policy),
            })),
        }
    }
}
