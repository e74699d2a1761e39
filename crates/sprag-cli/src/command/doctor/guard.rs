//! The guard that hooks ask: its policy, its store, its server, and what went wrong on the way to it.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::Duration;

use sprag::link::{ServerClient, hook_token_file, read_token};
use sprag::{Id, PolicyFile, SessionQuery};
use sprag_hooks::Client;

use super::Look;
use crate::args::DoctorArgs;
use crate::db::Db;
use crate::failure::Failure;
use crate::record_line::time;
use crate::settings::Settings;
use crate::trouble;

/// How many troubles are shown.
const MOST_TROUBLES: usize = 5;
/// How long the server may take to take a connection.
const DEADLINE: Duration = Duration::from_secs(2);

/// Where the guard is.
#[derive(Debug)]
pub(super) struct Place {
    db: Option<PathBuf>,
    socket: Option<PathBuf>,
    policy: Option<PolicyFile>,
}

impl Place {
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
        let last = sessions.iter().map(|session| session.touched).max()?;
        Some(time(last))
    }

    pub(super) fn look(&self) -> Vec<Look> {
        let mut looks = vec![self.policy(), self.store(), self.server()];
        looks.extend(self.troubles());
        looks
    }

    fn policy(&self) -> Look {
        let Some(file) = self.policy.as_ref().filter(|file| file.path().exists()) else {
            return Look::fine("policy", "the built-in limits");
        };
        let path = file.path().display();
        match file.load() {
            Ok(_) => Look::fine("policy", path.to_string()),
            Err(_) => Look::wrong(
                "policy",
                format!("{path} can't be used"),
                format!("sprag policy check {path}"),
            ),
        }
    }

    fn store(&self) -> Look {
        let Some(db) = &self.db else {
            return Look::wrong(
                "store",
                "there is no home to keep it in",
                "name one with $SPRAG_DB",
            );
        };
        let shown = db.display();
        if !db.exists() {
            return Look::fine("store", format!("{shown}, made with the first event"));
        }
        if let Err(error) = OpenOptions::new().append(true).open(db) {
            let reason = Failure::reason(&error);
            let fix = format!("let yourself write {shown} and its folder");
            return Look::wrong("store", format!("can't write {shown}: {reason}"), fix);
        }
        match Db::named(db).read() {
            Ok(_) => Look::fine("store", shown.to_string()),
            Err(_) => Look::wrong("store", format!("{shown} can't be used"), "sprag verify"),
        }
    }

    /// Whether a server runs.
    pub(super) fn serves(&self) -> bool {
        match (&self.db, &self.socket) {
            (Some(db), Some(socket)) if socket.exists() => {
                ServerClient::new(socket, db, DEADLINE).connect().is_ok()
            }
            _ => false,
        }
    }

    /// The token with which hooks prove themselves to the server.
    pub(super) fn hook_token(&self) -> Option<String> {
        read_token(&hook_token_file(self.db.as_deref()?)).ok()
    }

    fn server(&self) -> Look {
        let Some(socket) = &self.socket else {
            return Look::fine("server", "none; hooks use the store themselves");
        };
        let shown = socket.display();
        if !socket.exists() {
            return Look::fine("server", "none runs; hooks use the store themselves");
        }
        if self.serves() {
            return Look::fine("server", format!("listens on {shown}"));
        }
        Look::fine(
            "server",
            format!("none listens on {shown}; hooks use the store themselves"),
        )
    }

    fn troubles(&self) -> Option<Look> {
        let db = self.db.as_deref()?;
        let troubles = trouble::latest(db, MOST_TROUBLES);
        if troubles.is_empty() {
            return None;
        }
        let lines: Vec<String> = troubles
            .iter()
            .map(|trouble| format!("\n    {} {}", time(trouble.at), trouble.what))
            .collect();
        let file = trouble::place(db);
        Some(Look::wrong(
            "hooks",
            format!("some could not be answered:{}", lines.concat()),
            format!("mend what they say, then remove {}", file.display()),
        ))
    }
}
