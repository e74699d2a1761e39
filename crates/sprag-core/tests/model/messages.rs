//! Messages: who takes part in them, and those that no agent sent.

use sprag_core::{
    Decision, Id, Identity, Limits, Message, MessageKind, Millis, Observed, RuleId, Scope, Source,
    Timestamp,
};

use super::chain::Chain;
use super::findings::{Findings, Stage};
use super::judge::{Actor, Model, killed, stale};
use super::record::{Cells, EventFacts, ModelError, ModelVerdict, Record, Scoped};
use super::starts::Kinship;
use super::talk::Talk;

impl<'a> Model<'a> {
    /// A message that no agent sent.
    pub(crate) fn outside_message(
        &self,
        at: Timestamp,
        what: &'a Observed,
        message: &'a Message,
    ) -> Record<'a> {
        let agent = self.agent_of(&message.to, message.to_agent.as_ref());
        let limits = self.limits_of(&message.to, agent);
        let cells = Cells {
            receiver: Some(&message.to),
            flow: message.flow.as_ref(),
            conversation: message.conversation.as_ref(),
            task: self.task(at, message, agent),
            ..Cells::default()
        };
        let now = self.history.now(at, &cells);
        let receiver = self.actor(&message.to, agent, limits, now);
        let (mut findings, mut facts) = if receiver.is_killed {
            (killed(Decision::Deny), EventFacts::default())
        } else {
            (Findings::default(), heard(message, &receiver, now))
        };
        facts.opens = !receiver.is_killed;
        if let Some(task) = cells.task.filter(|_| facts.opens) {
            let limits = &*receiver.limits;
            facts.rerun = self.is_rerun(task, &message.to, now, limits);
            if facts.rerun {
                findings.add(limits, RuleId::SessionRerun, Decision::Warn);
            }
        }
        if facts.user_word && receiver.is_orphaned {
            facts.kinship = Some(Kinship::Left(&message.to));
        }
        Record {
            what,
            now,
            cells,
            facts,
            verdict: ModelVerdict {
                flow: message.flow.clone(),
                depth: Some(1),
                generation: receiver.generation,
                ..findings.verdict(Identity::Exact, Stage::Message)
            },
        }
    }

    pub(crate) fn agent_message(
        &self,
        at: Timestamp,
        what: &'a Observed,
        message: &'a Message,
        from: &'a Id,
    ) -> Result<Record<'a>, ModelError> {
        // A return belongs to no dispatch.
        let inherits = message.flow.is_none() && message.kind != MessageKind::Return;
        let inherited = inherits.then(|| self.inherited_flow(at, from)).flatten();
        let flow = message.flow.as_ref().or(inherited);
        let generation = self.history.generation(from);
        if message.generation.is_some_and(|named| named > generation) {
            return Err(ModelError::NewerGeneration);
        }
        let talk = self.talk((at, what), message, from, flow);
        let is_stale = message.generation.is_some_and(|named| named < generation);
        let is_orphaned = talk.sender.is_orphaned;
        let is_return = message.kind == MessageKind::Return;
        let is_killed = talk.sender.is_killed;
        let is_panic = self.panics && !is_return && !is_stale && !is_orphaned && !is_killed;
        let (findings, mut facts) = match (is_stale || is_orphaned, is_panic) {
            (true, _) => stale(),
            (false, true) => (Findings::panic(Decision::Deny), EventFacts::default()),
            (false, false) => talk.judge(),
        };
        facts.attempt = talk.attempt().filter(|_| !is_panic);
        facts.mark = findings.mark(message.identity);
        Ok(Record {
            what,
            now: talk.now,
            cells: talk.cells,
            facts,
            verdict: ModelVerdict {
                flow: flow.cloned(),
                depth: talk
                    .chain
                    .filter(|_| !is_panic)
                    .map(|(_, place)| place.depth),
                generation,
                ..findings.verdict(message.identity, Stage::Message)
            },
        })
    }

    fn talk(
        &self,
        (at, what): (Timestamp, &'a Observed),
        message: &'a Message,
        from: &'a Id,
        flow: Option<&'a Id>,
    ) -> Talk<'_, 'a> {
        let agent = self.agent_of(from, message.agent.as_ref());
        let to_agent = self.agent_of(&message.to, message.to_agent.as_ref());
        let limits = self.limits_of(from, agent);
        let to_limits = self.limits_of(&message.to, to_agent);
        let is_say = message.kind == MessageKind::Say;
        let is_return = message.kind == MessageKind::Return;
        let cells = Cells {
            session: Some(from),
            receiver: Some(&message.to),
            flow,
            family: self
                .history
                .family_of_message(message, from)
                .filter(|family| Some(*family) != flow),
            conversation: message.conversation.as_ref().filter(|_| is_say),
            inbox: is_say.then(|| inbox(&message.to, to_agent, &to_limits)),
            pair: is_say,
            ..Cells::default()
        };
        let now = self.history.now(at, &cells);
        let chain = flow.map(|flow| {
            let mut chain = self
                .history
                .chain(flow, now)
                .unwrap_or_else(|| Chain::new(now));
            // A return is no attempt: it sees the tree as it stands.
            if !is_return {
                chain.attempt(now, limits.flow.max_duration);
            }
            let place = chain.place(from, &message.to);
            (chain, place)
        });
        Talk {
            model: self,
            what,
            message,
            sender: self.actor(from, agent, limits, now),
            receiver: self.actor(&message.to, to_agent, to_limits, now),
            cells,
            now,
            chain,
        }
    }
}

/// What a message from outside does to the receiver.
fn heard<'a>(message: &Message, receiver: &Actor<'_, 'a>, now: Timestamp) -> EventFacts<'a> {
    let is_user = message.source == Source::User;
    let last_run = receiver
        .life
        .iter()
        .rev()
        .find(|record| record.facts.scheduled && record.cells.receiver == Some(receiver.id))
        .map(|record| record.now);
    EventFacts {
        accepted: true,
        user_word: is_user,
        scheduled: !is_user,
        starts_run: !is_user && last_run.is_none_or(|last| now.since(last) >= Millis::MINUTE),
        attends: is_user.then_some(now),
        unblocks: is_user && (message.unblock || receiver.limits.session.human_unblocks),
        ..EventFacts::default()
    }
}

/// The inbox where a message arrives.
fn inbox<'a>(to: &'a Id, agent: Option<&'a Id>, limits: &Limits) -> Scoped<'a> {
    match (limits.inbox.scope, agent) {
        (Scope::Agent, Some(agent)) => Scoped::Agent(agent),
        _ => Scoped::Session(to),
    }
}
