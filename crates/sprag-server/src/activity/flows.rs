//! Flows: one row each, for a list that can be searched.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sprag::{Id, Record};
use sprag_core::Observed;
use utoipa::ToSchema;

use super::hours::{SpendRow, sort};
use super::{Span, Spend};

/// The most flows that are kept.
const MAX: usize = 20_000;
/// How many go at once when there are more.
const SHED: usize = 1_000;
/// The most sessions of a flow that are told apart.
const SESSIONS: usize = 256;

#[derive(Debug, Clone, Default)]
struct FlowEntry {
    first: u64,
    last: u64,
    /// The session that it began with, and its agent.
    root: Option<Id>,
    agent: Option<Id>,
    agents: HashSet<Id>,
    sessions: HashSet<Id>,
    messages: u64,
    calls: u64,
    refused: u64,
    depth: u32,
    spend: Spend,
}

/// One flow in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FlowRow {
    /// Its correlation id.
    #[schema(value_type = String)]
    pub(crate) flow: Id,
    /// When its first record was made.
    pub(crate) started: u64,
    /// When its last record was made.
    pub(crate) touched: u64,
    /// The session that it began with.
    #[schema(value_type = Option<String>, required)]
    root: Option<Id>,
    /// The agent that it began with.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// How many sessions took part; 256 stands for more.
    sessions: u64,
    /// Messages.
    messages: u64,
    /// Tool calls.
    calls: u64,
    /// Messages and calls that were refused.
    refused: u64,
    /// The deepest stack.
    depth: u32,
    /// What was spent in it.
    spend: Spend,
}

/// Which flows.
#[derive(Debug, Default)]
pub(crate) struct FlowFilter {
    /// Those that were active in it.
    pub(crate) span: Span,
    /// The id, a session or an agent holds this text.
    pub(crate) text: Option<String>,
    pub(crate) agent: Option<Id>,
    /// Only those in which something was refused.
    pub(crate) refused: bool,
}

/// The flows.
#[derive(Debug, Default)]
pub(crate) struct Flows(HashMap<Id, FlowEntry>);

impl Flows {
    /// Counts a record into its flow, or into the one that its session works in.
    pub(super) fn count(&mut self, record: &Record, works_in: Option<&Id>, spend: Option<&Spend>) {
        let Some(observation) = record.observation() else {
            return;
        };
        let what = &observation.what;
        let flow = what.flow().or(record.verdict.flow.as_ref());
        let Some(flow) = flow.or(works_in) else {
            return;
        };
        let at = record.at.0;
        let entry = self.0.entry(flow.clone()).or_default();
        if entry.root.is_none() {
            entry.first = at;
        }
        entry.last = entry.last.max(at);
        let mut takes_part = |session: &Id, agent: Option<&Id>| {
            if entry.root.is_none() {
                entry.root = Some(session.clone());
                entry.agent = agent.cloned();
            }
            if entry.agent.is_none() && entry.root.as_ref() == Some(session) {
                entry.agent = agent.cloned();
            }
            if entry.sessions.len() < SESSIONS {
                entry.sessions.insert(session.clone());
            }
            if let Some(agent) = agent.filter(|_| entry.agents.len() < SESSIONS) {
                entry.agents.insert(agent.clone());
            }
        };
        match what {
            Observed::Message(message) => {
                if let Some(from) = &message.from {
                    takes_part(from, message.agent.as_ref());
                }
                takes_part(&message.to, message.to_agent.as_ref());
                entry.messages += 1;
                entry.depth = entry.depth.max(record.verdict.depth.unwrap_or(0));
            }
            _ => takes_part(what.session(), what.agent()),
        }
        entry.calls += u64::from(matches!(what, Observed::Call(_)));
        entry.refused += u64::from(record.verdict.refuses());
        if let Some(spend) = spend {
            entry.spend.add(spend);
        }
    }

    /// Lets go of those that were idle the longest if there are too many, and answers when the last of them was
    /// active.
    pub(super) fn shed(&mut self) -> Option<u64> {
        if self.0.len() < MAX + SHED {
            return None;
        }
        let mut last: Vec<u64> = self.0.values().map(|entry| entry.last).collect();
        last.sort_unstable();
        let end = *last.get(SHED.saturating_sub(1))?;
        self.0.retain(|_, entry| entry.last > end);
        Some(end)
    }

    pub(super) fn join(&mut self, later: Self) {
        for (flow, more) in later.0 {
            let Some(held) = self.0.get_mut(&flow) else {
                self.0.insert(flow, more);
                continue;
            };
            held.last = held.last.max(more.last);
            held.messages += more.messages;
            held.calls += more.calls;
            held.refused += more.refused;
            held.depth = held.depth.max(more.depth);
            held.spend.add(&more.spend);
            held.agents.extend(more.agents);
            let room = SESSIONS.saturating_sub(held.sessions.len());
            held.sessions.extend(more.sessions.into_iter().take(room));
        }
    }

    fn chosen(&self, filter: &FlowFilter) -> impl Iterator<Item = (&Id, &FlowEntry)> {
        let holds = |id: &Id, text: &str| id.as_str().to_lowercase().contains(text);
        self.0.iter().filter(move |(flow, entry)| {
            let begins = filter.span.to.is_none_or(|to| entry.first < to);
            let ends = filter.span.from.is_none_or(|from| entry.last >= from);
            let has = |text: &String| {
                let mut all = entry.sessions.iter().chain(&entry.agents);
                holds(flow, text) || all.any(|id| holds(id, text))
            };
            begins
                && ends
                && (!filter.refused || entry.refused > 0)
                && filter
                    .agent
                    .as_ref()
                    .is_none_or(|agent| entry.agents.contains(agent))
                && filter.text.as_ref().is_none_or(has)
        })
    }

    /// The flows that a filter wants, the most recently active first.
    pub(crate) fn list(&self, filter: &FlowFilter) -> Vec<FlowRow> {
        let row = |(flow, entry): (&Id, &FlowEntry)| FlowRow {
            flow: flow.clone(),
            started: entry.first,
            touched: entry.last,
            root: entry.root.clone(),
            agent: entry.agent.clone(),
            sessions: u64::try_from(entry.sessions.len()).unwrap_or(u64::MAX),
            messages: entry.messages,
            calls: entry.calls,
            refused: entry.refused,
            depth: entry.depth,
            spend: entry.spend,
        };
        let mut rows: Vec<FlowRow> = self.chosen(filter).map(row).collect();
        rows.sort_by(|a, b| b.touched.cmp(&a.touched).then_with(|| a.flow.cmp(&b.flow)));
        rows
    }

    /// What each flow that was active in a span spent as a whole.
    pub(super) fn spend(&self, span: Span, agent: Option<&Id>) -> Vec<SpendRow> {
        let filter = FlowFilter {
            span,
            agent: agent.cloned(),
            ..FlowFilter::default()
        };
        let row = |(flow, entry): (&Id, &FlowEntry)| SpendRow {
            name: Some(flow.to_string()),
            spend: entry.spend,
            sessions: u64::try_from(entry.sessions.len()).unwrap_or(u64::MAX),
        };
        let rows = self.chosen(&filter).map(row);
        let mut rows: Vec<SpendRow> = rows.filter(|row| row.spend.requests > 0).collect();
        sort(&mut rows);
        rows
    }
}
