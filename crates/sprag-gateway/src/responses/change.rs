//! A request of the Responses API with what the guard has to say in it, and no other byte changed.

use serde_json::json;
use serde_json::value::RawValue;
use sprag_mcp::splice::{self, Splice, range_of};

use super::request::{Body, Item};
use crate::content::{comma, holds, items, with_text};
use crate::request::{RemovedCall, RequestChanges};
use crate::stop::MARK;

/// The body with every change; none if there is nothing to change.
///
/// Reasoning whose call was taken out is taken out too: the provider refuses reasoning without the
/// item that it led to.
pub(crate) fn change(body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
    let is_marked = holds(body, MARK.as_bytes());
    if changes.warnings.is_empty() && changes.answered.is_empty() && !is_marked {
        return None;
    }
    let read: Body<'_> = serde_json::from_slice(body).ok()?;
    let items: Vec<(&RawValue, Item<'_>)> = items(read.input);
    let mut splices = Vec::new();
    splices.extend(answered(body, read.input, &items, &changes.answered));
    let pairs = items.iter().zip(items.iter().skip(1));
    for ((raw, item), (next_raw, next)) in pairs {
        if item.kind() == "reasoning" && is_ours(next) {
            let at = range_of(body, raw)?.start..range_of(body, next_raw)?.start;
            splices.push(Splice::replace(at, String::new()));
        }
    }
    for (_, item) in items.iter().filter(|(_, item)| item.is_result()) {
        let warning = changes.warning(item.call_id.as_deref());
        let output = warning.zip(item.output);
        splices
            .extend(output.and_then(|(text, output)| with_text(body, output, text, "input_text")));
    }
    (!splices.is_empty()).then(|| splice::apply(body, splices))
}

fn is_ours(item: &Item<'_>) -> bool {
    item.kind() == "message"
        && item
            .words()
            .first()
            .is_some_and(|text| text.starts_with(MARK))
}

/// Results for calls that the provider keeps, before everything else.
fn answered(
    body: &[u8],
    input: &RawValue,
    items: &[(&RawValue, Item<'_>)],
    removed: &[RemovedCall],
) -> Option<Splice> {
    let is_answered = |call: &&RemovedCall| {
        let mut ids = items.iter().filter(|(_, item)| item.is_result());
        !ids.any(|(_, item)| item.call_id.as_deref() == Some(call.use_id.as_str()))
    };
    let results: Vec<String> = removed
        .iter()
        .filter(is_answered)
        .map(|call| {
            let kind = if call.is_custom {
                "custom_tool_call_output"
            } else {
                "function_call_output"
            };
            json!({"type": kind, "call_id": call.use_id, "output": call.text}).to_string()
        })
        .collect();
    if results.is_empty() {
        return None;
    }
    let results = results.join(",");
    let at = range_of(body, input)?;
    if input.get().starts_with('"') {
        let message = format!(r#"[{results},{{"role":"user","content":{}}}]"#, input.get());
        return Some(Splice::replace(at, message));
    }
    let comma = comma(input);
    Some(Splice::insert(at.start + 1, format!("{results}{comma}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(body: &str, changes: &RequestChanges) -> Option<String> {
        change(body.as_bytes(), changes).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_warning_stands_next_to_its_result() {
        let body = |one: &str, two: &str| {
            format!(
                r#"{{"input":[{{"type":"function_call_output","call_id":"a","output":"r{one}"}},
                {{"type":"function_call_output","call_id":"b","output":[{{"type":"input_text","text":"r"}}{two}]}}],"n":1.0}}"#
            )
        };
        let changes = RequestChanges {
            warnings: vec![
                ("a".to_owned(), "[sprag] a".to_owned()),
                ("b".to_owned(), "[sprag] b".to_owned()),
            ],
            answered: Vec::new(),
        };
        let new = changed(&body("", ""), &changes).unwrap();
        assert_eq!(
            new,
            body(
                r"\n\n[sprag] a",
                r#",{"type":"input_text","text":"[sprag] b"}"#
            )
        );
    }

    #[test]
    fn a_call_that_the_provider_keeps_is_answered() {
        let changes = RequestChanges {
            warnings: Vec::new(),
            answered: vec![RemovedCall {
                use_id: "c".to_owned(),
                text: "[sprag] no".to_owned(),
                is_custom: false,
            }],
        };
        let result = r#"{"call_id":"c","output":"[sprag] no","type":"function_call_output"}"#;
        assert_eq!(
            changed(r#"{"input":"go on","previous_response_id":"r"}"#, &changes).unwrap(),
            format!(
                r#"{{"input":[{result},{{"role":"user","content":"go on"}}],"previous_response_id":"r"}}"#
            )
        );
        assert_eq!(
            changed(r#"{"input":[{"role":"user","content":"x"}]}"#, &changes).unwrap(),
            format!(r#"{{"input":[{result},{{"role":"user","content":"x"}}]}}"#)
        );
        let own = r#"{"input":[{"type":"function_call_output","call_id":"c","output":"mine"}]}"#;
        assert_eq!(changed(own, &changes), None);
    }

    #[test]
    fn reasoning_whose_call_was_taken_out_goes_too() {
        let body = r#"{"input":[{"type":"reasoning","id":"rs_1","summary":[]}, {"type":"message","role":"assistant","content":[{"type":"output_text","text":"[sprag] no"}]}]}"#;
        let new = changed(body, &RequestChanges::default()).unwrap();
        assert_eq!(
            new,
            r#"{"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"[sprag] no"}]}]}"#
        );
    }
}
