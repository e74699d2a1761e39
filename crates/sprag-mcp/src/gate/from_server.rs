//! Messages from the server: results are judged, and get the guard's guidance next to them.

use serde_json::value::RawValue;
use sprag_core::{Event, Id, Identity, StepEvent, Via};

use super::{Gate, RequestScope, ServerAction, id_key};
use crate::call_outcome::CallOutcome;
use crate::envelope::{Envelope, ResultEnvelope, batch, member, raw_member, text};
use crate::guidance::{guidance, into_error, into_result};
use crate::in_flight::{InFlightCall, PendingRequest, next_round};
use crate::splice::{self, Splice};
use crate::stream_scan::StreamScan;
use crate::tools;
use crate::verdict_source::GuardAnswer;

/// What the guard's text in a tool's result starts with, so that it is not taken for the tool's.
const PREFIX: &str = "[sprag]";

impl Gate {
    /// Judges a message of the server, or each message of a batch.
    pub fn from_server(&self, scope: &RequestScope, message: &[u8]) -> ServerAction {
        let one = |bytes: &[u8]| self.one_from_server(scope, message, bytes);
        let splices: Vec<Splice> = match batch(message) {
            Some(items) => {
                let items = items.into_iter();
                items
                    .filter_map(|item| one(item.get().as_bytes()))
                    .collect()
            }
            None => one(message).into_iter().collect(),
        };
        if splices.is_empty() {
            return ServerAction::Pass;
        }
        ServerAction::Replace(splice::apply(message, splices))
    }

    /// Judges a message that was too long to be held and has passed already. The guard's guidance comes
    /// with the next result of the same session.
    pub(crate) fn long_from_server(&self, scope: &RequestScope, scan: &StreamScan) {
        let Some(id) = scan.id().filter(|_| !scan.has_method()) else {
            return;
        };
        let call = match scope.take(&id_key(&id)) {
            Some(PendingRequest::Call(call)) => Some(call),
            Some(PendingRequest::Task(task)) => self.in_flight().tasks.take(&task),
            _ => None,
        };
        if let Some(call) = call.filter(|_| scan.is_final()) {
            self.finish_later(*call, scan.outcome());
        }
    }

    /// The change to `whole` that adds guidance to one message of it: an item of a batch, or all of it.
    fn one_from_server(&self, scope: &RequestScope, whole: &[u8], bytes: &[u8]) -> Option<Splice> {
        let message = Envelope::read(bytes)?;
        // A message with a method is a request of the server's own. Its id is the server's choice and
        // must not be mistaken for one of the client's.
        if message.method.is_some() {
            return None;
        }
        match scope.take(&id_key(message.id?))? {
            PendingRequest::Tools => self.learn_tools(message.result?),
            PendingRequest::Introduction => self.learn_server(message.result?),
            PendingRequest::Task(task) => return self.task_answered(whole, &message, &task),
            PendingRequest::Call(call) => return self.call_answered(whole, &message, call),
        }
        None
    }

    fn call_answered(
        &self,
        whole: &[u8],
        message: &Envelope<'_>,
        call: Box<InFlightCall>,
    ) -> Option<Splice> {
        let Some(result) = message.result else {
            return self.failed(whole, message.error?, *call);
        };
        let envelope = ResultEnvelope::read(result);
        // Neither a question to the client nor a task is the result of the call: it stays in flight, and
        // what continues it is not judged as a new call.
        if envelope.is_input_required() {
            let state = raw_member(result, "requestState").map(RawValue::get);
            let next = next_round(call.fingerprint, state);
            self.in_flight().waiting.insert(next, call);
            return None;
        }
        if let Some(task) = envelope.made_task() {
            self.in_flight().tasks.insert(task.into_owned(), call);
            return None;
        }
        self.done(whole, result, &envelope, *call)
    }

    fn task_answered(&self, whole: &[u8], message: &Envelope<'_>, task: &str) -> Option<Splice> {
        let result = message.result?;
        let envelope = ResultEnvelope::read(result);
        let status = envelope.status.and_then(text);
        // A status without an outcome: the client polls again, or asks for the result.
        if envelope.content.is_none()
            && envelope.result.is_none()
            && envelope.error.is_none()
            && envelope.structured.is_none()
        {
            if status.as_deref() == Some("cancelled") {
                let call = self.in_flight().tasks.take(task)?;
                self.finish_later(*call, CallOutcome::cancelled(None));
            }
            return None;
        }
        let call = self.in_flight().tasks.take(task)?;
        match (envelope.result, envelope.error) {
            (Some(inner), _) if envelope.content.is_none() => {
                self.done(whole, inner, &ResultEnvelope::read(inner), *call)
            }
            (None, Some(error)) if envelope.content.is_none() => self.failed(whole, error, *call),
            _ => self.done(whole, result, &envelope, *call),
        }
    }

    fn done(
        &self,
        whole: &[u8],
        result: &RawValue,
        envelope: &ResultEnvelope<'_>,
        call: InFlightCall,
    ) -> Option<Splice> {
        let outcome = CallOutcome::of_result(envelope, result);
        self.finish(call, outcome, |text| {
            into_result(whole, result, envelope, text)
        })
    }

    fn failed(&self, whole: &[u8], error: &RawValue, call: InFlightCall) -> Option<Splice> {
        let outcome = CallOutcome::of_error(error);
        self.finish(call, outcome, |text| into_error(whole, error, text))
    }

    /// Reports the outcome of a call when there is no result to put guidance into.
    pub(super) fn finish_later(&self, call: InFlightCall, outcome: CallOutcome) {
        self.finish(call, outcome, |_| None);
    }

    /// Reports the outcome of a call, and puts the guard's guidance where `place` says. Guidance that finds
    /// no place is kept for the next result of the session, so that none is lost.
    fn finish(
        &self,
        call: InFlightCall,
        outcome: CallOutcome,
        place: impl FnOnce(&str) -> Option<Splice>,
    ) -> Option<Splice> {
        let session = call.session.clone();
        let guidance = self.report(call, outcome)?;
        let splice = place(&guidance);
        if splice.is_none() {
            self.in_flight().owed.insert(session, guidance);
        }
        splice
    }

    /// Reports the outcome of a call to the guard, and returns the guidance for its agent: what was kept
    /// from before, the verdict on the call, the verdict on the outcome.
    fn report(&self, call: InFlightCall, outcome: CallOutcome) -> Option<String> {
        let session: &Id = &call.session;
        let mut step = StepEvent::new(session.clone());
        step.id = Some(call.id);
        step.use_id = call.use_id;
        step.via = Via::Mcp;
        step.flow = call.flow;
        step.is_error = outcome.is_error;
        step.result = outcome.result;
        if call.shared {
            step.identity = Identity::Shared;
        }
        let fresh = match self.check(call.sender.as_deref(), Event::Step(step)) {
            GuardAnswer::Verdict(verdict) => {
                self.note_stop(session, &verdict);
                if let Some(notice) = &verdict.notice {
                    self.source.log(format_args!("session {session}: {notice}"));
                }
                guidance(&verdict)
            }
            GuardAnswer::Rejected(why) => {
                self.source
                    .log(format_args!("the guard could not judge a result: {why}"));
                None
            }
            GuardAnswer::Unguarded | GuardAnswer::Refuse(_) | GuardAnswer::Foreign => None,
        };
        let owed = self.in_flight().owed.take(session);
        let fresh = call.guidance.into_iter().chain(fresh);
        let fresh = fresh.map(|text| format!("{PREFIX} {text}"));
        let texts: Vec<String> = owed.into_iter().chain(fresh).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    fn learn_server(&self, result: &RawValue) {
        let meta = || {
            raw_member(
                raw_member(result, "_meta")?,
                "io.modelcontextprotocol/serverInfo",
            )
        };
        let server = raw_member(result, "serverInfo").or_else(meta);
        let name = server.and_then(|server| member(server, "name"));
        if let Some(name) = name.and_then(|name| Id::new(&name).ok()) {
            self.in_flight().server = Some(name);
        }
    }

    fn learn_tools(&self, result: &RawValue) {
        let mut in_flight = self.in_flight();
        for tool in tools::listed(result) {
            in_flight.tools.insert(tool.name.clone(), tool);
        }
    }
}
