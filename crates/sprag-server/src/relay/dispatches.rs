//! Which messages are being worked on: the dispatch context of every session that the relay forwards messages to.
//!
//! While a session works on a message, the messages that it sends belong to the same flow. The guard keeps the set
//! of running flows of each session. Two messages of one flow may be in work in one session at once, so they
//! are counted here, and the flow ends in that session with the last of them. An upstream that answers 202 works
//! on after its answer: its dispatch lingers until the session is reported idle, or until the flow's
//! time is over.
//!
//! The log must have the starts and ends of one flow in one session in the order of the counts: an end that
//! overtook the next start would take the flow from a message that is in work. So only one event of such a pair is
//! recorded at a time, and the next one waits for it. Other pairs don't wait, and the table is not locked
//! while the guard decides.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sprag::{Event, GuardError, Id};
use sprag_core::DispatchEvent;
use tokio::task::AbortHandle;

use super::SENDER;
use crate::app::App;

/// A session and a flow that it works on.
type DispatchKey = (Id, Id);

/// The messages of one flow that are in work in one session.
#[derive(Default)]
struct InWork {
    /// Messages whose answers have not ended.
    answering: usize,
    /// The timers of messages that are in work beyond their answers.
    lingering: HashMap<u64, AbortHandle>,
    /// An event of this pair is being recorded.
    recording: bool,
}

impl InWork {
    fn is_over(&self) -> bool {
        self.answering == 0 && self.lingering.is_empty()
    }
}

#[derive(Default)]
struct DispatchTable {
    entries: HashMap<DispatchKey, InWork>,
    /// The number of the last timer.
    last_timer: u64,
}

/// Everything that is in work.
#[derive(Default)]
pub(super) struct Dispatches {
    table: Mutex<DispatchTable>,
    /// Notified whenever an event was recorded.
    recorded: Condvar,
}

impl Dispatches {
    /// Records that `session` starts to work on a message of `flow`.
    pub(super) async fn start(
        self: &Arc<Self>,
        app: &App,
        session: &Id,
        flow: &Id,
        parent: Option<&str>,
    ) -> Result<DispatchGuard, GuardError> {
        let dispatches = Arc::clone(self);
        let key = (session.clone(), flow.clone());
        let parent = parent.map(Into::into);
        // If the request is gone by then, the guard is dropped as soon as it is made, and the dispatch ends.
        app.with_store(move |app| dispatches.start_blocking(app, key, parent))
            .await
    }

    fn start_blocking(
        self: Arc<Self>,
        app: &App,
        key: DispatchKey,
        parent: Option<Box<str>>,
    ) -> Result<DispatchGuard, GuardError> {
        let mut table = self.turn(&key);
        let work = table.entries.entry(key.clone()).or_default();
        work.answering += 1;
        work.recording = true;
        drop(table);
        let end = DispatchEnd {
            dispatches: Arc::clone(&self),
            app: app.clone(),
            key,
            parent,
        };
        let start = Event::DispatchStart(event(&end.key));
        // If this fails, dropping `end` takes the count back and records an end, which changes nothing.
        self.record(app, &end.key, start, end.parent.as_deref())?;
        Ok(DispatchGuard(Some(end)))
    }

    /// Ends what lingers in `session`, or only what belongs to `flow`. Messages that are still being answered go on.
    pub(super) fn idle(
        &self,
        app: &App,
        session: &Id,
        flow: Option<&Id>,
        parent: Option<&str>,
    ) -> Result<(), GuardError> {
        // The guard knows more than the table: some may linger from before this server started.
        let Some(state) = app.guard().state(session.as_str())? else {
            return Ok(());
        };
        for running in state.dispatches {
            if flow.is_some_and(|flow| *flow != running) {
                continue;
            }
            let key = (session.clone(), running);
            self.end(app, &key, parent, |work| {
                for (_, timer) in work.lingering.drain() {
                    timer.abort();
                }
            })?;
        }
        Ok(())
    }

    /// Applies `change` to a pair, and records the end of its dispatch if nothing is in work any more.
    fn end(
        &self,
        app: &App,
        key: &DispatchKey,
        parent: Option<&str>,
        change: impl FnOnce(&mut InWork),
    ) -> Result<(), GuardError> {
        let mut table = self.turn(key);
        let work = table.entries.entry(key.clone()).or_default();
        change(work);
        if !work.is_over() {
            return Ok(());
        }
        work.recording = true;
        drop(table);
        self.record(app, key, Event::DispatchEnd(event(key)), parent)
    }

    /// Waits until no event of this pair is being recorded.
    fn turn(&self, key: &DispatchKey) -> MutexGuard<'_, DispatchTable> {
        let mut table = self.table();
        while table.entries.get(key).is_some_and(|work| work.recording) {
            let recorded = self.recorded.wait(table);
            table = recorded.unwrap_or_else(PoisonError::into_inner);
        }
        table
    }

    /// Records an event of a pair that is marked as recording. The table is not locked meanwhile.
    fn record(
        &self,
        app: &App,
        key: &DispatchKey,
        event: Event,
        parent: Option<&str>,
    ) -> Result<(), GuardError> {
        let decided = app.decide_blocking(&SENDER, event, parent);
        let mut table = self.table();
        if let Some(work) = table.entries.get_mut(key) {
            work.recording = false;
            if work.is_over() {
                table.entries.remove(key);
            }
        }
        self.recorded.notify_all();
        decided.map(drop)
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

/// A message that is in work. Dropping it ends the dispatch; [`end`](Self::end) also waits for that.
pub(super) struct DispatchGuard(Option<DispatchEnd>);

impl DispatchGuard {
    /// Ends the dispatch, and returns when the end is recorded.
    pub(super) async fn end(mut self) {
        if let Some(end) = self.0.take() {
            let app = end.app.clone();
            // Nothing is left to do if it fails: dropping it reports errors.
            let _ = app
                .with_store(move |_| {
                    drop(end);
                    Ok(())
                })
                .await;
        }
    }

    /// Lets it be in work beyond the answer, for `longest` at most.
    pub(super) fn linger(self, longest: Duration) {
        let Some(end) = &self.0 else { return };
        let (app, key) = (end.app.clone(), end.key.clone());
        let dispatches = Arc::clone(&end.dispatches);
        // Locked until the timer is in the table: it may run out at once.
        let mut table = end.dispatches.table();
        table.last_timer = table.last_timer.wrapping_add(1);
        let number = table.last_timer;
        let timer = tokio::spawn(async move {
            tokio::time::sleep(longest).await;
            let ended = app.with_store(move |app| {
                dispatches.end(app, &key, None, |work| {
                    work.lingering.remove(&number);
                })
            });
            report(ended.await);
        });
        let work = table.entries.entry(end.key.clone()).or_default();
        work.lingering.insert(number, timer.abort_handle());
    }
}

impl Drop for DispatchGuard {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            let app = end.app.clone();
            app.with_store_detached(move || drop(end));
        }
    }
}

/// Records the end of a dispatch when it is dropped, on the thread that drops it. So the end is recorded even if the
/// server ends before another thread could do it.
struct DispatchEnd {
    dispatches: Arc<Dispatches>,
    app: App,
    key: DispatchKey,
    /// The `traceparent` of the request that brought the message.
    parent: Option<Box<str>>,
}

impl Drop for DispatchEnd {
    fn drop(&mut self) {
        let parent = self.parent.as_deref();
        report(self.dispatches.end(&self.app, &self.key, parent, |work| {
            work.answering = work.answering.saturating_sub(1);
        }));
    }
}

/// Without a store the context of the session ends with its next idle or reset.
fn report(ended: Result<(), GuardError>) {
    if let Err(error) = ended {
        tracing::error!("could not record the end of a dispatch: {error}");
    }
}
