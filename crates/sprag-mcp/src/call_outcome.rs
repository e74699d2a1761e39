//! The outcome of a call, as it is reported to the guard.
//!
//! A result wraps the tool's output into content items, repeats it as structured content and adds
//! metadata that differs each time. The guard asks whether a result is new, so it gets what the model
//! reads: the text, if there is only text; else the items as they are. Metadata is left out. Structured
//! content that repeats the text, as the protocol asks for, is not reported twice.

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::{Payload, canonical_json};

use crate::envelope::{ResultEnvelope, member, parse, raw_member, text};
use crate::large_payload::{KEPT, payload};

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) result: Option<Payload>,
    pub(crate) is_error: bool,
}

impl CallOutcome {
    /// A tool's result, which may be an error of the tool.
    pub(crate) fn of_result(envelope: &ResultEnvelope<'_>, raw: &RawValue) -> Self {
        Self {
            result: Some(visible(envelope, raw)),
            is_error: envelope.is_error(),
        }
    }

    /// A protocol error in place of a result.
    pub(crate) fn of_error(error: &RawValue) -> Self {
        let message = member(error, "message").filter(|_| raw_member(error, "data").is_none());
        Self {
            result: Some(
                message.map_or_else(|| Payload::from(error), |text| Payload::from(&*text)),
            ),
            is_error: true,
        }
    }

    /// No result, because the server could not be reached or did not answer.
    pub(crate) fn failed(why: &str) -> Self {
        Self {
            result: Some(Payload::from(why.to_owned())),
            is_error: true,
        }
    }

    /// No result, because the client stopped waiting for one.
    pub(crate) fn cancelled(reason: Option<&str>) -> Self {
        let reason = reason.unwrap_or("no reason given");
        Self {
            result: Some(Payload::from(format!("cancelled: {reason}"))),
            is_error: true,
        }
    }
}

#[derive(Deserialize)]
struct ContentItem<'m> {
    #[serde(borrow, rename = "type")]
    kind: &'m RawValue,
    #[serde(default, borrow)]
    text: Option<&'m RawValue>,
}

/// The part of a result that the model reads.
fn visible(envelope: &ResultEnvelope<'_>, raw: &RawValue) -> Payload {
    let Some(content) = envelope.content else {
        return payload(envelope.structured.unwrap_or(raw));
    };
    let text = only_text(content);
    match (envelope.structured, text) {
        (None, Some(text)) if text.len() > KEPT => payload(content),
        (None, Some(text)) => Payload::from(text),
        (None, None) => payload(content),
        (Some(structured), Some(text)) if text.is_empty() || is_same(&text, structured) => {
            payload(structured)
        }
        (Some(structured), text) => {
            let text = text.map(|text| serde_json::Value::from(text).to_string());
            let content = text.as_deref().unwrap_or(content.get());
            let both = format!("[{content},{}]", structured.get());
            RawValue::from_string(both).map_or_else(|_| payload(raw), |both| payload(&both))
        }
    }
}

/// The text of content that has only text items.
fn only_text(content: &RawValue) -> Option<String> {
    let items: Vec<ContentItem<'_>> = parse(content)?;
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        if item.kind.get() != "\"text\"" {
            return None;
        }
        texts.push(text(item.text?)?);
    }
    Some(texts.join("\n"))
}

fn is_same(text: &str, structured: &RawValue) -> bool {
    match (canonical_json(text), canonical_json(structured.get())) {
        (Ok(text), Ok(structured)) => text == structured,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(result: &str) -> (String, bool) {
        let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
        let outcome = CallOutcome::of_result(&ResultEnvelope::read(&raw), &raw);
        let result = outcome.result.unwrap();
        (result.as_json().to_owned(), outcome.is_error)
    }

    #[test]
    fn the_guard_gets_what_the_model_reads() {
        for (result, said, is_error) in [
            (
                r#"{"content":[{"type":"text","text":"done"}],"_meta":{"ms":3}}"#,
                r#""done""#,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"}],"isError":true}"#,
                r#""a\nb""#,
                true,
            ),
            (
                r#"{"content":[{"type":"image","data":"AA=="}]}"#,
                r#"[{"type":"image","data":"AA=="}]"#,
                false,
            ),
            (
                r#"{"content":[],"structuredContent":{"n":1}}"#,
                r#"{"n":1}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"{\"n\": 1}"}],"structuredContent":{"n":1}}"#,
                r#"{"n":1}"#,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"n":1}}"#,
                r#"["ok",{"n":1}]"#,
                false,
            ),
            (r#"{"structuredContent":[1]}"#, "[1]", false),
            (r#"{"toolResult":7}"#, r#"{"toolResult":7}"#, false),
            (r#"{"content":"odd"}"#, r#""odd""#, false),
        ] {
            assert_eq!(reported(result), (said.to_owned(), is_error), "{result}");
        }
    }

    #[test]
    fn an_error_is_reported_by_its_message_or_whole_if_it_has_data() {
        let of = |error: &str| {
            let raw: Box<RawValue> = serde_json::from_str(error).unwrap();
            CallOutcome::of_error(&raw)
                .result
                .unwrap()
                .as_json()
                .to_owned()
        };
        assert_eq!(
            of(r#"{"code":-32602,"message":"no such tool"}"#),
            r#""no such tool""#
        );
        let whole = r#"{"code":1,"message":"m","data":{"why":"x"}}"#;
        assert_eq!(of(whole), whole);
    }
}
