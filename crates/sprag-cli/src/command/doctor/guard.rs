//! The guard that hooks ask: its policy, its store, its server, a pause or panic, and what went wrong lately.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::Duration;

use sprag::link::{LinkError, ServerClient, hook_token_file, read_token};
use sprag::{Id, PolicyFile, Role, SessionQuery};
use sprag_hooks::Client;

use super::super::panic::notice;
use super::{Check, probe};
use crate::args::DoctorArgs;
use crate::clock;
use crate::db::Db;
use crate::failure::Failure;
use crate::problem_log;
use crate::record_line::time;
use crate::settings::Settings;

/// How many problems of the past are shown.
const MOST_PROBLEMS: usize = 5;
/// How long the server may take to answer.
const DEADLINE: Duration = Duration::from_secs(2);

/// Where the guard is.
#[derive(Debug)]
pub(super) struct GuardLocation {
    db: Option<PathBuf>,
    socket: Option<PathBuf>,
    policy: Option<PolicyFile>,
}

impl GuardLocation {
    pub(super) fn find(args: &DoctorArgs, settings: &Settings) -> Self {
        let db = settings.db_place(args.db.db.as_deref());
        let socket = args.socket.socket.as_deref();
        Self {
            socket: db
                .as_deref()
                .map(|db| settings.socket_place(socket, args.db.db.as_deref(), db)),
            db,
            policy: settings.policy_file(args.policy.policy.as_deref()),
        }
    }

    /// When a session of `client` was last heard of.
    pub(super) fn last_event(&self, client: Client) -> Option<String> {
        let db = self.db.as_deref().filter(|db| db.exists())?;
        let store = Db::named(db).read().ok()?;
        let query = SessionQuery {
            agent: Some(Id::new(client.as_str()).ok()?),
            ..SessionQuery::default()
        };
        let sessions = store.sessions(&query).ok()?.items;
        let used = sessions
            .iter()
            .filter(|session| !session.id.as_str().starts_with(probe::SESSION));
        let last = used.map(|session| session.touched).max()?;
        Some(time(last))
    }

    /// Whether the store knows this session.
    pub(super) fn knows(&self, session: &str) -> bool {
        let found = || {
            let db = self.db.as_deref().filter(|db| db.exists())?;
            let store = Db::named(db).read().ok()?;
            store.session(&Id::new(session).ok()?).ok()?
        };
        found().is_some()
    }

    pub(super) fn look(&self) -> Vec<Check> {
        let mut checks = vec![self.policy(), self.store(), self.server()];
        checks.extend(self.paused());
        checks.extend(self.panicked());
        checks.extend(self.past_problems());
        checks
    }

    fn policy(&self) -> Check {
        let Some(file) = self.policy.as_ref().filter(|file| file.path().exists()) else {
            return Check::fine("policy", "the built-in limits");
        };
        let path = file.path().display();
        match file.load() {
            Ok(_) => Check::fine("policy", path.to_string()),
            Err(_) => Check::wrong(
                "policy",
                format!(
                    "{path} can't be used; the last one that could is in force, else the built-in one"
                ),
                format!("sprag policy check {path}"),
            ),
        }
    }

    fn store(&self) -> Check {
        let Some(db) = &self.db else {
            return Check::wrong(
                "store",
                "there is no home to keep it in",
                "name one with $SPRAG_DB",
            );
        };
        let shown = db.display();
        if !db.exists() {
            return Check::fine("store", format!("{shown}, made with the first event"));
        }
        if let Err(error) = OpenOptions::new().append(true).open(db) {
            let reason = Failure::reason(&error);
            let fix = format!("let yourself write {shown} and its folder");
            return Check::wrong("store", format!("can't write {shown}: {reason}"), fix);
        }
        if let Ok(Some(lost)) = sprag_store::find_loss(db) {
            let fix = "put the file back from a backup, or: sprag serve --accept-loss";
            return Check::wrong("store", lost.to_string(), fix);
        }
        match Db::named(db).read() {
            Ok(_) => Check::fine("store", shown.to_string()),
            Err(_) => Check::wrong("store", format!("{shown} can't be used"), "sprag verify"),
        }
    }

    /// The token with which hooks prove themselves to the server.
    pub(super) fn hook_token(&self) -> Option<String> {
        read_token(&hook_token_file(self.db.as_deref()?)).ok()
    }

    fn server(&self) -> Check {
        let Some(socket) = &self.socket else {
            return Check::fine("server", "none; hooks use the store themselves");
        };
        let shown = socket.display();
        let Some(client) = self.db.as_deref().filter(|_| socket.exists()) else {
            return Check::fine("server", "none runs; hooks use the store themselves");
        };
        let client = ServerClient::new(socket, client, DEADLINE);
        match client.request(Role::Agent, "GET", "/healthz", b"") {
            Ok(_) => Check::fine("server", format!("answers on {shown}")),
            Err(LinkError::Absent { .. }) => Check::fine(
                "server",
                format!("none listens on {shown}; hooks use the store themselves"),
            ),
            Err(error) => Check::wrong(
                "server",
                format!("{error}; hooks are not checked"),
                "stop it and start `sprag serve` again",
            ),
        }
    }

    /// Whether somebody paused the guard.
    fn paused(&self) -> Option<Check> {
        let db = self.db.as_deref().filter(|db| db.exists())?;
        let store = Db::named(db).read().ok()?;
        let pause = store.orders().ok()?.pause?;
        (!pause.is_over(clock::now())).then(|| {
            Check::wrong(
                "pause",
                "the guard is paused: it stops nothing",
                "sprag resume",
            )
        })
    }

    /// Whether somebody stopped all agents.
    fn panicked(&self) -> Option<Check> {
        let db = self.db.as_deref()?;
        let panic = sprag::link::panic_at(db)?;
        let how = match sprag::panic_file(db) {
            file if file.exists() => format!("remove {}", file.display()),
            _ => "sprag calm --why \"…\"".to_owned(),
        };
        Some(Check::wrong("panic", notice(&panic), how))
    }

    /// What went wrong since somebody last looked. It is listed once: whether it is still so, the other
    /// checks show.
    fn past_problems(&self) -> Option<Check> {
        let db = self.db.as_deref()?;
        let problems = problem_log::latest(db, MOST_PROBLEMS);
        if problems.is_empty() {
            return None;
        }
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| format!("\n    {} {}", time(problem.at), problem.what))
            .collect();
        problem_log::forget(db);
        Some(Check::fine(
            "hooks",
            format!("earlier, some could not be answered:{}", lines.concat()),
        ))
    }
}
