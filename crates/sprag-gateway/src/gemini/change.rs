//! A request of `generateContent` with the guard's warnings in it, and no other byte changed.

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_mcp::splice::{self, Splice, range_of};

use super::request::{Body, contents};
use crate::content::{comma, escaped, with_text};
use crate::request::RequestChanges;

/// What a function returned, under the two names that are usual.
#[derive(Deserialize)]
struct FunctionOutput<'b> {
    #[serde(borrow, default)]
    output: Option<&'b RawValue>,
    #[serde(borrow, default)]
    error: Option<&'b RawValue>,
}

/// The body with every change; none if there is nothing to change.
pub(crate) fn change(body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
    if changes.warnings.is_empty() {
        return None;
    }
    let read: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut splices = Vec::new();
    for (spoken, content) in contents(read.contents) {
        for (id, result) in content.results(spoken) {
            let warned = changes.warning(Some(&id)).zip(result.response);
            splices.extend(warned.and_then(|(text, response)| beside(body, response, text)));
        }
    }
    (!splices.is_empty()).then(|| splice::apply(body, splices))
}

/// The change that adds `text` to a result: to its text if it has one, else as a field of its own.
fn beside(body: &[u8], response: &RawValue, text: &str) -> Option<Splice> {
    let returned: FunctionOutput<'_> = serde_json::from_str(response.get()).ok()?;
    let said = returned.output.or(returned.error);
    if let Some(said) = said.filter(|said| said.get().starts_with('"')) {
        return with_text(body, said, text, "text");
    }
    let start = range_of(body, response)?.start + 1;
    let field = format!(r#""sprag":"{}"{}"#, escaped(text), comma(response));
    Some(Splice::insert(start, field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_stands_next_to_its_result_and_nothing_else_changes() {
        let body = |one: &str, two: &str, three: &str| {
            format!(
                r#"{{ "contents":[{{"role":"model","parts":[]}},{{"role":"user","parts":[
                {{"functionResponse":{{"id":"a23456789","name":"x","response":{{ "output":"r{one}"}} }} }},
                {{"functionResponse":{{"id":"b23456789","name":"x","response":{{{two}"n":1.0}}}}}},
                {{"functionResponse":{{"name":"x","response":{{{three}}}}}}}]}}],"big":12345678901234567890}}"#
            )
        };
        let changes = RequestChanges {
            warnings: [
                ("a23456789", "[sprag] a"),
                ("b23456789", "[sprag] \"b\""),
                ("g0-2", "[sprag] c"),
            ]
            .map(|(id, text)| (id.to_owned(), text.to_owned()))
            .to_vec(),
            answered: Vec::new(),
        };
        let new = change(body("", "", "").as_bytes(), &changes).unwrap();
        let expected = body(
            r"\n\n[sprag] a",
            r#""sprag":"[sprag] \"b\"","#,
            r#""sprag":"[sprag] c""#,
        );
        assert_eq!(String::from_utf8(new).unwrap(), expected);
        assert_eq!(
            change(body("", "", "").as_bytes(), &RequestChanges::default()),
            None
        );
    }
}
