//! Requests and answers as events, verdicts as what becomes of them. The guard decides; here is only
//! what to ask it and in which order.

mod answered;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::{Code, Decision, Event, Id, MessageKind, UsageEvent, Verdict, Via};
use sprag_mcp::{FallbackSource, GuardAnswer};

use crate::conversation::{Conversation, Standing};
use crate::estimates::Estimates;
use crate::identity::{Identity, Speaker};
use crate::request::{ModelRequest, RequestChanges, Tokens, ToolResult, global, is_automatic};
use crate::stop;
use crate::tally::Tally;

pub(crate) use answered::Heard;

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Plan {
    /// It goes to the model, with these changes.
    Forward(RequestChanges),
    /// The gateway answers with this text.
    Stop(String),
}

/// Whose exchange it is, and what is known of that session.
pub(crate) struct JudgeParts {
    pub(crate) guard: Arc<FallbackSource>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) estimates: Arc<Estimates>,
    pub(crate) session: Id,
    pub(crate) agent: Option<Id>,
    /// The client, which decides how its tools are named.
    pub(crate) client: Option<&'static str>,
    pub(crate) conversation: Arc<Mutex<Conversation>>,
    pub(crate) model: Option<Id>,
    /// Joins what is reserved for the request with what its answer cost.
    pub(crate) reservation: Id,
    /// The request acts: it is not a side request.
    pub(crate) is_agent: bool,
}

/// Speaks with the guard for one exchange. Dropped before an answer was reported, it gives back what
/// was reserved.
pub(crate) struct Judge {
    parts: JudgeParts,
    /// Whose words they are: one conversation of a session is not another one's repetition.
    voice: Id,
    /// What was reserved for this exchange.
    reserved: Tokens,
    is_open: AtomicBool,
    /// The request tells the model something new: what it says to that is no repetition.
    has_news: AtomicBool,
}

impl Drop for Judge {
    fn drop(&mut self) {
        if self.is_open.swap(false, Ordering::Relaxed) {
            self.ask(self.usage(Tokens::default()).into());
        }
    }
}

impl Judge {
    /// A judge for `request`, of `bytes` bytes.
    pub(crate) fn new(parts: JudgeParts, request: &ModelRequest, bytes: usize) -> Self {
        let mut held = lock(&parts.conversation);
        let aside = held.aside(&request.opening);
        let voice = aside.and_then(|aside| Id::new(&format!("{}/{aside:08x}", parts.session)).ok());
        let reserved = match held.last {
            last if last == Tokens::default() => {
                parts.estimates.first(request.model.as_deref(), bytes)
            }
            last => last,
        };
        drop(held);
        Self {
            voice: voice.unwrap_or_else(|| parts.session.clone()),
            reserved,
            is_open: AtomicBool::new(false),
            has_news: AtomicBool::new(false),
            parts,
        }
    }

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
        let is_notice = request
            .notices
            .as_deref()
            .is_some_and(|notice| held.is_new("notice", notice));
        let is_new = request
            .words
            .as_deref()
            .is_some_and(|words| held.is_new("words", words) && !is_automatic(words));
        let words = spoken(held, request, identity, is_new);
        // A program that asks the same in many conversations gets the same answer in each.
        let is_another = identity.is_guessed && request.is_opening;
        // A person's words begin a new row by themselves.
        let has_news = is_another || words.is_none() && (is_new || is_notice);
        self.has_news.store(has_news, Ordering::Relaxed);
        self.user(held, &words?)
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        lock(&self.parts.conversation)
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.parts.tally
    }

    fn ask(&self, event: Event) -> Option<Verdict> {
        match self.parts.guard.check(None, event) {
            GuardAnswer::Verdict(verdict) => Some(*verdict),
            _ => None,
        }
    }

    /// Reserves what the answer will cost, so that requests under way at once can't use up a budget
    /// together. Returns the stop.
    fn reserve(&self, held: &mut Conversation) -> Option<String> {
        let event = self.usage(self.reserved).pending();
        match self.parts.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) if verdict.refuses() => {
                let text = stop::stopped(&verdict);
                if verdict.decision == Decision::Block {
                    held.standing = Standing::Told(verdict);
                }
                Some(text)
            }
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => {
                self.is_open.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    fn usage(&self, tokens: Tokens) -> UsageEvent {
        let mut event = UsageEvent::new(self.parts.session.clone())
            .tokens(tokens.input, tokens.output)
            .cache(tokens.cache_read, tokens.cache_write);
        event.model.clone_from(&self.parts.model);
        event.id = Some(self.parts.reservation.clone());
        event
    }

    fn step(&self, held: &mut Conversation, result: &ToolResult) -> Option<String> {
        let mut event = Event::step(self.parts.session.as_str()).ok()?;
        event = event.id(&result.use_id).ok()?;
        event.use_id = global(&result.use_id).and_then(|id| Id::new(id).ok());
        event = event
            .result(result.content.clone())
            .is_error(result.is_error);
        event.via = Via::Gateway;
        let note = held.note.take();
        match self.parts.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) => {
                if verdict.decision == Decision::Kill {
                    return Some(stop::stopped(&verdict));
                }
                let warned = (verdict.decision > Decision::Allow).then(|| verdict.message.clone());
                let warned = warned.flatten().map(|text| stop::warning(&text)).or(note);
                if let Some(text) = warned {
                    self.parts.tally.add_warned(1);
                    held.warn(&result.use_id, text);
                }
                self.block(held, *verdict);
                None
            }
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => None,
        }
    }

    fn user(&self, held: &mut Conversation, words: &str) -> Option<String> {
        let event = Event::message(self.parts.session.as_str()).ok()?;
        let mut event = event.content(words).unblock();
        event.to_agent = self.parts.agent.clone();
        match self.parts.guard.check(None, event.into()) {
            GuardAnswer::Verdict(verdict) if verdict.refuses() => Some(stop::stopped(&verdict)),
            GuardAnswer::Refuse(text) => Some(stop::without_guard(text)),
            _ => {
                held.standing = Standing::Free;
                None
            }
        }
    }

    /// Notes that the session is blocked, unless that is known.
    fn block(&self, held: &mut Conversation, verdict: Verdict) {
        let is_blocked = verdict.decision == Decision::Block
            || verdict.code == Some(Code::SessionBlockedLoopGuard)
            || verdict.end_turn;
        if is_blocked && held.standing == Standing::Free {
            self.parts.tally.add_stops(1);
            held.standing = Standing::Blocked(Box::new(verdict));
        }
    }

    /// A sub-agent's first request: somebody above started it.
    fn spawned(&self, identity: &Identity) {
        let Some((above, _)) = self.parts.session.as_str().rsplit_once('/') else {
            return;
        };
        let starter = match &identity.parent {
            Some(parent) => format!("{above}/{parent}"),
            None => above.to_owned(),
        };
        let event = Event::message(self.parts.session.as_str()).and_then(|event| {
            let event = event.from(&starter)?.flow(above)?;
            Ok(event.kind(MessageKind::Spawn))
        });
        if let Ok(event) = event {
            self.ask(event.into());
        }
    }
}

fn lock(conversation: &Mutex<Conversation>) -> MutexGuard<'_, Conversation> {
    conversation.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of a person in a request, if a person spoke; `is_new`: they were not seen before, and are
/// not a client's "go on".
fn spoken(
    held: &mut Conversation,
    request: &ModelRequest,
    identity: &Identity,
    is_new: bool,
) -> Option<String> {
    let is_person = match &identity.speaker {
        // A client's own prompt, such as the end of a task in the background, has no words of a user.
        Speaker::Prompt(prompt) => held.is_new_prompt(prompt) && identity.agent.is_none(),
        // A program asks the same again and again.
        Speaker::Run(run) => held.is_new_prompt(run) && is_new && identity.agent.is_none(),
        Speaker::Person => is_new,
        Speaker::Unknown => is_new && identity.agent.is_none(),
        Speaker::Nobody => false,
    };
    request.words.clone().filter(|_| is_person)
}
