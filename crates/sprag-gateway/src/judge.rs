//! Requests and answers as events, verdicts as what becomes of them. The guard decides; here is only
//! what to ask it and in which order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::{Code, Decision, Event, Id, MessageKind, UsageEvent, Verdict, Via};
use sprag_mcp::{FallbackSource, GuardAnswer};

use crate::conversation::{Conversation, Standing};
use crate::identity::{Identity, Speaker};
use crate::request::{
    ModelRequest, RemovedCall, RequestChanges, Tokens, ToolCall, ToolResult, global, is_automatic,
};
use crate::stop;
use crate::tally::Tally;

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Plan {
    /// It goes to the model, with these changes.
    Forward(RequestChanges),
    /// The gateway answers with this text.
    Stop(String),
}

/// What becomes of a call in an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallFate {
    /// It stays.
    Runs,
    /// This text takes its place.
    Refused(String),
    /// The answer ends here, with this text.
    Stopped(String),
}

/// Speaks with the guard for one session.
pub(crate) struct Judge {
    pub(crate) guard: Arc<FallbackSource>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) session: Id,
    pub(crate) agent: Option<Id>,
    pub(crate) conversation: Arc<Mutex<Conversation>>,
    pub(crate) model: Option<Id>,
    /// Joins what is reserved for the request with what its answer cost.
    pub(crate) reservation: Id,
}

impl Judge {
    /// Reports what is new in a request.
    pub(crate) fn begin(&self, request: &ModelRequest, identity: &Identity) -> Plan {
        let mut held = self.conversation();
        if !std::mem::replace(&mut held.is_known, true) {
            self.spawned(identity);
        }
        if request.has_tools {
            if let Some(text) = self.report(&mut held, request, identity) {
                return Plan::Stop(text);
            }
            if let Standing::Told(verdict) = &held.standing {
                return Plan::Stop(stop::stopped(verdict));
            }
        }
        if let Some(text) = self.reserve(&mut held) {
            return Plan::Stop(text);
        }
        if !request.has_tools {
            return Plan::Forward(RequestChanges::default());
        }
        let owed = request.previous.as_deref().map(|answer| held.owed(answer));
        Plan::Forward(RequestChanges {
            warnings: held.warnings(),
            answered: owed.unwrap_or_default(),
        })
    }

    /// Reports results and words that are new; returns the stop, if there is one.
    fn report(
        &self,
        held: &mut Conversation,
        request: &ModelRequest,
        identity: &Identity,
    ) -> Option<String> {
        for result in &request.results {
            if held.is_new("result", &result.key())
                && let Some(text) = self.step(held, result)
            {
                return Some(text);
            }
        }
        let words = spoken(held, request, identity)?;
        self.user(held, &words)
    }

    /// Judges a call before its client sees it.
    pub(crate) fn call(&self, call: &ToolCall, turn: &str) -> CallFate {
        self.tally.add_calls(1);
        let Some(event) = self.call_event(call, turn) else {
            return CallFate::Runs;
        };
        let mut held = self.conversation();
        match self.guard.check(None, event) {
            GuardAnswer::Verdict(verdict) => self.fate(&mut held, call, *verdict),
            GuardAnswer::Refuse(text) => {
                self.tally.add_refused(1);
                CallFate::Refused(stop::without_guard(text))
            }
            GuardAnswer::Rejected(why) => {
                self.guard
                    .log(format_args!("a call can't be judged: {why}"));
                CallFate::Runs
            }
            GuardAnswer::Unguarded | GuardAnswer::Foreign => CallFate::Runs,
        }
    }

    /// Reports what an answer cost, once it is over, in the place of what was reserved for it.
    pub(crate) fn finish(&self, tokens: Tokens) {
        let read = tokens.input + tokens.cache_read + tokens.cache_write;
        self.tally.add_input_tokens(read);
        self.tally.add_output_tokens(tokens.output);
        let mut held = self.conversation();
        if let Standing::Blocked(verdict) = &held.standing {
            held.standing = Standing::Told(verdict.clone());
        }
        if tokens != Tokens::default() {
            held.last = tokens;
        }
        let Some(verdict) = self.ask(self.usage(tokens).into()) else {
            return;
        };
        match verdict.decision {
            Decision::Warn => held.note = verdict.message.as_deref().map(stop::warning),
            Decision::Block => held.standing = Standing::Told(Box::new(verdict)),
            _ => {}
        }
    }

    /// The provider keeps this answer, and calls of it were taken out.
    pub(crate) fn keep(&self, answer: &str, removed: Vec<RemovedCall>) {
        if !removed.is_empty() && !answer.is_empty() {
            self.conversation().keep(answer.to_owned(), removed);
        }
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.conversation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, event: Event) -> Option<Verdict> {
        match self.guard.check(None, event) {
            GuardAnswer::Verdict(verdict) => Some(*verdict),
            _ => None,
        }
    }

    /// Reserves what the last answer of the session cost, so that requests under way at once can't use
    /// up a budget together. Returns the stop.
    fn reserve(&self, held: &mut Conversation) -> Option<String> {
        let event = self.usage(held.last).pending();
        match self.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) if verdict.refuses() => {
                let text = stop::stopped(&verdict);
                if verdict.decision == Decision::Block {
                    held.standing = Standing::Told(verdict);
                }
                Some(text)
            }
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => None,
        }
    }

    fn usage(&self, tokens: Tokens) -> UsageEvent {
        let mut event = UsageEvent::new(self.session.clone())
            .tokens(tokens.input, tokens.output)
            .cache(tokens.cache_read, tokens.cache_write);
        event.model.clone_from(&self.model);
        event.id = Some(self.reservation.clone());
        event
    }

    fn step(&self, held: &mut Conversation, result: &ToolResult) -> Option<String> {
        let mut event = Event::step(self.session.as_str()).ok()?;
        event = event.id(&result.use_id).ok()?;
        event.use_id = global(&result.use_id).and_then(|id| Id::new(id).ok());
        event = event
            .result(result.content.clone())
            .is_error(result.is_error);
        event.via = Via::Gateway;
        let note = held.note.take();
        match self.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) => {
                if verdict.decision == Decision::Kill {
                    return Some(stop::stopped(&verdict));
                }
                let warned = (verdict.decision > Decision::Allow).then(|| verdict.message.clone());
                let warned = warned.flatten().map(|text| stop::warning(&text)).or(note);
                if let Some(text) = warned {
                    self.tally.add_warned(1);
                    held.warn(&result.use_id, text);
                }
                block(held, *verdict);
                None
            }
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => None,
        }
    }

    fn user(&self, held: &mut Conversation, words: &str) -> Option<String> {
        let event = Event::message(self.session.as_str()).ok()?;
        let mut event = event.content(words).unblock();
        event.to_agent = self.agent.clone();
        match self.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) if verdict.refuses() => Some(stop::stopped(&verdict)),
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => {
                held.standing = Standing::Free;
                None
            }
        }
    }

    /// A sub-agent's first request: somebody above started it.
    fn spawned(&self, identity: &Identity) {
        let Some((above, _)) = self.session.as_str().rsplit_once('/') else {
            return;
        };
        let starter = match &identity.parent {
            Some(parent) => format!("{above}/{parent}"),
            None => above.to_owned(),
        };
        let event = Event::message(self.session.as_str()).and_then(|event| {
            let event = event.from(&starter)?.flow(above)?;
            Ok(event.kind(MessageKind::Spawn))
        });
        if let Ok(event) = event {
            self.ask(event.into());
        }
    }

    fn call_event(&self, call: &ToolCall, turn: &str) -> Option<Event> {
        let mut event = Event::call(self.session.as_str(), &call.tool).ok()?;
        event = event.id(&call.use_id).ok()?;
        event.use_id = global(&call.use_id).and_then(|id| Id::new(id).ok());
        event.server = call
            .server
            .as_deref()
            .and_then(|server| Id::new(server).ok());
        event.turn = Id::new(turn).ok();
        event.agent = self.agent.clone();
        event.via = Via::Gateway;
        Some(event.args(call.args.clone()).into())
    }

    fn fate(&self, held: &mut Conversation, call: &ToolCall, verdict: Verdict) -> CallFate {
        if verdict.decision == Decision::Kill {
            return CallFate::Stopped(stop::stopped(&verdict));
        }
        if verdict.refuses() {
            self.tally.add_refused(1);
            let text = stop::refused_call(&call.tool, &verdict);
            block(held, verdict);
            return CallFate::Refused(text);
        }
        if verdict.decision == Decision::Warn
            && let Some(message) = &verdict.message
        {
            self.tally.add_warned(1);
            held.warn(&call.use_id, stop::warning(message));
        }
        CallFate::Runs
    }
}

/// Notes that the session is blocked, unless that is known.
fn block(held: &mut Conversation, verdict: Verdict) {
    let is_blocked = verdict.decision == Decision::Block
        || verdict.code == Some(Code::SessionBlockedLoopGuard)
        || verdict.end_turn;
    if is_blocked && held.standing == Standing::Free {
        held.standing = Standing::Blocked(Box::new(verdict));
    }
}

/// The words of a person in a request, if a person spoke.
fn spoken(held: &mut Conversation, request: &ModelRequest, identity: &Identity) -> Option<String> {
    // Seen in any case, so that a client's repetition is known as one later.
    let is_new = |held: &mut Conversation, words: &str| held.is_new("words", words);
    match (&identity.speaker, &request.words) {
        (Speaker::Prompt(prompt), words) => {
            let is_person = held.is_new_prompt(prompt);
            // A client's own prompt, such as the end of a task in the background, has no words of a user.
            let words = words.as_deref()?;
            is_new(held, words);
            (is_person && identity.agent.is_none()).then(|| words.to_owned())
        }
        (Speaker::Person, Some(words)) => Some(words.clone()).filter(|words| is_new(held, words)),
        (Speaker::Unknown, Some(words)) if identity.agent.is_none() => {
            (is_new(held, words) && !is_automatic(words)).then(|| words.clone())
        }
        _ => None,
    }
}
