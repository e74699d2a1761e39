//! What the guard says about an answer: its calls, its words and its cost.

use std::sync::atomic::Ordering;

use sprag_core::{Decision, Event, Id, OutputEvent, Verdict, Via};
use sprag_hooks::tool_name;
use sprag_mcp::GuardAnswer;

use super::Judge;
use crate::conversation::{Conversation, Standing};
use crate::request::{RemovedCall, Tokens, ToolCall, global};
use crate::stop;

/// What becomes of a call in an answer.
#[derive(Debug, PartialEq, Eq)]
enum CallFate {
    /// It stays.
    Runs,
    /// This text takes its place.
    Refused(String),
    /// The answer ends here, with this text.
    Stopped(String),
}

/// What becomes of the calls of an answer that are whole at once.
#[derive(Debug, Default)]
pub(crate) struct CallFates {
    /// For each call: none if it stays, else the text in its place.
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) removed: Vec<RemovedCall>,
    /// The answer ends here, with this text, and nothing of it runs.
    pub(crate) stopped: Option<String>,
}

/// What the guard thinks of what the model said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Fine,
    /// A warning or a block.
    Minded,
    /// The session was killed; the text says so.
    Killed(String),
}

impl Judge {
    /// Judges calls before their client sees them.
    pub(crate) fn calls(&self, calls: &[ToolCall], turn: &str) -> CallFates {
        let mut fates = CallFates::default();
        for call in calls {
            match self.call(call, turn) {
                CallFate::Runs => fates.texts.push(None),
                CallFate::Refused(text) => {
                    fates.removed.push(call.removed(&text));
                    fates.texts.push(Some(text));
                }
                CallFate::Stopped(text) => {
                    fates.removed = calls.iter().map(|call| call.removed(&text)).collect();
                    fates.texts = vec![Some(text.clone()); calls.len()];
                    fates.stopped = Some(text);
                    break;
                }
            }
        }
        fates
    }

    fn call(&self, call: &ToolCall, turn: &str) -> CallFate {
        let parts = &self.parts;
        parts.tally.add_calls(1);
        let Some(event) = self.call_event(call, turn) else {
            return CallFate::Runs;
        };
        let mut held = self.conversation();
        match parts.guard.check(None, event) {
            GuardAnswer::Verdict(verdict) => self.fate(&mut held, call, *verdict),
            GuardAnswer::Refuse(text) => {
                parts.tally.add_refused(1);
                CallFate::Refused(stop::without_guard(text))
            }
            GuardAnswer::Rejected(why) => {
                parts
                    .guard
                    .log(format_args!("a call can't be judged: {why}"));
                CallFate::Runs
            }
            GuardAnswer::Unguarded | GuardAnswer::Foreign => CallFate::Runs,
        }
    }

    fn call_event(&self, call: &ToolCall, turn: &str) -> Option<Event> {
        let parts = &self.parts;
        let (server, tool) = match &call.server {
            Some(server) => (Some(server.clone()), call.tool.clone()),
            None => named(parts.client, &call.tool),
        };
        let mut event = Event::call(parts.session.as_str(), &tool).ok()?;
        event = event.id(&call.use_id).ok()?;
        event.use_id = global(&call.use_id).and_then(|id| Id::new(id).ok());
        event.server = server.and_then(|server| Id::new(&server).ok());
        // An answer without an id is still one answer.
        event.turn = Id::new(turn)
            .ok()
            .or_else(|| Some(parts.reservation.clone()));
        event.agent = parts.agent.clone();
        event.via = Via::Gateway;
        Some(event.args(call.args.clone()).into())
    }

    fn fate(&self, held: &mut Conversation, call: &ToolCall, verdict: Verdict) -> CallFate {
        if verdict.decision == Decision::Kill {
            return CallFate::Stopped(stop::stopped(&verdict));
        }
        if verdict.refuses() {
            self.tally().add_refused(1);
            let text = stop::refused_call(&call.tool, &verdict);
            self.block(held, verdict);
            return CallFate::Refused(text);
        }
        if verdict.decision == Decision::Warn
            && let Some(message) = &verdict.message
        {
            self.tally().add_warned(1);
            held.warn(&call.use_id, stop::warning(message));
        }
        CallFate::Runs
    }

    /// Reports what the model said in a whole answer, unless it was told something new before: a
    /// client may report the end of each sub-agent, and the model has the same to say to each.
    pub(crate) fn hear_all(&self, words: &str) {
        if !self.has_news.load(Ordering::Relaxed) {
            self.hear(words);
        }
    }

    /// Reports what the model said in one answer. Words of side requests are nobody's.
    pub(crate) fn hear(&self, words: &str) -> Heard {
        if words.trim().is_empty() || !self.parts.is_agent {
            return Heard::Fine;
        }
        let mut event = OutputEvent::new(self.voice.clone()).text(words);
        event.agent = self.parts.agent.clone();
        let mut held = self.conversation();
        // In a blocked session the guard judges no words, and a chant is paid for all the same.
        let is_free = held.standing == Standing::Free;
        let Some(verdict) = self.ask(event.into()) else {
            return Heard::Fine;
        };
        match verdict.decision {
            Decision::Kill => return Heard::Killed(stop::stopped(&verdict)),
            Decision::Warn => held.note = verdict.message.as_deref().map(stop::warning),
            Decision::Block => held.standing = Standing::Told(Box::new(verdict)),
            _ if is_free => return Heard::Fine,
            _ => {}
        }
        Heard::Minded
    }

    /// The text of the stop, if the session was killed while its answer was under way. Asked by an
    /// answer without words, which changes nothing.
    pub(crate) fn is_killed(&self) -> Option<String> {
        let verdict = self.ask(OutputEvent::new(self.parts.session.clone()).into())?;
        (verdict.decision == Decision::Kill).then(|| stop::stopped(&verdict))
    }

    /// Reports what an answer cost, once it is over, in the place of what was reserved for it.
    pub(crate) fn finish(&self, tokens: Tokens) {
        self.is_open.store(false, Ordering::Relaxed);
        let read = tokens.input + tokens.cache_read + tokens.cache_write;
        self.tally().add_input_tokens(read);
        self.tally().add_output_tokens(tokens.output);
        let mut held = self.conversation();
        if let Standing::Blocked(verdict) = &held.standing {
            held.standing = Standing::Told(verdict.clone());
        }
        if tokens != Tokens::default() && self.parts.is_agent {
            held.last = tokens;
            if let Some(model) = &self.parts.model {
                self.parts.estimates.learn(model.as_str(), tokens);
            }
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
}

/// Server and tool by a name, as the client puts them together; hooks read it alike.
fn named(client: Option<&str>, name: &str) -> (Option<String>, String) {
    match client {
        Some("copilot") => tool_name::dash(name),
        Some("gemini") => tool_name::single_underscore(name),
        _ => tool_name::double_underscore(name),
    }
}
