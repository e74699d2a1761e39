//! What people look for across sessions: equal stops, spending, agents and flows.
//!
//! The log has all of it, and reading the log for every page would take as long as the log is. So each record is
//! counted once when it is made, into tables that are bounded whatever agents send: the newest stops, one row for each
//! session in each hour, and the flows. A page is a sum over these rows and reads no record.
//!
//! At the start the end of the log is read into a ledger of its own while new records are counted already; then the
//! two are joined. `complete_since` tells from when on nothing is missing.

mod agents;
mod flows;
mod hours;
mod pattern;
mod spend;
mod stops;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sprag::{Id, LogQuery, Record};
use sprag_core::Observed;
use sprag_store::{MAX_PAGE, Noted, Store, StoreError};

pub(crate) use agents::AgentTotals;
use flows::Flows;
pub(crate) use flows::{FlowFilter, FlowRow};
use hours::Hours;
pub(crate) use hours::{SpendBy, SpendRow};
pub(crate) use spend::{Spend, dollars};
use stops::Stops;
pub(crate) use stops::{GroupSort, Stop, StopFilter, StopGroup, group_number};

/// How many records are read at most at the start.
const MAX_RECORDS: u64 = 500_000;
/// The most stops that are remembered as wrong.
const MAX_WRONG: usize = 10_000;

/// A span of time, in milliseconds since 1970: from the first to before the last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) from: Option<u64>,
    pub(crate) to: Option<u64>,
}

impl Span {
    pub(crate) fn has(&self, at: u64) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to)
    }
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) stops: Stops,
    pub(crate) hours: Hours,
    pub(crate) flows: Flows,
    /// The records of stops that a person marked as wrong.
    wrong: BTreeSet<u64>,
    /// What is needed of each session while it is active.
    sessions: HashMap<Id, SessionEntry>,
    /// Something older fell out, or was never read.
    complete_since: Option<u64>,
    /// The time of the last record.
    last: u64,
}

/// A session, as far as its next record needs it.
#[derive(Debug, Default)]
struct SessionEntry {
    /// The hour of its last record.
    hour: u64,
    /// What it spent so far.
    spent: Spend,
    /// The flow that it works in: calls and usage rarely name it.
    flow: Option<Id>,
}

impl SessionEntry {
    /// Takes note of the flow that a record puts the session into, or takes it out of.
    fn follow(&mut self, what: &Observed) {
        match what {
            Observed::DispatchEnd(_) => self.flow = None,
            what => {
                if let Some(flow) = what.flow() {
                    self.flow = Some(flow.clone());
                }
            }
        }
    }
}

/// What people look for across sessions.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Records up to this one are for [`Activity::rebuild`].
    starts_after: u64,
    state: Mutex<(Ledger, bool)>,
}

impl Ledger {
    /// Counts a record. Records come in the order of the log.
    fn count(&mut self, record: &Record) {
        if let Some(Noted::StopMarkedWrong { seq, .. }) = record.note() {
            self.wrong.insert(*seq);
            while self.wrong.len() > MAX_WRONG {
                self.wrong.pop_first();
            }
        }
        let Some(observation) = record.observation() else {
            return;
        };
        let (session, at) = (observation.what.session(), record.at.0);
        self.last = self.last.max(at);
        let spend = match &observation.what {
            Observed::Usage(usage) => Spend::of(usage),
            _ => None,
        };
        let held = self.sessions.entry(session.clone()).or_default();
        held.hour = hours::hour(at);
        if let Some((_, spend)) = &spend {
            held.spent.add(spend);
        }
        let works_in = held.flow.clone();
        held.follow(&observation.what);
        let spent = held.spent;
        self.hours.count(record, spend.as_ref());
        let spend = spend.as_ref().map(|(_, spend)| spend);
        self.flows.count(record, works_in.as_ref(), spend);
        if let Some(stop) = Stop::of(record, works_in, spent) {
            self.stops.push(stop);
        }
        self.keep_in_bounds();
    }

    fn keep_in_bounds(&mut self) {
        let dropped = [self.stops.shed(), self.flows.shed(), self.hours.shed()];
        if let Some(at) = dropped.into_iter().flatten().max() {
            self.complete_since = self.complete_since.max(Some(at.saturating_add(1)));
            let oldest = self.hours.oldest();
            self.sessions.retain(|_, held| held.hour >= oldest);
        }
    }

    /// Takes in what was counted later.
    fn join(&mut self, later: Self) {
        for mut stop in later.stops {
            if let Some(held) = self.sessions.get(stop.session()) {
                stop.spent_before(&held.spent);
            }
            self.stops.push(stop);
        }
        self.hours.join(later.hours);
        self.flows.join(later.flows);
        self.wrong.extend(later.wrong);
        for (session, later) in later.sessions {
            let held = self.sessions.entry(session).or_default();
            held.hour = held.hour.max(later.hour);
            held.spent.add(&later.spent);
            held.flow = later.flow;
        }
        self.complete_since = self.complete_since.max(later.complete_since);
        self.last = self.last.max(later.last);
        self.keep_in_bounds();
    }

    /// From when on nothing is missing; none if nothing is missing at all.
    pub(crate) fn complete_since(&self) -> Option<u64> {
        self.complete_since
    }

    /// Whether a person marked the stop at record `seq` as wrong.
    pub(crate) fn is_wrong(&self, seq: u64) -> bool {
        self.wrong.contains(&seq)
    }
}

impl Activity {
    /// Counts from the record after `last_seq` on; what was before it is for [`Activity::rebuild`].
    pub(crate) fn new(last_seq: u64) -> Self {
        Self {
            starts_after: last_seq,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, (Ledger, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a record.
    pub(crate) fn observe(&self, record: &Record) {
        if record.seq > self.starts_after {
            self.state().0.count(record);
        }
    }

    /// Remembers that records were missed: nothing up to the last one that was counted is complete.
    pub(crate) fn missed(&self) {
        let mut state = self.state();
        let last = state.0.last.saturating_add(1);
        state.0.complete_since = state.0.complete_since.max(Some(last));
    }

    /// Asks the tables something; `true` means that the log was read.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Ledger, bool) -> T) -> T {
        let state = self.state();
        question(&state.0, state.1)
    }

    /// Reads the end of the log into the tables. For a thread of its own: it may take seconds.
    ///
    /// # Errors
    /// Returns an error if the log can't be read; what was counted live stays.
    pub(crate) fn rebuild(
        &self,
        store: &dyn Store,
        go_on: impl Fn() -> bool,
    ) -> Result<(), StoreError> {
        let base = store.base()?.after;
        let start = self.starts_after.saturating_sub(MAX_RECORDS).max(base);
        let mut past = Ledger::default();
        let mut query = LogQuery {
            after: Some(start),
            limit: MAX_PAGE,
            ..LogQuery::default()
        };
        let mut is_first = true;
        while go_on() {
            let page = store.records(&query)?;
            for record in &page.items {
                if record.seq > self.starts_after {
                    break;
                }
                if std::mem::take(&mut is_first) && start > 0 {
                    past.complete_since = Some(record.at.0);
                }
                past.count(record);
            }
            let ended = page
                .items
                .last()
                .is_none_or(|last| last.seq >= self.starts_after);
            match page.next {
                Some(next) if !ended => query.after = Some(next),
                _ => break,
            }
        }
        let mut state = self.state();
        let live = std::mem::take(&mut state.0);
        past.join(live);
        *state = (past, true);
        Ok(())
    }
}
