//! The store that commands work on, and what to say when it can't be used.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sprag::{
    Capture, Guard, GuardError, Link, LinkError, LinkOptions, Millis, OfflineDecision, PolicyFile,
    RedisOptions, RedisStore, ReplayError, RuleFailModes, Store, StoreError,
};
use sprag_store::{SharedSqlite, SqliteOptions};

use crate::args::{DbArg, PlaceArgs, RedisArgs, StoreArgs};
use crate::clock;
use crate::failure::Failure;
use crate::settings::Settings;

/// Where the store is.
#[derive(Debug)]
pub(crate) struct Db {
    location: Location,
}

#[derive(Debug)]
enum Location {
    File(PathBuf),
    /// With the file beside which tokens and sockets lie.
    Redis(Box<RedisOptions>, PathBuf),
}

impl Db {
    /// The one that these settings and the flags lead to.
    pub(crate) fn find(settings: &Settings, args: &StoreArgs) -> Result<Self, Failure> {
        let (flag, redis) = (args.file.db.as_deref(), &args.redis);
        let mut found = Self::file(settings, &args.file)?;
        if let Some(url) = settings.redis_url(redis.redis.as_deref(), flag) {
            let password = redis_password(redis, settings)?;
            let options = Box::new(redis_options(redis, url, password)?);
            found.location = Location::Redis(options, found.path().to_owned());
        }
        Ok(found)
    }

    /// The file that these settings and the `--db` flag lead to.
    pub(crate) fn file(settings: &Settings, flag: &DbArg) -> Result<Self, Failure> {
        let path = settings.db_place(flag.db.as_deref()).ok_or_else(|| {
            Failure::new("there is no home to keep the store in").next("name one with --db FILE")
        })?;
        Ok(Self {
            location: Location::File(path),
        })
    }

    /// This one and no other.
    pub(crate) fn named(path: &Path) -> Self {
        Self {
            location: Location::File(path.to_owned()),
        }
    }

    /// Where the file is, beside which tokens and sockets lie; with Redis only those lie there.
    pub(crate) fn path(&self) -> &Path {
        match &self.location {
            Location::File(path) | Location::Redis(_, path) => path,
        }
    }

    /// How Redis is used, where it is.
    pub(crate) fn redis(&self) -> Option<&RedisOptions> {
        match &self.location {
            Location::File(_) => None,
            Location::Redis(options, _) => Some(options),
        }
    }

    /// Makes its folder where it is missing, for nobody but its user to look into.
    pub(crate) fn make_folder(&self) -> Result<(), Failure> {
        sprag::make_private_folder(self.path()).map_err(Failure::from)
    }

    /// The store for looking at: a file that is not there is not made.
    pub(crate) fn read(&self) -> Result<Box<dyn Store>, Failure> {
        let path = match &self.location {
            Location::File(path) => path,
            Location::Redis(options, _) => {
                return Ok(Box::new(RedisStore::open(RedisOptions::clone(options))?));
            }
        };
        if !path.exists() {
            return Err(
                Failure::new(format!("there is no store {}", path.display()))
                    .next("`sprag check` makes one with its first event; --db FILE names another"),
            );
        }
        let options = SqliteOptions {
            at: clock::now(),
            ..SqliteOptions::default()
        };
        Ok(Box::new(SharedSqlite::open(path, &options)?))
    }

    /// The guard over the store, which is made where it is missing.
    pub(crate) fn guard(
        &self,
        settings: &Settings,
        policy: Option<&Path>,
        capture: Capture,
    ) -> Result<Guard, Failure> {
        let builder = match &self.location {
            Location::File(path) => Guard::builder().file(path),
            Location::Redis(options, _) => Guard::builder().redis(RedisOptions::clone(options)),
        };
        let builder = builder.capture(capture);
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
        let db = Self::find(settings, &place.db)?;
        if db.redis().is_some() {
            return Ok(Link::over(db.guard(settings, policy, capture)?));
        }
        Ok(Link::open(Self::link_options(
            settings, place, policy, capture,
        )?)?)
    }

    /// Where the way to a file's guard starts, for who goes it later.
    pub(crate) fn link_options(
        settings: &Settings,
        place: &PlaceArgs,
        policy: Option<&Path>,
        capture: Capture,
    ) -> Result<LinkOptions, Failure> {
        let db = Self::find(settings, &place.db)?;
        let db = db.path();
        let (socket, db_flag) = (place.socket.as_deref(), place.db.file.db.as_deref());
        let mut options = LinkOptions::new(db);
        options.socket = Some(settings.socket_place(socket, db_flag, db));
        options.policy = policy_file(settings, policy)?;
        options.capture = capture;
        Ok(options)
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

/// The password of Redis, from where neither a process list nor a shell's history shows it.
fn redis_password(args: &RedisArgs, settings: &Settings) -> Result<Option<String>, Failure> {
    let Some(file) = &args.redis_password_file else {
        return Ok(settings.text("SPRAG_REDIS_PASSWORD"));
    };
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::unreadable(file, &error))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(Failure::new(format!(
            "--redis-password-file: {} is empty",
            file.display()
        ))),
        password => Ok(Some(password.to_owned())),
    }
}

/// How Redis is to be used, as the flags say.
fn redis_options(
    args: &RedisArgs,
    url: String,
    password: Option<String>,
) -> Result<RedisOptions, Failure> {
    let mut fail = RuleFailModes::default();
    for mode in &args.redis_fail {
        fail = fail
            .read(mode)
            .map_err(|error| Failure::new(format!("--redis-fail: {error}")))?;
    }
    let read =
        |path: &PathBuf| std::fs::read(path).map_err(|error| Failure::unreadable(path, &error));
    let Millis(deadline) = args.redis_deadline;
    let mut options = RedisOptions::new(url);
    options.password = password;
    options.namespace = args.namespace.clone();
    options.ca = args.redis_ca.as_ref().map(read).transpose()?;
    options.deadline = Duration::from_millis(deadline.max(1));
    options.fail = fail;
    options.replicas = args.redis_replicas;
    options.on_offline = Some(Arc::new(log_offline));
    Ok(options)
}

/// A line for every decision that was made without Redis.
fn log_offline(decision: &OfflineDecision) {
    let rule = decision
        .rule
        .map_or(String::new(), |rule| format!(" by {rule}"));
    anstream::eprintln!(
        "decided without Redis: {} for session {}{rule} ({})",
        decision.verdict,
        decision.session,
        decision.why
    );
}

/// The policy file that these settings and the `--policy` flag lead to.
pub(crate) fn policy_file(
    settings: &Settings,
    flag: Option<&Path>,
) -> Result<Option<PolicyFile>, Failure> {
    let file = settings.policy_file(flag);
    if let Some(file) = &file {
        // Also where a running server reads its own policy: a wrong path is a mistake all the same.
        file.text()?;
    }
    Ok(file)
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            StoreError::Busy { .. } => failure.next("try again"),
            StoreError::Cut { .. } => failure.next(
                "put the file back from a backup, or start with --accept-loss: kills and counts of the \
                 records that are missing are lost",
            ),
            StoreError::Foreign { .. } => failure.next("name the store with --db FILE"),
            _ => failure,
        }
    }
}

impl From<GuardError> for Failure {
    fn from(error: GuardError) -> Self {
        match error {
            GuardError::Store(error) => error.into(),
            GuardError::Policy(error) => error.into(),
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
