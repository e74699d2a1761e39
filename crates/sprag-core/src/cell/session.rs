//! What is remembered of one session: marks, counts, its last calls and the memory of its steps.
//!
//! Small when fresh and bounded when full, because a guard holds a cell for every agent that ever
//! ran. Lists grow as they are used and stop growing at the bounds named here.

use serde::Serialize;

use super::approvals::{Approval, Approvals};
use super::calls::Calls;
use super::destructive::Destructive;
use super::hash::{hash_bytes, mix};
use super::near::NearLosses;
use super::pace::Pace;
use super::pending::PendingCall;
use super::progress::Progress;
use super::rare::Rare;
use super::said::Said;
use super::spent::Spending;
use super::starts::Starter;
use super::task::RunTrace;
use super::tried::{ShortName, Tried};
use crate::id::Id;
use crate::observation::{Outcome, ToolKind};
use crate::rule::RuleId;
use crate::sender::Owner;
use crate::time::{Millis, Timestamp};

/// This many calls may wait for their step.
pub(crate) const MAX_PENDING: usize = 64;
/// This many dispatches may run in one session.
pub(crate) const MAX_DISPATCHES: usize = 64;

/// Tools whose results are reported are kept apart up to this many.
pub(crate) const MAX_REPORTING: usize = 64;

/// Why a session is blocked or killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// When it was set.
    pub at: Timestamp,
    /// The rule that set it; none for an operator's kill.
    pub rule: Option<RuleId>,
    /// What happened, in a sentence.
    pub why: String,
    /// The operator, for a kill by hand.
    pub by: Option<Box<str>>,
}

/// Why a session would be blocked or killed, if the rule were not in shadow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowMark {
    /// It would be killed, not blocked.
    pub kills: bool,
    /// When, by which rule, and why.
    pub mark: Mark,
}

/// Refused calls in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Refusals {
    pub(crate) count: u32,
    pub(crate) counted_at: Option<Timestamp>,
    pub(crate) identical_at: Option<Timestamp>,
}

/// One run of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCell {
    pub(crate) touched: Timestamp,
    pub(crate) generation: u32,
    pub(crate) agent: Option<Id>,
    /// Steps ever reported that were work; outlives resets so that pairs notice it.
    pub(crate) steps: u64,
    pub(crate) killed: Option<Box<Mark>>,
    pub(crate) blocked: Option<Box<Mark>>,
    pub(crate) owner: Option<Owner>,
    /// Who started it as a sub-agent that has not returned.
    pub(crate) starter: Option<Box<Starter>>,
    /// The flow that counts its start, else those that it makes itself.
    pub(crate) family: Option<Id>,
    /// The newest generation that was killed; 0 if none was. Outlives resets.
    pub(crate) last_killed: u32,
    pub(crate) held: ResettableState,
}

/// What a reset clears.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ResettableState {
    /// The first event since the session was new.
    pub(crate) since: Option<Timestamp>,
    pub(crate) user_seen: bool,
    /// Results are reported for every tool: a step came that named none, or too many tools to keep
    /// apart report theirs.
    pub(crate) step_seen: bool,
    /// The tools whose results are reported.
    pub(crate) reporting: Vec<u64>,
    /// When a user last wrote to it or started a flow that reached it.
    pub(crate) attended_at: Option<Timestamp>,
    pub(crate) unattended: u32,
    pub(crate) actions: u32,
    pub(crate) refusals: Rare<Refusals>,
    pub(crate) calls: Calls,
    pub(crate) destructive: Option<Box<Destructive>>,
    /// The same for what commands destroy outside of the workspace.
    pub(crate) commands: Option<Box<Destructive>>,
    pub(crate) near: Option<Box<NearLosses>>,
    pub(crate) pending: Vec<PendingCall>,
    pub(crate) dispatches: Rare<Vec<Id>>,
    pub(crate) spent: Rare<Spending>,
    pub(crate) progress: Progress,
    pub(crate) pace: Pace,
    /// Calls refused since the session was blocked.
    pub(crate) refused_in_block: u32,
    /// When a scheduler or an applet last started a run.
    pub(crate) run_started: Option<Timestamp>,
    /// The last message of a user lifted a block, or would have: the next one will.
    pub(crate) user_unblocks: bool,
    pub(crate) approvals: Rare<Approvals>,
    pub(crate) output: Said,
    /// Somebody outside spoke to it.
    pub(crate) opened: bool,
    pub(crate) run: RunTrace,
    /// The last different things that it did and what came of them.
    pub(crate) did: Vec<u64>,
    /// What rules in shadow would have done to it.
    pub(crate) shadow_mark: Option<Box<ShadowMark>>,
}

impl ResettableState {
    /// Whether results of this tool are reported.
    pub(crate) fn reports(&self, tool: &ShortName) -> bool {
        self.step_seen || self.reporting.contains(&hash_bytes(tool.as_bytes()))
    }

    /// A result was reported, of this tool if it is known.
    pub(crate) fn note_report(&mut self, tool: Option<&ShortName>) {
        let Some(tool) = tool else {
            self.step_seen = true;
            return;
        };
        if self.reports(tool) {
            return;
        }
        match self.reporting.len() < MAX_REPORTING {
            true => {
                // Most sessions have few tools that report, and a list makes room for four at first.
                self.reporting.reserve_exact(1);
                self.reporting.push(hash_bytes(tool.as_bytes()));
            }
            false => self.step_seen = true,
        }
    }
}

impl Default for SessionCell {
    fn default() -> Self {
        Self {
            touched: Timestamp::default(),
            generation: 1,
            agent: None,
            steps: 0,
            killed: None,
            blocked: None,
            owner: None,
            starter: None,
            family: None,
            last_killed: 0,
            held: ResettableState::default(),
        }
    }
}

impl SessionCell {
    /// The session's generation: 1 at first, one more with each reset.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The agent behind it, as first named.
    #[must_use]
    pub fn agent(&self) -> Option<&Id> {
        self.agent.as_ref()
    }

    /// The tokens and the millionths of a dollar that it spent with its sub-agents since its last reset.
    #[must_use]
    pub fn spent(&self) -> (u64, u64) {
        (self.held.spent.tokens, self.held.spent.cost_micros)
    }

    /// Why it is killed, if it is.
    #[must_use]
    pub fn killed(&self) -> Option<&Mark> {
        self.killed.as_deref()
    }

    /// Why it is blocked, if it is.
    #[must_use]
    pub fn blocked(&self) -> Option<&Mark> {
        self.blocked.as_deref()
    }

    /// Why it would be stopped, if rules were not in shadow.
    #[must_use]
    pub fn shadow_mark(&self) -> Option<&ShadowMark> {
        self.held.shadow_mark.as_deref()
    }

    /// Whom it belongs to, once an event of a known sender opened it.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// The session that started it, if it is a sub-agent that has not returned.
    #[must_use]
    pub fn starter(&self) -> Option<&Id> {
        self.starter.as_ref().map(|starter| &starter.by)
    }

    /// The flow that counts its start, else those that it makes itself.
    #[must_use]
    pub fn family(&self) -> Option<&Id> {
        self.family.as_ref()
    }

    /// It is nobody's sub-agent any more.
    pub(crate) fn leave_starter(&mut self) {
        self.starter = None;
        self.family = None;
    }

    /// A sender acts in it: it belongs to the first, and to the adapters as soon as one of them does.
    pub(crate) fn claim(&mut self, owner: &Owner) {
        if self.owner.is_none() || *owner == Owner::Adapters {
            self.owner = Some(owner.clone());
        }
    }

    /// Those who show no token can't prove that they are still the same.
    fn release_anonymous(&mut self) {
        self.owner.take_if(|owner| *owner == Owner::Anonymous);
    }

    /// The questions about its calls and what came of them, the oldest first; none in a killed session.
    pub fn approvals(&self, now: Timestamp) -> impl Iterator<Item = &Approval> {
        let void = self.killed.is_some() || self.is_expired(now);
        let list = self.held.approvals.list.iter();
        list.filter(move |held| !void && held.is_live(now))
    }

    /// Whether somebody outside spoke to it before `at`.
    #[must_use]
    pub fn is_opened(&self, at: Timestamp) -> bool {
        self.held.opened && !self.is_expired(at)
    }

    /// The flow that a message without one inherits: the latest dispatch still running.
    #[must_use]
    pub fn running_flow(&self, at: Timestamp) -> Option<&Id> {
        self.held.dispatches.last().filter(|_| !self.is_expired(at))
    }

    /// Whether it already reads as new at `now`; marks, agent and generation outlive that.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        now.since(self.touched) >= Millis::DAY
    }

    pub(crate) fn expire(&mut self, now: Timestamp) {
        if self.is_expired(now) {
            self.held = ResettableState::default();
            self.release_anonymous();
        }
        self.held.since.get_or_insert(now);
    }

    /// Kills it. What its calls and steps left behind can matter no more, as only a reset, which
    /// clears it too, ends a kill; a store may have to keep a great many killed sessions.
    pub(crate) fn kill(&mut self, mark: Mark) {
        self.killed = Some(Box::new(mark));
        self.last_killed = self.generation;
        let held = &mut self.held;
        held.calls = Calls::default();
        held.destructive = None;
        held.pending = Vec::new();
        held.progress = Progress::default();
        held.pace = Pace::default();
    }

    /// The newest generation before this one that ended in a kill.
    pub(crate) fn killed_generation(&self) -> Option<u32> {
        (1..self.generation)
            .contains(&self.last_killed)
            .then_some(self.last_killed)
    }

    /// Sets a mark of this generation again that a store had lost; an older one is void.
    pub fn restore_mark(&mut self, generation: u32, is_kill: bool, mark: Mark) {
        if generation < self.generation {
            return;
        }
        self.generation = generation;
        if is_kill {
            self.kill(mark);
        } else {
            self.blocked.get_or_insert_with(|| Box::new(mark));
        }
    }

    pub(crate) fn reset(&mut self) {
        self.generation = self.generation.saturating_add(1);
        self.killed = None;
        self.blocked = None;
        self.held = ResettableState::default();
        self.release_anonymous();
    }

    /// A user speaks to it, or started the flow that reaches it.
    pub(crate) fn attend(&mut self, at: Timestamp) {
        self.held.attended_at = Some(at);
        self.held.user_seen = true;
        self.held.unattended = 0;
        self.held.actions = 0;
    }

    /// A scheduler or an applet speaks to it: whether that starts a run. Without a pause it does not,
    /// or a timer that fires all the time would excuse everything.
    pub(crate) fn starts_run(&mut self, now: Timestamp) -> bool {
        let last = self.held.run_started.replace(now);
        last.is_none_or(|last| now.since(last) >= Millis::MINUTE)
    }

    pub(crate) fn unblock(&mut self) {
        self.blocked = None;
        self.held.shadow_mark.take_if(|held| !held.kills);
        self.held.refused_in_block = 0;
    }

    pub(crate) fn stick(&mut self, agent: Option<&Id>) {
        if self.agent.is_none() {
            self.agent = agent.cloned();
        }
    }

    pub(crate) fn remember_pending(&mut self, pending: PendingCall) {
        let list = &mut self.held.pending;
        list.retain(|held| held.id != pending.id);
        if list.len() >= MAX_PENDING {
            list.remove(0);
        }
        list.push(pending);
    }

    pub(crate) fn take_pending(&mut self, id: u64) -> Option<PendingCall> {
        let at = self.held.pending.iter().position(|held| held.id == id)?;
        Some(self.held.pending.remove(at))
    }

    pub(crate) fn start_dispatch(&mut self, flow: &Id) {
        let list = &mut self.held.dispatches;
        list.retain(|running| running != flow);
        if list.len() >= MAX_DISPATCHES {
            list.remove(0);
        }
        list.push(flow.clone());
    }

    pub(crate) fn end_dispatch(&mut self, flow: Option<&Id>) {
        let Some(list) = self.held.dispatches.used() else {
            return;
        };
        match flow {
            Some(flow) => list.retain(|running| running != flow),
            None => {
                list.pop();
            }
        }
    }
}

impl ResettableState {
    /// Adds a step to what the run did.
    pub(crate) fn trace(&mut self, tried: &Tried, outcome: &Outcome) {
        let run = &mut self.run;
        run.digest = mix(mix(run.digest, tried.normal), outcome.normal.prefix());
        run.steps = run.steps.saturating_add(1);
        run.works |= tried.kind != ToolKind::Read;
    }

    /// A call of `tried` is let through, in the turn that the client names.
    pub(crate) fn make(&mut self, tried: &Tried, turn: u64, now: Timestamp) {
        self.output.interrupted();
        let gap = self.pace.gap(now, turn);
        self.progress.waited_before(gap, now);
        let is_new = self.progress.past(tried.normal).is_none();
        self.pace.call(now, is_new, turn, self.progress.step);
    }
}
