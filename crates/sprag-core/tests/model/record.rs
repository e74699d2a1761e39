//! What the model keeps of an event: when it was, what it touched, what came of it.

use std::collections::BTreeSet;

use serde::Serialize;
use sprag_core::{
    Approach, Code, Decision, Digest, Id, Message, MessageKind, Millis, Observed, RuleId,
    Timestamp, Verb,
};

use super::reruns::Task;
use super::starts::Kinship;

/// The part of a verdict that the semantics fix.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ModelVerdict {
    pub(crate) decision: Decision,
    pub(crate) rule: Option<RuleId>,
    pub(crate) code: Option<Code>,
    pub(crate) also: BTreeSet<RuleId>,
    pub(crate) would: Option<(Decision, RuleId)>,
    pub(crate) flow: Option<Id>,
    pub(crate) depth: Option<u32>,
    pub(crate) generation: u32,
    pub(crate) approval: Option<Id>,
}

/// Why an event is not even answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelError {
    /// It names a generation that the session has not reached.
    NewerGeneration,
    /// It answers a question that is not open.
    NotOpen,
}

/// Something that is counted for a session or for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scoped<'a> {
    Session(&'a Id),
    Agent(&'a Id),
}

/// The cells that an event touches.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells<'a> {
    /// The session that acts: the sender of a message.
    pub(crate) session: Option<&'a Id>,
    pub(crate) receiver: Option<&'a Id>,
    pub(crate) flow: Option<&'a Id>,
    /// The flow that counts the sub-agents around the acting session, if it is another one.
    pub(crate) family: Option<&'a Id>,
    pub(crate) conversation: Option<&'a Id>,
    pub(crate) inbox: Option<Scoped<'a>>,
    pub(crate) agent: Option<&'a Id>,
    /// The tool use.
    pub(crate) alias: Option<&'a Id>,
    /// The two ends as a pair that talks.
    pub(crate) pair: bool,
    /// The sessions above the one that acts in which its usage counts.
    pub(crate) above: [Option<&'a str>; 2],
    /// The task that a message opens a session with.
    pub(crate) task: Option<Task<'a>>,
}

impl<'a> Cells<'a> {
    pub(crate) fn of_session(session: &'a Id) -> Self {
        Self {
            session: Some(session),
            ..Self::default()
        }
    }

    /// The same with the sessions above `session`, whether they are in use or not.
    pub(crate) fn with_above(mut self, session: &'a Id) -> Self {
        let mut parents = session.parents();
        self.above = [parents.next(), parents.next()];
        assert!(parents.next().is_none(), "no history goes deeper");
        self
    }

    pub(crate) fn has_session(&self, id: &Id) -> bool {
        self.session == Some(id) || self.receiver == Some(id) || self.is_above(id.as_str())
    }

    fn is_above(&self, id: &str) -> bool {
        self.above.contains(&Some(id))
    }

    fn has_named(&self, id: &str) -> bool {
        let is = |own: Option<&Id>| own.is_some_and(|own| own.as_str() == id);
        is(self.session) || is(self.receiver) || self.is_above(id)
    }

    pub(crate) fn has_flow(&self, flow: Option<&Id>) -> bool {
        flow.is_some() && (self.flow == flow || self.family == flow)
    }

    pub(crate) fn has_pair(&self, one: &Id, other: &Id) -> bool {
        let ends = (self.session, self.receiver);
        self.pair && (ends == (Some(one), Some(other)) || ends == (Some(other), Some(one)))
    }

    /// Whether both touch one cell. A common pair means a common session.
    pub(crate) fn share(&self, other: &Self) -> bool {
        fn same<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_some() && one == other
        }
        self.session.is_some_and(|id| other.has_session(id))
            || self.receiver.is_some_and(|id| other.has_session(id))
            || self.above.iter().flatten().any(|id| other.has_named(id))
            || self.has_flow(other.flow)
            || self.has_flow(other.family)
            || same(self.conversation, other.conversation)
            || same(self.inbox, other.inbox)
            || same(self.agent, other.agent)
            || same(self.alias, other.alias)
            || same(self.task, other.task)
    }
}

/// A mark that a verdict sets on the session that acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Block,
    Kill,
}

/// What an amount is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BudgetScope {
    Session,
    Flow,
    AgentDay,
}

/// What a budget is for, and whose session if it is one's.
pub(crate) type Purse = (BudgetScope, Option<Id>);

/// A call that waits for its step.
#[derive(Debug, Clone)]
pub(crate) struct PendingCall<'a> {
    /// The `use_id`, else the `id`.
    pub(crate) key: &'a Id,
    pub(crate) refused: bool,
    /// It waits for a person's word.
    pub(crate) asked: bool,
    /// Its client asks its person.
    pub(crate) dialog: bool,
    pub(crate) approach: &'a Approach,
    /// What it destroys if it runs all the same.
    pub(crate) losses: Losses<'a>,
}

/// What a call destroys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses<'a> {
    pub(crate) destroys: Option<(Scoped<'a>, Vec<Target<'a>>)>,
    pub(crate) far: Option<FarLosses<'a>>,
    pub(crate) near: Vec<NearTarget<'a>>,
}

/// One target of a destructive call: a value for each target field, sorted by name.
pub(crate) type Target<'a> = Vec<(&'a str, Digest)>;

/// What a call destroyed outside of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct FarLosses<'a> {
    pub(crate) scope: Scoped<'a>,
    pub(crate) targets: Vec<Digest>,
    /// Not everything of it can be replaced.
    pub(crate) counts: bool,
}

/// What was removed in the workspace, by a command or by a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NearTarget<'a> {
    Effect(Digest),
    Tool(Target<'a>),
}

/// What an event did, beyond having happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventFacts<'a> {
    /// A second sight of one call or step: it was answered as the first, and counts nothing.
    pub(crate) repeats: bool,
    /// A panic refused it: not even a sighting.
    pub(crate) panic: bool,
    /// A second sight of a call that was asked about: it got another answer.
    pub(crate) asked_before: bool,
    /// It was not refused.
    pub(crate) accepted: bool,
    /// It counts for `budget.actions` of the session that acts.
    pub(crate) action: bool,
    /// It is an attempt in its flow, under this `flow.max_duration`.
    pub(crate) attempt: Option<Millis>,
    /// A `say`: whether it brings something new to its flow.
    pub(crate) is_news: bool,
    /// A `say` that repeats what was said in its flow, with no work in between.
    pub(crate) repeats_flow: bool,
    /// A message: how many steps that were work the sender and the receiver had reported.
    pub(crate) steps: (usize, usize),
    /// A `say` that brought its pair to the limit of `flow.chatter`.
    pub(crate) chatters: bool,
    /// A call that may get a step.
    pub(crate) pending: Option<PendingCall<'a>>,
    /// A step that ended the wait of the call with this key.
    pub(crate) completes: Option<&'a Id>,
    /// A refused call that `session.defiance` counted, with the rule that refused it.
    pub(crate) defied: Option<RuleId>,
    /// An allowed destructive call: where it counts and what it is on.
    pub(crate) destroys: Option<(Scoped<'a>, Vec<Target<'a>>)>,
    /// An allowed call that destroyed something outside of the workspace.
    pub(crate) far: Option<FarLosses<'a>>,
    /// What an allowed call removed in the workspace.
    pub(crate) near: Vec<NearTarget<'a>>,
    /// A step that was recorded.
    pub(crate) step: bool,
    /// A step that was not one of the last over again.
    pub(crate) works: bool,
    /// What it did and what came of it, where that is known and was work.
    pub(crate) did: Option<(Digest, Digest)>,
    /// What a recorded step was a step of, if that is known.
    pub(crate) reported: Option<&'a Approach>,
    /// A step that the matrix judged: approach and outcome.
    pub(crate) judged: Option<(Digest, Digest)>,
    /// The budgets that were near their end, and said so.
    pub(crate) warned: Vec<(RuleId, Purse)>,
    /// It said that no price is known for a model.
    pub(crate) unpriced: bool,
    pub(crate) mark: Option<Mark>,
    /// A message from outside that was let through.
    pub(crate) opens: bool,
    /// It was told that its task is run again and again.
    pub(crate) rerun: bool,
    /// An answer of the model that was judged.
    pub(crate) spoke: bool,
    /// What it did to the tree of sub-agents.
    pub(crate) kinship: Option<Kinship<'a>>,
    /// A sub-agent started another.
    pub(crate) by_sub_agent: bool,
    pub(crate) unblocks: bool,
    /// The receiver's user was heard: at this time, directly or by starting the flow.
    pub(crate) attends: Option<Timestamp>,
    /// The user wrote to the receiver directly.
    pub(crate) user_word: bool,
    /// A scheduler or an applet spoke.
    pub(crate) scheduled: bool,
    /// And that started a run.
    pub(crate) starts_run: bool,
    /// A call that opened a question.
    pub(crate) asks: Option<AskedCall<'a>>,
    /// A call that used an approval, an answer, or the step of a call that was asked about.
    pub(crate) resolves: Option<(Id, QuestionState)>,
    /// The step of a call that was asked about and ran all the same.
    pub(crate) ran: Option<&'a Approach>,
}

impl<'a> EventFacts<'a> {
    /// What was destroyed counts.
    pub(crate) fn lose(&mut self, losses: Losses<'a>) {
        self.destroys = losses.destroys;
        self.far = losses.far;
        self.near = losses.near;
    }
}

/// A question as it was asked.
#[derive(Debug, Clone)]
pub(crate) struct AskedCall<'a> {
    pub(crate) code: Id,
    pub(crate) exact: Digest,
    pub(crate) deed: Deed<'a>,
    pub(crate) until: Timestamp,
}

/// What an approval for a session covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed<'a> {
    /// The same tool on the same targets.
    On(&'a Option<Id>, &'a Option<Id>, Vec<Target<'a>>),
    /// The same programs that do the same to the same targets, by the same tool.
    By(
        &'a Option<Id>,
        &'a Option<Id>,
        BTreeSet<(&'a str, Verb, Digest)>,
    ),
    /// The same tool, whatever it destroys.
    Series(&'a Option<Id>, &'a Option<Id>),
    /// The same call.
    Same(Digest),
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionState {
    Open,
    Approved(Timestamp),
    Granted,
    Declined(Timestamp),
    Used,
}

/// One event of the past.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) what: &'a Observed,
    pub(crate) now: Timestamp,
    pub(crate) cells: Cells<'a>,
    pub(crate) facts: EventFacts<'a>,
    pub(crate) verdict: ModelVerdict,
}

impl<'a> Record<'a> {
    /// The sender and the message, where it is an agent's `say` that was allowed.
    pub(crate) fn said(&self) -> Option<(&'a Id, &'a Message)> {
        match self.what {
            Observed::Message(message)
                if self.facts.accepted && message.kind == MessageKind::Say =>
            {
                Some((message.from.as_ref()?, message))
            }
            _ => None,
        }
    }
}
