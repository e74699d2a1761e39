//! Which messages are being worked on: the dispatch context of every session that the relay passes messages to.
//!
//! While a session works on a message, what it sends belongs to the same flow. The guard keeps that as a set of
//! running flows for each session; here it is counted, because two messages of one flow may be in work in one
//! session at once, and the flow ends there with the last of them. An upstream that says 202 works on after
//! its answer: its dispatch lingers until the session is said to be idle, or until the flow's time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sprag::{Event, Guard, GuardError, Id, Role};
use sprag_core::DispatchEvent;
use tokio::task::AbortHandle;

/// A flow in a session.
type DispatchKey = (Id, Id);

/// What is in work for one flow in one session.
#[derive(Default)]
struct InWork {
    answering: usize,
    lingering: HashMap<u64, AbortHandle>,
}

#[derive(Default)]
struct DispatchTable {
    entries: HashMap<DispatchKey, InWork>,
    last: u64,
}

/// Everything that is in work.
pub(super) struct Dispatches {
    guard: Guard,
    table: Mutex<DispatchTable>,
}

impl Dispatches {
    pub(super) fn new(guard: Guard) -> Self {
        Self {
            guard,
            table: Mutex::default(),
        }
    }

    /// `session` starts to work on a message of `flow`.
    pub(super) fn start(
        self: &Arc<Self>,
        session: &Id,
        flow: &Id,
    ) -> Result<DispatchGuard, GuardError> {
        let key = (session.clone(), flow.clone());
        // Held while the guard is told, so that its log has starts and ends in the order of the counts.
        let mut table = self.table();
        let event = Event::DispatchStart(event(&key));
        self.guard.check_soon(Role::Relay, event)?;
        table.entries.entry(key.clone()).or_default().answering += 1;
        Ok(DispatchGuard {
            of: Arc::clone(self),
            key,
        })
    }

    /// `session` works on nothing any more; or on nothing of `flow`. What is still being answered goes on.
    pub(super) fn idle(&self, session: &Id, flow: Option<&Id>) -> Result<(), GuardError> {
        let mut table = self.table();
        // The guard is asked, not the table: what lingers may have started before this server did.
        let Some(state) = self.guard.state(session.as_str())? else {
            return Ok(());
        };
        for running in state.dispatches {
            if flow.is_some_and(|flow| *flow != running) {
                continue;
            }
            let key = (session.clone(), running);
            if let Some(work) = table.entries.get_mut(&key) {
                for (_, timer) in work.lingering.drain() {
                    timer.abort();
                }
            }
            self.settle(&mut table, key)?;
        }
        Ok(())
    }

    /// Ends the dispatch of a key where nothing is in work.
    fn settle(&self, table: &mut DispatchTable, key: DispatchKey) -> Result<(), GuardError> {
        let work = table.entries.get(&key);
        if work.is_some_and(|work| work.answering > 0 || !work.lingering.is_empty()) {
            return Ok(());
        }
        table.entries.remove(&key);
        let event = Event::DispatchEnd(event(&key));
        self.guard.check_soon(Role::Relay, event)?;
        Ok(())
    }

    fn over(&self, table: &mut DispatchTable, key: DispatchKey) {
        if let Err(error) = self.settle(table, key) {
            // The store is gone; the session's context ends with its next idle or reset.
            tracing::error!("the end of a dispatch could not be recorded: {error}");
        }
    }

    fn table(&self) -> MutexGuard<'_, DispatchTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn event((session, flow): &DispatchKey) -> DispatchEvent {
    let mut event = DispatchEvent::new(session.clone());
    event.flow = Some(flow.clone());
    event
}

/// A message that is being worked on; when this is dropped, it is not any more.
pub(super) struct DispatchGuard {
    of: Arc<Dispatches>,
    key: DispatchKey,
}

impl DispatchGuard {
    /// It is worked on beyond the answer, for `longest` at most.
    pub(super) fn linger(self, longest: Duration) {
        let (of, key) = (Arc::clone(&self.of), self.key.clone());
        let mut table = self.of.table();
        table.last = table.last.wrapping_add(1);
        let number = table.last;
        let timer = tokio::spawn(async move {
            tokio::time::sleep(longest).await;
            let mut table = of.table();
            if let Some(work) = table.entries.get_mut(&key) {
                work.lingering.remove(&number);
            }
            of.over(&mut table, key);
        });
        let work = table.entries.entry(self.key.clone()).or_default();
        work.lingering.insert(number, timer.abort_handle());
    }
}

impl Drop for DispatchGuard {
    fn drop(&mut self) {
        let mut table = self.of.table();
        if let Some(work) = table.entries.get_mut(&self.key) {
            work.answering = work.answering.saturating_sub(1);
        }
        self.of.over(&mut table, self.key.clone());
    }
}
