//! Content as every API writes it: a text, or a list of parts of which some are texts. What is read
//! and changed alike in all of them is here.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sprag_core::Payload;
use sprag_mcp::splice::{Splice, range_of};

#[derive(Deserialize)]
struct TextPart<'b> {
    #[serde(borrow, default)]
    text: Option<Cow<'b, str>>,
}

/// The items of a list, each with the text it was read from; none if it is not a list. An item that
/// can't be read is left out.
pub(crate) fn items<'b, T: Deserialize<'b>>(list: &'b RawValue) -> Vec<(&'b RawValue, T)> {
    let items: Vec<&'b RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    let read = |raw: &'b RawValue| Some((raw, serde_json::from_str(raw.get()).ok()?));
    items.into_iter().filter_map(read).collect()
}

/// The texts of a content.
pub(crate) fn texts(content: Option<&RawValue>) -> Vec<String> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return vec![text];
    }
    let parts = items::<TextPart<'_>>(content).into_iter();
    parts
        .filter_map(|(_, part)| Some(part.text?.into_owned()))
        .collect()
}

/// The change that adds `text` to a content. `kind` is the type of a text in its list.
pub(crate) fn with_text(body: &[u8], content: &RawValue, text: &str, kind: &str) -> Option<Splice> {
    let end = range_of(body, content)?.end.checked_sub(1)?;
    match content.get().bytes().next()? {
        b'"' => Some(Splice::insert(end, escaped(&format!("\n\n{text}")))),
        b'[' => {
            let text = escaped(text);
            let part = format!(r#"{{"type":"{kind}","text":"{text}"}}"#);
            Some(Splice::insert(end, format!("{}{part}", comma(content))))
        }
        _ => None,
    }
}

/// What stands between an item that is added to a list or an object and the others.
pub(crate) fn comma(list: &RawValue) -> &'static str {
    let inner = list.get().get(1..list.get().len().saturating_sub(1));
    match inner.unwrap_or_default().trim_ascii() {
        "" => "",
        _ => ",",
    }
}

/// A text as it stands between the quotes of JSON.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// Whether `body` holds `part`.
pub(crate) fn holds(body: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else {
        return true;
    };
    let mut rest = body;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        if rest.starts_with(part) {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

/// The arguments of a call that came as a text; what is not JSON is taken as it is.
pub(crate) fn arguments(text: &str) -> Payload {
    match serde_json::from_str::<Value>(text) {
        Ok(args) => Payload::from(args),
        Err(_) => Payload::from(text),
    }
}

/// A text field of an object, by its path.
pub(crate) fn text_at<'v>(value: &'v Value, path: &str) -> &'v str {
    let text = value.pointer(path).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// A number of an object, by its path.
pub(crate) fn number_at(value: &Value, path: &str) -> u64 {
    let number = value.pointer(path).and_then(Value::as_u64);
    number.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_a_text_or_a_list_and_parts_of_another_form_are_left_out() {
        let of = |json: &str| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            texts(Some(&raw))
        };
        assert_eq!(of(r#""a""#), ["a"]);
        assert_eq!(
            of(r#"[{"text":"a"},7,{"image":1},{"text":"b"}]"#),
            ["a", "b"]
        );
        assert!(of("7").is_empty() && texts(None).is_empty());
    }

    #[test]
    fn a_comma_stands_only_before_something() {
        for (json, expected) in [
            ("[]", ""),
            ("[ ]", ""),
            ("[1]", ","),
            ("{}", ""),
            (r#"{"a":1}"#, ","),
        ] {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            assert_eq!(comma(&raw), expected, "{json}");
        }
    }
}
