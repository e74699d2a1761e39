//! A word from the guard next to a real result: one more text item, and no other byte changed.
//!
//! The result stays what the server said. Structured content is left alone, because clients check it
//! against the tool's schema. A protocol error has no content; there the word follows the error's
//! message, the only part that every client shows to its model.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::envelope::{ResultEnvelope, raw_member};

/// One change to a message: `text` goes in at `at`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    at: usize,
    text: String,
}

/// Where `word` goes into the result of a call; none where it fits nowhere.
pub(crate) fn into_result(
    message: &[u8],
    result: &RawValue,
    envelope: &ResultEnvelope<'_>,
    word: &str,
) -> Option<Insertion> {
    let item = format!(r#"{{"type":"text","text":{}}}"#, Value::from(word));
    let Some(content) = envelope.content else {
        let inner = result.get().strip_prefix('{')?;
        let comma = if inner.trim_ascii().starts_with('}') {
            ""
        } else {
            ","
        };
        return Some(Insertion {
            at: offset(message, result)? + 1,
            text: format!(r#""content":[{item}]{comma}"#),
        });
    };
    let inner = content.get().strip_prefix('[')?.strip_suffix(']')?;
    let comma = if inner.trim_ascii().is_empty() {
        ""
    } else {
        ","
    };
    Some(Insertion {
        at: offset(message, content)? + content.get().len() - 1,
        text: format!("{comma}{item}"),
    })
}

/// Where `word` goes into a protocol error.
pub(crate) fn into_error(message: &[u8], error: &RawValue, word: &str) -> Option<Insertion> {
    let said = raw_member(error, "message")?;
    said.get().strip_suffix('"')?;
    let word = Value::from(format!(" {word}")).to_string();
    let inner = word.strip_prefix('"')?.strip_suffix('"')?;
    Some(Insertion {
        at: offset(message, said)? + said.get().len() - 1,
        text: inner.to_owned(),
    })
}

/// The message with the insertions in it.
pub(crate) fn insert(message: &[u8], mut insertions: Vec<Insertion>) -> Vec<u8> {
    insertions.sort_by_key(|insertion| insertion.at);
    let added: usize = insertions
        .iter()
        .map(|insertion| insertion.text.len())
        .sum();
    let mut bytes = Vec::with_capacity(message.len() + added);
    let mut done = 0;
    for Insertion { at, text } in insertions {
        bytes.extend_from_slice(message.get(done..at).unwrap_or_default());
        bytes.extend_from_slice(text.as_bytes());
        done = at;
    }
    bytes.extend_from_slice(message.get(done..).unwrap_or_default());
    bytes
}

/// Where a part that was borrowed from `message` starts in it.
fn offset(message: &[u8], part: &RawValue) -> Option<usize> {
    let start = part.get().as_ptr().addr();
    let offset = start.checked_sub(message.as_ptr().addr())?;
    (offset + part.get().len() <= message.len()).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Envelope;

    fn with_word(message: &str) -> Option<String> {
        let read = Envelope::read(message.as_bytes()).unwrap();
        let insertion = match (read.result, read.error) {
            (Some(result), _) => into_result(
                message.as_bytes(),
                result,
                &ResultEnvelope::read(result),
                "stop \"it\"",
            ),
            (None, Some(error)) => into_error(message.as_bytes(), error, "stop \"it\""),
            (None, None) => None,
        }?;
        let bytes = insert(message.as_bytes(), vec![insertion]);
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
            assert_eq!(with_word(&message).unwrap(), format!("{head},{item}{tail}"));
        }
        assert_eq!(
            with_word(r#"{"id":1,"result":{"content":[ ]}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[ {item}]}}}}"#)
        );
    }

    #[test]
    fn a_result_without_content_gets_one() {
        let item = r#"{"type":"text","text":"stop \"it\""}"#;
        assert_eq!(
            with_word(r#"{"id":1,"result":{"structuredContent":{"n":1}}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[{item}],"structuredContent":{{"n":1}}}}}}"#)
        );
        assert_eq!(
            with_word(r#"{"id":1,"result":{}}"#).unwrap(),
            format!(r#"{{"id":1,"result":{{"content":[{item}]}}}}"#)
        );
        assert_eq!(with_word(r#"{"id":1,"result":7}"#), None);
        assert_eq!(with_word(r#"{"id":1,"result":{"content":"odd"}}"#), None);
    }

    #[test]
    fn a_protocol_error_says_it_after_its_message() {
        assert_eq!(
            with_word(r#"{"id":1,"error":{"data":{"message":"inner"},"message":"failed: \"a\"","code":1}}"#)
                .unwrap(),
            r#"{"id":1,"error":{"data":{"message":"inner"},"message":"failed: \"a\" stop \"it\"","code":1}}"#
        );
    }
}
