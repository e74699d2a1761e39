//! One session again, verdict by verdict, with the state of the rules: as it was, or under another policy.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sprag::replay::{
    LogRecording, RecordedEvent, RecordedForm, RecordedItem, Replay, ReplayOutcome,
};
use sprag::{Id, Policy, RuleState, Verdict};
use sprag_core::Observed;
use utoipa::{IntoParams, ToSchema};

use super::sessions::none;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::Reader;
use crate::limits;
use crate::param::{ApiQuery, PathId, page};
use crate::problem::Problem;
use crate::wire;

/// ReplayQuery to look at it.
#[derive(Debug, Default, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReplayQuery {
    /// Another policy, as TOML text; without one each record is judged under its own.
    policy: Option<String>,
    /// Show also what other sessions did to cells that this one shares.
    all: Option<bool>,
    /// The `next` of the page before.
    after: Option<u64>,
    /// ReplayQuery many.
    #[param(minimum = 1, maximum = 500)]
    #[schema(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayPage {
    /// Event by event.
    items: Vec<ReplayItem>,
    /// The `after` of the next page; null at the end.
    #[schema(required)]
    next: Option<u64>,
    /// The replay in numbers, as far as it was folded: to the end of this page, or under another policy to the end of
    /// the session.
    #[schema(value_type = ReplayTally)]
    tally: sprag::replay::ReplayTally,
    /// How many records were folded.
    folded: usize,
    /// There were more records than one replay folds: the end is missing.
    cut: bool,
}

/// One event of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayItem {
    /// The number of its record.
    seq: u64,
    /// When it happened.
    at: u64,
    /// Whether the session itself took part.
    own: bool,
    /// What happened.
    #[schema(value_type = serde_json::Map<String, Value>)]
    event: Value,
    /// What was answered then.
    #[schema(value_type = Option<wire::Verdict>, required)]
    recorded: Option<Verdict>,
    /// What is seen now: `judged`; `saved`: its session would have been stopped before; `skipped`: it was stopped
    /// either way; `unknown`: the result of a call that would not have been refused; `error`.
    seen: &'static str,
    /// What would be answered, where it is judged.
    #[schema(value_type = Option<wire::Verdict>, required)]
    verdict: Option<Verdict>,
    /// It was refused and would be allowed: what came of it is unknown.
    unknown: bool,
    /// Why it can't be judged.
    #[schema(required)]
    error: Option<String>,
    /// The state of every rule after it.
    #[schema(value_type = Option<wire::RuleState>, required)]
    state: Option<RuleState>,
}

/// A replay in numbers.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct ReplayTally {
    /// Events, skipped ones too.
    events: u64,
    /// Verdicts, by what to do.
    verdicts: std::collections::BTreeMap<String, u64>,
    /// Verdicts above `allow`, by rule.
    rules: std::collections::BTreeMap<String, u64>,
    /// Sessions that were blocked or killed.
    stopped: Vec<String>,
    /// Events that would not have happened.
    saved: u64,
    /// Calls and messages whose results are unknown.
    unknown: u64,
    /// Events whose verdict is not the recorded one.
    different: u64,
    /// Events that could not be judged.
    errors: u64,
}

/// Replay a session
#[utoipa::path(
    get,
    path = "/v1/sessions/{id}/replay",
    tag = "sessions",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256), ReplayQuery),
    responses(
        (status = 200, description = "A page of it", body = ReplayPage),
        wire::Missing, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn replay(
    State(app): State<App>,
    _: Reader,
    PathId(session): PathId,
    ApiQuery(query): ApiQuery<ReplayQuery>,
) -> Result<axum::Json<ReplayPage>, Problem> {
    answer(app, session, query).await
}

/// Replay a session under a policy that is too long for an address
#[utoipa::path(
    post,
    path = "/v1/sessions/{id}/replay",
    tag = "sessions",
    params(("id" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = ReplayQuery,
    responses(
        (status = 200, description = "A page of it", body = ReplayPage),
        wire::Missing, wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn replay_under(
    State(app): State<App>,
    _: Reader,
    PathId(session): PathId,
    JsonBody(query): JsonBody<ReplayQuery>,
) -> Result<axum::Json<ReplayPage>, Problem> {
    answer(app, session, query).await
}

async fn answer(
    app: App,
    session: Id,
    query: ReplayQuery,
) -> Result<axum::Json<ReplayPage>, Problem> {
    let size = page(query.limit)?;
    let policy = query.policy.as_deref().map(read_policy).transpose()?;
    app.heavy(move |app| fold(app, &session, &query, policy, size))
        .await
}

/// The policy in `text`.
pub(super) fn read_policy(text: &str) -> Result<Policy, Problem> {
    Policy::from_toml(text).map_err(|errors| Problem::policy(&errors))
}

fn fold(
    app: &App,
    session: &Id,
    query: &ReplayQuery,
    policy: Option<Policy>,
    size: usize,
) -> Result<axum::Json<ReplayPage>, Problem> {
    let store = app.guard().store();
    if app.guard().session(session.as_str())?.is_none() {
        return Err(none(session));
    }
    let replay = match policy {
        Some(policy) => Replay::what_if(policy).starting_at(store)?,
        None => Replay::own(store)?,
    };
    let mut replay = replay;
    let (mut items, mut folded, mut more, mut cut) = (Vec::new(), 0, false, false);
    for past in LogRecording::session(store, session.clone()) {
        let past = past?;
        if folded == limits::REPLAY {
            cut = true;
            break;
        }
        folded += 1;
        let RecordedItem::Event(event) = &past else {
            replay.fold(&past)?;
            continue;
        };
        let own = takes_part(event, session);
        let is_wanted = (own || query.all.unwrap_or(false))
            && query.after.is_none_or(|after| event.number > after);
        replay.report_state(is_wanted && items.len() < size);
        let seen = replay.fold(&past)?;
        if is_wanted && items.len() == size {
            more = true;
            // As it was, nothing after the page can change what stands on it.
            if query.policy.is_none() {
                break;
            }
        } else if let (true, RecordedItem::Event(event)) = (is_wanted, past) {
            items.push(ReplayItem::new(*event, seen, own));
        }
    }
    Ok(axum::Json(ReplayPage {
        next: items.last().map(|item| item.seq).filter(|_| more),
        items,
        tally: replay.tally().clone(),
        folded,
        cut,
    }))
}

/// Whether `session` is one of those that an event is about.
pub(super) fn takes_part(event: &RecordedEvent, session: &Id) -> bool {
    let receives = match &event.what {
        RecordedForm::Observed(observation) => match &observation.what {
            Observed::Message(message) => message.to == *session,
            _ => false,
        },
        RecordedForm::Raw(_) => false,
    };
    receives || event.session() == session
}

impl ReplayItem {
    fn new(event: RecordedEvent, seen: ReplayOutcome, own: bool) -> Self {
        let what = match &event.what {
            RecordedForm::Observed(observation) => serde_json::to_value(&observation.what),
            RecordedForm::Raw(event) => serde_json::to_value(event),
        };
        let mut item = Self {
            seq: event.number,
            at: event.at.0,
            own,
            event: what.unwrap_or_default(),
            recorded: event.recorded,
            seen: "judged",
            verdict: None,
            unknown: false,
            error: None,
            state: None,
        };
        match seen {
            ReplayOutcome::Judged {
                verdict,
                state,
                unknown,
            } => {
                item.verdict = Some(*verdict);
                item.state = state.map(|state| *state);
                item.unknown = unknown;
            }
            ReplayOutcome::Saved => item.seen = "saved",
            ReplayOutcome::Skipped | ReplayOutcome::Noted => item.seen = "skipped",
            ReplayOutcome::Unknown => item.seen = "unknown",
            ReplayOutcome::Error(error) => {
                item.seen = "error";
                item.error = Some(error);
            }
        }
        item
    }
}
