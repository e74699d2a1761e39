//! The store that commands work on, and what to say when it can't be used.

use std::path::{Path, PathBuf};

use sprag::{
    Capture, Guard, GuardError, Link, LinkError, LinkOptions, PolicyFile, PolicyFileError,
    ReplayError, StoreError,
};
use sprag_store::{SharedSqlite, SqliteOptions};

use crate::args::{DbArg, PlaceArgs};
use crate::clock;
use crate::failure::Failure;
use crate::policy_file;
use crate::settings::{PolicyPlace, Settings};

/// Where the store is.
#[derive(Debug)]
pub(crate) struct Db {
    path: PathBuf,
}

impl Db {
    /// The one that these settings and the `--db` flag lead to.
    pub(crate) fn find(settings: &Settings, flag: &DbArg) -> Result<Self, Failure> {
        let path = settings.db_place(flag.db.as_deref()).ok_or_else(|| {
            Failure::new("there is no home to keep the store in").next("name one with --db FILE")
        })?;
        Ok(Self { path })
    }

    /// This one and no other.
    pub(crate) fn named(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes its folder where it is missing, for nobody but its user to look into.
    pub(crate) fn make_folder(&self) -> Result<(), Failure> {
        sprag::make_private_folder(&self.path).map_err(Failure::from)
    }

    /// The store for looking at: one that is not there is not made.
    pub(crate) fn read(&self) -> Result<SharedSqlite, Failure> {
        if !self.path.exists() {
            return Err(
                Failure::new(format!("there is no store {}", self.path.display()))
                    .next("`sprag check` makes one with its first event; --db FILE names another"),
            );
        }
        let options = SqliteOptions {
            at: clock::now(),
            ..SqliteOptions::default()
        };
        Ok(SharedSqlite::open(&self.path, &options)?)
    }

    /// The guard over the store, which is made where it is missing.
    pub(crate) fn guard(
        &self,
        settings: &Settings,
        policy: Option<&Path>,
        capture: Capture,
    ) -> Result<Guard, Failure> {
        let builder = Guard::builder().file(&self.path).capture(capture);
        let builder = match policy_file(settings, policy)? {
            Some(file) => builder.policy_file(file),
            None => builder,
        };
        Ok(builder.build()?)
    }

    /// The way to the guard over the store: through the server that owns it, else the store itself.
    pub(crate) fn link(
        settings: &Settings,
        place: &PlaceArgs,
        policy: Option<&Path>,
        capture: Capture,
    ) -> Result<Link, Failure> {
        let db = Self::find(settings, &place.db)?.path;
        let (socket, db_flag) = (place.socket.as_deref(), place.db.db.as_deref());
        let options = LinkOptions {
            socket: Some(settings.socket_place(socket, db_flag, &db)),
            policy: policy_file(settings, policy)?,
            capture,
            ..LinkOptions::new(db)
        };
        Ok(Link::open(options)?)
    }

    /// The guard over a store that is there already.
    pub(crate) fn guard_of_known(
        &self,
        settings: &Settings,
        policy: Option<&Path>,
    ) -> Result<Guard, Failure> {
        drop(self.read()?);
        self.guard(settings, policy, Capture::Digest)
    }
}

/// The policy file that these settings and the `--policy` flag lead to.
pub(crate) fn policy_file(
    settings: &Settings,
    flag: Option<&Path>,
) -> Result<Option<PolicyFile>, Failure> {
    match settings.policy_place(flag) {
        PolicyPlace::Named(path) if !path.exists() => Err(policy_file::missing(&path)),
        PolicyPlace::Named(path) => Ok(Some(PolicyFile::required(path))),
        PolicyPlace::Usual(path) => Ok(Some(PolicyFile::optional(path))),
        PolicyPlace::Nowhere => Ok(None),
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            StoreError::Busy { .. } => failure.next("try again"),
            StoreError::Foreign { .. } => failure.next("name the store with --db FILE"),
            _ => failure,
        }
    }
}

impl From<GuardError> for Failure {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Store(error) => error.into(),
            GuardError::Policy(PolicyFileError::Wrong { ref path, .. }) => {
                let next = format!("mend it, then try `sprag policy check {}`", path.display());
                Self::new(error.to_string()).next(next)
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Guard(error) => error.into(),
            LinkError::Refused {
                status: 401 | 403, ..
            } => Self::new(error.to_string())
                .next("the operator's token lies beside the store; only its owner can read it"),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Store(error) => error.into(),
            ReplayError::Unreadable { path, source } => Self::unreadable(&path, &source),
            other => Self::new(other.to_string()),
        }
    }
}
