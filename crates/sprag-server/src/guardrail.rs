//! LiteLLM's generic guardrail: its proxy's question as events.
//!
//! The proxy stands between agents and their models. Calls stand in the model's answers and results in the next
//! request, so a call is judged before the agent gets it. Ids of clients are chosen freely, and nothing here may
//! fail because of one: a call with an odd name must still be judged.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use sprag::Id;
use sprag_core::{CallEvent, Event, Identity, MAX_ID_BYTES, MessageEvent, StepEvent};

/// How many messages and calls of one question are looked at.
const MAX_PARTS: usize = 256;
/// The headers in which a client names its session, the better one first. The proxy passes on their values.
const SESSION_HEADERS: [&str; 2] = ["x-litellm-session-id", "x-litellm-trace-id"];

/// What the proxy asks.
#[derive(Debug, Deserialize)]
pub(crate) struct GuardrailQuestion {
    pub(crate) input_type: InputType,
    structured_messages: Option<Vec<Value>>,
    tool_calls: Option<Vec<Value>>,
    request_headers: Option<BTreeMap<String, Value>>,
    request_data: Option<Map<String, Value>>,
}

/// On which way it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InputType {
    /// A request, before it goes to the model.
    Request,
    /// An answer, before it goes to the agent.
    Response,
}

/// Whose request it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuardrailSession {
    pub(crate) id: Id,
    identity: Identity,
}

/// One thing that a request brings.
pub(crate) struct GuardrailPart {
    /// Where it stands in the messages.
    pub(crate) index: usize,
    /// The id of the call that it is the result of.
    pub(crate) call: Option<String>,
    pub(crate) event: Event,
}

impl GuardrailQuestion {
    /// The session that the client names. Without a name, everyone with one key shares a session, in which calls are
    /// refused but nobody is blocked or killed.
    pub(crate) fn session(&self) -> GuardrailSession {
        let headers = self.request_headers.as_ref();
        let named = SESSION_HEADERS.iter().find_map(|wanted| {
            let found = headers?
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.and_then(|(_, value)| value.as_str())
        });
        if let Some(name) = named.filter(|name| !name.is_empty()) {
            return GuardrailSession {
                id: reduced(&format!("litellm-{name}")),
                identity: Identity::Exact,
            };
        }
        let data = self.request_data.as_ref();
        let key = data.and_then(|data| data.get("user_api_key_hash")?.as_str());
        GuardrailSession {
            id: reduced(&format!("litellm-key-{}", key.unwrap_or("anyone"))),
            identity: Identity::Shared,
        }
    }

    /// What is new in a request: whatever comes after the model's last answer.
    pub(crate) fn parts(&self, session: &GuardrailSession) -> Vec<GuardrailPart> {
        let messages = self.structured_messages.as_deref().unwrap_or_default();
        let answer = messages
            .iter()
            .rposition(|message| text_of(message, "role") == Some("assistant"));
        let first = answer.map_or(0, |index| index + 1);
        let fresh = messages.iter().enumerate().skip(first).take(MAX_PARTS);
        fresh
            .filter_map(|(index, message)| part(session, index, message))
            .collect()
    }

    /// The calls of an answer, each with its id.
    pub(crate) fn calls(&self, session: &GuardrailSession) -> Vec<(String, Event)> {
        let calls = self.tool_calls.as_deref().unwrap_or_default();
        let calls = calls.iter().take(MAX_PARTS);
        calls.filter_map(|call| call_event(session, call)).collect()
    }

    /// The messages, with a note next to the results that have one.
    pub(crate) fn with_notes(self, notes: &[(usize, String)]) -> Vec<Value> {
        let mut messages = self.structured_messages.unwrap_or_default();
        for (index, note) in notes {
            if let Some(Value::Object(message)) = messages.get_mut(*index) {
                let text = content(&Value::Object(message.clone()));
                message.insert("content".to_owned(), format!("{text}\n\n{note}").into());
            }
        }
        messages
    }
}

fn part(session: &GuardrailSession, index: usize, message: &Value) -> Option<GuardrailPart> {
    match text_of(message, "role")? {
        "user" => {
            let mut event = MessageEvent::new(session.id.clone())
                .content(content(message))
                .unblock();
            event.identity = session.identity;
            Some(GuardrailPart {
                index,
                call: None,
                event: event.into(),
            })
        }
        "tool" => {
            let call = text_of(message, "tool_call_id")?.to_owned();
            let mut event = StepEvent::new(session.id.clone()).result(content(message));
            event.id = Some(reduced(&call));
            event.identity = session.identity;
            Some(GuardrailPart {
                index,
                call: Some(call),
                event: event.into(),
            })
        }
        _ => None,
    }
}

fn call_event(session: &GuardrailSession, call: &Value) -> Option<(String, Event)> {
    let function = call.get("function")?;
    let name = text_of(function, "name")?;
    let id = text_of(call, "id").unwrap_or_default().to_owned();
    let mut event = CallEvent::new(session.id.clone(), reduced(name));
    if let Some(text) = text_of(function, "arguments") {
        let parsed = serde_json::from_str::<Value>(text);
        event = match parsed {
            Ok(arguments) => event.args(arguments),
            // Half of a JSON text is still the same half the next time.
            Err(_) => event.args(text),
        };
    }
    event.id = (!id.is_empty()).then(|| reduced(&id));
    event.identity = session.identity;
    Some((id, event.into()))
}

/// The text of a message; of one in parts, those that are texts.
fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| text_of(part, "text"));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn reduced(text: &str) -> Id {
    Id::reduced(text, MAX_ID_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(body: Value) -> GuardrailQuestion {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn a_session_is_named_by_its_header_else_everyone_with_a_key_shares_one() {
        let named = question(
            json!({"input_type": "request", "request_headers": {"X-LiteLLM-Session-Id": "s1"}}),
        );
        let session = named.session();
        assert_eq!(session.id.as_str(), "litellm-s1");
        assert_eq!(session.identity, Identity::Exact);
        let unnamed =
            question(json!({"input_type": "request", "request_data": {"user_api_key_hash": "k"}}));
        let session = unnamed.session();
        assert_eq!(session.id.as_str(), "litellm-key-k");
        assert_eq!(session.identity, Identity::Shared);
    }

    #[test]
    fn only_what_comes_after_the_last_answer_is_new() {
        let asked = question(json!({"input_type": "request", "structured_messages": [
            {"role": "user", "content": "old"},
            {"role": "assistant", "tool_calls": []},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
            {"role": "user", "content": "new"},
        ]}));
        let parts = asked.parts(&asked.session());
        let seen: Vec<_> = parts
            .iter()
            .map(|part| (part.index, part.call.as_deref()))
            .collect();
        assert_eq!(seen, [(2, Some("c1")), (3, None)]);
        let noted = asked.with_notes(&[(2, "careful".to_owned())]);
        assert_eq!(
            noted.get(2).and_then(|m| m.get("content")),
            Some(&json!("r\n\ncareful"))
        );
    }

    #[test]
    fn calls_with_odd_names_and_broken_arguments_are_calls() {
        let answer = question(json!({"input_type": "response", "tool_calls": [
            {"id": "c1", "function": {"name": "a\nb", "arguments": "{\"x\":"}},
            {"function": {"name": "c", "arguments": "{}"}},
            {"function": {}}, 7,
        ]}));
        let calls = answer.calls(&answer.session());
        assert_eq!(calls.len(), 2);
    }
}
