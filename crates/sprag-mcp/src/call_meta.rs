//! Who is calling, by the `_meta` that a client puts on its calls.
//!
//! Since revision 2026-07-28 the protocol has no session, and a connection is not a conversation. What
//! remains are the ids that clients put into `_meta` for their own use: Codex names its thread and
//! session, Claude Code and Codex the tool use, by which a hook and this proxy recognise the same
//! call. Frameworks may send a W3C trace context, whose trace is one user action.

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Id;

use crate::envelope::{member, parse, raw_member, text};

/// The members of a call's `_meta` that identify its caller.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallMeta {
    /// The client's own session, with its sub-agent below it.
    pub(crate) session: Option<Id>,
    /// The client's name, if each request carries it.
    pub(crate) agent: Option<Id>,
    /// The id of the tool use.
    pub(crate) use_id: Option<Id>,
    /// The user action behind it.
    pub(crate) flow: Option<Id>,
    /// The request is of a revision in which results carry their type.
    pub(crate) is_modern: bool,
    /// The client of such a revision can show a form to its user.
    pub(crate) elicits: bool,
}

#[derive(Debug, Deserialize)]
struct RawMeta<'m> {
    #[serde(default, borrow, rename = "threadId")]
    thread: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "sessionId")]
    session: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "callId")]
    codex_call: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "claudecode/toolUseId")]
    claude_use: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "x-codex-turn-metadata")]
    codex_turn: Option<&'m RawValue>,
    #[serde(default, borrow)]
    traceparent: Option<&'m RawValue>,
    #[serde(default, borrow)]
    baggage: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'m RawValue>,
}

impl CallMeta {
    /// Reads `_meta`; a value that is not a valid id is ignored.
    pub(crate) fn read(meta: Option<&RawValue>) -> Self {
        let Some(meta) = meta.and_then(parse::<RawMeta<'_>>) else {
            return Self::default();
        };
        let session = session(meta.session.and_then(id), meta.thread.and_then(id));
        Self {
            use_id: meta.claude_use.or(meta.codex_call).and_then(id),
            agent: meta
                .client
                .and_then(|client| raw_member(client, "name"))
                .and_then(id),
            flow: flow(&meta, session.as_ref()),
            is_modern: meta.version.is_some(),
            elicits: meta.capabilities.is_some_and(can_elicit),
            session,
        }
    }
}

/// Whether a client with these capabilities can show a form: an empty object means forms too.
pub(crate) fn can_elicit(capabilities: &RawValue) -> bool {
    let Some(elicits) = raw_member(capabilities, "elicitation") else {
        return false;
    };
    let has = |mode: &str| raw_member(elicits, mode).is_some();
    has("form") || !has("url")
}

/// A thread that is not the session itself is a sub-agent of it.
fn session(session: Option<Id>, thread: Option<Id>) -> Option<Id> {
    match (session, thread) {
        (Some(session), Some(thread)) if session != thread => {
            Id::new(&format!("{session}/{thread}")).ok()
        }
        (session, thread) => session.or(thread),
    }
}

fn flow(meta: &RawMeta<'_>, session: Option<&Id>) -> Option<Id> {
    let trace = meta.traceparent.and_then(text);
    if let Some(flow) = trace.as_deref().and_then(trace_id) {
        return Some(flow);
    }
    let baggage = meta.baggage.and_then(text);
    if let Some(flow) = baggage.as_deref().and_then(baggage_flow) {
        return Some(flow);
    }
    codex_flow(&member(meta.codex_turn?, "turn_id")?, session?)
}

/// A turn of the main thread is a flow, with the same name that the client's hooks give it. A sub-agent
/// has turns of its own, so its calls belong to the flow of the whole session.
fn codex_flow(turn: &str, session: &Id) -> Option<Id> {
    match session.as_str().split_once('/') {
        Some((root, _)) => Id::new(root).ok(),
        None => Id::new(&format!("{session}:{turn}")).ok(),
    }
}

/// The trace of `00-<trace>-<span>-<flags>`; all zeros means none.
fn trace_id(traceparent: &str) -> Option<Id> {
    let trace = traceparent.split('-').nth(1)?;
    let is_hex = trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_some = trace.bytes().any(|byte| byte != b'0');
    (is_hex && is_some).then(|| Id::new(trace).ok()).flatten()
}

/// The member `sprag.flow` of a W3C baggage, for callers that have a correlation id and no trace.
fn baggage_flow(baggage: &str) -> Option<Id> {
    baggage.split(',').find_map(|entry| {
        let (key, value) = entry.split_once('=')?;
        let value = value.split(';').next().unwrap_or_default().trim();
        (key.trim() == "sprag.flow").then(|| Id::new(value).ok())?
    })
}

fn id(raw: &RawValue) -> Option<Id> {
    Id::new(&text(raw)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(meta: &str) -> CallMeta {
        let raw: Box<RawValue> = serde_json::from_str(meta).unwrap();
        CallMeta::read(Some(&raw))
    }

    fn some(text: &str) -> Option<Id> {
        Some(Id::new(text).unwrap())
    }

    #[test]
    fn codex_names_session_thread_call_and_turn() {
        let main = caller(
            r#"{"sessionId":"s","threadId":"s","callId":"c1","x-codex-turn-metadata":{"turn_id":"t7"}}"#,
        );
        assert_eq!(main.session, some("s"));
        assert_eq!(main.use_id, some("c1"));
        assert_eq!(main.flow, some("s:t7"));
        let below = caller(r#"{"sessionId":"s","threadId":"sub","callId":"c2"}"#);
        assert_eq!(below.session, some("s/sub"));
        let turn = r#"{"sessionId":"s","threadId":"sub","x-codex-turn-metadata":{"turn_id":"t8"}}"#;
        assert_eq!(caller(turn).flow, some("s"));
        assert_eq!(caller(r#"{"threadId":"t"}"#).session, some("t"));
    }

    #[test]
    fn claude_code_names_the_tool_use_and_the_modern_revision_its_client() {
        let caller = caller(
            r#"{"claudecode/toolUseId":"toolu_01","io.modelcontextprotocol/protocolVersion":"2026-07-28",
               "io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2"}}"#,
        );
        assert_eq!(caller.use_id, some("toolu_01"));
        assert_eq!(caller.agent, some("claude-code"));
        assert!(caller.is_modern);
        assert_eq!(caller.session, None);
    }

    #[test]
    fn a_trace_is_a_flow_and_baggage_may_name_one() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let traced = format!(r#"{{"traceparent":"00-{trace}-b7ad6b7169203331-01"}}"#);
        assert_eq!(caller(&traced).flow, some(trace));
        let carried = r#"{"baggage":"user=me, sprag.flow = abc123 ;ttl=1"}"#;
        assert_eq!(caller(carried).flow, some("abc123"));
        for nothing in [
            r#"{"traceparent":"00-00000000000000000000000000000000-b7ad6b7169203331-01"}"#,
            r#"{"traceparent":"nonsense"}"#,
            r#"{"baggage":"sprag.flow="}"#,
            r#"{"traceparent":7,"threadId":{},"callId":[]}"#,
        ] {
            assert_eq!(caller(nothing), CallMeta::default(), "{nothing}");
        }
    }
}
