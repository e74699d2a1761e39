//! The one way to a decision.
//!
//! Every route, the relay and the mounted MCP proxy ask here and nowhere else. So every decision is timed, exported
//! as a span, and counted if the store fails, whichever way its event came in.
//!
//! Which thread decides depends on the store. A store that this process owns decides in memory within
//! microseconds: moving that to another thread would cost more than the decision, so the thread that read the
//! request makes it. A store that others write to as well (Redis) may have to wait for the network. On a worker
//! thread of the runtime that would hold up every other request there, `/healthz` too, so such a decision is
//! made on a thread that may block.

use std::sync::Arc;

use sprag::{
    Decision, Durable, Event, GuardError, PendingVerdict, Record, Role, Sender, StoreError, Wait,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::app::App;
use crate::session_limits::{TooMany, sessions};
use crate::stopwatch::Stopwatch;

impl App {
    /// Decides on an event, and returns its record once the verdict may be answered: a kill, block or reset is
    /// durable by then. `parent` is the `traceparent` of the request.
    pub(crate) async fn decide(
        &self,
        sender: Sender,
        event: Event,
        parent: Option<&str>,
    ) -> Result<Arc<Record>, GuardError> {
        let watch = Stopwatch::start();
        let is_hook = sender.role == Role::Hook;
        let checked = self.with_store(move |app| app.check(&sender, event));
        let decided = match checked.await {
            Ok(PendingVerdict {
                record,
                wait: Some(wait),
            }) => durable(wait).await.map(|end| self.told(record, end)),
            Ok(PendingVerdict { record, wait: None }) => Ok(record),
            Err(error) => Err(error),
        };
        if let (true, Ok(record)) = (is_hook, &decided) {
            self.note_question(record);
        }
        self.observed(watch, decided, parent)
    }

    /// The same for code that can't await. Call it inside [`with_store`](Self::with_store), or on a thread that may
    /// block.
    pub(crate) fn decide_blocking(
        &self,
        sender: &Sender,
        event: Event,
        parent: Option<&str>,
    ) -> Result<Arc<Record>, GuardError> {
        let watch = Stopwatch::start();
        let decided = self.check(sender, event).and_then(|checked| {
            let Some(wait) = checked.wait else {
                return Ok(checked.record);
            };
            // A worker thread hands its other tasks to another one before it waits for the disk.
            let end = tokio::task::block_in_place(|| wait.block())?;
            Ok(self.told(checked.record, end))
        });
        if let (Role::Hook, Ok(record)) = (sender.role, &decided) {
            self.note_question(record);
        }
        self.observed(watch, decided, parent)
    }

    /// Takes note of a question that a hook's client may ask in its own window.
    fn note_question(&self, record: &Record) {
        if record.verdict.decision == Decision::Ask {
            self.questions().asked_by_client(record);
        }
    }

    /// Asks the guard, unless the event would open a session too many.
    fn check(&self, sender: &Sender, event: Event) -> Result<PendingVerdict, GuardError> {
        for id in sessions(&event) {
            if self.guard().store().knows_session(id)? {
                continue;
            }
            if let Err(TooMany { why, is_first }) =
                self.session_counts().open(sender, self.guard().now())
            {
                if is_first {
                    tracing::error!(target: "sprag", "[Guard] new sessions are refused: {why}");
                }
                let record = Arc::new(self.guard().refuse_session(&event, why)?);
                return Ok(PendingVerdict { record, wait: None });
            }
        }
        let checked = self.guard().check_soon(sender, event)?;
        self.session_counts().judged(sender, checked.verdict());
        Ok(checked)
    }

    /// The record as it is answered: it says so if it could not be written.
    fn told(&self, record: Arc<Record>, end: Durable) -> Arc<Record> {
        match end {
            Durable::Yes => record,
            Durable::No => {
                self.metrics().not_durable();
                Arc::new(record.not_durable())
            }
        }
    }

    /// Runs `work`, which asks the store: on this thread if the store answers from memory, else on one that may
    /// wait. Once started it runs to its end, even if whoever awaits it is gone.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, GuardError> + Send + 'static,
    ) -> Result<T, GuardError> {
        if !self.store_may_wait() {
            return work(self);
        }
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        // It panicked, or the server ended before it could start.
        done.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Runs `work` on the same thread as [`with_store`](Self::with_store) would, without waiting for its end. If the
    /// server ends before `work` could start, `work` is dropped.
    pub(crate) fn with_store_detached(&self, work: impl FnOnce() + Send + 'static) {
        match Handle::try_current() {
            Ok(runtime) if self.store_may_wait() => drop(runtime.spawn_blocking(work)),
            _ => work(),
        }
    }

    /// Whether an answer of the store may take as long as the network does.
    fn store_may_wait(&self) -> bool {
        self.guard().store().others_write()
    }

    /// Times and exports a decision that was made, and counts a failure of the store.
    fn observed(
        &self,
        watch: Stopwatch,
        decided: Result<Arc<Record>, GuardError>,
        parent: Option<&str>,
    ) -> Result<Arc<Record>, GuardError> {
        match &decided {
            Ok(record) => {
                let took = watch.elapsed();
                self.metrics().decided(took);
                if let Some(telemetry) = self.telemetry() {
                    telemetry.decided(record, took, parent);
                }
            }
            // An event that is wrong or somebody else's says nothing about the store.
            Err(GuardError::Store(StoreError::Engine(_))) => {}
            Err(GuardError::Store(error)) => self.metrics().store_failed(error),
            Err(_) => {}
        }
        decided
    }
}

/// Waits until a record is durable, without holding a thread.
async fn durable(wait: Wait) -> Result<Durable, GuardError> {
    let (sender, receiver) = oneshot::channel();
    // The request may be gone by then; nobody needs the result in that case.
    wait.then(move |end| drop(sender.send(end)));
    let end = receiver.await.unwrap_or(Err(StoreError::Closed));
    Ok(end?)
}
