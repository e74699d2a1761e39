//! How full every rule is: what a person needs to see to understand the next verdict.
//!
//! Cells are private, because rules may change what they keep. This is the one window into them:
//! read-only, in the terms of the rules, and serialisable for the dashboard. A gauge shows how
//! much of a limit is used; rules that are off and gauges that stand at zero are left out.

mod spent;
mod step_progress;

use serde::Serialize;

use crate::cell::tried::ShortName;
use crate::cell::window::Weighed;
use crate::cell::{Cells, FlowCell, Mark, SessionCell};
use crate::id::Id;
use crate::observation::{Message, Observation, Observed};
use crate::policy::{Amounts, Limits, Mode, Policy, Scope};
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};

pub use spent::{Spent, SpentOn};
pub use step_progress::StepProgress;

/// How much of one limit is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gauge {
    /// The rule.
    pub rule: RuleId,
    /// Whose: `session`, `flow`, `pair`, `inbox`, `conversation`, `agent`.
    pub of: &'static str,
    /// How much is used; times in milliseconds, money in millionths of a dollar.
    pub used: u64,
    /// The limit.
    pub limit: u64,
}

/// The state of the rules around one event, after it was judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RuleState {
    /// The session that acts; of a message from outside, the one that receives it.
    pub session: Option<Id>,
    /// Its agent.
    pub agent: Option<Id>,
    /// Its generation.
    pub generation: u32,
    /// Why it is killed.
    pub killed: Option<Mark>,
    /// Why it is blocked.
    pub blocked: Option<Mark>,
    /// A session above it is killed.
    pub killed_above: bool,
    /// Calls that wait for their step.
    pub pending: usize,
    /// The flows that are worked on in it.
    pub dispatches: Vec<Id>,
    /// The collapsed stack of calls in the flow, root first.
    pub stack: Vec<Id>,
    /// How full the rules are, in their order.
    pub gauges: Vec<Gauge>,
    /// What the progress rules made of a step.
    pub progress: Option<StepProgress>,
    /// What the session, its flow and its agent's day have spent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<Spent>,
}

impl RuleState {
    /// The state around `observation`, resolved and folded into `cells` under `policy`; `before` is
    /// its session as it was then, if it was known.
    #[must_use]
    pub fn of(
        observation: &Observation,
        before: Option<SessionCell>,
        cells: &Cells,
        policy: &Policy,
    ) -> Self {
        let now = cells.now(observation.at);
        let (id, agent) = (observation.what.session(), observation.what.agent());
        let cell = cells.session.as_deref().or(cells.peer.as_deref());
        let mut state = match cell {
            Some(cell) => Self::bare(id, cell),
            None => Self::default(),
        };
        state.killed_above = cells.killed_above.is_some();
        let limits = policy.limits_for(agent.map(Id::as_str), id.as_str());
        if let (Observed::Step(step), Some(after)) = (&observation.what, &cells.session) {
            let mut before = before.unwrap_or_default();
            before.expire(now);
            state.progress = StepProgress::of(step, before, after, &limits);
        }
        let mut gauges = GaugeList::new(&limits);
        if let Some(cell) = &cells.session {
            gauges.session(cell, now);
            gauges.approach(cell, &observation.what, now);
        }
        if let Some(flow) = &cells.flow {
            gauges.flow(flow, now);
        }
        gauges.agent(cells, now);
        if let Observed::Message(message) = &observation.what {
            state.stack = gauges.message(message, cells, now);
            gauges.receiver(message, cells, policy, now);
        }
        state.gauges = gauges.finish();
        let session = cells
            .session
            .iter()
            .map(|cell| ("session", &*cell.held.spent));
        let flow = cells.flow.iter().map(|cell| ("flow", &cell.spent));
        let agent = cells.agent.iter().map(|cell| ("agent_day", &cell.spent));
        let all = session.chain(flow).chain(agent);
        state.spent = all
            .filter_map(|(of, spent)| Spent::new(of, spent))
            .collect();
        state
    }

    /// The state of one session by itself.
    #[must_use]
    pub fn of_session(id: &Id, cell: &SessionCell, policy: &Policy) -> Self {
        let agent = cell.agent().map(Id::as_str);
        let limits = policy.limits_for(agent, id.as_str());
        let mut gauges = GaugeList::new(&limits);
        gauges.session(cell, cell.touched);
        Self {
            gauges: gauges.finish(),
            spent: Spent::new("session", &cell.held.spent)
                .into_iter()
                .collect(),
            ..Self::bare(id, cell)
        }
    }

    fn bare(id: &Id, cell: &SessionCell) -> Self {
        Self {
            session: Some(id.clone()),
            agent: cell.agent.clone(),
            generation: cell.generation,
            killed: cell.killed().cloned(),
            blocked: cell.blocked().cloned(),
            pending: cell.held.pending.len(),
            dispatches: cell.held.dispatches.to_vec(),
            ..Self::default()
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

struct GaugeList<'a> {
    limits: &'a Limits,
    found: Vec<Gauge>,
}

impl<'a> GaugeList<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            found: Vec::new(),
        }
    }

    fn add(&mut self, rule: RuleId, of: &'static str, used: impl Into<u64>, limit: impl Into<u64>) {
        let used = used.into();
        if used > 0 && self.limits.modes.get(rule) != Mode::Off {
            self.found.push(Gauge {
                rule,
                of,
                used,
                limit: limit.into(),
            });
        }
    }

    fn finish(mut self) -> Vec<Gauge> {
        self.found.sort_by_key(|gauge| gauge.rule);
        self.found
    }

    fn session(&mut self, cell: &SessionCell, now: Timestamp) {
        use RuleId as R;
        let limits = self.limits;
        let (held, of) = (&cell.held, "session");
        let destructive = held.destructive.as_ref().map_or(0, |memory| {
            memory.window.count(now, limits.destructive.window)
        });
        let volume = limits.destructive.max_calls.get();
        self.add(R::DestructiveVolume, of, number(destructive), volume);
        let refused = limits.session.max_refused.get();
        self.add(R::SessionDefiance, of, held.refusals.count, refused);
        let (streaks, progress) = (held.progress.streaks, &limits.progress);
        let stagnation = progress.stagnation.block.get();
        self.add(R::ProgressStagnation, of, streaks.stagnation, stagnation);
        self.add(
            R::ProgressStuck,
            of,
            streaks.stuck,
            progress.stuck.block.get(),
        );
        self.add(
            R::ProgressStuck,
            "session, nothing found",
            streaks.empty,
            progress.empty.block.get(),
        );
        self.add(
            R::ProgressChurn,
            of,
            streaks.churn,
            progress.churn.block.get(),
        );
        self.add(
            R::ProgressProbe,
            of,
            streaks.probe,
            progress.probe.block.get(),
        );
        if let Some((_, past)) = held.progress.past(held.progress.last.approach) {
            let recurrence = progress.recurrence.block.get();
            self.add(R::ProgressRecurrence, of, past.same, recurrence);
        }
        self.add(R::BudgetActions, of, held.actions, limits.budget.actions);
        let unattended = limits.flow.max_unattended.get();
        self.add(R::FlowUnattended, of, held.unattended, unattended);
        let age = held.since.map_or(Millis(0), |since| now.since(since));
        let spent = (held.spent.tokens, held.spent.cost_micros, age);
        self.spent(of, spent, |amounts| amounts.session);
    }

    fn spent(
        &mut self,
        of: &'static str,
        (tokens, cost_micros, time): (u64, u64, Millis),
        part: impl Fn(&Amounts) -> Option<u64>,
    ) {
        let budget = &self.limits.budget;
        let all = [
            (RuleId::BudgetTokens, tokens, part(&budget.tokens)),
            (RuleId::BudgetCost, cost_micros, part(&budget.cost_micros)),
            (RuleId::BudgetTime, time.0, part(&budget.time_ms)),
        ];
        for (rule, used, limit) in all {
            if let Some(limit) = limit {
                self.add(rule, of, used, limit);
            }
        }
    }

    /// How often just this was called.
    fn approach(&mut self, cell: &SessionCell, what: &Observed, now: Timestamp) {
        let Observed::Call(call) = what else {
            return;
        };
        let (limits, calls) = (&self.limits.call, &cell.held.calls);
        let key = call.approach.exact.prefix();
        let (most, window) = (limits.max_identical.get(), limits.window);
        let seen = |nth: &u32| calls.nth_latest(key, *nth, now, window).is_some();
        let same = number((1..=most).take_while(seen).count());
        self.add(RuleId::CallIdentical, "session", same, most);
        let tool = call.approach.tool.as_ref().map_or("", |tool| tool.as_str());
        if !cell.held.reports(&ShortName::new(tool)) {
            let row = calls.row_with(key, now).saturating_sub(1);
            let repeat = limits.repeat.get();
            self.add(RuleId::CallRepeat, "session", row, repeat);
        }
    }

    fn flow(&mut self, flow: &FlowCell, now: Timestamp) {
        let (limits, of) = (&self.limits.flow, "flow");
        let members = flow.sessions().weight_up();
        let age = match flow.started {
            Some(_) => now.since(flow.idle_since()),
            None => Millis(0),
        };
        let recent = Weighed::of(&flow.calls, &flow.new_calls, now, Millis::MINUTE);
        let rate = number(recent.weight());
        self.add(
            RuleId::FlowSessions,
            of,
            number(members),
            limits.max_sessions.get(),
        );
        self.add(RuleId::FlowDuration, of, age.0, limits.max_duration.0);
        self.add(
            RuleId::FlowRate,
            of,
            rate,
            limits.max_calls_per_minute.get(),
        );
        self.add(RuleId::FlowTotal, of, flow.total, limits.max_calls.get());
        let deny = limits.spawns.root_deny.get();
        self.add(RuleId::FlowSpawns, of, flow.starts.count(now), deny);
        let spent = (flow.spent.tokens, flow.spent.cost_micros, age);
        self.spent(of, spent, |amounts| amounts.flow);
    }

    fn agent(&mut self, cells: &Cells, now: Timestamp) {
        let Some(cell) = &cells.agent else {
            return;
        };
        let limits = &self.limits.destructive;
        if limits.scope == Scope::Agent {
            let used = number(cell.destructive.window.count(now, limits.window));
            self.add(
                RuleId::DestructiveVolume,
                "agent",
                used,
                limits.max_calls.get(),
            );
        }
        let spent = (
            cell.spent.tokens,
            cell.spent.cost_micros,
            now.since(cell.day_since),
        );
        self.spent("agent", spent, |amounts| amounts.agent_day);
    }

    /// Adds what the sender's policy counts for a message; returns the stack of calls.
    fn message(&mut self, message: &Message, cells: &Cells, now: Timestamp) -> Vec<Id> {
        let limits = &self.limits.flow;
        let Some(from) = &message.from else {
            return Vec::new();
        };
        if let Some(pair) = &cells.pair {
            let talk = number(pair.talk.count(now, Millis::MINUTE));
            self.add(RuleId::FlowChatter, "pair", talk, limits.chatter.get());
            let run = if *from <= message.to {
                pair.there
            } else {
                pair.back
            };
            self.add(RuleId::FlowEcho, "pair", run.count, limits.echo.deny.get());
        }
        let Some(flow) = &cells.flow else {
            return Vec::new();
        };
        let path = flow.path(from, &message.to);
        self.add(
            RuleId::FlowDepth,
            "flow",
            path.depth(),
            limits.max_depth.get(),
        );
        let revisits = flow.member(&message.to).map_or(0, |member| member.revisits);
        self.add(
            RuleId::FlowRevisits,
            "flow",
            revisits,
            limits.max_revisits.get(),
        );
        path.chain
    }

    /// Adds what the receiver's policy counts for a message.
    fn receiver(&mut self, message: &Message, cells: &Cells, policy: &Policy, now: Timestamp) {
        let agent = message.to_agent.as_ref().map(Id::as_str);
        let limits = policy.limits_for(agent, message.to.as_str());
        let mut gauges = GaugeList::new(&limits);
        if let Some(inbox) = &cells.inbox {
            let recent = Weighed::of(&inbox.arrived, &inbox.new_arrived, now, Millis::MINUTE);
            let arrived = number(recent.weight());
            let most = limits.inbox.max_messages_per_minute.get();
            gauges.add(RuleId::InboxRate, "inbox", arrived, most);
        }
        if let Some(conversation) = &cells.conversation {
            let most = limits.conversation.max_messages.get();
            gauges.add(
                RuleId::ConversationLength,
                "conversation",
                conversation.weight(),
                most,
            );
        }
        if let Some(peer) = &cells.peer {
            let most = limits.flow.max_unattended.get();
            gauges.add(
                RuleId::FlowUnattended,
                "receiver",
                peer.held.unattended,
                most,
            );
        }
        self.found.append(&mut gauges.found);
    }
}

#[cfg(test)]
mod tests;
