//! Stops that were wrong: marked by a person, kept with their records, and what would have let them pass.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::case::{Case, CaseError, CaseFolderError, CaseHead, CaseOutcome};
use sprag::{Decision, Event, Id};
use sprag_review::{Proposal, ProposedChange, propose};
use utoipa::ToSchema;

use super::orders::OrderRequest;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Operator, Reader};
use crate::param::{PathId, id};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// Which stop was wrong, and why.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct MarkRequest {
    /// The session.
    #[schema(min_length = 1, max_length = 256)]
    session: String,
    /// The record of the stop.
    seq: u64,
    /// Why it was wrong, for the log.
    #[schema(
        min_length = 1,
        max_length = 1000,
        example = "it waited for a slow build"
    )]
    why: String,
    /// Reset the session as well, if it is still stopped; yes if nothing is said.
    #[schema(nullable = false)]
    reset: Option<bool>,
    /// Who says so, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// A stop that was marked as wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CaseItem {
    /// Its name, for `sprag replay --case`.
    #[schema(example = "c1234")]
    case: String,
    /// The record of the stop.
    seq: u64,
    /// When the session was stopped.
    at: u64,
    /// The session.
    #[schema(value_type = String)]
    session: Id,
    /// Its agent.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// The rule that stopped it.
    #[schema(example = "flow.depth")]
    rule: &'static str,
    /// What was answered.
    #[schema(value_type = wire::Decision)]
    verdict: Decision,
    /// What was said.
    message: String,
    /// Who marked it as wrong.
    by: String,
    /// Why.
    why: String,
    /// When it was marked.
    marked: u64,
    /// Older records were left out: verdicts may differ from those of then.
    cut: bool,
}

/// Every case.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CaseList {
    /// The cases, the newest first.
    items: Vec<CaseItem>,
}

/// One case, judged again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CaseDetail {
    #[serde(flatten)]
    item: CaseItem,
    /// How many records it holds.
    records: usize,
    /// Whether the policy in force would let it pass.
    passes: bool,
    /// What the policy in force would say.
    #[schema(required)]
    message_now: Option<String>,
    /// The mildest change of the policy that would let it pass; null if it passes, or no change helps.
    #[schema(required)]
    proposal: Option<CaseProposal>,
    /// The session was reset.
    was_reset: bool,
}

/// A change of the policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CaseProposal {
    /// What changes, one for each rule that has to give way.
    changes: Vec<CaseChange>,
    /// The override alone, as TOML.
    snippet: String,
    /// The whole policy with it, for `/v1/policy/try` and `PUT /v1/policy`.
    text: String,
}

/// One key that changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CaseChange {
    /// The key, or the rule whose mode changes.
    key: String,
    /// What it holds now, as TOML.
    #[schema(required)]
    old: Option<String>,
    /// What it would hold, as TOML.
    value: String,
    /// The command that does the same.
    command: String,
}

impl From<Proposal> for CaseProposal {
    fn from(proposal: Proposal) -> Self {
        let change = |change: ProposedChange| CaseChange {
            key: change.key,
            old: change.old,
            value: change.value,
            command: change.command,
        };
        Self {
            changes: proposal.changes.into_iter().map(change).collect(),
            snippet: proposal.snippet,
            text: proposal.text,
        }
    }
}

impl From<CaseHead> for CaseItem {
    fn from(head: CaseHead) -> Self {
        Self {
            case: head.case,
            seq: head.seq,
            at: head.at.0,
            session: head.session,
            agent: head.agent,
            rule: head.rule.as_str(),
            verdict: head.verdict,
            message: head.message,
            by: head.by,
            why: head.why,
            marked: head.marked.0,
            cut: head.cut,
        }
    }
}

/// List the stops that were marked as wrong
#[utoipa::path(
    get,
    path = "/v1/cases",
    tag = "sessions",
    responses((status = 200, description = "The cases", body = CaseList), wire::OperatorOnly),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<CaseList>, Problem> {
    app.blocking(|app| {
        let heads = app.cases().list().map_err(from_folder)?;
        Ok(axum::Json(CaseList {
            items: heads.into_iter().map(Into::into).collect(),
        }))
    })
    .await
}

/// Show a stop that was marked as wrong
///
/// Its records are judged again under the policy in force. If that still stops it, the mildest override that would let
/// it pass is proposed.
#[utoipa::path(
    get,
    path = "/v1/cases/{case}",
    tag = "sessions",
    params(("case" = String, Path, description = "Its name")),
    responses(
        (status = 200, description = "The case, judged again", body = CaseDetail),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathId(name): PathId,
) -> Result<axum::Json<CaseDetail>, Problem> {
    app.heavy(move |app| {
        let case = app.cases().load(name.as_str()).map_err(from_folder)?;
        detail(app, case, false)
    })
    .await
}

/// Mark a stop as wrong
///
/// The records that led to it are kept, the log notes who marked it and why, and the session is reset if it is still
/// stopped. `sprag replay --case` judges the records again; `sprag tune` counts the session as a wrong stop.
#[utoipa::path(
    post,
    path = "/v1/cases",
    tag = "sessions",
    request_body = MarkRequest,
    responses(
        (status = 200, description = "The case, judged again", body = CaseDetail),
        wire::Missing, wire::Conflicting, wire::Bodied, wire::OperatorOnly,
    ),
)]
pub(crate) async fn mark(
    State(app): State<App>,
    operator: Operator,
    JsonBody(request): JsonBody<MarkRequest>,
) -> Result<axum::Json<CaseDetail>, Problem> {
    OrderRequest::check(&request.why, request.by.as_deref())?;
    let session = id("session", &request.session)?;
    let by = operator.signs(request.by.as_deref());
    let (why, seq) = (request.why.trim().to_owned(), request.seq);
    let (signed, stopped) = (by.clone(), session.clone());
    let case = app.heavy(move |app| {
        let guard = app.guard();
        let said = (signed.as_str(), why.as_str());
        let case = Case::collect(guard.store(), &stopped, seq, said, guard.now());
        let case = case.map_err(from_case)?;
        app.cases().save(&case).map_err(from_folder)?;
        guard.mark_wrong(&case.head)?;
        Ok(case)
    });
    let case = case.await?;
    let is_stopped = {
        let session = session.clone();
        let looked = app.blocking(move |app| super::stops::is_stopped(app, &session));
        request.reset.unwrap_or(true) && looked.await?
    };
    if is_stopped {
        let mut event = Event::reset(session.as_str())?;
        if let Event::Reset(order) = &mut event {
            order.by = Some(by.as_str().into());
            order.why = Some(format!("this stop was wrong: {}", case.head.why).into());
        }
        app.decide(operator.sender(), event, None).await?;
    }
    app.heavy(move |app| detail(app, case, is_stopped)).await
}

fn detail(app: &App, case: Case, was_reset: bool) -> Result<axum::Json<CaseDetail>, Problem> {
    let outcome = case.judge(&app.guard().policy()).map_err(from_replay)?;
    let proposal = match &outcome {
        CaseOutcome::Passes => None,
        CaseOutcome::Stopped { .. } => propose(&case, &policy_text(app)).map_err(from_replay)?,
    };
    let message_now = match outcome {
        CaseOutcome::Passes => None,
        CaseOutcome::Stopped { verdict, .. } => verdict.message,
    };
    Ok(axum::Json(CaseDetail {
        records: case.len(),
        passes: message_now.is_none(),
        message_now,
        proposal: proposal.map(Into::into),
        item: case.head.into(),
        was_reset,
    }))
}

/// The policy as its file has it, or as it is in force if there is none.
fn policy_text(app: &App) -> String {
    let file = app.policy_file().filter(|file| !file.is_json());
    let written = file.and_then(|file| file.text().ok().flatten());
    written.unwrap_or_else(|| match app.policy_file() {
        Some(file) if !file.is_json() => String::new(),
        _ => app.guard().policy().to_toml(),
    })
}

fn from_case(error: CaseError) -> Problem {
    match error {
        CaseError::NoRecord { .. } => Problem::new(ProblemKind::NotFound, error.to_string()),
        CaseError::NotAStop { .. } => Problem::new(ProblemKind::Conflict, error.to_string()),
        CaseError::Store(error) => error.into(),
        _ => Problem::new(ProblemKind::Unavailable, error.to_string()),
    }
}

fn from_folder(error: CaseFolderError) -> Problem {
    let kind = match error {
        CaseFolderError::Unknown(_) => ProblemKind::NotFound,
        CaseFolderError::Known(_) | CaseFolderError::TooMany(_) => ProblemKind::Conflict,
        _ => ProblemKind::Unavailable,
    };
    Problem::new(kind, error.to_string())
}

fn from_replay(error: sprag::ReplayError) -> Problem {
    Problem::new(ProblemKind::Unavailable, error.to_string())
}
