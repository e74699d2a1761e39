//! Agents: sums over what their sessions did.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use sprag::Id;
use utoipa::ToSchema;

use super::{Ledger, Span, Spend, StopFilter};

/// What the sessions of one agent did in a span of time.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct AgentTotals {
    /// The agent; null stands for sessions whose agent is not known.
    #[schema(value_type = Option<String>, required)]
    pub(crate) agent: Option<Id>,
    /// Its sessions.
    pub(crate) sessions: u64,
    /// Their events.
    pub(crate) events: u64,
    /// Events that were warned of.
    pub(crate) warned: u64,
    /// Events that were refused.
    pub(crate) refused: u64,
    /// Its last event.
    pub(crate) last: u64,
    /// What was spent.
    pub(crate) spend: Spend,
    /// Stops, by rule; what rules in shadow would have stopped is left out.
    pub(crate) stops: BTreeMap<&'static str, u64>,
    /// Stops that a person marked as wrong.
    pub(crate) wrong: u64,
}

impl Ledger {
    /// The agents of a span, the most recently active first.
    pub(crate) fn agents(
        &self,
        span: Span,
        wanted: impl Fn(Option<&Id>) -> bool,
    ) -> Vec<AgentTotals> {
        let mut all: HashMap<Option<&Id>, (AgentTotals, HashSet<&Id>)> = HashMap::new();
        for (_, session, row) in self.hours.within(span) {
            let agent = row.agent.as_ref();
            if !wanted(agent) {
                continue;
            }
            let (totals, sessions) = all.entry(agent).or_default();
            sessions.insert(session);
            totals.events += row.events;
            totals.warned += row.warned;
            totals.refused += row.refused;
            totals.last = totals.last.max(row.last);
            totals.spend.add(&row.spend);
        }
        let filter = StopFilter {
            span,
            shadow: Some(false),
            ..StopFilter::default()
        };
        for stop in self.stops_of(&filter) {
            if let Some((totals, _)) = all.get_mut(&stop.agent()) {
                *totals.stops.entry(stop.rule().as_str()).or_default() += 1;
                totals.wrong += u64::from(self.is_wrong(stop.seq));
            }
        }
        let finish =
            |(agent, (totals, sessions)): (Option<&Id>, (AgentTotals, HashSet<&Id>))| AgentTotals {
                agent: agent.cloned(),
                sessions: u64::try_from(sessions.len()).unwrap_or(u64::MAX),
                ..totals
            };
        let mut agents: Vec<AgentTotals> = all.into_iter().map(finish).collect();
        agents.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.agent.cmp(&b.agent)));
        agents
    }
}
