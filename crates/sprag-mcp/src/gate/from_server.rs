//! What a server sends: results are judged, and get a word next to them where the guard has one.

use serde_json::value::RawValue;
use sprag_core::{Event, Id, Identity, Payload, StepEvent};

use super::{Gate, RequestScope, ServerAction, id_key};
use crate::call_outcome::CallOutcome;
use crate::envelope::{Envelope, ResultEnvelope, batch, member, raw_member, text};
use crate::guidance::{guidance, into_error, into_result};
use crate::in_flight::{PendingCall, PendingRequest, next_round};
use crate::splice::{self, Splice};
use crate::stream_scan::StreamScan;
use crate::tools;
use crate::verdict_source::GuardAnswer;

/// What stands before the guard's words in a tool's result, so that they are not taken for the tool's.
const OURS: &str = "[sprag]";

impl Gate {
    /// Judges a message of the server, or a batch of them.
    pub fn from_server(&self, scope: &RequestScope, message: &[u8]) -> ServerAction {
        let splices: Vec<Splice> = match batch(message) {
            Some(items) => {
                let items = items.into_iter();
                items
                    .filter_map(|item| self.one_from_server(scope, message, item.get().as_bytes()))
                    .collect()
            }
            None => self
                .one_from_server(scope, message, message)
                .into_iter()
                .collect(),
        };
        if splices.is_empty() {
            return ServerAction::Pass;
        }
        ServerAction::Replace(splice::apply(message, splices))
    }

    /// Judges a message of the server that was too long to be held and has passed already. What the
    /// guard says of it is told with the next result of the same session.
    pub(crate) fn long_from_server(&self, scope: &RequestScope, long: &StreamScan) {
        let Some(id) = long.id().filter(|_| !long.has_method()) else {
            return;
        };
        let asked = scope.take(&id_key(&id));
        let call = match asked {
            Some(PendingRequest::Call(call)) => Some(call),
            Some(PendingRequest::Task(task)) => self.in_flight().tasks.take(&task),
            _ => None,
        };
        if let Some(call) = call.filter(|_| long.is_final()) {
            self.finish_unheard(*call, long.outcome());
        }
    }

    /// Where in the `whole` a word goes that concerns this message, one of a batch or the whole itself.
    fn one_from_server(&self, scope: &RequestScope, whole: &[u8], bytes: &[u8]) -> Option<Splice> {
        let message = Envelope::read(bytes)?;
        if message.method.is_some() {
            return None;
        }
        let asked = scope.take(&id_key(message.id?))?;
        match asked {
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
        call: Box<PendingCall>,
    ) -> Option<Splice> {
        let Some(result) = message.result else {
            return self.failed(whole, message.error?, *call);
        };
        let envelope = ResultEnvelope::read(result);
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
        // A status without what came of it: the client asks again, or asks for the result.
        if envelope.content.is_none()
            && envelope.result.is_none()
            && envelope.error.is_none()
            && envelope.structured.is_none()
        {
            if status.as_deref() == Some("cancelled") {
                let call = self.in_flight().tasks.take(task)?;
                self.finish_unheard(*call, CallOutcome::cancelled(None));
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
        call: PendingCall,
    ) -> Option<Splice> {
        let session = call.session.clone();
        let word = self.finish(call, CallOutcome::of_result(envelope, result))?;
        let splice = into_result(whole, result, envelope, &word);
        self.owe_unless(splice.is_some(), session, word);
        splice
    }

    fn failed(&self, whole: &[u8], error: &RawValue, call: PendingCall) -> Option<Splice> {
        let session = call.session.clone();
        let word = self.finish(call, CallOutcome::of_error(error))?;
        let splice = into_error(whole, error, &word);
        self.owe_unless(splice.is_some(), session, word);
        splice
    }

    /// Tells the guard what came of a call, and what its agent is to be told with it.
    fn finish(&self, call: PendingCall, outcome: CallOutcome) -> Option<String> {
        let mut step = StepEvent::new(call.session.clone());
        step.id = Some(call.id);
        step.use_id = call.use_id;
        step.flow = call.flow;
        step.is_error = outcome.is_error;
        step.result = outcome.result;
        if call.shared {
            step.identity = Identity::Shared;
        }
        let said = match self.ask_step(step) {
            GuardAnswer::Verdict(verdict) => {
                self.note_stop(&call.session, &verdict);
                guidance(&verdict)
            }
            GuardAnswer::Rejected(why) => {
                self.source
                    .log(format_args!("the guard could not judge a result: {why}"));
                None
            }
            GuardAnswer::Unguarded | GuardAnswer::Refuse(_) => None,
        };
        let owed = self.in_flight().owed.take(&call.session);
        let fresh = [call.guidance, said]
            .into_iter()
            .flatten()
            .map(|word| format!("{OURS} {word}"));
        let words: Vec<String> = owed.into_iter().chain(fresh).collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }

    fn ask_step(&self, mut step: StepEvent) -> GuardAnswer {
        let result = step.result.clone();
        match (self.source.check(Event::Step(step.clone())), result) {
            (GuardAnswer::Rejected(_), Some(result)) => {
                step.result = Some(Payload::from(result.as_json()));
                self.source.check(Event::Step(step))
            }
            (answer, _) => answer,
        }
    }

    /// The same where there is no result to tell it next to.
    pub(super) fn finish_unheard(&self, call: PendingCall, outcome: CallOutcome) {
        let session = call.session.clone();
        if let Some(word) = self.finish(call, outcome) {
            self.owe_unless(false, session, word);
        }
    }

    fn owe_unless(&self, is_told: bool, session: Id, word: String) {
        if !is_told {
            self.in_flight().owed.insert(session, word);
        }
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
        let listed = tools::listed(result);
        let mut in_flight = self.in_flight();
        for tool in listed {
            in_flight.tools.insert(tool.name.clone(), tool);
        }
    }
}
