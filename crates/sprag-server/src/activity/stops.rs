//! Stops: what a rule refused, and what a rule in shadow would have refused. Equal ones are a group.
//!
//! Two stops are equal if the rule, the agent and the message are, apart from [numbers and ids](super::pattern). What a
//! killed or blocked session is refused afterwards is not a stop of its own, and neither is a person's order.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use sprag::{Decision, Id, Record, RuleId};
use utoipa::ToSchema;

use super::pattern::pattern;
use super::{Ledger, Span, Spend};
use crate::wire;

/// The most stops that are kept.
const MAX: usize = 50_000;

/// Refusals that follow from an earlier one, or from a person's order.
const CONSEQUENCES: [RuleId; 3] = [
    RuleId::SessionKilled,
    RuleId::SessionBlocked,
    RuleId::SessionPanic,
];

/// One stop.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Stop {
    /// The number of its record.
    pub(crate) seq: u64,
    /// When it happened.
    pub(crate) at: u64,
    /// The session that was stopped.
    #[schema(value_type = String)]
    session: Id,
    /// Its agent.
    #[schema(value_type = Option<String>, required)]
    agent: Option<Id>,
    /// The flow that it was part of.
    #[schema(value_type = Option<String>, required)]
    flow: Option<Id>,
    /// The rule.
    #[schema(value_type = String, example = "flow.depth")]
    rule: RuleId,
    /// What was answered, or would have been.
    #[schema(value_type = wire::Decision)]
    verdict: Decision,
    /// The rule is in shadow: nothing was stopped.
    shadow: bool,
    /// What was said.
    #[schema(value_type = String)]
    message: Arc<str>,
    /// What the session had spent by then.
    spent: Spend,
    #[serde(skip)]
    group: u64,
}

impl Stop {
    pub(super) fn of(record: &Record, works_in: Option<Id>, spent: Spend) -> Option<Self> {
        let what = &record.observation()?.what;
        let verdict = &record.verdict;
        let enforced = verdict
            .rule
            .filter(|_| verdict.decision.refuses())
            .map(|rule| (rule, verdict.decision, verdict.message.as_deref(), false));
        let shadow = || {
            let would = verdict.would.as_ref()?;
            let message = Some(would.message.as_str());
            let refuses = would.decision.refuses();
            refuses.then_some((would.rule, would.decision, message, true))
        };
        let (rule, verdict_given, message, shadow) = enforced.or_else(shadow)?;
        if CONSEQUENCES.contains(&rule) {
            return None;
        }
        let message = message.unwrap_or_default();
        let agent = what.agent().cloned();
        Some(Self {
            seq: record.seq,
            at: record.at.0,
            session: what.session().clone(),
            flow: what.flow().or(verdict.flow.as_ref()).cloned().or(works_in),
            rule,
            verdict: verdict_given,
            shadow,
            spent,
            group: group(rule, agent.as_ref(), shadow, message),
            message: message.into(),
            agent,
        })
    }

    pub(crate) fn session(&self) -> &Id {
        &self.session
    }

    pub(super) fn agent(&self) -> Option<&Id> {
        self.agent.as_ref()
    }

    pub(super) fn rule(&self) -> RuleId {
        self.rule
    }

    /// Whether it holds until a reset.
    pub(crate) fn lasts(&self) -> bool {
        !self.shadow && self.verdict >= Decision::Block
    }

    /// Adds what the session had spent before it was counted here.
    pub(super) fn spent_before(&mut self, before: &Spend) {
        self.spent.add(before);
    }
}

/// The name of a group, the same in every process.
fn group(rule: RuleId, agent: Option<&Id>, shadow: bool, message: &str) -> u64 {
    let mut hash = Sha256::new();
    let agent = agent.map_or("", Id::as_str);
    for part in [
        rule.as_str(),
        agent,
        if shadow { "shadow" } else { "" },
        &pattern(message),
    ] {
        hash.update(part);
        hash.update([0]);
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(6)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A group's number as it stands in an address.
fn group_name(group: u64) -> String {
    format!("{group:012x}")
}

/// The number of a group's name.
pub(crate) fn group_number(name: &str) -> Option<u64> {
    let is_name = name.len() == 12 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| u64::from_str_radix(name, 16).ok())?
}

/// Which stops.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopFilter {
    pub(crate) span: Span,
    pub(crate) agent: Option<Id>,
    pub(crate) rule: Option<RuleId>,
    /// The session or the message holds this text, in any case.
    pub(crate) text: Option<String>,
    /// Only enforced ones, or only those in shadow.
    pub(crate) shadow: Option<bool>,
    pub(crate) group: Option<u64>,
    /// Only those that a person marked as wrong, or only the others.
    pub(crate) wrong: Option<bool>,
}

impl StopFilter {
    fn wants(&self, stop: &Stop, ledger: &Ledger) -> bool {
        let holds = |text: &String| {
            stop.message.to_lowercase().contains(text)
                || stop.session.as_str().to_lowercase().contains(text)
        };
        self.group.is_none_or(|group| group == stop.group)
            && self.span.has(stop.at)
            && (self.agent.is_none() || self.agent == stop.agent)
            && self.rule.is_none_or(|rule| rule == stop.rule)
            && self.shadow.is_none_or(|shadow| shadow == stop.shadow)
            && self.text.as_ref().is_none_or(holds)
            && self
                .wrong
                .is_none_or(|wrong| wrong == ledger.is_wrong(stop.seq))
    }
}

/// What groups are sorted by, the largest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum GroupSort {
    /// Their last stop.
    #[default]
    Last,
    /// How many stops they hold.
    Count,
    /// What their sessions had spent.
    Cost,
}

/// Equal stops.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct StopGroup {
    /// Its name, which stays the same.
    #[schema(example = "3fa2c1d0b7e4")]
    pub(crate) group: String,
    /// The newest of them.
    pub(crate) newest: Stop,
    /// How many.
    pub(crate) count: u64,
    /// In how many sessions.
    pub(crate) sessions: u64,
    /// How many of those sessions are still stopped.
    pub(crate) still_stopped: u64,
    /// The first of them.
    pub(crate) first: u64,
    /// The last of them.
    pub(crate) last: u64,
    /// What the sessions had spent when they were stopped, each counted once.
    pub(crate) spent: Spend,
    /// How many of them a person marked as wrong.
    pub(crate) wrong: u64,
    #[serde(skip)]
    members: HashSet<Id>,
}

impl StopGroup {
    fn new(stop: &Stop) -> Self {
        Self {
            group: group_name(stop.group),
            newest: stop.clone(),
            count: 0,
            sessions: 0,
            still_stopped: 0,
            first: stop.at,
            last: stop.at,
            spent: Spend::default(),
            wrong: 0,
            members: HashSet::new(),
        }
    }

    /// Takes an older stop in.
    fn add(&mut self, stop: &Stop, wrong: bool) {
        self.count += 1;
        self.wrong += u64::from(wrong);
        self.first = self.first.min(stop.at);
        self.last = self.last.max(stop.at);
        // Stops come newest first, and spending only grows.
        if self.members.insert(stop.session.clone()) {
            self.sessions += 1;
            self.spent.add(&stop.spent);
        }
    }

    /// The sessions in it.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Id> {
        self.members.iter()
    }
}

/// The newest stops, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Stops(VecDeque<Stop>);

impl Stops {
    pub(super) fn push(&mut self, stop: Stop) {
        self.0.push_back(stop);
    }

    /// Lets go of what is too much, and answers when the last of that was.
    pub(super) fn shed(&mut self) -> Option<u64> {
        (self.0.len() > MAX).then(|| self.0.pop_front().map(|stop| stop.at))?
    }
}

impl IntoIterator for Stops {
    type Item = Stop;
    type IntoIter = std::collections::vec_deque::IntoIter<Stop>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Ledger {
    /// The stops that a filter wants, newest first.
    pub(crate) fn stops_of<'a>(&'a self, filter: &'a StopFilter) -> impl Iterator<Item = &'a Stop> {
        let all = self.stops.0.iter().rev();
        all.filter(|stop| filter.wants(stop, self))
    }

    /// What the sessions of the stops that a filter wants had spent by then, each counted once.
    pub(crate) fn spent_when_stopped(&self, filter: &StopFilter) -> Spend {
        let mut seen = HashSet::new();
        let stops = self.stops_of(filter);
        let lasting = stops.filter(|stop| stop.lasts() && seen.insert(&stop.session));
        lasting.fold(Spend::default(), |mut all, stop| {
            all.add(&stop.spent);
            all
        })
    }

    /// The stops that a filter wants, in groups.
    pub(crate) fn groups(&self, filter: &StopFilter, sort: GroupSort) -> Vec<StopGroup> {
        let mut groups: HashMap<u64, StopGroup> = HashMap::new();
        for stop in self.stops_of(filter) {
            let group = groups
                .entry(stop.group)
                .or_insert_with(|| StopGroup::new(stop));
            group.add(stop, self.is_wrong(stop.seq));
        }
        let mut groups: Vec<StopGroup> = groups.into_values().collect();
        groups.sort_by(|a, b| {
            let value = |group: &StopGroup| match sort {
                GroupSort::Last => group.last,
                GroupSort::Count => group.count,
                GroupSort::Cost => group.spent.cost_micros,
            };
            let by_value = value(b).cmp(&value(a)).then(b.last.cmp(&a.last));
            by_value.then_with(|| a.group.cmp(&b.group))
        });
        groups
    }
}
