//! The rules on messages between agents.

use sprag_core::{Decision, Id, Limit, Message, MessageKind, Millis, Observed, RuleId, Timestamp};

use super::chain::{Chain, ChainStep, Said};
use super::findings::Findings;
use super::judge::{Actor, Model, ModelOutcome, killed};
use super::pair;
use super::record::{Cells, EventFacts};
use super::starts::{Kinship, Starts};

/// An agent's message after resolution.
pub(crate) struct Talk<'h, 'a> {
    pub(crate) model: &'h Model<'a>,
    pub(crate) what: &'a Observed,
    pub(crate) message: &'a Message,
    pub(crate) sender: Actor<'h, 'a>,
    pub(crate) receiver: Actor<'h, 'a>,
    pub(crate) cells: Cells<'a>,
    pub(crate) now: Timestamp,
    /// The flow with this attempt in it, and where in it the message leads.
    pub(crate) chain: Option<(Chain<'a>, ChainStep)>,
}

impl<'a> Talk<'_, 'a> {
    /// Every message in a flow is an attempt, whatever comes of it; a return has none.
    pub(crate) fn attempt(&self) -> Option<Millis> {
        let limits = &self.sender.limits;
        let is_return = self.message.kind == MessageKind::Return;
        let in_flow = self.chain.is_some() && !is_return;
        in_flow.then_some(limits.flow.max_duration)
    }

    pub(crate) fn judge(&self) -> ModelOutcome<'a> {
        let is_return = self.message.kind == MessageKind::Return;
        let mut facts = EventFacts::default();
        if self.sender.is_killed {
            return (killed(Decision::Kill), facts);
        }
        facts.action = true;
        facts.steps = (
            self.model.history.steps(self.sender.id),
            self.model.history.steps(self.receiver.id),
        );
        (facts.is_news, facts.repeats_flow) = self.news(facts.steps);
        facts.chatters = self.pair_is_loud(facts.is_news);
        let mut findings = Findings::default();
        if self.receiver.is_killed {
            findings = killed(Decision::Deny);
        } else if !is_return {
            self.tree(&mut findings);
            if self.message.kind == MessageKind::Spawn {
                self.start(&mut findings);
            }
            if self.message.kind == MessageKind::Say {
                self.flow(&facts, &mut findings);
                self.pair(&facts, &mut findings);
                self.arrival(&mut findings);
            }
        }
        self.sender.judge_actions(false, &mut findings);
        if findings.refusal().is_none() {
            facts.accepted = true;
            facts.attends = self.attends().filter(|_| !is_return);
            facts.kinship = self.kinship();
            facts.by_sub_agent = self.sender.is_sub_agent;
        }
        (findings, facts)
    }

    /// What a spawn is judged by too.
    fn tree(&self, findings: &mut Findings) {
        let limits = &*self.sender.limits;
        if self.chain.is_none() {
            findings.add(limits, RuleId::FlowCorrelation, Decision::Deny);
        }
        if self.sender.id == self.receiver.id {
            findings.add(limits, RuleId::FlowSelfCall, Decision::Deny);
        }
        let depth = self.chain.as_ref().map(|(_, place)| place.depth);
        if depth.is_some_and(|depth| depth > limits.flow.max_depth.get()) {
            findings.add(limits, RuleId::FlowDepth, Decision::Deny);
        }
    }

    /// The flow with its open sub-agents, where the message starts one.
    fn starts(&self) -> Option<(&'a Id, Starts<'a>)> {
        let is_spawn = self.message.kind == MessageKind::Spawn;
        let (_, place) = self.chain.as_ref()?;
        let flow = self.cells.flow.filter(|_| is_spawn && !place.returns)?;
        let mut starts = self.model.history.starts(flow, self.now);
        let when = (self.now, self.sender.generation);
        starts.note(self.what, self.cells, flow, when);
        Some((flow, starts))
    }

    fn start(&self, findings: &mut Findings) {
        let Some((_, starts)) = self.starts() else {
            return;
        };
        if starts.is_new(self.message, self.sender.id) {
            let who = (self.sender.id, self.sender.is_sub_agent);
            starts.judge(who, self.now, &self.sender.limits, findings);
        }
    }

    fn kinship(&self) -> Option<Kinship<'a>> {
        if self.message.kind == MessageKind::Return {
            return Some(Kinship::Left(self.sender.id));
        }
        let (flow, starts) = self.starts()?;
        let sender = (self.sender.id, self.sender.generation);
        let (by, generation) = starts.whose(self.message, sender);
        Some(Kinship::Started {
            child: &self.message.to,
            by,
            generation,
            flow,
        })
    }

    /// Whether the message brings something new to its flow, and whether it repeats what was said in it.
    fn news(&self, steps: (usize, usize)) -> (bool, bool) {
        let Some((chain, _)) = &self.chain else {
            return (false, false);
        };
        if self.message.kind != MessageKind::Say {
            return (false, false);
        }
        let worked =
            chain.worked(self.sender.id, steps.0) || chain.worked(self.receiver.id, steps.1);
        let novelty = chain.novelty(self.message);
        (
            worked || novelty == Some(Said::New),
            !worked && novelty == Some(Said::Repeats),
        )
    }

    fn flow(&self, facts: &EventFacts<'a>, findings: &mut Findings) {
        let limits = &*self.sender.limits;
        let Some((chain, place)) = &self.chain else {
            return;
        };
        let mut sessions = chain.sessions();
        for id in [self.sender.id, self.receiver.id] {
            if !sessions.iter().any(|(held, _)| *held == id) {
                sessions.push((id, facts.is_news));
            }
        }
        let by_news = sessions.iter().filter(|(_, by_news)| *by_news).count();
        let sessions = sessions.len() - by_news + by_news.div_ceil(2);
        let recent = chain
            .said
            .iter()
            .filter(|said| self.now.since(said.at) < Millis::MINUTE);
        let recent = half_if_new(recent.map(|said| said.is_news));
        let since = chain.since.max(chain.news_at.unwrap_or_default());
        let revisits = chain
            .said
            .iter()
            .filter(|said| said.returns && said.to == self.receiver.id)
            .count();
        let exceeds = |count: usize, limit: Limit| count > limit.get() as usize;
        for (rule, is_over) in [
            (
                RuleId::FlowSessions,
                exceeds(sessions, limits.flow.max_sessions),
            ),
            (
                RuleId::FlowDuration,
                !facts.is_news && self.now.since(since) > limits.flow.max_duration,
            ),
            (
                RuleId::FlowRate,
                exceeds(recent + 1, limits.flow.max_calls_per_minute),
            ),
            (
                RuleId::FlowTotal,
                exceeds(chain.said.len() + 1, limits.flow.max_calls),
            ),
            (
                RuleId::FlowRevisits,
                place.returns && exceeds(revisits + 1, limits.flow.max_revisits),
            ),
        ] {
            if is_over {
                findings.add(limits, rule, Decision::Deny);
            }
        }
    }

    fn pair(&self, facts: &EventFacts<'a>, findings: &mut Findings) {
        let limits = &*self.sender.limits;
        let repeated = self.chain.as_ref().map_or(0, |(chain, _)| chain.repeated);
        let ring = 4 * limits.flow.echo.deny.get() as usize;
        let in_ring = facts.repeats_flow && repeated + 1 >= ring;
        if in_ring {
            findings.add(limits, RuleId::FlowEcho, Decision::Deny);
        }
        let talk = (self.sender.id, self.cells.flow, self.message);
        let history = &self.model.history;
        if facts.chatters && !pair::is_warned(history, self.now, talk) {
            findings.add(limits, RuleId::FlowChatter, Decision::Warn);
        }
        if !in_ring {
            pair::judge_echo(history, self.now, limits, talk, findings);
        }
    }

    fn pair_is_loud(&self, is_news: bool) -> bool {
        let talk = (self.sender.id, self.cells.flow, self.message);
        let is_say = self.message.kind == MessageKind::Say;
        let limit = self.sender.limits.flow.chatter.get() as usize;
        is_say && !is_news && pair::rapid(&self.model.history, self.now, talk) + 1 >= limit
    }

    /// What is judged by the receiver's policy.
    fn arrival(&self, findings: &mut Findings) {
        let limits = &*self.receiver.limits;
        if self.unattended() > limits.flow.max_unattended.get() as usize {
            findings.add(limits, RuleId::FlowUnattended, Decision::Deny);
        }
        let arrived = self
            .model
            .history
            .records
            .iter()
            .filter(|record| record.said().is_some() && record.cells.inbox == self.cells.inbox)
            .filter(|record| self.now.since(record.now) < Millis::MINUTE);
        let arrived = half_if_new(arrived.map(|record| record.facts.is_news));
        if arrived >= limits.inbox.max_messages_per_minute.get() as usize {
            findings.add(limits, RuleId::InboxRate, Decision::Deny);
        }
        if self.conversation_length() >= limits.conversation.max_messages.get() as usize {
            findings.add(limits, RuleId::ConversationLength, Decision::Deny);
        }
    }

    /// When the user started the flow, if that is later than the receiver's user was last heard.
    fn attends(&self) -> Option<Timestamp> {
        let start = self.chain.as_ref()?.0.user_start?;
        let last = self
            .receiver
            .life
            .iter()
            .rev()
            .filter(|record| record.cells.receiver == Some(self.receiver.id))
            .find_map(|record| record.facts.attends);
        Some(start).filter(|start| last.is_none_or(|last| *start > last))
    }

    /// The receiver's messages since it was attended, with this one.
    fn unattended(&self) -> usize {
        if self.attends().is_some() {
            return 1;
        }
        let mut count = 0;
        for record in self.receiver.life {
            if record.cells.receiver == Some(self.receiver.id) {
                if record.facts.attends.is_some() {
                    count = 0;
                }
                if record.said().is_some() {
                    count += 1;
                }
            }
        }
        count + 1
    }

    /// The agents' messages in the conversation since a user last wrote in it.
    fn conversation_length(&self) -> usize {
        let Some(conversation) = self.cells.conversation else {
            return 0;
        };
        let is_in = |cells: &Cells<'a>| cells.conversation == Some(conversation);
        let mut said = Vec::new();
        for record in self.model.history.life(self.now, Millis::DAY, is_in) {
            if is_in(&record.cells) {
                if record.facts.user_word {
                    said.clear();
                }
                if record.said().is_some() {
                    said.push(record.facts.is_news);
                }
            }
        }
        half_if_new(said.into_iter())
    }
}

/// How much messages count: half, rounded down, if they bring something new.
fn half_if_new(are_news: impl Iterator<Item = bool>) -> usize {
    let (new, plain): (Vec<bool>, Vec<bool>) = are_news.partition(|is_news| *is_news);
    plain.len() + new.len() / 2
}
