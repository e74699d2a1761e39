//! The guard: policy, store, clock and log behind one question, [`Guard::check`].
//!
//! An adapter hands in what an agent is about to do and does what the verdict says. Everything in
//! between happens here in a fixed order: the role is looked at, the time is stamped, the payload is
//! digested under the store's key and forgotten, and the store judges, remembers and logs in one
//! step. A guard is a handle: clones share everything, from any thread.

mod active;
mod allow;
mod builder;
mod error;
mod operator;
mod panic;
mod pause;
mod pending_verdict;
mod refusal;
mod reload;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use sprag_core::{Digester, Event, Policy, Role, Sender, Timestamp, Verdict};
use sprag_store::{Draft, Durable, Note, Noted, Record, Retention, Store, StoreError, Wait};

use crate::capture::Capture;
use crate::clock::Clock;
use crate::feed::{FEED_LENGTH, Feed, Subscription};
use crate::policy_file::PolicyFileError;

use active::Policies;
pub use allow::AllowError;
pub use builder::{GuardBuilder, make_private_folder};
pub use error::GuardError;
pub use panic::panic_file;
#[cfg(feature = "sqlite")]
pub(crate) use panic::panic_in;
pub use pending_verdict::PendingVerdict;
pub use reload::Reload;
use reload::WatchedFile;
pub use watch::Watch;

/// A guard over agents. Cheap to clone; clones share everything.
///
/// `check` blocks at most for one commit of the store: microseconds in memory, a few milliseconds
/// where a kill, block or reset must reach the disk first. From async code it can be called as
/// it is, or inside `spawn_blocking` where even that is too long.
///
/// ```
/// use sprag::{Decision, Event, Guard};
/// let guard = Guard::in_memory()?;
/// for n in 1..=3 {
///     let call = Event::call("s1", "delete_asset")?.args(serde_json::json!({ "id": n }));
///     let verdict = guard.check(call)?;
///     assert_eq!(verdict.decision == Decision::Kill, n == 3);
/// }
/// # Ok::<(), sprag::GuardError>(())
/// ```
#[derive(Clone)]
pub struct Guard {
    inner: Arc<GuardState>,
    /// Judges as if every rule were in shadow.
    shadow: bool,
}

struct GuardState {
    store: Arc<dyn Store>,
    digester: Digester,
    clock: Arc<dyn Clock>,
    capture: Capture,
    retention: Retention,
    policies: RwLock<Arc<Policies>>,
    /// Why the policy file could not be used, if that is why these policies are in force.
    policy_problem: Option<PolicyFileError>,
    /// The policy file, where the policy came from one.
    watched: Option<Mutex<WatchedFile>>,
    feed: Feed,
    /// While this file is there, a panic is in force.
    panic_file: Option<PathBuf>,
    /// How many records were read from the log page by page.
    records_read: AtomicU64,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("store", &self.inner.store.status().kind)
            .field("policy", &self.inner.policies().normal.digest)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// A guard to be put together.
    pub fn builder() -> GuardBuilder {
        GuardBuilder::default()
    }

    /// A guard with the default policy that forgets everything with its process.
    ///
    /// # Errors
    /// Returns an error if the system gives no random numbers.
    pub fn in_memory() -> Result<Self, GuardError> {
        Self::builder().build()
    }

    /// A guard with the default policy over the file at `path`, which is made where it is missing and
    /// may be shared by many processes.
    ///
    /// # Errors
    /// Returns an error if the file can't be used.
    #[cfg(feature = "sqlite")]
    pub fn open(path: impl Into<std::path::PathBuf>) -> Result<Self, GuardError> {
        Self::builder().file(path).build()
    }

    /// The same guard for an adapter that enforces nothing: every rule is in shadow for what comes through it,
    /// as in a pause. Verdicts and the log report what would have been done, and the guard goes on learning.
    #[must_use]
    pub fn in_shadow(&self) -> Self {
        Self {
            shadow: true,
            ..self.clone()
        }
    }

    /// What to do about something that an agent does or is about to do. The time is now.
    ///
    /// # Errors
    /// Returns an error if the event is wrong, may not be sent by an agent, or could not be stored.
    pub fn check(&self, event: impl Into<Event>) -> Result<Verdict, GuardError> {
        self.check_as(Role::Agent, event)
    }

    /// The same for something that comes from a caller whom the program tells apart from others: an agent may act in
    /// the sessions that it opened, and the log names the sender. A program that speaks for all of its sessions itself
    /// uses [`check`](Self::check) and [`check_as`](Self::check_as).
    ///
    /// # Errors
    /// Returns an error if the event is wrong, is not for this sender to tell, acts in a session of somebody else, or
    /// could not be remembered.
    pub fn check_from(
        &self,
        sender: &Sender,
        event: impl Into<Event>,
    ) -> Result<Verdict, GuardError> {
        let (event, now) = (event.into(), self.inner.clock.now());
        let record = self.record_at(sender.role, Some(sender), &event, now)?;
        Ok(record.verdict.clone())
    }

    /// The same for something that comes in another role.
    ///
    /// # Errors
    /// Returns an error if the event is wrong, may not be sent in this role, or could not be stored.
    pub fn check_as(&self, role: Role, event: impl Into<Event>) -> Result<Verdict, GuardError> {
        self.check_at(role, event, self.inner.clock.now())
    }

    /// The same for something that happened at a known time, as in a recording.
    ///
    /// # Errors
    /// Returns an error if the event is wrong, may not be sent in this role, or could not be stored.
    pub fn check_at(
        &self,
        role: Role,
        event: impl Into<Event>,
        at: Timestamp,
    ) -> Result<Verdict, GuardError> {
        let record = self.record_at(role, None, &event.into(), at)?;
        Ok(record.verdict.clone())
    }

    /// The same as [`check_as`](Self::check_as), with the whole record that the log got: for whoever tells others of it.
    ///
    /// # Errors
    /// Returns an error if the event is wrong, may not be sent in this role, or could not be stored.
    pub fn record_as(
        &self,
        role: Role,
        event: impl Into<Event>,
    ) -> Result<Arc<Record>, GuardError> {
        self.record_at(role, None, &event.into(), self.inner.clock.now())
    }

    fn record_at(
        &self,
        role: Role,
        sender: Option<&Sender>,
        event: &Event,
        at: Timestamp,
    ) -> Result<Arc<Record>, GuardError> {
        may_tell(role, event)?;
        let record = self.inner.decide((role, self.shadow), event, sender, at)?;
        self.keep_in_bounds(record.seq);
        Ok(record)
    }

    /// Hears everything that this guard and its clones decide and note from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_with(FEED_LENGTH)
    }

    /// The same for a listener that must not miss anything for a while: up to `room` records wait for it.
    #[must_use]
    pub fn subscribe_with(&self, room: usize) -> Subscription {
        self.inner.feed.subscribe(room)
    }

    /// The policy in force, without a pause.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.inner.policies().normal.policy.clone()
    }

    /// Why the policy file could not be used when this guard was made, if another policy is in force
    /// for that reason.
    #[must_use]
    pub fn policy_problem(&self) -> Option<&PolicyFileError> {
        self.inner.policy_problem.as_ref()
    }

    /// The time as this guard sees it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// The store underneath.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.inner.store
    }
}

fn may_tell(role: Role, event: &Event) -> Result<(), GuardError> {
    role.may_tell(event)
        .map_err(|what| GuardError::Forbidden { role, what })
}

impl GuardState {
    fn policies(&self) -> Arc<Policies> {
        let held = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&held)
    }

    fn decide(
        &self,
        by: (Role, bool),
        event: &Event,
        sender: Option<&Sender>,
        at: Timestamp,
    ) -> Result<Arc<Record>, GuardError> {
        let (record, wait) = self.decide_soon(by, event, sender, at)?;
        self.tell(&record);
        match wait.map(Wait::block).transpose()? {
            Some(Durable::No) => Ok(Arc::new(record.not_durable())),
            _ => Ok(record),
        }
    }

    /// Tells everyone of a record that is in the log.
    fn tell(&self, record: &Arc<Record>) {
        if record.seq > 0 {
            self.feed.tell(record);
        }
    }

    fn decide_soon(
        &self,
        (role, shadow): (Role, bool),
        event: &Event,
        sender: Option<&Sender>,
        at: Timestamp,
    ) -> Result<(Arc<Record>, Option<Wait>), GuardError> {
        let policies = self.policies();
        let orders = self.orders_at(at)?;
        let policy = match orders.pause {
            None if !shadow => &policies.normal,
            _ => policies.paused(),
        };
        let mut observation = self.digester.observe(event, at, &policy.policy)?;
        observation.sender = sender.cloned();
        observation.panic = orders.panic.or_else(|| self.panic_by_file());
        role.sets_via(&mut observation.what);
        self.capture.scrub(&mut observation);
        let draft = Draft {
            observation,
            policy: Arc::clone(policy),
            captured: self.capture.capture(event),
        };
        match self.store.decide_soon(draft) {
            Ok(decided) => Ok((Arc::new(decided.record), decided.wait)),
            Err(error @ StoreError::TooManyMarks { .. }) => {
                let record = self.refused_session(event, at, error.to_string())?;
                Ok((Arc::new(record), None))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn note(&self, at: Timestamp, what: Noted) -> Result<(), GuardError> {
        self.note_under(&self.policies(), at, what)
    }

    fn note_under(
        &self,
        policies: &Policies,
        at: Timestamp,
        what: Noted,
    ) -> Result<(), GuardError> {
        let policy = Arc::clone(&policies.normal);
        let record = Arc::new(self.store.note(Note { at, policy, what })?);
        self.feed.tell(&record);
        Ok(())
    }
}
