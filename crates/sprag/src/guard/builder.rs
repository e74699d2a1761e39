//! Putting a guard together: policy, store, capture and clock, each with a sound default.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};

use sprag_core::Policy;
use sprag_store::{MemoryStore, Noted, Retention, Store, read_policy};
#[cfg(feature = "sqlite")]
use sprag_store::{OwnedSqlite, SharedSqlite, SqliteOptions};
#[cfg(feature = "redis")]
use sprag_store::{RedisOptions, RedisStore};

use super::active::Policies;
#[cfg(feature = "sqlite")]
use super::panic::panic_file;
use super::reload::WatchedFile;
use super::{Guard, GuardError, GuardState};
use crate::capture::Capture;
#[cfg(feature = "redis")]
use crate::clock::RedisClock;
use crate::clock::{Clock, SystemClock};
use crate::feed::Feed;
use crate::policy_file::PolicyFile;

/// A guard being put together. Without a word it is the default policy in memory.
///
/// ```
/// use sprag::{Capture, Guard, Policy};
/// let guard = Guard::builder()
///     .policy(Policy::from_toml("[flow]\nmax_depth = 3\n")?)
///     .capture(Capture::Preview)
///     .build()?;
/// # let _ = guard;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct GuardBuilder {
    policy: PolicyFrom,
    keeps_last_policy: bool,
    store: StoreFrom,
    capture: Capture,
    retention: Retention,
    clock: Option<Arc<dyn Clock>>,
    panic_file: Option<PathBuf>,
}

enum PolicyFrom {
    Given(Box<Policy>),
    File(PolicyFile),
}

enum StoreFrom {
    Memory,
    #[cfg(feature = "sqlite")]
    Shared(PathBuf),
    #[cfg(feature = "sqlite")]
    Owned {
        path: PathBuf,
        accept_loss: bool,
    },
    Given(Arc<dyn Store>),
    #[cfg(feature = "redis")]
    Redis(Box<RedisOptions>),
}

impl Default for GuardBuilder {
    fn default() -> Self {
        Self {
            policy: PolicyFrom::Given(Box::default()),
            keeps_last_policy: false,
            store: StoreFrom::Memory,
            capture: Capture::default(),
            retention: Retention::default(),
            clock: None,
            panic_file: None,
        }
    }
}

impl std::fmt::Debug for GuardBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardBuilder").finish_non_exhaustive()
    }
}

impl GuardBuilder {
    /// Judges by this policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = PolicyFrom::Given(Box::new(policy));
        self
    }

    /// Judges by this file, which can then be reloaded and watched.
    pub fn policy_file(mut self, file: PolicyFile) -> Self {
        self.policy = PolicyFrom::File(file);
        self
    }

    /// Keeps everything in this store.
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.store = StoreFrom::Given(Arc::new(store));
        self
    }

    /// Keeps everything in the SQLite file at `path`, one transaction an event, beside other
    /// processes that do the same. The file and its folder are made where they are missing. Needs the
    /// feature `sqlite`, which is on by default.
    #[cfg(feature = "sqlite")]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.panic_file = Some(panic_file(&path));
        self.store = StoreFrom::Shared(path);
        self
    }

    /// Takes the SQLite file at `path` for this process alone: faster, for a server.
    #[cfg(feature = "sqlite")]
    pub fn owned_file(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.panic_file = Some(panic_file(&path));
        let accept_loss = false;
        self.store = StoreFrom::Owned { path, accept_loss };
        self
    }

    /// Keeps a panic in force while there is a file at `path`. A file store looks for `panic` beside itself.
    pub fn panic_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.panic_file = Some(path.into());
        self
    }

    /// Shares everything with all processes that use the same namespace in Redis. Unless a clock
    /// is given, the time is Redis', so that processes whose clocks differ agree. Needs the feature
    /// `redis`.
    ///
    /// ```no_run
    /// use sprag::{Guard, RedisOptions};
    /// let guard = Guard::builder()
    ///     .redis(RedisOptions::new("redis://127.0.0.1:6379/0"))
    ///     .build()?;
    /// # let _ = guard;
    /// # Ok::<(), sprag::GuardError>(())
    /// ```
    #[cfg(feature = "redis")]
    pub fn redis(mut self, options: RedisOptions) -> Self {
        self.store = StoreFrom::Redis(Box::new(options));
        self
    }

    /// Takes the file of [`Self::owned_file`] even if its log was cut or replaced, and writes that into the log.
    #[cfg(feature = "sqlite")]
    pub fn accept_loss(mut self, accept: bool) -> Self {
        if let StoreFrom::Owned { accept_loss, .. } = &mut self.store {
            *accept_loss = accept;
        }
        self
    }

    /// Says how much of payloads the log keeps; nothing, unless said.
    pub fn capture(mut self, capture: Capture) -> Self {
        self.capture = capture;
        self
    }

    /// How long and how large the log may get; thirty days and 256 MiB where nothing is said.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Takes the time from this clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// If the policy file can't be used, judges by the policy that the log knows last, else by the built-in
    /// one: a mistake in a file must not switch the guard off. [`Guard::policy_problem`] reports it.
    pub fn keep_last_policy(mut self) -> Self {
        self.keeps_last_policy = true;
        self
    }

    /// Makes the guard. The log is told where its policy is not the one it last spoke of.
    ///
    /// # Errors
    /// Returns an error if the policy is wrong or the store can't be used.
    pub fn build(self) -> Result<Guard, GuardError> {
        let (policy, watched) = match self.policy {
            PolicyFrom::Given(policy) => (Ok(*policy), None),
            PolicyFrom::File(file) => {
                let text = file.text();
                let policy = text.clone().and_then(|text| file.parse(text.as_deref()));
                (policy, Some(WatchedFile::new(file, text)))
            }
        };
        if let (Err(error), false) = (&policy, self.keeps_last_policy) {
            return Err(error.clone().into());
        }
        let (store, clock) = self.store.open(self.clock)?;
        let (policy, policy_problem) = match policy {
            Ok(policy) => (policy, None),
            Err(problem) => (last_policy(&*store)?, Some(problem)),
        };
        let source = watched.as_ref().and_then(WatchedFile::start);
        let inner = GuardState {
            digester: crate::digester::digester(store.digest_key()),
            store,
            clock,
            capture: self.capture,
            retention: self.retention,
            policies: RwLock::new(Arc::new(Policies::new(policy))),
            policy_problem,
            watched: watched.map(Mutex::new),
            feed: Feed::default(),
            panic_file: self.panic_file,
            records_read: AtomicU64::new(0),
        };
        inner.tell_policy(source)?;
        Ok(Guard {
            inner: Arc::new(inner),
            shadow: false,
        })
    }
}

/// The policy that the log knows last, else the built-in one.
fn last_policy(store: &dyn Store) -> Result<Policy, GuardError> {
    let Some(digest) = store.noted_policy()? else {
        return Ok(Policy::default());
    };
    let text = store.policy_text(&digest)?;
    let policy = text.and_then(|text| read_policy(&digest, &text));
    Ok(policy.unwrap_or_default())
}

type Opened = (Arc<dyn Store>, Arc<dyn Clock>);

impl StoreFrom {
    /// Opens the store, and finds the clock that goes with it where none was given.
    fn open(self, given: Option<Arc<dyn Clock>>) -> Result<Opened, GuardError> {
        let clock = given.clone().unwrap_or_else(|| Arc::new(SystemClock));
        #[cfg(feature = "sqlite")]
        let options = |accept_loss| SqliteOptions {
            at: clock.now(),
            accept_loss,
            ..SqliteOptions::default()
        };
        let store: Arc<dyn Store> = match self {
            Self::Memory => Arc::new(MemoryStore::new()?),
            Self::Given(store) => store,
            #[cfg(feature = "sqlite")]
            Self::Shared(path) => {
                make_private_folder(&path)?;
                Arc::new(SharedSqlite::open(&path, &options(false))?)
            }
            #[cfg(feature = "sqlite")]
            Self::Owned { path, accept_loss } => {
                make_private_folder(&path)?;
                Arc::new(OwnedSqlite::open(&path, &options(accept_loss))?)
            }
            #[cfg(feature = "redis")]
            Self::Redis(options) => {
                let store = Arc::new(RedisStore::open(*options)?);
                let of_redis = RedisClock::new(Arc::clone(&store));
                return Ok((store, given.unwrap_or_else(|| Arc::new(of_redis))));
            }
        };
        Ok((store, clock))
    }
}

/// Makes the folder of the store at `path`, for nobody but its user to look into.
///
/// # Errors
/// Returns an error if it can't be made.
pub fn make_private_folder(path: &Path) -> Result<(), GuardError> {
    let Some(folder) = path.parent().filter(|folder| !folder.exists()) else {
        return Ok(());
    };
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|source| GuardError::Folder {
        path: folder.to_owned(),
        source,
    })
}

impl GuardState {
    /// Tells the log which policy is in force, unless it knows: a process that lives for one event
    /// need not say it again.
    fn tell_policy(&self, source: Option<String>) -> Result<(), GuardError> {
        let known = self.store.noted_policy()?;
        let policies = self.policies();
        let digest = &policies.normal.digest;
        match known {
            Some(known) if known == *digest => Ok(()),
            Some(from) => {
                let what = Noted::PolicyChanged {
                    from,
                    source,
                    by: None,
                    why: None,
                };
                self.note(self.clock.now(), what)
            }
            None => self.note(self.clock.now(), Noted::PolicyLoaded { source }),
        }
    }
}
