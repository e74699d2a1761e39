//! Calls that wait for a person: the list, one of them, and the answer.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use sprag::{
    AllowError, AnswerEvent, ApprovalScope, ApprovalState, Event, FeedItem, Id, Question, Role,
    RuleId, Timestamp,
};
use sprag_core::{Observed, SessionCell};
use tokio::time::{Instant, timeout_at};
use utoipa::{IntoParams, ToSchema};

use super::check::trace_parent;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{Caller, Reader};
use crate::limits;
use crate::param::{ApiQuery, PathId, bad};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// The longest that an answer is waited for in one request.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A call that waits for a person, or the answer to it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Approval)]
pub(crate) struct ApprovalBody {
    /// The code.
    #[schema(value_type = String, example = "k7f3wq2m")]
    approval: Id,
    /// The session.
    #[schema(value_type = String)]
    session: Id,
    /// `open`, `approved`, `declined`, or `over`: expired, used, or void after a reset or a kill.
    state: &'static str,
    /// Its agent.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// The rule that asks.
    #[schema(value_type = Option<String>, required)]
    rule: Option<RuleId>,
    /// The call, in words.
    #[schema(required)]
    call: Option<String>,
    /// Why it is asked.
    #[schema(required)]
    why: Option<String>,
    /// The programs with their subcommands that it asks about: what an approval for `project` or `agent` allows.
    commands: Vec<String>,
    /// The project's folder.
    #[schema(required)]
    root: Option<String>,
    /// When it was asked.
    #[schema(value_type = Option<u64>, required)]
    asked_at: Option<Timestamp>,
    /// Until when it can be answered, or an approved call be made.
    #[schema(value_type = Option<u64>, required)]
    expires_at: Option<Timestamp>,
    /// The number of the call's record in the log.
    #[schema(required)]
    seq: Option<u64>,
    /// Who answered.
    #[schema(required)]
    by: Option<String>,
    /// What they said.
    #[schema(required)]
    said: Option<String>,
}

impl ApprovalBody {
    /// A question, or that it is over.
    pub(crate) fn of(code: &Id, session: &Id, question: Option<Question>) -> Self {
        match question {
            Some(question) => question.into(),
            None => Self::over(code.clone(), session.clone()),
        }
    }

    fn over(code: Id, session: Id) -> Self {
        Self {
            approval: code,
            session,
            state: "over",
            agent: None,
            rule: None,
            call: None,
            why: None,
            commands: Vec::new(),
            root: None,
            asked_at: None,
            expires_at: None,
            seq: None,
            by: None,
            said: None,
        }
    }
}

impl From<Question> for ApprovalBody {
    fn from(question: Question) -> Self {
        let held = question.approval;
        Self {
            approval: held.code,
            session: question.session,
            state: match held.state {
                ApprovalState::Open => "open",
                ApprovalState::Approved | ApprovalState::Granted => "approved",
                ApprovalState::Declined => "declined",
            },
            agent: question.agent,
            rule: held.rule,
            call: Some(held.what),
            why: Some(held.why),
            commands: held.commands.iter().map(ToString::to_string).collect(),
            root: held.root.map(Into::into),
            asked_at: Some(held.asked),
            expires_at: Some(held.until),
            seq: Some(question.seq),
            by: held.by.map(Into::into),
            said: held.said.map(Into::into),
        }
    }
}

/// The calls that wait for a person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalsResponse {
    /// The oldest first; at most 1,000 are open at a time.
    approvals: Vec<ApprovalBody>,
}

/// List the calls that wait for a person
#[utoipa::path(
    get,
    path = "/v1/approvals",
    tag = "approvals",
    responses(
        (status = 200, description = "What is open", body = ApprovalsResponse),
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
) -> Result<Json<ApprovalsResponse>, Problem> {
    let open = app.blocking(|app| Ok(app.questions().open(app.guard())?));
    let approvals = open.await?.into_iter().map(Into::into).collect();
    Ok(Json(ApprovalsResponse { approvals }))
}

/// Whether to wait, and for whom.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowQuery {
    /// Wait so long for an answer: `30s`, at most a minute.
    #[param(example = "30s")]
    wait: Option<String>,
    /// The session that made the call. An agent has to name it.
    #[param(min_length = 1, max_length = 256)]
    session: Option<String>,
}

/// Show one, and wait for its answer
///
/// Answers at once if the question is no longer open. For operators, hooks and relays, and for the agent that
/// made the call, which names its session.
#[utoipa::path(
    get,
    path = "/v1/approvals/{code}",
    tag = "approvals",
    params(("code" = String, Path, description = "The code of the question", min_length = 1, max_length = 256), ShowQuery),
    security(("token" = []), ()),
    responses(
        (status = 200, description = "Where it stands", body = ApprovalBody),
        wire::AnyRole,
        wire::Missing,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathId(code): PathId,
    ApiQuery(query): ApiQuery<ShowQuery>,
) -> Result<Json<ApprovalBody>, Problem> {
    let wait = wait(query.wait.as_deref())?;
    // Heard of before it is looked up, so that no answer is lost between the two.
    let mut items = app.hub().listen();
    let mut ending = app.ending();
    let end = Instant::now() + wait;
    let mut body = find(&app, &caller, &code, query.session.as_deref()).await?;
    while body.state == "open" {
        let next = async {
            tokio::select! {
                item = items.recv() => item,
                _ = ending.wait_for(|ends| *ends) => Err(tokio::sync::broadcast::error::RecvError::Closed),
            }
        };
        match timeout_at(end, next).await {
            Err(_) | Ok(Err(tokio::sync::broadcast::error::RecvError::Closed)) => break,
            Ok(Ok(FeedItem::Record(record))) => {
                let what = record.observation().map(|seen| &seen.what);
                if !what.is_some_and(|what| concerns(what, &body.session)) {
                    continue;
                }
            }
            Ok(_) => {}
        }
        body = find(&app, &caller, &code, query.session.as_deref()).await?;
    }
    Ok(Json(body))
}

/// Whether an event may answer a question of a session.
fn concerns(what: &Observed, session: &Id) -> bool {
    matches!(
        what,
        Observed::Approve(_) | Observed::Decline(_) | Observed::Kill(_) | Observed::Reset(_)
    ) && what.session() == session
}

fn wait(text: Option<&str>) -> Result<Duration, Problem> {
    let Some(text) = text else {
        return Ok(Duration::ZERO);
    };
    let millis: sprag::Millis = text.parse().map_err(|error| bad("wait", error))?;
    Ok(Duration::from_millis(millis.0).min(MAX_WAIT))
}

/// A question, for whom it is: others are told that there is none.
async fn find(
    app: &App,
    caller: &Caller,
    code: &Id,
    session: Option<&str>,
) -> Result<ApprovalBody, Problem> {
    let (session, question) = lookup(app, caller, code, session).await?;
    Ok(ApprovalBody::of(code, &session, question))
}

async fn lookup(
    app: &App,
    caller: &Caller,
    code: &Id,
    session: Option<&str>,
) -> Result<(Id, Option<Question>), Problem> {
    let asked = code.clone();
    let owner = caller.sender().owner();
    let found = app.blocking(move |app| {
        let Some((session, question)) = app.questions().find(app.guard(), &asked)? else {
            return Ok(None);
        };
        let cell = app.guard().session(session.as_str())?.map(|held| held.cell);
        let belongs = |cell: &SessionCell| cell.owner().is_none_or(|held| *held == owner);
        let is_own = cell.is_some_and(|cell| belongs(&cell));
        Ok(Some((session, question, is_own)))
    });
    let found = found.await?.filter(|(found, _, is_own)| {
        caller.role != Role::Agent || (*is_own && session == Some(found.as_str()))
    });
    match found {
        None => {
            let detail = format!("there is no approval {code}");
            Err(Problem::new(ProblemKind::NotFound, detail))
        }
        Some((session, question, _)) => Ok((session, question)),
    }
}

/// A person's answer.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct AnswerRequest {
    /// `approve` or `decline`.
    answer: Answer,
    /// How far a yes goes.
    #[serde(default)]
    #[schema(value_type = Option<wire::ApprovalScope>)]
    scope: ApprovalScope,
    /// The reason, for the log and, of a decline, for the agent.
    #[schema(max_length = 1000)]
    why: Option<String>,
    /// Who answers, besides the token.
    #[schema(max_length = 1000)]
    by: Option<String>,
}

/// A yes or a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// The call may run.
    Approve,
    /// It may not.
    Decline,
}

/// Approve or decline a call
///
/// For operators, and for the hook or relay that asked. An agent can't approve itself. Of two answers the first
/// counts; the second is told who was first. The scope `session` covers the same on the same target as long as the
/// session lasts. `project` and `agent` also write the command into the policy; only operators may choose them.
#[utoipa::path(
    post,
    path = "/v1/approvals/{code}",
    tag = "approvals",
    params(("code" = String, Path, description = "The code of the question", min_length = 1, max_length = 256)),
    request_body = AnswerRequest,
    responses(
        (status = 200, description = "It is answered", body = ApprovalBody),
        wire::Bodied,
        wire::OperatorOnly,
        wire::Missing,
        wire::Conflicting,
    ),
)]
pub(crate) async fn answer(
    State(app): State<App>,
    caller: Caller,
    PathId(code): PathId,
    headers: HeaderMap,
    JsonBody(request): JsonBody<AnswerRequest>,
) -> Result<Json<ApprovalBody>, Problem> {
    refuse_agents(&caller, &headers)?;
    for (field, text) in [("why", &request.why), ("by", &request.by)] {
        let most = limits::REASON_BYTES;
        if text.as_ref().is_some_and(|text| text.len() > most) {
            return Err(bad(field, format!("at most {most} bytes")));
        }
    }
    let asked = lookup(&app, &caller, &code, None).await?;
    let (session, question) = asked;
    let for_good = matches!(request.scope, ApprovalScope::Project | ApprovalScope::Agent)
        && request.answer == Answer::Approve;
    let question = question.filter(|_| for_good);
    if let Some(question) = &question {
        refuse_others(&caller)?;
        app.guard()
            .can_allow(question, request.scope)
            .map_err(not_allowed)?;
    }
    let by = caller.signs(request.by.as_deref());
    let mut event = AnswerEvent::new(session, code.clone()).by(&by);
    event.scope = request.scope;
    event.why = request.why.as_deref().map(Into::into);
    let event = match request.answer {
        Answer::Approve => Event::Approve(event),
        Answer::Decline => Event::Decline(event),
    };
    app.decide(caller.sender(), event, trace_parent(&headers))
        .await?;
    if let Some(question) = question {
        let scope = request.scope;
        let written = app.blocking(move |app| {
            let file = app.policy_file();
            let guard = app.guard();
            guard
                .allow_commands(&question, scope, file, &by)
                .map_err(not_allowed)
        });
        written.await?;
    }
    find(&app, &caller, &code, None).await.map(Json)
}

/// What changes the policy is for operators.
fn refuse_others(caller: &Caller) -> Result<(), Problem> {
    if caller.role == Role::Operator {
        return Ok(());
    }
    let detail = "only an operator can approve for a project or an agent: that changes the policy";
    Err(Problem::new(ProblemKind::Forbidden, detail))
}

fn not_allowed(error: AllowError) -> Problem {
    Problem::new(ProblemKind::Conflict, error.to_string())
}

fn refuse_agents(caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
    if !matches!(caller.role, Role::Agent | Role::Viewer) {
        return Ok(());
    }
    let kind = if headers.contains_key(header::AUTHORIZATION) {
        ProblemKind::Forbidden
    } else {
        ProblemKind::Unauthorized
    };
    let detail =
        "this is for a person to answer: send `Authorization: Bearer` with the operator token";
    Err(Problem::new(kind, detail))
}
