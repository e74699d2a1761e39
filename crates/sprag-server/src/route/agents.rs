//! Agents: what the sessions of each did, and what the policy says about it.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::Policy;
use utoipa::{IntoParams, ToSchema};

use super::stops::text;
use crate::activity::{AgentTotals, GroupSort, Span, SpendBy, SpendRow, StopFilter, StopGroup};
use crate::app::App;
use crate::caller::Reader;
use crate::param::{ApiQuery, PathId, page};
use crate::problem::Problem;
use crate::wire;

/// Which agents, and when.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentsQuery {
    /// Only those whose name holds this text, in any case.
    q: Option<String>,
    /// Not before the hour of this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Not after the hour of this time, in milliseconds since 1970.
    to: Option<u64>,
    /// Leave out so many first.
    offset: Option<usize>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

impl AgentsQuery {
    fn span(&self) -> Span {
        Span {
            from: self.from,
            to: self.to,
        }
    }
}

/// A part of the agents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentPage {
    /// The agents, the most recently active first.
    items: Vec<AgentTotals>,
    /// How many match, on all pages together.
    total: usize,
    /// From when on nothing is missing; null if nothing is missing at all.
    #[schema(required)]
    complete_since: Option<u64>,
    /// Whether the log from before the start was read.
    ready: bool,
}

/// One agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentDetail {
    #[serde(flatten)]
    totals: AgentTotals,
    /// Its groups of stops, the most recent first; at most 50.
    groups: Vec<StopGroup>,
    /// What it spent, day by day.
    days: Vec<SpendRow>,
    /// What it spent, model by model.
    models: Vec<SpendRow>,
    /// The overrides of the policy that fit it, as TOML.
    overrides: Vec<String>,
}

/// List agents
#[utoipa::path(
    get,
    path = "/v1/agents",
    tag = "sessions",
    params(AgentsQuery),
    responses((status = 200, description = "A page of them", body = AgentPage), wire::OperatorOnly),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _: Reader,
    ApiQuery(query): ApiQuery<AgentsQuery>,
) -> Result<axum::Json<AgentPage>, Problem> {
    let (wanted, size) = (text(query.q.as_deref()), page(query.limit)?);
    app.blocking(move |app| {
        Ok(axum::Json(app.activity().ask(|ledger, ready| {
            let agents = ledger.agents(query.span(), |agent| {
                let name = agent.map_or("", |agent| agent.as_str()).to_lowercase();
                wanted.as_ref().is_none_or(|text| name.contains(text))
            });
            let total = agents.len();
            let chosen = agents.into_iter().skip(query.offset.unwrap_or(0));
            AgentPage {
                items: chosen.take(size).collect(),
                total,
                complete_since: ledger.complete_since(),
                ready,
            }
        })))
    })
    .await
}

/// Show one agent
#[utoipa::path(
    get,
    path = "/v1/agents/{agent}",
    tag = "sessions",
    params(("agent" = String, Path, description = "The agent", min_length = 1, max_length = 256), AgentsQuery),
    responses((status = 200, description = "What it did", body = AgentDetail), wire::OperatorOnly),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathId(agent): PathId,
    ApiQuery(query): ApiQuery<AgentsQuery>,
) -> Result<axum::Json<AgentDetail>, Problem> {
    let span = query.span();
    app.blocking(move |app| {
        let overrides = overrides_for(&app.guard().policy(), agent.as_str());
        let filter = StopFilter {
            span,
            agent: Some(agent.clone()),
            ..StopFilter::default()
        };
        Ok(axum::Json(app.activity().ask(|ledger, _| {
            let totals = ledger.agents(span, |name| name == Some(&agent)).pop();
            let groups = ledger.groups(&filter, GroupSort::Last).into_iter();
            AgentDetail {
                totals: totals.unwrap_or_else(|| AgentTotals {
                    agent: Some(agent.clone()),
                    ..AgentTotals::default()
                }),
                groups: groups.take(crate::limits::PAGE).collect(),
                days: ledger.spend(SpendBy::Day, span, Some(&agent)),
                models: ledger.spend(SpendBy::Model, span, Some(&agent)),
                overrides,
            }
        })))
    })
    .await
}

/// The overrides of a policy that fit an agent, as TOML.
fn overrides_for(policy: &Policy, agent: &str) -> Vec<String> {
    let text = policy.to_toml();
    let parts = text.split("[[override]]").skip(1);
    let whole = parts.map(|part| format!("[[override]]{}", part.trim_end()));
    let plain = Policy::default().digest();
    // No session has an empty id, so overrides for sessions alone don't fit.
    let fits = |alone: Policy| alone.narrowed(Some(agent), "").digest() != plain;
    whole
        .filter(|part| Policy::from_toml(part).is_ok_and(fits))
        .collect()
}
