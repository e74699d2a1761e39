//! What a client sends: calls are judged, a few requests are remembered, the rest passes.

use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use sprag_core::{CallEvent, Decision, Event, Id, Identity, Payload, Verdict};

use super::{ClientAction, Gate, OnKill, RequestScope, id_key};
use crate::call_meta::CallMeta;
use crate::call_outcome::CallOutcome;
use crate::duplicate_keys;
use crate::envelope::{CallParams, Envelope, batch, member, parse, raw_member, text};
use crate::guidance::guidance;
use crate::in_flight::{PendingCall, PendingRequest, after_cut, fingerprint, next_round};
use crate::large_payload::payload;
use crate::refusal::{INVALID_REQUEST, PARSE_ERROR, RefusalForm, error, id_of, refusal};
use crate::stream_scan::StreamScan;
use crate::verdict_source::GuardAnswer;

/// How often a server may ask back before the call counts as a new one.
const MAX_ROUNDS: u32 = 32;

/// A message that does not go on, and what its sender is told.
struct Stopped(Option<String>);

type Onward = Result<(), Stopped>;

impl Gate {
    /// Judges a message of the client, or a batch of them.
    pub fn from_client(&self, scope: &RequestScope, message: &[u8]) -> ClientAction {
        if let Some(items) = batch(message) {
            return self.batch_from_client(scope, &items);
        }
        match self.one_from_client(scope, message) {
            Ok(()) => ClientAction::Pass,
            Err(Stopped(answer)) => ClientAction::Stop {
                onward: None,
                answer: answer.map(String::into_bytes),
            },
        }
    }

    /// Judges a message of the client by its beginning, because it is too long to be held.
    pub fn long_from_client(&self, beginning: &[u8]) -> ClientAction {
        let mut long = StreamScan::default();
        long.read(beginning);
        if (long.has_method() && !long.is_call()) || long.is_response() {
            return ClientAction::Pass;
        }
        let why = format!(
            "a call of more than {} bytes can't be judged by the guard",
            beginning.len()
        );
        self.source.log(format_args!("{why}; it was refused"));
        let id = long.id();
        let id = id.as_ref().map_or("null", |id| id.get());
        ClientAction::Stop {
            onward: None,
            answer: Some(error(id, INVALID_REQUEST, &why).into_bytes()),
        }
    }

    fn batch_from_client(&self, scope: &RequestScope, items: &[&RawValue]) -> ClientAction {
        let mut onward = Vec::new();
        let mut answers = Vec::new();
        let mut is_whole = true;
        for item in items {
            match self.one_from_client(scope, item.get().as_bytes()) {
                Ok(()) => onward.push(item.get()),
                Err(Stopped(answer)) => {
                    is_whole = false;
                    answers.extend(answer);
                }
            }
        }
        if is_whole {
            return ClientAction::Pass;
        }
        let list = |items: &[&str]| {
            (!items.is_empty()).then(|| format!("[{}]", items.join(",")).into_bytes())
        };
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        ClientAction::Stop {
            onward: list(&onward),
            answer: list(&answers),
        }
    }

    fn one_from_client(&self, scope: &RequestScope, bytes: &[u8]) -> Onward {
        let Some(message) = Envelope::read(bytes) else {
            return unreadable(bytes);
        };
        let Some(method) = message.method() else {
            return Ok(());
        };
        match &*method {
            "tools/call" => return self.call(scope, bytes, &message),
            "tools/list" => remember(scope, &message, PendingRequest::Tools),
            "initialize" => {
                note_client(scope, &message);
                remember(scope, &message, PendingRequest::Introduction);
            }
            "server/discover" => remember(scope, &message, PendingRequest::Introduction),
            "tasks/get" | "tasks/result" => self.look_after_task(scope, &message),
            "notifications/cancelled" => self.cancelled(scope, &message),
            _ => {}
        }
        Ok(())
    }

    fn look_after_task(&self, scope: &RequestScope, message: &Envelope<'_>) {
        let Some(task) = message.params.and_then(|params| member(params, "taskId")) else {
            return;
        };
        let is_known = self.in_flight().tasks.get(&*task).is_some();
        if is_known {
            remember(scope, message, PendingRequest::Task(task.into_owned()));
        }
    }

    /// The client no longer waits. An agent that tries again and again what never answers in time must
    /// be seen too, so this is what came of the call.
    fn cancelled(&self, scope: &RequestScope, message: &Envelope<'_>) {
        let Some(id) = message
            .params
            .and_then(|params| raw_member(params, "requestId"))
        else {
            return;
        };
        let asked = scope.take(&id_key(id));
        if let Some(PendingRequest::Call(call)) = asked {
            let reason = message.params.and_then(|params| member(params, "reason"));
            self.finish_unheard(*call, CallOutcome::cancelled(reason.as_deref()));
        }
    }

    fn call(&self, scope: &RequestScope, bytes: &[u8], message: &Envelope<'_>) -> Onward {
        if let Err(why) = duplicate_keys::check(bytes) {
            let why = format!(
                "this call was not passed on: {why}, so that guard and server could read different calls"
            );
            return Err(stop(message, |id| error(id, INVALID_REQUEST, &why)));
        }
        // What names no tool is for the server to refuse.
        let Some(params) = message.params.and_then(parse::<CallParams<'_>>) else {
            return Ok(());
        };
        let Some(tool) = text(params.name) else {
            return Ok(());
        };
        let meta = CallMeta::read(params.meta);
        let form = form(&params, &meta);
        let session = meta.session.as_ref().unwrap_or(&scope.session);
        let args = params.arguments.map(|args| args.get());
        let fingerprint = fingerprint(session, &tool, args);
        if self.continues(scope, message, &params, fingerprint) {
            return Ok(());
        }
        let refuse = |why: &str| Err(stop(message, |id| refusal(id, form, why)));
        let event = match self.event(scope, &params, &tool, &meta) {
            Ok(event) => event,
            Err(why) => return refuse(&why),
        };
        let verdict = match self.ask_call(event.clone()) {
            GuardAnswer::Verdict(verdict) => Some(verdict),
            GuardAnswer::Unguarded => None,
            GuardAnswer::Refuse(why) => return refuse(why),
            GuardAnswer::Rejected(why) => {
                return refuse(&format!("the guard can't judge this call: {why}"));
            }
        };
        if let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.refuses()) {
            self.note_stop(&event.session, verdict);
            let why = verdict.message.as_deref();
            return refuse(why.unwrap_or("refused by the loop guard"));
        }
        if verdict.is_some() {
            // Whoever may call again was let go on by an operator.
            self.in_flight().stopped.take(&event.session);
        }
        if let Some(id) = event.id {
            let call = PendingCall {
                shared: event.identity == Identity::Shared,
                session: event.session,
                id,
                use_id: event.use_id,
                flow: event.flow,
                fingerprint,
                rounds: 0,
                guidance: verdict.as_deref().and_then(guidance),
            };
            remember(scope, message, PendingRequest::Call(Box::new(call)));
        }
        Ok(())
    }

    /// Whether this is the next round of a call that was judged already: the same call with what the
    /// server asked the client for, or once more because its answer was cut off.
    fn continues(
        &self,
        scope: &RequestScope,
        message: &Envelope<'_>,
        params: &CallParams<'_>,
        fingerprint: u64,
    ) -> bool {
        let is_answer = params.input_responses.is_some() || params.request_state.is_some();
        let state = params.request_state.map(|state| state.get());
        let next = if is_answer {
            next_round(fingerprint, state)
        } else {
            after_cut(fingerprint)
        };
        let mut in_flight = self.in_flight();
        let Some(mut call) = in_flight.waiting.take(&next) else {
            return false;
        };
        if call.rounds >= MAX_ROUNDS || in_flight.stopped.get(&call.session).is_some() {
            return false;
        }
        drop(in_flight);
        call.rounds += 1;
        remember(scope, message, PendingRequest::Call(call));
        true
    }

    fn event(
        &self,
        scope: &RequestScope,
        params: &CallParams<'_>,
        tool: &str,
        meta: &CallMeta,
    ) -> Result<CallEvent, String> {
        let id = |text: &str| {
            Id::new(text).map_err(|error| format!("the guard can't judge this call: {error}"))
        };
        let in_flight = self.in_flight();
        let is_named = meta.session.is_some();
        let session = meta.session.as_ref().unwrap_or(&scope.session);
        let mut event = CallEvent::new(session.clone(), id(tool)?);
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        event.id = Some(id(&format!("{}-{number}", self.options.mark))?);
        event.agent = [&self.options.agent, &meta.agent, &scope.agent()]
            .into_iter()
            .flatten()
            .next()
            .cloned();
        event.server = [&self.options.server, &in_flight.server]
            .into_iter()
            .flatten()
            .next()
            .cloned();
        event
            .server
            .get_or_insert_with(|| self.options.unnamed.clone());
        event.hints = in_flight
            .tools
            .get(tool)
            .map(|tool| tool.hints)
            .unwrap_or_default();
        event.use_id.clone_from(&meta.use_id);
        event.flow.clone_from(&meta.flow);
        event.args = params.arguments.map(payload);
        if scope.shared && !is_named {
            event.identity = Identity::Shared;
        }
        Ok(event)
    }

    /// Arguments that the guard can't take apart (half a character, more levels than it follows) are
    /// compared as the text they are.
    fn ask_call(&self, mut event: CallEvent) -> GuardAnswer {
        let args = event.args.clone();
        match (self.source.check(Event::Call(event.clone())), args) {
            (GuardAnswer::Rejected(_), Some(args)) => {
                event.args = Some(Payload::from(args.as_json()));
                self.source.check(Event::Call(event))
            }
            (answer, _) => answer,
        }
    }

    pub(super) fn note_stop(&self, session: &Id, verdict: &Verdict) {
        if verdict.decision < Decision::Block {
            return;
        }
        let is_news = {
            let mut in_flight = self.in_flight();
            let is_news = in_flight.stopped.get(session).is_none();
            in_flight.stopped.insert(session.clone(), ());
            is_news
        };
        if is_news {
            let message = verdict.message.as_deref().unwrap_or_default();
            let message = message.trim_end_matches('.');
            let word = if verdict.decision == Decision::Kill {
                "killed"
            } else {
                "blocked"
            };
            self.source.log(format_args!(
                "a session is {word}: {message}; to see it: sprag sessions list --state {word}"
            ));
        }
        if verdict.decision == Decision::Kill && self.options.on_kill == OnKill::Exit {
            self.must_end.store(true, Ordering::Release);
        }
    }
}

/// A message that no strict reader takes. Where it could be a call to somebody it does not go on.
fn unreadable(bytes: &[u8]) -> Onward {
    let mut long = StreamScan::default();
    long.read(bytes);
    let is_batch = bytes.trim_ascii_start().first() == Some(&b'[');
    let names_call = || bytes.windows(10).any(|part| part == b"tools/call");
    let may_be_call = long.is_call() || (is_batch && names_call());
    if !may_be_call {
        return Ok(());
    }
    let why = "this call was not passed on: it is not one JSON message that everybody reads alike";
    let id = long.id();
    let id = id.as_ref().map_or("null", |id| id.get());
    Err(Stopped(Some(error(id, PARSE_ERROR, why))))
}

/// How the one who calls wants to be answered.
fn form(params: &CallParams<'_>, meta: &CallMeta) -> RefusalForm {
    match params.task {
        Some(_) => RefusalForm::Error,
        None if meta.is_modern => RefusalForm::Typed,
        None => RefusalForm::Plain,
    }
}

fn remember(scope: &RequestScope, message: &Envelope<'_>, asked: PendingRequest) {
    if let Some(id) = message.id {
        scope.remember(id_key(id), asked);
    }
}

fn note_client(scope: &RequestScope, message: &Envelope<'_>) {
    let client = message
        .params
        .and_then(|params| raw_member(params, "clientInfo"));
    let name = client.and_then(|client| member(client, "name"));
    scope.set_agent(name.and_then(|name| Id::new(&name).ok()));
}

fn stop(message: &Envelope<'_>, answer: impl FnOnce(&str) -> String) -> Stopped {
    Stopped(id_of(message).map(answer))
}
