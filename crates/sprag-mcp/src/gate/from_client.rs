//! Messages from the client: calls are judged, a few requests are remembered, the rest passes.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use sprag_core::{CallEvent, Event, Id, IdError, Identity, Sender, Verdict, Via};

use super::stopped::{Asking, Passed, Stopped, stop};
use super::{ClientAction, Gate, RequestScope, id_key};
use crate::call_meta::{CallMeta, can_elicit};
use crate::call_outcome::CallOutcome;
use crate::envelope::{CallParams, Envelope, batch, member, parse, raw_member, text};
use crate::guidance::guidance;
use crate::in_flight::{InFlightCall, PendingRequest, after_cut, fingerprint, next_round};
use crate::large_payload::payload;
use crate::misread::{self, CALL};
use crate::refusal::{INVALID_REQUEST, Reason, RefusalForm, error, refusal};
use crate::stream_scan::StreamScan;
use crate::verdict_source::GuardAnswer;

/// How often a server may ask for input before the call counts as a new one.
const MAX_ROUNDS: u32 = 32;

impl Gate {
    /// Judges a message of the client, or each message of a batch.
    pub fn from_client(&self, scope: &RequestScope, message: &[u8]) -> ClientAction {
        if let Some(items) = batch(message) {
            return self.batch_from_client(scope, &items);
        }
        match self.one_from_client(scope, message, Asking::May) {
            Ok(()) => ClientAction::Pass,
            Err(Stopped { onward, answer }) => ClientAction::Stop {
                onward,
                answer: answer.map(String::into_bytes),
            },
        }
    }

    /// Judges a message that is too long to be held, by its beginning.
    pub fn long_from_client(&self, beginning: &[u8]) -> ClientAction {
        let mut scan = StreamScan::default();
        scan.read(beginning);
        // Only what is known not to be a call may pass: a method may still follow after the beginning.
        if (scan.has_method() && !scan.is_call()) || scan.is_response() {
            return ClientAction::Pass;
        }
        let why = format!(
            "a call of more than {} bytes can't be judged by the guard",
            beginning.len()
        );
        self.source.log(format_args!("{why}; it was refused"));
        let id = scan.id();
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
            match self.one_from_client(scope, item.get().as_bytes(), Asking::MayNot) {
                Ok(()) => onward.push(item.get().to_owned()),
                Err(stopped) => {
                    is_whole = false;
                    answers.extend(stopped.answer);
                    let instead = stopped.onward.map(String::from_utf8);
                    onward.extend(instead.and_then(Result::ok));
                }
            }
        }
        if is_whole {
            return ClientAction::Pass;
        }
        let list = |items: &[String]| {
            (!items.is_empty()).then(|| format!("[{}]", items.join(",")).into_bytes())
        };
        ClientAction::Stop {
            onward: list(&onward),
            answer: list(&answers),
        }
    }

    fn one_from_client(&self, scope: &RequestScope, bytes: &[u8], asking: Asking) -> Passed {
        let Some(message) = Envelope::read(bytes) else {
            let answer = misread::unreadable(scope.is_strict(), bytes);
            return answer.map_or(Ok(()), |answer| Err(Stopped::with(Some(answer))));
        };
        if let Some(why) = misread::message(&message) {
            return Err(stop(&message, |id| error(id, INVALID_REQUEST, &why)));
        }
        let Some(method) = message.method() else {
            return match self.released(&message) {
                None => Ok(()),
                Some(held) => self.pass_held(scope, held.message),
            };
        };
        match &*method {
            CALL => return self.call(scope, bytes, &message, asking),
            "tools/list" => remember(scope, &message, PendingRequest::Tools),
            "initialize" => {
                // A client that introduces itself begins a run.
                let mut in_flight = self.in_flight();
                in_flight.killed.take(&scope.session);
                in_flight.begun.take(&scope.session);
                drop(in_flight);
                note_client(scope, &message);
                remember(scope, &message, PendingRequest::Introduction);
            }
            "server/discover" => remember(scope, &message, PendingRequest::Introduction),
            "tasks/get" | "tasks/result" => self.poll_task(scope, &message),
            "notifications/cancelled" => self.cancelled(scope, &message),
            _ => {}
        }
        Ok(())
    }

    /// Judges a call again that waited for a person, and passes it on in place of their answer.
    fn pass_held(&self, scope: &RequestScope, held: Vec<u8>) -> Passed {
        let Some(message) = Envelope::read(&held) else {
            return Err(Stopped::with(None));
        };
        self.call(scope, &held, &message, Asking::MayNot)?;
        Err(Stopped {
            onward: Some(held),
            answer: None,
        })
    }

    fn poll_task(&self, scope: &RequestScope, message: &Envelope<'_>) {
        let Some(task) = message.params.and_then(|params| member(params, "taskId")) else {
            return;
        };
        let is_known = self.in_flight().tasks.get(&*task).is_some();
        if is_known {
            remember(scope, message, PendingRequest::Task(task.into_owned()));
        }
    }

    /// The client no longer waits. The cancellation counts as the outcome of the call: an agent that
    /// repeats what never answers in time must be detected too.
    fn cancelled(&self, scope: &RequestScope, message: &Envelope<'_>) {
        let Some(id) = message
            .params
            .and_then(|params| raw_member(params, "requestId"))
        else {
            return;
        };
        if let Some(PendingRequest::Call(call)) = scope.take(&id_key(id)) {
            let reason = message.params.and_then(|params| member(params, "reason"));
            self.finish_later(*call, CallOutcome::cancelled(reason.as_deref()));
        }
    }

    fn call(
        &self,
        scope: &RequestScope,
        bytes: &[u8],
        message: &Envelope<'_>,
        asking: Asking,
    ) -> Passed {
        if let Some(why) = misread::call(bytes, message) {
            return Err(stop(message, |id| error(id, INVALID_REQUEST, &why)));
        }
        // A call that names no tool can't run anything: refusing it is up to the server.
        let Some(params) = message.params.and_then(parse::<CallParams<'_>>) else {
            return Ok(());
        };
        let Some(tool) = text(params.name) else {
            return Ok(());
        };
        if let Some(call) = self.answered(scope, bytes, message, &params) {
            return self.pass_held(scope, call);
        }
        let meta = CallMeta::read(params.meta);
        let form = form(&params, &meta);
        let session = meta.session.as_ref().unwrap_or(&scope.session);
        let args = params.arguments.map(|args| args.get());
        let fingerprint = fingerprint(session, &tool, args);
        if self.continues(scope, message, &params, fingerprint) {
            return Ok(());
        }
        let refuse = |reason: Reason<'_>| Err(stop(message, |id| refusal(id, form, reason)));
        let unjudged = |why: &dyn Display| {
            let why = format!("the guard can't judge this call: {why}");
            refuse(why.as_str().into())
        };
        let mut event = match self.event(scope, &params, &tool, &meta) {
            Ok(event) => event,
            Err(error) => return unjudged(&error),
        };
        let sender = scope.sender.clone().filter(|_| meta.session.is_some());
        let (answer, sender) = self.check_run(scope, sender, &mut event);
        let verdict = match answer {
            GuardAnswer::Verdict(verdict) => Some(verdict),
            GuardAnswer::Unguarded => None,
            GuardAnswer::Refuse(why) => return refuse(why.into()),
            GuardAnswer::Rejected(why) => return unjudged(&why),
            GuardAnswer::Foreign => return unjudged(&"its session belongs to somebody else"),
        };
        if let Some(verdict) = verdict.as_ref().filter(|verdict| verdict.refuses()) {
            let call = (bytes, message);
            return Err(self.refused(scope, call, (&meta, form, asking), &event, verdict));
        }
        if verdict.is_some() {
            // A session that may call again was reset by an operator.
            self.in_flight().stopped.take(&event.session);
        }
        if let Some(call) = pending(event, sender, fingerprint, verdict.as_deref()) {
            remember(scope, message, PendingRequest::Call(Box::new(call)));
        }
        Ok(())
    }

    /// The answer to a call. A run that ended before the gate heard of it is judged again, as what it is.
    fn check_run(
        &self,
        scope: &RequestScope,
        sender: Option<Arc<Sender>>,
        event: &mut CallEvent,
    ) -> (GuardAnswer, Option<Arc<Sender>>) {
        let (answer, sender) = self.check_call(scope, sender, event);
        match &answer {
            GuardAnswer::Verdict(verdict) if self.has_ended(scope, &event.session, verdict) => {
                event.generation = self.in_flight().killed.get(&event.session).copied();
                let again = self.check(sender.as_deref(), Event::Call(event.clone()));
                (again, sender)
            }
            _ => (answer, sender),
        }
    }

    /// Whether this run was killed and its session reset before the gate heard of it. Remembers when the run began.
    fn has_ended(&self, scope: &RequestScope, session: &Id, verdict: &Verdict) -> bool {
        let mut in_flight = self.in_flight();
        let begun = in_flight.begun.get(session).copied();
        let begun = begun.unwrap_or(verdict.generation);
        in_flight.begun.insert(session.clone(), begun);
        let is_over = scope.is_run
            && !verdict.refuses()
            && verdict
                .killed_generation
                .is_some_and(|killed| killed >= begun);
        if is_over {
            in_flight.killed.insert(session.clone(), begun);
        }
        is_over
    }

    /// Asks about a call. Whoever names a session must be one who may act in it; a session that the proxy chose is its
    /// own. Returns who is behind the call in the session that it was judged in.
    fn check_call(
        &self,
        scope: &RequestScope,
        sender: Option<Arc<Sender>>,
        event: &mut CallEvent,
    ) -> (GuardAnswer, Option<Arc<Sender>>) {
        match self.check(sender.as_deref(), Event::Call(event.clone())) {
            GuardAnswer::Foreign => {
                disown(event, scope);
                (self.check(None, Event::Call(event.clone())), None)
            }
            answer => (answer, sender),
        }
    }

    /// Whether this is the next round of a call that was judged already: the same call with the input
    /// that the server asked for, or sent again because its response was cut off.
    fn continues(
        &self,
        scope: &RequestScope,
        message: &Envelope<'_>,
        params: &CallParams<'_>,
        fingerprint: u64,
    ) -> bool {
        let has_input = params.input_responses.is_some() || params.request_state.is_some();
        let state = params.request_state.map(|state| state.get());
        let next = if has_input {
            next_round(fingerprint, state)
        } else {
            after_cut(fingerprint)
        };
        let mut in_flight = self.in_flight();
        let Some(mut call) = in_flight.waiting.take(&next) else {
            return false;
        };
        // Rounds are bounded, and a stopped session is judged again: neither may loop past the guard.
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
    ) -> Result<CallEvent, IdError> {
        let in_flight = self.in_flight();
        let is_named = meta.session.is_some();
        let session = meta.session.as_ref().unwrap_or(&scope.session);
        let mut event = CallEvent::new(session.clone(), Id::new(tool)?);
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        event.id = Some(Id::new(&format!("{}-{number}", self.options.mark))?);
        let own = &self.options;
        event.agent = own.agent.clone().or_else(|| meta.agent.clone());
        event.agent = event.agent.or_else(|| scope.agent());
        let server = own.server.clone().or_else(|| in_flight.server.clone());
        event.server = server.or_else(|| Some(own.unnamed.clone()));
        let listed = in_flight.tools.get(tool);
        event.hints = listed.map(|tool| tool.hints).unwrap_or_default();
        // A run that was killed has ended, also if its session was reset since: it must begin again.
        event.generation = in_flight
            .killed
            .get(session)
            .copied()
            .filter(|_| scope.is_run);
        event.use_id.clone_from(&meta.use_id);
        event.flow.clone_from(&meta.flow);
        event.args = params.arguments.map(payload);
        event.via = Via::Mcp;
        if scope.shared && !is_named {
            event.identity = Identity::Shared;
        }
        Ok(event)
    }

    /// Asks about an event.
    pub(super) fn check(&self, sender: Option<&Sender>, event: Event) -> GuardAnswer {
        self.source.check(sender, event)
    }
}

/// Judges a call that names a session of somebody else in the session that it would have without that name.
fn disown(event: &mut CallEvent, scope: &RequestScope) {
    event.session = scope.session.clone();
    event.use_id = None;
    if scope.shared {
        event.identity = Identity::Shared;
    }
}

/// The form of a refusal that the caller can read.
fn form(params: &CallParams<'_>, meta: &CallMeta) -> RefusalForm {
    match params.task {
        Some(_) => RefusalForm::Error,
        None if meta.is_modern => RefusalForm::Typed,
        None => RefusalForm::Plain,
    }
}

/// What is remembered of a call until its result comes.
fn pending(
    event: CallEvent,
    sender: Option<Arc<Sender>>,
    fingerprint: u64,
    verdict: Option<&Verdict>,
) -> Option<InFlightCall> {
    Some(InFlightCall {
        id: event.id?,
        shared: event.identity == Identity::Shared,
        sender,
        session: event.session,
        use_id: event.use_id,
        flow: event.flow,
        fingerprint,
        rounds: 0,
        guidance: verdict.and_then(guidance),
    })
}

fn remember(scope: &RequestScope, message: &Envelope<'_>, request: PendingRequest) {
    if let Some(id) = message.id {
        scope.remember(id_key(id), request);
    }
}

fn note_client(scope: &RequestScope, message: &Envelope<'_>) {
    let client = message
        .params
        .and_then(|params| raw_member(params, "clientInfo"));
    let name = client.and_then(|client| member(client, "name"));
    scope.set_agent(name.and_then(|name| Id::new(&name).ok()));
    let capabilities = message
        .params
        .and_then(|params| raw_member(params, "capabilities"));
    scope.set_elicits(capabilities.is_some_and(can_elicit));
}
