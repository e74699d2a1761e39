//! Guidance from the guard next to a real result: one more text item, and no other byte changed.
//!
//! The result stays what the server sent. Structured content is left alone, because clients check it
//! against the tool's schema. A protocol error has no content; there the guidance follows the error's
//! message, the only part that every client shows to its model.

use serde_json::Value;
use serde_json::value::RawValue;
use sprag_core::{Decision, Verdict};

use crate::envelope::{ResultEnvelope, raw_member};
use crate::splice::{Splice, range_of};

/// What an agent is to be told by a verdict that lets its call happen.
pub(crate) fn guidance(verdict: &Verdict) -> Option<String> {
    let message = verdict.message.clone();
    message.filter(|_| verdict.decision > Decision::Allow)
}

/// The change that adds `text` to the result of a call; none if there is no place for it.
pub(crate) fn into_result(
    message: &[u8],
    result: &RawValue,
    envelope: &ResultEnvelope<'_>,
    text: &str,
) -> Option<Splice> {
    let item = format!(r#"{{"type":"text","text":{}}}"#, Value::from(text));
    let comma = |is_first: bool| if is_first { "" } else { "," };
    let Some(content) = envelope.content else {
        // A result without content gets one, as the first member of the object.
        let inner = result.get().strip_prefix('{')?;
        let comma = comma(inner.trim_ascii().starts_with('}'));
        let content = format!(r#""content":[{item}]{comma}"#);
        return Some(Splice::insert(
            range_of(message, result)?.start + 1,
            content,
        ));
    };
    // The item goes before the bracket that closes the list.
    let inner = content.get().strip_prefix('[')?.strip_suffix(']')?;
    let comma = comma(inner.trim_ascii().is_empty());
    let end = range_of(message, content)?.end;
    Some(Splice::insert(end - 1, format!("{comma}{item}")))
}

/// The change that adds `text` to a protocol error.
pub(crate) fn into_error(message: &[u8], error: &RawValue, text: &str) -> Option<Splice> {
    let said = raw_member(error, "message")?;
    said.get().strip_suffix('"')?;
    let text = Value::from(format!(" {text}")).to_string();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    // Before the quote that ends the message.
    let end = range_of(message, said)?.end;
    Some(Splice::insert(end - 1, inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Envelope;
    use crate::splice;

    fn with_guidance(message: &str) -> Option<String> {
        let read = Envelope::read(message.as_bytes()).unwrap();
        let splice = match (read.result, read.error) {
            (Some(result), _) => into_result(
                message.as_bytes(),
                result,
                &ResultEnvelope::read(result),
                "stop \"it\"",
            ),
            (None, Some(error)) => into_error(message.as_bytes(), error, "stop \"it\""),
            (None, None) => None,
        }?;
        let bytes = splice::apply(message.as_bytes(), vec![splice]);
        let text = String::from_utf8(bytes).unwrap();
        serde_json::from_str::<Value>(&text).unwrap();
        Some(text)
    }

    #[test]
    fn one_text_item_is_added_and_no_other_byte_changes() {
        let item = r#"{"type":"text","text":"stop \"it\""}"#;
        for (before, after) in [
            (
                r#"{"result":{"content":[{"type":"text","text":"x"} ]"#,
                r#", "isError":true},"id":1}"#,
            ),
            (
                r#"{"id":1,"result":{"structuredContent":{"content":[]},"content" : [ {"a":"]"}"#,
                r#"  ]}}"#,
            ),
        ] {
            // The item goes before the bracket that ends the content, blanks before it stay.
            let message = format!("{before}{after}")
                .replace("} ], ", "}], ")
                .replace("  ]}}", "]}}");
            let at = message.rfind("]").unwrap();
            let (head, tail) = message.split_at(at);
            assert_eq!(
                with_guidance(&message).unwrap(),
                format!("{head},{item}{tail}")
            );
        }
        assert_eq!(
            with_guidance(r#"{"id":1,"result":{"content":[ ]}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[ {item}]}}}}"#)
        );
    }

    #[test]
    fn a_result_without_content_gets_one() {
        let item = r#"{"type":"text","text":"stop \"it\""}"#;
        assert_eq!(
            with_guidance(r#"{"id":1,"result":{"structuredContent":{"n":1}}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[{item}],"structuredContent":{{"n":1}}}}}}"#)
        );
        assert_eq!(
            with_guidance(r#"{"id":1,"result":{}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[{item}]}}}}"#)
        );
        assert_eq!(with_guidance(r#"{"id":1,"result":7}"#), None);
        assert_eq!(
            with_guidance(r#"{"id":1,"result":{"content":"odd"}}"#),
            None
        );
    }

    #[test]
    fn a_protocol_error_says_it_after_its_message() {
        assert_eq!(
            with_guidance(r#"{"id":1,"error":{"data":{"message":"inner"},"message":"failed: \"a\"","code":1}}"#)
                .unwrap(),
            r#"{"id":1,"error":{"data":{"message":"inner"},"message":"failed: \"a\" stop \"it\"","code":1}}"#
        );
    }
}
