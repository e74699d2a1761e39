//! A message: from outside it starts a flow and attends a session; from an agent it is judged.

use super::settle::{Stage, answer, settle};
use super::{start, stopped};
use crate::cell::hash::hash_bytes;
use crate::cell::{Cells, MessageNews, Path, SessionCell, Statement, TaskRun};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::{Message, MessageKind, Source};
use crate::policy::{Limits, Policy, Widest};
use crate::rules::actions::ActionsJudged;
use crate::rules::echo::SentMessage;
use crate::rules::{actions, arrival, chatter, echo, flow, gates, rerun, spawns};
use crate::time::Timestamp;
use crate::verdict::Verdict;

pub(super) fn judge(
    policy: &Policy,
    message: &Message,
    cells: &mut Cells,
    now: Timestamp,
) -> Verdict {
    let receiving = policy.limits_for(
        message.to_agent.as_ref().map(Id::as_str),
        message.to.as_str(),
    );
    let mut verdict = match &message.from {
        None => from_outside(message, cells, now, &receiving),
        Some(from) => {
            let sending = policy.limits_for(message.agent.as_ref().map(Id::as_str), from.as_str());
            let talk = MessageCase {
                message,
                from,
                now,
                sending: &sending,
                receiving: &receiving,
                widest: policy.widest(),
            };
            talk.judge(cells)
        }
    };
    verdict.flow.clone_from(&message.flow);
    verdict
}

fn receiver_killed(cells: &Cells, receiver: &SessionCell) -> bool {
    receiver.killed().is_some() || cells.peer_killed_above.is_some()
}

fn from_outside(message: &Message, cells: &mut Cells, now: Timestamp, limits: &Limits) -> Verdict {
    let Some(mut receiver) = cells.peer.take() else {
        return Verdict::default();
    };
    let mut verdict = if receiver_killed(cells, &receiver) {
        let above = cells.peer_killed_above.as_ref();
        let finding = gates::killed_receiver(&message.to, &receiver, above);
        answer(finding, &receiver, message.identity, Stage::Message)
    } else {
        let is_user = message.source == Source::User;
        if let Some(flow) = &mut cells.flow {
            flow.start_from_outside(message.source, now);
        }
        if is_user || receiver.starts_run(now) {
            receiver.held.progress.reset_streaks();
            receiver.held.pace.spoken_to(now);
            receiver.held.output.interrupted();
        }
        if is_user {
            receiver.attend(now);
            if cells.peer_stale_above.is_some() {
                receiver.leave_starter();
            }
            // The person is there and sees what was deleted so far.
            if !receiver.held.approvals.has_declined(now) {
                receiver.held.destructive = None;
            }
            if let Some(approvals) = receiver.held.approvals.used() {
                approvals.spoken_to();
            }
            receiver.held.user_unblocks = message.unblock || limits.session.human_unblocks;
            if receiver.held.user_unblocks {
                receiver.unblock();
            }
            if let Some(conversation) = &mut cells.conversation {
                conversation.start_again();
            }
        }
        receiver.stick(message.to_agent.as_ref());
        receiver.held.opened = true;
        let mut found = Findings::default();
        if let Some(task) = &mut cells.task {
            rerun::judge(task, &cells.runs, now, limits, &mut found);
            task.open(TaskRun {
                session: message.to.clone(),
                generation: receiver.generation,
                at: now,
            });
        }
        settle(found, &mut receiver, message.identity, Stage::Message, now)
    };
    verdict.depth = message.flow.as_ref().map(|_| 1);
    cells.peer = Some(receiver);
    verdict
}

/// An agent's message with all that judges it.
struct MessageCase<'a> {
    message: &'a Message,
    from: &'a Id,
    now: Timestamp,
    sending: &'a Limits,
    receiving: &'a Limits,
    widest: Widest,
}

impl MessageCase<'_> {
    fn judge(&self, cells: &mut Cells) -> Verdict {
        let path = self.attempt(cells);
        let Some(mut sender) = cells.session.take() else {
            return Verdict::default();
        };
        let gate = stopped(self.from, self.message.generation, &sender, cells);
        let mut verdict = match gate {
            Some(finding) => answer(finding, &sender, self.message.identity, Stage::Message),
            None => {
                let mut found = Findings::default();
                let news = self.news(&sender, cells);
                self.findings(&sender, cells, (path.as_ref(), news), &mut found);
                actions::count(&mut sender, self.sending, ActionsJudged::Fully, &mut found);
                let refused = found.decision().refuses();
                let verdict = settle(
                    found,
                    &mut sender,
                    self.message.identity,
                    Stage::Message,
                    self.now,
                );
                if !refused {
                    self.let_through(&mut sender, cells, (path.as_ref(), news));
                }
                verdict
            }
        };
        cells.session = Some(sender);
        verdict.depth = path.as_ref().map(Path::depth);
        verdict
    }

    /// Keeps the flow alive, whatever comes of the message, and finds the way it would take.
    fn attempt(&self, cells: &mut Cells) -> Option<Path> {
        let flow = cells.flow.as_mut()?;
        if self.message.kind != MessageKind::Return {
            flow.attempt(self.now, self.sending.flow.max_duration);
        }
        Some(flow.path(self.from, &self.message.to))
    }

    fn findings(
        &self,
        sender: &SessionCell,
        cells: &Cells,
        (path, news): (Option<&Path>, MessageNews),
        found: &mut Findings,
    ) {
        // On a self-call the sender, already found alive, is the receiver too.
        let receiver = cells.peer.as_deref().unwrap_or(sender);
        if cells.peer.is_some() && receiver_killed(cells, receiver) {
            let above = cells.peer_killed_above.as_ref();
            found.push(gates::killed_receiver(&self.message.to, receiver, above));
            return;
        }
        if self.message.kind == MessageKind::Return {
            return;
        }
        let ends = (self.from, &self.message.to);
        flow::judge_ends(ends.0, ends.1, path.is_some(), self.sending, found);
        if let Some(path) = path {
            flow::judge_depth(path, self.sending, found);
        }
        if self.message.kind == MessageKind::Spawn {
            self.judge_start(sender, cells, path, found);
            return;
        }
        if let (Some(flow), Some(path)) = (&cells.flow, path) {
            flow::judge_talk(flow, ends, path, (self.now, news), self.sending, found);
        }
        let flow = cells.flow.as_ref();
        let in_ring = flow.is_some_and(|flow| echo::judge_ring(flow, news, self.sending, found));
        if let Some(pair) = &cells.pair {
            let steps = self.steps(sender, receiver);
            let when = (self.now, news);
            chatter::judge(pair, steps, self.from, when, self.sending, found);
            if !in_ring {
                echo::judge(pair, steps, &self.sent(), ends, self.sending, found);
            }
        }
        self.judge_arrival(receiver, cells, found);
    }

    /// What a `say` brings to its flow; without a flow nothing is known.
    fn news(&self, sender: &SessionCell, cells: &Cells) -> MessageNews {
        let receiver = cells.peer.as_deref().unwrap_or(sender);
        let flow = cells.flow.as_ref();
        let flow = flow.filter(|_| self.message.kind == MessageKind::Say);
        flow.map_or_else(MessageNews::default, |flow| {
            let said = Statement::of(self.message);
            flow.news_of(said.as_ref(), self.ends(sender, receiver))
        })
    }

    /// Both ends with their step counters.
    fn ends(&self, sender: &SessionCell, receiver: &SessionCell) -> [(&Id, u64); 2] {
        [
            (self.from, sender.steps),
            (&self.message.to, receiver.steps),
        ]
    }

    fn judge_start(
        &self,
        sender: &SessionCell,
        cells: &Cells,
        path: Option<&Path>,
        found: &mut Findings,
    ) {
        let (Some(flow), Some(false)) = (&cells.flow, path.map(|path| path.is_return)) else {
            return;
        };
        let spawn = start::announced(self.message, self.from);
        if flow.starts.announced(spawn).is_none() {
            let who = (self.from, sender.starter.is_some());
            spawns::judge(&flow.starts, who, self.now, self.sending, found);
        }
    }

    /// Keeps who started whom. A session that returns is nobody's sub-agent any more.
    fn enter_tree(&self, sender: &mut SessionCell, cells: &mut Cells, path: Option<&Path>) {
        let is_new = path.is_some_and(|path| !path.is_return);
        match (self.message.kind, &mut cells.flow, &mut cells.peer) {
            (MessageKind::Return, _, _) => sender.leave_starter(),
            (MessageKind::Spawn, Some(flow), Some(child)) if is_new => {
                let spawn = start::announced(self.message, self.from);
                let starter = start::enter(spawn, sender, flow, self.now, self.widest);
                child.starter = Some(Box::new(starter));
                child.family.clone_from(&self.message.flow);
            }
            _ => {}
        }
    }

    fn judge_arrival(&self, receiver: &SessionCell, cells: &Cells, found: &mut Findings) {
        let attended = arrival::attends(cells.flow.as_deref(), receiver).is_some();
        arrival::judge_unattended(&self.message.to, receiver, attended, self.receiving, found);
        if let Some(inbox) = &cells.inbox {
            arrival::judge_inbox(&self.message.to, inbox, self.now, self.receiving, found);
        }
        if let Some(conversation) = &cells.conversation {
            arrival::judge_conversation(conversation, self.receiving, found);
        }
    }

    fn let_through(
        &self,
        sender: &mut SessionCell,
        cells: &mut Cells,
        (path, news): (Option<&Path>, MessageNews),
    ) {
        let is_say = self.message.kind == MessageKind::Say;
        let when = (self.now, news);
        let attended = match self.message.kind {
            MessageKind::Return => None,
            _ => arrival::attends(
                cells.flow.as_deref(),
                cells.peer.as_deref().unwrap_or(sender),
            ),
        };
        let receiver = cells.peer.as_deref().unwrap_or(sender);
        let (steps, ends) = (self.steps(sender, receiver), self.ends(sender, receiver));
        sender.stick(self.message.agent.as_ref());
        self.enter_tree(sender, cells, path);
        let receiver = cells.peer.as_deref_mut().unwrap_or(sender);
        receiver.stick(self.message.to_agent.as_ref());
        if let Some(at) = attended {
            receiver.attend(at);
        }
        if is_say {
            receiver.held.unattended = receiver.held.unattended.saturating_add(1);
        }
        if let (Some(flow), Some(path)) = (&mut cells.flow, path)
            && self.message.kind != MessageKind::Return
        {
            flow.enter(ends, path.is_return, is_say.then_some(news), self.now);
            if is_say {
                let said = Statement::of(self.message);
                flow::count_talk(flow, said, when, self.widest.calls_per_minute);
            }
        }
        if let Some(pair) = &mut cells.pair {
            pair.note_work(steps);
            chatter::count(pair, when, self.sending, self.widest.chatter);
            echo::count(pair, &self.sent());
        }
        if let Some(inbox) = &mut cells.inbox {
            let keep = self.widest.messages_per_minute;
            arrival::count_inbox(inbox, self.now, news.is_news(), keep);
        }
        if let Some(conversation) = &mut cells.conversation {
            arrival::count_conversation(conversation, news.is_news());
        }
    }

    /// The two step counters in the order of the pair.
    fn steps(&self, sender: &SessionCell, receiver: &SessionCell) -> (u64, u64) {
        if self.is_forward() {
            (sender.steps, receiver.steps)
        } else {
            (receiver.steps, sender.steps)
        }
    }

    fn is_forward(&self) -> bool {
        *self.from <= self.message.to
    }

    fn sent(&self) -> SentMessage {
        let flow = self.message.flow.as_ref();
        SentMessage {
            content: Statement::of(self.message).map(|said| said.content),
            flow: flow.map_or(0, |flow| hash_bytes(flow.as_str().as_bytes())),
            forward: self.is_forward(),
        }
    }
}
