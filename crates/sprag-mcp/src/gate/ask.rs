//! Asking the person in front of the client, if the client can: the protocol's form elicitation.
//!
//! Until 2025-11-25 a server sends `elicitation/create` and waits for the response; the call is held back
//! meanwhile. Since 2026-07-28 the response to the call itself asks for input, and the client sends the
//! call again with it. Either way a yes becomes an `approve`, a no a `decline`, and the call is judged
//! again. What the guard asked for is taken out before the call goes on: the server never asked.
//!
//! Only a client that has the gate for itself is asked. Over HTTP anyone may claim to be a client, an
//! agent with a shell too, and would answer itself.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag_core::{AnswerEvent, CallEvent, Decision, Event, Id, Verdict};

use super::{Gate, RequestScope};
use crate::call_meta::CallMeta;
use crate::envelope::{CallParams, Envelope, Members, member, parse, raw_member, text};
use crate::splice::{Splice, apply, range_of};
use crate::verdict_source::GuardAnswer;

/// The longest call that is held back while a person thinks.
const MAX_HELD: usize = 256 * 1024;
/// Under which name the guard's question stands among others, and what its state starts with.
const KEY: &str = "sprag";

/// A call that is held back until a person has answered.
#[derive(Debug)]
pub(crate) struct HeldCall {
    pub(crate) message: Vec<u8>,
    session: Id,
    approval: Id,
}

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormReply {
    Yes,
    No,
    /// They closed the form.
    Nothing,
}

impl Gate {
    /// The question to the client about a call that `verdict` asks about; none if it can't be asked.
    pub(super) fn question(
        &self,
        scope: &RequestScope,
        (bytes, message): (&[u8], &Envelope<'_>),
        meta: &CallMeta,
        event: &CallEvent,
        verdict: &Verdict,
    ) -> Option<String> {
        let approval = verdict.approval.as_ref()?;
        let id = message.id?;
        let asks = verdict.decision == Decision::Ask && scope.is_lasting();
        if !asks || bytes.len() > MAX_HELD {
            return None;
        }
        let params = form(event, verdict);
        if meta.is_modern {
            let result = json!({
                "resultType": "input_required",
                "inputRequests": { KEY: { "method": "elicitation/create", "params": params } },
                "requestState": format!("{KEY}:{approval}"),
            });
            let id = id.get();
            return meta
                .elicits
                .then(|| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        if !scope.elicits() {
            return None;
        }
        let own = format!("{KEY}-{}-{approval}", self.options.mark);
        let held = HeldCall {
            message: bytes.to_vec(),
            session: event.session.clone(),
            approval: approval.clone(),
        };
        self.in_flight().held.insert(own.clone(), held);
        let request = json!({ "jsonrpc": "2.0", "id": own, "method": "elicitation/create", "params": params });
        Some(request.to_string())
    }

    /// The call that a response of the client releases, once what the person said is known to the guard.
    pub(super) fn released(&self, message: &Envelope<'_>) -> Option<HeldCall> {
        let id = message.id.and_then(text)?;
        let held = self.in_flight().held.take(&*id)?;
        self.reply(
            &held.session,
            &held.approval,
            message.result.map_or(FormReply::Nothing, read),
        );
        Some(held)
    }

    /// A call that was sent again with the answer to the guard's question: the answer is passed to the guard,
    /// and the call returned without it.
    pub(super) fn answered(
        &self,
        scope: &RequestScope,
        bytes: &[u8],
        message: &Envelope<'_>,
        params: &CallParams<'_>,
    ) -> Option<Vec<u8>> {
        let state = params.request_state.and_then(text)?;
        let code = state.strip_prefix(KEY)?.strip_prefix(':')?;
        let approval = Id::new(code).ok()?;
        let meta = CallMeta::read(params.meta);
        let session = meta.session.as_ref().unwrap_or(&scope.session);
        let said = params.input_responses.and_then(|all| raw_member(all, KEY));
        if scope.is_lasting() {
            self.reply(session, &approval, said.map_or(FormReply::Nothing, read));
        }
        without_input(bytes, message.params?)
    }

    fn reply(&self, session: &Id, approval: &Id, reply: FormReply) {
        let answer =
            AnswerEvent::new(session.clone(), approval.clone()).by("the user of the MCP client");
        let event = match reply {
            FormReply::Yes => Event::Approve(answer),
            FormReply::No => Event::Decline(answer),
            FormReply::Nothing => return,
        };
        if let GuardAnswer::Rejected(why) = self.source.check(None, event) {
            self.source
                .log(format_args!("an answer came too late: {why}"));
        }
    }
}

/// The form: what is asked, why, and one choice.
fn form(event: &CallEvent, verdict: &Verdict) -> Value {
    let evidence = |key: &str| {
        let found = verdict.evidence.as_ref().and_then(|all| all.get(key));
        found.and_then(Value::as_str).unwrap_or_default()
    };
    let (call, why) = (evidence("call"), evidence("why"));
    let call = if call.is_empty() {
        event.tool.as_str()
    } else {
        call
    };
    json!({
        "message": format!("Sprag asks before this call runs: {call}. {why}."),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": {
                    "type": "boolean",
                    "title": "Run this call once",
                    "description": "No refuses it; the agent is told.",
                    "default": false,
                },
            },
            "required": ["approve"],
        },
    })
}

fn read(result: &RawValue) -> FormReply {
    let yes = raw_member(result, "content")
        .and_then(|content| raw_member(content, "approve"))
        .is_some_and(|approve| approve.get() == "true");
    match member(result, "action").as_deref() {
        Some("accept") if yes => FormReply::Yes,
        Some("accept" | "decline") => FormReply::No,
        _ => FormReply::Nothing,
    }
}

/// The message without the input that the server did not ask for.
fn without_input(bytes: &[u8], params: &RawValue) -> Option<Vec<u8>> {
    let members: Members<'_> = parse(params)?;
    let kept = members.0.iter();
    let kept = kept.filter(|(key, _)| !matches!(&**key, "inputResponses" | "requestState"));
    let kept: Vec<String> = kept
        .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), value.get()))
        .collect();
    let text = format!("{{{}}}", kept.join(","));
    Some(apply(
        bytes,
        vec![Splice::replace(range_of(bytes, params)?, text)],
    ))
}
