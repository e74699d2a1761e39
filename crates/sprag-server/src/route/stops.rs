//! Stops across sessions: equal ones are one row.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::{Id, RuleId, SessionState};
use utoipa::{IntoParams, ToSchema};

use crate::activity::{GroupSort, Span, Stop, StopFilter, StopGroup, group_number};
use crate::app::App;
use crate::caller::Reader;
use crate::limits;
use crate::param::{ApiQuery, PathId, bad, id, page};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

use super::sessions::Standing;

/// What groups are sorted by.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StopSort {
    #[default]
    Last,
    Count,
    Cost,
}

/// Which stops.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StopsQuery {
    /// Only those of this agent.
    #[param(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// Only those by this rule.
    #[param(example = "flow.depth")]
    rule: Option<String>,
    /// Only those whose session or message holds this text, in any case.
    q: Option<String>,
    /// Only what rules in shadow would have stopped (`true`), or only what was stopped (`false`).
    shadow: Option<bool>,
    /// Only those that a person marked as wrong (`true`), or only the others (`false`).
    wrong: Option<bool>,
    /// Not before this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Before this time, in milliseconds since 1970.
    to: Option<u64>,
    /// What to sort by, the largest first; the last stop if nothing is said.
    #[param(inline)]
    sort: Option<StopSort>,
    /// Leave out so many first.
    offset: Option<usize>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of the groups.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StopPage {
    /// The groups.
    items: Vec<StopGroup>,
    /// How many groups match, on all pages together.
    total: usize,
    /// How many stops they hold.
    stops: u64,
    /// From when on nothing is missing; null if nothing is missing at all.
    #[schema(required)]
    complete_since: Option<u64>,
    /// Whether the log from before the start was read.
    ready: bool,
}

/// One group with its stops.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StopGroupDetail {
    #[serde(flatten)]
    group: StopGroup,
    /// Its stops, newest first.
    items: Vec<MarkedStop>,
}

/// A stop, and what people made of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MarkedStop {
    #[serde(flatten)]
    stop: Stop,
    /// A person marked it as wrong.
    wrong: bool,
    /// What the session may do now; null if it is forgotten.
    #[schema(value_type = Option<Standing>, required)]
    state: Option<&'static str>,
}

impl StopsQuery {
    fn filter(&self) -> Result<StopFilter, Problem> {
        let agent = self.agent.as_deref().map(|text| id("agent", text));
        let rule = self.rule.as_ref().map(|rule| rule.parse::<RuleId>());
        Ok(StopFilter {
            span: Span {
                from: self.from,
                to: self.to,
            },
            agent: agent.transpose()?,
            rule: rule.transpose().map_err(|error| bad("rule", error))?,
            text: text(self.q.as_deref()),
            shadow: self.shadow,
            wrong: self.wrong,
            group: None,
        })
    }
}

/// What to look for, in lower case; none for an empty text.
pub(super) fn text(q: Option<&str>) -> Option<String> {
    let text = q.map(|text| text.trim().to_lowercase());
    text.filter(|text| !text.is_empty())
}

/// List stops in groups
///
/// Stops with the same rule, the same agent and the same message, apart from numbers and ids, are one group. No record
/// is read for it: the server counts stops as they happen, and keeps the newest 50,000.
#[utoipa::path(
    get,
    path = "/v1/stops",
    tag = "sessions",
    params(StopsQuery),
    responses((status = 200, description = "A page of groups", body = StopPage), wire::OperatorOnly),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
    ApiQuery(query): ApiQuery<StopsQuery>,
) -> Result<axum::Json<StopPage>, Problem> {
    let (filter, size) = (query.filter()?, page(query.limit)?);
    let sort = match query.sort.unwrap_or_default() {
        StopSort::Last => GroupSort::Last,
        StopSort::Count => GroupSort::Count,
        StopSort::Cost => GroupSort::Cost,
    };
    app.blocking(move |app| {
        let (groups, complete_since, ready) = app
            .activity()
            .ask(|ledger, ready| (ledger.groups(&filter, sort), ledger.complete_since(), ready));
        let (total, stops) = (groups.len(), groups.iter().map(|group| group.count).sum());
        let chosen = groups.into_iter().skip(query.offset.unwrap_or(0));
        let mut items: Vec<StopGroup> = chosen.take(size).collect();
        count_stopped(app, &mut items)?;
        Ok(axum::Json(StopPage {
            items,
            total,
            stops,
            complete_since,
            ready,
        }))
    })
    .await
}

/// Show one group
#[utoipa::path(
    get,
    path = "/v1/stops/{group}",
    tag = "sessions",
    params(("group" = String, Path, description = "The group's name"), StopsQuery),
    responses(
        (status = 200, description = "The group and its newest stops", body = StopGroupDetail),
        wire::Missing,
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathId(name): PathId,
    ApiQuery(query): ApiQuery<StopsQuery>,
) -> Result<axum::Json<StopGroupDetail>, Problem> {
    let number = group_number(name.as_str()).ok_or_else(|| none(&name))?;
    let filter = StopFilter {
        group: Some(number),
        ..query.filter()?
    };
    let size = page(query.limit)?;
    app.blocking(move |app| {
        let (group, items) = app.activity().ask(|ledger, _| {
            let group = ledger.groups(&filter, GroupSort::Last).pop();
            let stops = ledger.stops_of(&filter).skip(query.offset.unwrap_or(0));
            let items: Vec<(Stop, bool)> = stops
                .take(size)
                .map(|stop| (stop.clone(), ledger.is_wrong(stop.seq)))
                .collect();
            (group, items)
        });
        let mut group = [group.ok_or_else(|| none(&name))?];
        count_stopped(app, &mut group)?;
        let [group] = group;
        let mut marked = Vec::with_capacity(items.len());
        for (stop, wrong) in items {
            let state = app.guard().session(stop.session().as_str())?;
            marked.push(MarkedStop {
                state: state.map(|session| session.summary.state.as_str()),
                stop,
                wrong,
            });
        }
        Ok(axum::Json(StopGroupDetail {
            group,
            items: marked,
        }))
    })
    .await
}

fn none(name: &Id) -> Problem {
    Problem::new(
        ProblemKind::NotFound,
        format!("there is no group {name} of stops"),
    )
}

/// Counts whose sessions are still stopped. It looks at so many sessions for one answer and no more.
fn count_stopped(app: &App, groups: &mut [StopGroup]) -> Result<(), Problem> {
    let mut left = limits::STOPPED_LOOKS;
    for group in groups.iter_mut().filter(|group| group.newest.lasts()) {
        let mut stopped = 0;
        for session in group.members().take(left) {
            left -= 1;
            stopped += u64::from(is_stopped(app, session)?);
        }
        group.still_stopped = stopped;
    }
    Ok(())
}

pub(super) fn is_stopped(app: &App, session: &Id) -> Result<bool, Problem> {
    let held = app.guard().session(session.as_str())?;
    Ok(held.is_some_and(|held| held.summary.state != SessionState::Active))
}
