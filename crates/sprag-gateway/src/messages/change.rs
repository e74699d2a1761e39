//! A request of the Messages API with the guard's warnings in it, and no other byte changed.

use serde_json::Value;
use serde_json::value::RawValue;
use sprag_mcp::splice::{self, Splice, range_of};

use super::request::{Block, Body};
use crate::content::{escaped, holds, with_text};
use crate::request::RequestChanges;

/// The body with every change; none if there is nothing to change.
///
/// A thinking block without a signature is what an answer leaves that was cut off while the model
/// thought. The provider refuses a request with one, so it is taken out.
pub(crate) fn change(body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
    let unsigned = holds(body, br#""signature":"""#) || holds(body, br#""signature": """#);
    if changes.warnings.is_empty() && !unsigned {
        return None;
    }
    let read: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut splices = Vec::new();
    for message in &read.messages {
        let blocks = message.blocks();
        if unsigned && message.role == "assistant" {
            splices.extend(without_unsigned(body, &blocks));
        }
        for (raw, block) in &blocks {
            let warning = changes.warning(block.tool_use_id.as_deref());
            // Hooks may have told the model already.
            let warning = warning.filter(|text| block.kind == "tool_result" && !tells(body, text));
            splices.extend(warning.and_then(|text| beside(body, raw, block, text)));
        }
    }
    (!splices.is_empty()).then(|| splice::apply(body, splices))
}

/// The change that adds `text` to a tool result.
fn beside(body: &[u8], raw: &RawValue, block: &Block<'_>, text: &str) -> Option<Splice> {
    let Some(content) = block.content else {
        let start = range_of(body, raw)?.start + 1;
        return Some(Splice::insert(
            start,
            format!(r#""content":{},"#, Value::from(text)),
        ));
    };
    with_text(body, content, text, "text")
}

/// Takes unsigned thinking out, each with the comma behind it. Something always follows: the text
/// that ended the answer.
fn without_unsigned(body: &[u8], blocks: &[(&RawValue, Block<'_>)]) -> Vec<Splice> {
    let is_unsigned = |block: &Block<'_>| {
        block.kind == "thinking" && block.signature.as_deref().unwrap_or_default().is_empty()
    };
    let pairs = blocks.iter().zip(blocks.iter().skip(1));
    pairs
        .filter(|((_, block), _)| is_unsigned(block))
        .filter_map(|((raw, _), (next, _))| {
            let at = range_of(body, raw)?.start..range_of(body, next)?.start;
            Some(Splice::replace(at, String::new()))
        })
        .collect()
}

/// Whether the request holds these words of the guard already, without our mark.
fn tells(body: &[u8], text: &str) -> bool {
    let text = text.strip_prefix(crate::stop::MARK).unwrap_or(text);
    !text.is_empty() && holds(body, escaped(text).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(body: &str, warnings: &[(&str, &str)]) -> Option<String> {
        let own = |(id, text): &(&str, &str)| ((*id).to_owned(), (*text).to_owned());
        let changes = RequestChanges {
            warnings: warnings.iter().map(own).collect(),
            answered: Vec::new(),
        };
        change(body.as_bytes(), &changes).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_warning_stands_next_to_its_result_and_nothing_else_changes() {
        let body = |one: &str, two: &str, three: &str| {
            format!(
                r#"{{ "x":1,"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"r\"{one}"}},
                {{"type":"tool_result","tool_use_id":"b" ,"content":[ {{"type":"text","text":"r"}}{two} ]}},
                {{{three}"type":"tool_result","tool_use_id":"c"}}]}}],"big":12345678901234567890}}"#
            )
        };
        let warnings = [
            ("a", "[sprag] so \"so\""),
            ("b", "[sprag] so be it"),
            ("c", "[sprag] see there"),
        ];
        let new = changed(&body("", "", ""), &warnings).unwrap();
        let two = r#" ,{"type":"text","text":"[sprag] so be it"}"#;
        let expected = body(
            r#"\n\n[sprag] so \"so\""#,
            "",
            r#""content":"[sprag] see there","#,
        )
        .replacen("} ]}", &format!("}}{two}]}}"), 1);
        assert_eq!(new, expected);
        assert_eq!(changed(&body("", "", ""), &[]), None);
        assert_eq!(changed(&body("", "", ""), &[("z", "[sprag] z")]), None);
    }

    #[test]
    fn what_hooks_have_told_already_is_not_told_again() {
        let body = r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"},
            {"type":"text","text":"<system-reminder>hook: so it is</system-reminder>"}]}]}"#;
        assert_eq!(changed(body, &[("a", "[sprag] so it is")]), None);
    }

    #[test]
    fn thinking_without_its_signature_is_taken_out() {
        let body = r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"x"},
            {"type":"thinking","thinking":"b","signature":""} , {"type":"text","text":"[sprag] ended"}]}]}"#;
        let new = changed(body, &[]).unwrap();
        assert_eq!(
            new,
            r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"x"},
            {"type":"text","text":"[sprag] ended"}]}]}"#
        );
    }
}
