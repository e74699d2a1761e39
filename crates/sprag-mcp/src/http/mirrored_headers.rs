//! Headers that repeat what a body says (2026-07-28), and bodies that say something else.
//!
//! Whoever stands between reads the headers, the server reads the body. Where they differ, one of them acts on a
//! call that the other never saw. So a message whose headers contradict it goes no further; one whose headers
//! are missing is for the server to judge.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::envelope::{Envelope, member, raw_member};
use crate::header_arguments::{HeaderArgument, is_same};

/// The revision.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method that the body names.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What the body asks for by name.
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The first revision with such headers.
const FIRST: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Whether there are such headers at all.
pub(super) fn repeats(headers: &HeaderMap) -> bool {
    [VERSION, METHOD, NAME]
        .iter()
        .any(|name| headers.contains_key(name))
}

/// What is wrong with the headers of a message; none where they agree with it.
/// `header_arguments` tells what a tool wants repeated.
pub(super) fn mismatch(
    headers: &HeaderMap,
    message: &Envelope<'_>,
    header_arguments: impl Fn(&str) -> Arc<[HeaderArgument]>,
) -> Option<String> {
    let method = message.method()?;
    let version = message
        .params
        .and_then(|params| raw_member(params, "_meta"))
        .and_then(|meta| member(meta, VERSION_KEY));
    let is_modern = |version: &str| version >= FIRST;
    let told = headers.get(VERSION).and_then(|value| value.to_str().ok());
    if !told.is_some_and(is_modern) && !version.as_deref().is_some_and(is_modern) {
        return None;
    }
    let name = name_of(&method, message.params);
    differs(headers, &VERSION, version.as_deref())
        .or_else(|| differs(headers, &METHOD, Some(&method)))
        .or_else(|| differs(headers, &NAME, name.as_deref()))
        .or_else(|| {
            let tool = name.filter(|_| method == "tools/call")?;
            argument_differs(headers, message, &header_arguments(&tool))
        })
}

/// An argument of a call that a header repeats in another way, or that is not there to be repeated.
fn argument_differs(
    headers: &HeaderMap,
    message: &Envelope<'_>,
    header_arguments: &[HeaderArgument],
) -> Option<String> {
    if header_arguments.is_empty() {
        return None;
    }
    let arguments = raw_member(message.params?, "arguments");
    let arguments = arguments.map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()));
    let arguments = arguments.ok()?;
    header_arguments.iter().find_map(|argument| {
        let said = argument.value_in(&arguments);
        let repeats = |value: &HeaderValue| {
            let told = decoded(value);
            told.zip(said)
                .is_some_and(|(told, said)| is_same(&told, said))
        };
        let mut values = headers.get_all(&argument.header).iter();
        let is_other = values.any(|value| !repeats(value));
        is_other.then(|| refused(&argument.header))
    })
}

fn refused(header: &str) -> String {
    format!("the header {header} and the body say different things, so it was not passed on")
}

/// What `Mcp-Name` repeats.
fn name_of<'m>(method: &str, params: Option<&'m RawValue>) -> Option<std::borrow::Cow<'m, str>> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    member(params?, key)
}

fn differs(headers: &HeaderMap, name: &HeaderName, said: Option<&str>) -> Option<String> {
    let said = said?;
    let mut values = headers.get_all(name).iter();
    let is_same = |value: &HeaderValue| decoded(value).as_deref() == Some(said);
    let is_other = values.any(|value| !is_same(value));
    is_other.then(|| refused(name.as_str()))
}

/// What a header says; a value that is no plain text travels as `=?base64?…?=`.
fn decoded(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let packed = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match packed {
        None => Some(text.trim().to_owned()),
        Some(packed) => String::from_utf8(STANDARD.decode(packed).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"id":1,"method":"tools/call","params":{"name":"größe","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    fn of(list: &[(&'static str, &'static str)], body: &str) -> Option<String> {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let headers: HeaderMap = list.iter().map(pair).collect();
        let schema = r#"{"properties":{"region":{"x-mcp-header":"Region"}}}"#;
        let schema: Box<RawValue> = serde_json::from_str(schema).unwrap();
        mismatch(&headers, &Envelope::read(body.as_bytes()).unwrap(), |_| {
            crate::header_arguments::header_arguments(&schema).into()
        })
    }

    #[test]
    fn an_argument_is_repeated_as_it_is_and_only_by_calls_of_tools() {
        let body = |method: &str, arguments: &str| {
            format!(
                r#"{{"id":1,"method":"{method}","params":{{"name":"a"{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
            )
        };
        let told = [("mcp-param-region", "eu")];
        let eu = r#","arguments":{"region":"eu"}"#;
        assert_eq!(of(&told, &body("tools/call", eu)), None);
        assert_eq!(of(&[], &body("tools/call", eu)), None);
        for other in [
            r#","arguments":{"region":"us"}"#,
            r#","arguments":{"region":null}"#,
            r#","arguments":{}"#,
            "",
        ] {
            assert!(of(&told, &body("tools/call", other)).is_some(), "{other}");
            assert_eq!(of(&told, &body("prompts/get", other)), None);
            assert_eq!(of(&[], &body("tools/call", other)), None);
        }
    }

    #[test]
    fn headers_that_agree_pass_and_missing_ones_are_the_servers_to_miss() {
        let agree = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?Z3LDtsOfZQ==?="),
        ];
        assert_eq!(of(&agree, CALL), None);
        assert_eq!(of(&[], CALL), None);
    }

    #[test]
    fn headers_that_contradict_the_body_are_told() {
        for (name, value) in [
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-method", "tools/list"),
            ("mcp-method", "Tools/Call"),
            ("mcp-name", "other"),
            ("mcp-name", "=?base64?!?="),
        ] {
            let said = of(&[(name, value)], CALL).unwrap();
            assert_eq!(
                said,
                format!(
                    "the header {name} and the body say different things, so it was not passed on"
                )
            );
        }
        let twice = [("mcp-method", "tools/call"), ("mcp-method", "ping")];
        assert!(of(&twice, CALL).is_some());
    }

    #[test]
    fn older_revisions_have_no_such_headers() {
        let old = r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
        let headers = [
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-method", "ping"),
        ];
        assert_eq!(of(&headers, old), None);
    }
}
