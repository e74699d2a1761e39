//! What an agent is told about a message that it sent.

use reqwest::header::HeaderMap;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Map, Value};
use sprag_http::percent;

/// The session that the relay made.
const SESSION: &str = "sprag-session";
/// What the guard warns of, percent-encoded.
const WARNING: &str = "sprag-warning";

/// What the relay answered.
pub(super) struct RelayReply<'a> {
    pub(super) status: u16,
    pub(super) headers: &'a HeaderMap,
    pub(super) text: &'a str,
    /// Why the text is not all of it.
    pub(super) end: Option<String>,
    /// Under this name a server shows the correlation id.
    pub(super) correlation: &'a str,
}

/// A refusal, as far as an agent needs it.
#[derive(Deserialize)]
struct RefusalBody {
    detail: Option<String>,
    rule: Option<String>,
    verdict: Option<String>,
    retry_after_ms: Option<u64>,
}

/// What the agent is told.
pub(super) fn tool_result(reply: &RelayReply<'_>) -> CallToolResult {
    let read = |name| {
        let value = reply.headers.get(name)?;
        Some(percent::decoded(value.to_str().ok()?))
    };
    let mut lines: Vec<String> = Vec::new();
    if !(200..300).contains(&reply.status) {
        return CallToolResult::error(vec![ContentBlock::text(refusal(reply))]);
    }
    if let Some(session) = read(SESSION) {
        lines.push(format!("Session: {session}"));
    }
    lines.push(match reply.status {
        202 => "The message is on its way; it is worked on without you.".to_owned(),
        _ => without_id(reply.text, reply.correlation),
    });
    lines.extend(reply.end.iter().map(|end| format!("[{end}]")));
    lines.extend(read(WARNING).map(|warning| format!("Warning from the guard: {warning}")));
    CallToolResult::success(lines.into_iter().map(ContentBlock::text).collect())
}

/// The relay can't be reached.
pub(super) fn unreachable(why: &str) -> CallToolResult {
    let text = format!(
        "The message was not sent, because the relay can't be reached: {why}\n\
         Go on without it, and say in your answer what is missing."
    );
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// There can't be a session of this name behind the relay.
pub(super) fn no_session(to: &str, why: impl std::fmt::Display) -> CallToolResult {
    let to: String = to.chars().take(80).collect();
    let text = format!(
        "The message was not sent: {to:?} is not the id of a session: {why}\n\
         Write to the id that you were given, as it is."
    );
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A server that shows the id in its answer means well; an agent has no use for it.
fn without_id(text: &str, correlation: &str) -> String {
    let parsed = serde_json::from_str::<Map<String, Value>>(text);
    let Ok(mut body) = parsed else {
        return text.to_owned();
    };
    match body.remove(correlation) {
        Some(_) => Value::Object(body).to_string(),
        None => text.to_owned(),
    }
}

fn refusal(reply: &RelayReply<'_>) -> String {
    let refused: Option<RefusalBody> = serde_json::from_str(reply.text).ok();
    let Some(refused) = refused.filter(|refused| refused.detail.is_some()) else {
        let said: String = reply.text.chars().take(2000).collect();
        return format!("The agent server answered {}: {said}", reply.status);
    };
    let detail = refused.detail.as_deref().unwrap_or_default();
    let killed = refused.verdict.as_deref() == Some("kill");
    let next = match (reply.status, refused.rule.as_deref()) {
        (_, Some("flow.correlation")) => {
            "You can write to others only while you work on a message. Say it in your answer instead."
        }
        (_, Some("flow.self_call")) => "Do it yourself, or write to another session.",
        (409, _) => "Stop now: this run of yours has ended.",
        (423, _) if killed => "Stop now, and send nothing more.",
        (423, _) => {
            "Do not write to it again. Go on without it, and say in your answer what is missing."
        }
        (429, _) => {
            let seconds = refused.retry_after_ms.unwrap_or(1000).div_ceil(1000).max(1);
            return format!(
                "{detail}\nWait {seconds} s before you send it again, or go on without it."
            );
        }
        (502.., _) => "Go on without it, and say in your answer what is missing.",
        (_, Some(_)) => {
            "Do not send it again. Go on with what you have, and say in your answer what is missing."
        }
        _ => return detail.to_owned(),
    };
    format!("{detail}\n{next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u16, text: &str) -> (bool, Vec<String>) {
        let result = tool_result(&RelayReply {
            status,
            headers: &HeaderMap::new(),
            text,
            end: None,
            correlation: "correlationId",
        });
        let texts = result.content.iter().filter_map(ContentBlock::as_text);
        let texts = texts.map(|text| text.text.clone()).collect();
        (result.is_error == Some(true), texts)
    }

    #[test]
    fn an_answer_is_given_as_it_is_but_for_the_id() {
        assert_eq!(said(200, "plain").1, ["plain"]);
        let shown = r#"{"z": 1, "correlationId":"secret"}"#;
        assert_eq!(said(200, shown).1, [r#"{"z":1}"#]);
        assert_eq!(said(200, r#"{"z": 1}"#).1, [r#"{"z": 1}"#]);
    }

    #[test]
    fn a_refusal_says_what_to_do_next() {
        for (status, text, next) in [
            (
                400,
                r#"{"detail":"d","rule":"flow.correlation","verdict":"deny"}"#,
                "You can write to others only while you work on a message. Say it in your answer instead.",
            ),
            (
                403,
                r#"{"detail":"d","rule":"flow.depth","verdict":"deny"}"#,
                "Do not send it again. Go on with what you have, and say in your answer what is missing.",
            ),
            (
                423,
                r#"{"detail":"d","rule":"session.killed","verdict":"kill"}"#,
                "Stop now, and send nothing more.",
            ),
            (
                429,
                r#"{"detail":"d","rule":"flow.rate","verdict":"deny","retry_after_ms":1200}"#,
                "Wait 2 s before you send it again, or go on without it.",
            ),
        ] {
            assert_eq!(said(status, text), (true, vec![format!("d\n{next}")]));
        }
        let broken = (
            true,
            vec!["The agent server answered 500: it broke".to_owned()],
        );
        assert_eq!(said(500, "it broke"), broken);
    }
}
