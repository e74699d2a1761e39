//! What every route shares.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sprag::case::CaseFolder;
use sprag::{Guard, PolicyFile, Questions};
use tokio::sync::{Semaphore, watch};

use crate::activity::Activity;
use crate::approval_link::LinkSigner;
use crate::body::BodyRooms;
use crate::call_notes::CallNotes;
use crate::limits;
use crate::metrics::Metrics;
use crate::notify::Board;
use crate::problem::{Problem, ProblemKind};
use crate::record_pump::Hub;
use crate::session_limits::OpenSessionCounts;
use crate::stats::Stats;
use crate::telemetry::Telemetry;
use crate::tokens::{LoginCode, TokenStore};

/// What every route shares; cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>, Guard);

struct AppState {
    tokens: TokenStore,
    hub: Arc<Hub>,
    metrics: Arc<Metrics>,
    stats: Arc<Stats>,
    activity: Arc<Activity>,
    notifications: Option<Board>,
    questions: Arc<Questions>,
    telemetry: Option<Telemetry>,
    session_counts: OpenSessionCounts,
    call_notes: CallNotes,
    policy: Option<PolicyFile>,
    links: Option<LinkSigner>,
    db: PathBuf,
    body_bytes: usize,
    origin: String,
    wrong_tokens: Semaphore,
    bodies: BodyRooms,
    heavy: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    ending: watch::Receiver<bool>,
}

/// What an app is made of.
pub(crate) struct AppParts {
    pub(crate) guard: Guard,
    pub(crate) tokens: TokenStore,
    pub(crate) hub: Arc<Hub>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) activity: Arc<Activity>,
    /// What operators see of notifications, if anybody is notified.
    pub(crate) notifications: Option<Board>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) session_counts: OpenSessionCounts,
    pub(crate) policy: Option<PolicyFile>,
    /// Signs links to questions, if the server has a public address.
    pub(crate) links: Option<LinkSigner>,
    pub(crate) db: PathBuf,
    pub(crate) body_bytes: usize,
    pub(crate) body_time: Duration,
    /// Where a browser finds the dashboard.
    pub(crate) origin: String,
    pub(crate) ending: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(parts: AppParts) -> Self {
        let guard = parts.guard;
        let state = Arc::new(AppState {
            tokens: parts.tokens,
            hub: parts.hub,
            metrics: parts.metrics,
            stats: parts.stats,
            activity: parts.activity,
            notifications: parts.notifications,
            questions: parts.questions,
            telemetry: parts.telemetry,
            session_counts: parts.session_counts,
            call_notes: CallNotes::default(),
            policy: parts.policy,
            links: parts.links,
            db: parts.db,
            body_bytes: parts.body_bytes,
            origin: parts.origin,
            wrong_tokens: Semaphore::new(limits::WRONG_TOKENS),
            bodies: BodyRooms::new(limits::BODIES_KIB, parts.body_time),
            heavy: Arc::new(Semaphore::new(limits::HEAVY)),
            streams: Arc::new(Semaphore::new(limits::STREAMS)),
            ending: parts.ending,
        });
        Self(state, guard)
    }

    /// The same for an adapter that enforces nothing.
    pub(crate) fn in_shadow(&self) -> Self {
        Self(Arc::clone(&self.0), self.1.in_shadow())
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.1
    }

    pub(crate) fn tokens(&self) -> &TokenStore {
        &self.0.tokens
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.0.hub
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.0.stats
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    pub(crate) fn notifications(&self) -> Option<&Board> {
        self.0.notifications.as_ref()
    }

    /// Where stops that were marked as wrong are kept.
    pub(crate) fn cases(&self) -> CaseFolder {
        CaseFolder::beside(&self.0.db)
    }

    pub(crate) fn questions(&self) -> &Arc<Questions> {
        &self.0.questions
    }

    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.as_ref()
    }

    pub(crate) fn session_counts(&self) -> &OpenSessionCounts {
        &self.0.session_counts
    }

    pub(crate) fn call_notes(&self) -> &CallNotes {
        &self.0.call_notes
    }

    pub(crate) fn links(&self) -> Option<&LinkSigner> {
        self.0.links.as_ref()
    }

    pub(crate) fn policy_file(&self) -> Option<&PolicyFile> {
        self.0.policy.as_ref()
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.0.body_bytes
    }

    /// The link that opens the dashboard with a login code.
    pub(crate) fn link(&self, code: &LoginCode) -> String {
        dashboard_link(&self.0.origin, code)
    }

    pub(crate) fn streams(&self) -> &Arc<Semaphore> {
        &self.0.streams
    }

    /// What this log is called where it is exported.
    pub(crate) fn log_source(&self) -> String {
        format!("sprag:{}", self.0.db.display())
    }

    /// Turns true when the server ends.
    pub(crate) fn ending(&self) -> watch::Receiver<bool> {
        self.0.ending.clone()
    }

    pub(crate) fn body_rooms(&self) -> &BodyRooms {
        &self.0.bodies
    }

    /// What to tell someone with a wrong token, after a while: guessing must not be quick, and must not
    /// fill the server with those who wait either.
    pub(crate) async fn wrong_token(&self) -> Problem {
        let Ok(_waits) = self.0.wrong_tokens.try_acquire() else {
            return Problem::new(ProblemKind::TooMany, "too many wrong tokens at once");
        };
        tokio::time::sleep(limits::WRONG_TOKEN_TIME).await;
        Problem::new(
            ProblemKind::Unauthorized,
            "this token is not known; it may have been revoked",
        )
    }

    /// Does work that takes a while on a thread of its own, a few at a time.
    pub(crate) async fn heavy<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let ended = |_| Problem::new(ProblemKind::Unavailable, "the server ends");
        let turn = Arc::clone(&self.0.heavy).acquire_owned();
        let turn = turn.await.map_err(ended)?;
        // The turn goes with the work: who asked may be gone before it is done.
        self.blocking(move |app| {
            let _turn = turn;
            work(app)
        })
        .await
    }

    /// Does work that reads or waits for the disk on a thread of its own.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|_| {
            Err(Problem::new(
                ProblemKind::Unavailable,
                "this could not be finished; the server's own log tells more",
            ))
        })
    }
}

/// The link that opens the dashboard at `origin` with a login code. The code is in the fragment, which no browser
/// sends to any server.
pub(crate) fn dashboard_link(origin: &str, code: &LoginCode) -> String {
    format!("{origin}/#code={}", code.code)
}
