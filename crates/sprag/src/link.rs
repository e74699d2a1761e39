//! The way to the guard of this machine: the server's socket when one runs, else the shared store.
//!
//! A hook lives for one event and a wrapper for hours, and both must count in the same place: a loop
//! across two of them is one loop. A store has one owner at a time, so nobody may write beside a
//! server that owns it. A link knows both ways and changes over when a server comes or goes. Where
//! the owner does not answer there is no verdict: the adapter's `fail` mode decides, after
//! [`Link::marks`] told whether the session was stopped before.

mod client;
mod error;
mod fail_mode;
mod lazy;
mod patience;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sprag_core::{Event, Id, MAX_STARTERS, Panic, Role, Sender, Verdict};
use sprag_store::{Marks, StoreError};

use crate::capture::Capture;
use crate::guard::{Guard, GuardError, panic_file, panic_in};
use crate::policy_file::PolicyFile;

pub use client::{NOT_OWNER, ServerAnswer, ServerClient, hook_token_file, read_token};
pub use error::LinkError;
pub use fail_mode::FailMode;
pub use lazy::{LazyLink, NoVerdict};
use patience::patiently;

/// How long a server may take for one answer, unless said otherwise.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// Where the guard of this machine is to be found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LinkOptions {
    /// The server's socket; none: never ask a server.
    pub socket: Option<PathBuf>,
    /// The store.
    pub db: PathBuf,
    /// The policy, for where the store is opened without a server.
    pub policy: Option<PolicyFile>,
    /// How much of payloads the log keeps, for where the store is opened without a server.
    pub capture: Capture,
    /// How long a server may take for one answer.
    pub deadline: Duration,
    /// Judge as if every rule were in shadow: see [`Guard::in_shadow`].
    pub shadow: bool,
}

impl LinkOptions {
    /// The store at `db` without a server, under the default policy.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>) -> Self {
        Self {
            socket: None,
            db: db.into(),
            policy: None,
            capture: Capture::default(),
            deadline: DEADLINE,
            shadow: false,
        }
    }
}

/// Which way a link goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Through a running server.
    Server,
    /// Straight to the store.
    File,
}

#[derive(Clone)]
enum Way {
    Server(Arc<ServerClient>),
    File(Guard),
}

/// A link to the guard of this machine. Clones share it.
#[derive(Clone)]
pub struct Link {
    inner: Arc<LinkState>,
}

struct LinkState {
    /// None: there is one guard and no other way to it.
    options: Option<LinkOptions>,
    way: RwLock<Way>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link")
            .field(
                "db",
                &self.inner.options.as_ref().map(|options| &options.db),
            )
            .field("reached", &self.reached())
            .finish_non_exhaustive()
    }
}

impl Link {
    /// Finds the guard: a server that listens, else the store.
    ///
    /// # Errors
    /// Returns an error if the store can't be opened, or a server owns it and does not listen.
    pub fn open(options: LinkOptions) -> Result<Self, LinkError> {
        let way = find(&options)?;
        let inner = LinkState {
            options: Some(options),
            way: RwLock::new(way),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// A link to a guard that is at hand, such as one over Redis: there is no other way to it.
    #[must_use]
    pub fn over(guard: Guard) -> Self {
        let inner = LinkState {
            options: None,
            way: RwLock::new(Way::File(guard)),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// What to do about an event that comes in this role.
    ///
    /// # Errors
    /// Returns an error if there is no verdict; [`LinkError::is_no_answer`] tells whether the event is to blame or the
    /// guard.
    pub fn check_as(&self, role: Role, event: impl Into<Event>) -> Result<Verdict, LinkError> {
        let event = event.into();
        let options = self.inner.options.as_ref();
        let patience = options.map_or(Duration::ZERO, |options| options.deadline.min(DEADLINE));
        patiently(patience, || self.check_once(role, &event))
    }

    fn check_once(&self, role: Role, event: &Event) -> Result<Verdict, LinkError> {
        let gone = match self.way() {
            Way::Server(client) => match client.check(role, event, self.is_shadow()) {
                Err(error @ LinkError::Absent { .. }) => error,
                other => return other,
            },
            Way::File(guard) => match self
                .judging(&guard)
                .check_from(&sender(role), event.clone())
            {
                Err(error @ GuardError::Store(StoreError::Owned { .. })) => error.into(),
                other => return Ok(other?),
            },
        };
        // A server came or went: the other way. Who is still starting owns the store and does not
        // listen yet, and who ends does not listen any more; neither takes long.
        self.change_over(gone)?;
        match self.way() {
            Way::Server(client) => client.check(role, event, self.is_shadow()),
            Way::File(guard) => Ok(self
                .judging(&guard)
                .check_from(&sender(role), event.clone())?),
        }
    }

    fn is_shadow(&self) -> bool {
        self.inner
            .options
            .as_ref()
            .is_some_and(|options| options.shadow)
    }

    /// The guard as this link asks it.
    fn judging(&self, guard: &Guard) -> Guard {
        match self.is_shadow() {
            true => guard.in_shadow(),
            false => guard.clone(),
        }
    }

    /// Which way it went last.
    #[must_use]
    pub fn reached(&self) -> Reached {
        match self.way() {
            Way::Server(_) => Reached::Server,
            Way::File(_) => Reached::File,
        }
    }

    /// The server, where the link goes through one, for what is no event.
    #[must_use]
    pub fn server(&self) -> Option<Arc<ServerClient>> {
        match self.way() {
            Way::Server(client) => Some(client),
            Way::File(_) => None,
        }
    }

    /// The guard over the store, where the link goes straight to it.
    #[must_use]
    pub fn guard(&self) -> Option<Guard> {
        match self.way() {
            Way::Server(_) => None,
            Way::File(guard) => Some(guard),
        }
    }

    /// Whether `session` is killed or blocked, read straight from the store whoever owns it: for who
    /// must decide without a verdict. Where even that can't be read, nothing is known against it.
    #[must_use]
    pub fn marks(&self, session: &Id) -> Marks {
        match (&self.inner.options, self.way()) {
            (Some(options), _) => marks(&options.db, session),
            (None, Way::File(guard)) => marks_in(&guard, session),
            (None, Way::Server(_)) => Marks::default(),
        }
    }

    fn way(&self) -> Way {
        let held = self.inner.way.read();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change_over(&self, gone: LinkError) -> Result<(), LinkError> {
        let Some(options) = &self.inner.options else {
            return Err(gone);
        };
        let mut held = self
            .inner
            .way
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *held = find(options).map_err(|error| match error {
            LinkError::Guard(GuardError::Store(StoreError::Owned { .. })) => gone,
            other => other,
        })?;
        Ok(())
    }
}

/// Who a user of this machine is to a guard without a server. Whoever opens the store could read the tokens beside it,
/// so none is asked for.
fn sender(role: Role) -> Sender {
    Sender::anonymous(role)
}

/// Whether `session` is killed or blocked by what the store at `db` holds. Nothing is known against a
/// session whose store can't be read.
#[must_use]
pub fn marks(db: &Path, session: &Id) -> Marks {
    Marks::read(db, session).unwrap_or_default()
}

/// The panic that the store at `db`, or the file beside it, keeps in force.
#[must_use]
pub fn panic_at(db: &Path) -> Option<Panic> {
    let ordered = sprag_store::read_orders(db).unwrap_or_default().panic;
    ordered.or_else(|| panic_in(&panic_file(db)))
}

fn marks_in(guard: &Guard, session: &Id) -> Marks {
    let cell = |id: &str| guard.session(id).ok().flatten().map(|session| session.cell);
    let own = cell(session.as_str());
    let killed = |id: &str| cell(id).and_then(|cell| cell.killed().cloned());
    let mut marks = Marks {
        killed: killed(session.as_str()).or_else(|| session.parents().find_map(killed)),
        blocked: own.as_ref().and_then(|cell| cell.blocked().cloned()),
    };
    let mut starter = own.and_then(|cell| cell.starter().cloned());
    for _ in 0..MAX_STARTERS {
        let Some(above) = starter.filter(|_| marks.killed.is_none()) else {
            break;
        };
        marks.killed = killed(above.as_str()).or_else(|| above.parents().find_map(killed));
        starter = cell(above.as_str()).and_then(|cell| cell.starter().cloned());
    }
    marks
}

fn find(options: &LinkOptions) -> Result<Way, LinkError> {
    if let Some(socket) = &options.socket {
        let client = ServerClient::new(socket, &options.db, options.deadline);
        match client.connect() {
            Ok(()) => return Ok(Way::Server(Arc::new(client))),
            Err(LinkError::Absent { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let builder = Guard::builder().file(&options.db).capture(options.capture);
    let builder = match &options.policy {
        Some(file) => builder.policy_file(file.clone()).keep_last_policy(),
        None => builder,
    };
    Ok(Way::File(builder.build()?))
}
