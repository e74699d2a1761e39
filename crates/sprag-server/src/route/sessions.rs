//! Who is there: a listing that can be searched and sorted, and one session with all that is held.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::{
    Id, RuleState, Session, SessionQuery, SessionSort, SessionState, SessionSummary, Timestamp,
};
use sprag_core::{Gauge, Mark};
use utoipa::{IntoParams, ToSchema};

use super::cursor;
use crate::activity::dollars;
use crate::app::App;
use crate::caller::Reader;
use crate::param::{ApiQuery, PathId, bad, id, page};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// What a session may do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Standing {
    Active,
    Blocked,
    Killed,
}

/// What sessions are sorted by.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
    #[default]
    Touched,
    Events,
    Refused,
    Id,
    Agent,
    State,
}

/// SessionListQuery way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SortOrder {
    Asc,
    #[default]
    Desc,
}

/// SessionListQuery sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionListQuery {
    /// Only those in this state.
    #[param(inline)]
    state: Option<Standing>,
    /// Only those of this agent.
    #[param(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// Only those whose id or agent holds this text.
    q: Option<String>,
    /// Only those in which this rule fired last.
    #[param(example = "flow.depth")]
    rule: Option<String>,
    /// Only those whose last event was at or after this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Only those whose last event was before this time, in milliseconds since 1970.
    to: Option<u64>,
    /// What to sort by.
    #[serde(default)]
    #[param(inline)]
    sort: Option<Sort>,
    /// SessionListQuery way; `desc` where nothing is said.
    #[param(inline)]
    order: Option<SortOrder>,
    /// The `next` of the page before.
    after: Option<String>,
    /// Leave out so many first, for a table that jumps.
    offset: Option<usize>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of the listing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionPage {
    /// The sessions.
    items: Vec<SessionItem>,
    /// The `after` of the next page; null at the end.
    #[schema(required)]
    next: Option<String>,
    /// How many sessions match, on all pages together.
    total: u64,
}

/// One session, in a listing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionItem {
    /// Its id.
    #[schema(value_type = String)]
    id: Id,
    /// Its agent, as first named.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// What it may do, by its own marks; a killed parent stops it too.
    state: Standing,
    /// What it would be if rules were not in shadow: `blocked` or `killed`.
    #[schema(required)]
    would: Option<Standing>,
    /// Its generation.
    generation: u32,
    /// Its last event.
    touched: u64,
    /// Events that it took part in.
    events: u64,
    /// Those that were refused.
    refused: u64,
    /// Tokens that it spent with its sub-agents since its last reset, without those from a provider's cache.
    tokens: u64,
    /// What that cost, in US dollars.
    cost_usd: f64,
    /// The rule that fired last.
    #[schema(required)]
    last_rule: Option<String>,
    /// Why it is killed or blocked.
    #[schema(value_type = Option<wire::Mark>, required)]
    mark: Option<Mark>,
    /// How full the rules are: streaks, budgets, windows; those that stand at zero are left out.
    #[schema(value_type = Vec<wire::Gauge>)]
    gauges: Vec<Gauge>,
}

/// One session with all that is held.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionDetail {
    #[serde(flatten)]
    item: SessionItem,
    /// The sessions above it, nearest first.
    parents: Vec<String>,
    /// The state of its rules.
    #[schema(value_type = wire::RuleState)]
    rules: RuleState,
}

impl From<SessionState> for Standing {
    fn from(state: SessionState) -> Self {
        match state {
            SessionState::Active => Self::Active,
            SessionState::Blocked => Self::Blocked,
            SessionState::Killed => Self::Killed,
        }
    }
}

impl From<Standing> for SessionState {
    fn from(state: Standing) -> Self {
        match state {
            Standing::Active => Self::Active,
            Standing::Blocked => Self::Blocked,
            Standing::Killed => Self::Killed,
        }
    }
}

impl From<Sort> for SessionSort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Touched => Self::Touched,
            Sort::Events => Self::Events,
            Sort::Refused => Self::Refused,
            Sort::Id => Self::Id,
            Sort::Agent => Self::Agent,
            Sort::State => Self::State,
        }
    }
}

impl SessionItem {
    fn new(summary: SessionSummary, mark: Option<Mark>, gauges: Vec<Gauge>) -> Self {
        Self {
            id: summary.id,
            agent: summary.agent,
            state: summary.state.into(),
            would: summary.would.map(Into::into),
            generation: summary.generation,
            touched: summary.touched.0,
            events: summary.tally.events,
            refused: summary.tally.refused,
            tokens: summary.tokens,
            cost_usd: dollars(summary.cost_micros),
            last_rule: summary.tally.last_rule.map(|rule| rule.to_string()),
            mark,
            gauges,
        }
    }
}

/// List sessions
#[utoipa::path(
    get,
    path = "/v1/sessions",
    tag = "sessions",
    params(SessionListQuery),
    responses((status = 200, description = "A page of them", body = SessionPage), wire::OperatorOnly),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
    ApiQuery(which): ApiQuery<SessionListQuery>,
) -> Result<axum::Json<SessionPage>, Problem> {
    let sort = SessionSort::from(which.sort.unwrap_or_default());
    let rule = which.rule.map(|rule| rule.parse());
    let query = SessionQuery {
        state: which.state.map(SessionState::from),
        agent: which
            .agent
            .as_deref()
            .map(|text| id("agent", text))
            .transpose()?,
        contains: which.q.filter(|text| !text.is_empty()),
        rule: rule.transpose().map_err(|error| bad("rule", error))?,
        since: which.from.map(Timestamp),
        until: which.to.map(Timestamp),
        sort,
        ascending: which.order == Some(SortOrder::Asc),
        after: which
            .after
            .as_deref()
            .map(|text| cursor::read(text, sort))
            .transpose()?,
        skip: which.offset.unwrap_or(0),
        limit: page(which.limit)?,
    };
    app.blocking(move |app| found(app, &query)).await
}

fn found(app: &App, query: &SessionQuery) -> Result<axum::Json<SessionPage>, Problem> {
    let guard = app.guard();
    let found = guard.sessions(query)?;
    let policy = guard.policy();
    let item = |summary: SessionSummary| match guard.session(summary.id.as_str()) {
        Ok(Some(session)) => {
            let state = RuleState::of_session(&summary.id, &session.cell, &policy);
            SessionItem::new(session.summary, session.mark, state.gauges)
        }
        // Forgotten since the page was made: what the page knows of it is still true.
        _ => SessionItem::new(summary, None, Vec::new()),
    };
    Ok(axum::Json(SessionPage {
        next: found.next.as_ref().map(cursor::write),
        items: found.items.into_iter().map(item).collect(),
        total: guard.count_sessions(query)?,
    }))
}

/// Show one session
#[utoipa::path(
    get,
    path = "/v1/sessions/{id}",
    tag = "sessions",
    params(("id" = String, Path, description = "The session; a slash in it is written %2F", min_length = 1, max_length = 256)),
    responses(
        (status = 200, description = "The session", body = SessionDetail),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathId(session): PathId,
) -> Result<axum::Json<SessionDetail>, Problem> {
    let id = session.clone();
    let found = app.with_store(move |app| app.guard().session(id.as_str()));
    let Some(found) = found.await? else {
        return Err(none(&session));
    };
    Ok(axum::Json(detail(found, &app.guard().policy())))
}

fn detail(held: Session, policy: &sprag::Policy) -> SessionDetail {
    let id = &held.summary.id;
    let parents = id.parents().map(str::to_owned).collect();
    let rules = RuleState::of_session(id, &held.cell, policy);
    SessionDetail {
        item: SessionItem::new(held.summary, held.mark, rules.gauges.clone()),
        parents,
        rules,
    }
}

/// There is no such session.
pub(super) fn none(session: &Id) -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        format!("there is no session {session}"),
    )
}
