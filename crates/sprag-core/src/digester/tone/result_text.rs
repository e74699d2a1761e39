//! What was printed, taken out of what a tool wrapped around it.
//!
//! Shells answer in JSON or with a head of their own lines. What a command printed is the answer; the wrapping
//! only says whether it failed. A text without a wrapping that is known is taken as it is.

use std::borrow::Cow;

use super::{HEAD_BYTES, beginning, end, says_anything};

/// How much of the beginning of a wrapping is read.
const WRAPPING_BYTES: usize = 4096;

/// What a result says, out of its wrapping.
pub(super) struct ResultText<'t> {
    pub(super) body: Cow<'t, str>,
    /// An exit code or a field of the wrapping says so.
    pub(super) failed: bool,
}

impl<'t> ResultText<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let plain = Self {
            body: Cow::Borrowed(text),
            failed: false,
        };
        if let Some((code, body)) = with_exit_code(text) {
            return Self {
                body: Cow::Borrowed(body),
                failed: code != "0",
            };
        }
        if !text.trim_start().starts_with(['{', '[']) {
            return plain;
        }
        let (head, tail) = (beginning(text, WRAPPING_BYTES), end(text, HEAD_BYTES));
        let failed = [head, tail].into_iter().any(|part| {
            ["\"returncode\":", "\"exit_code\":", "\"exitCode\":"]
                .into_iter()
                .any(|name| {
                    follows(part, name, |value| {
                        value.starts_with(|c: char| ('1'..='9').contains(&c) || c == '-')
                    })
                })
                || ["\"timed_out\":", "\"isError\":", "\"is_error\":"]
                    .into_iter()
                    .any(|name| follows(part, name, |value| value.starts_with("true")))
                || ["\"success\":", "\"ok\":"]
                    .into_iter()
                    .any(|name| follows(part, name, |value| value.starts_with("false")))
        });
        let printed = [
            string_under(head, "\"stdout\":"),
            string_under(head, "\"stderr\":"),
        ];
        let body = match printed.map(|printed| printed.map(unescaped)) {
            [Some(out), Some(err)] if !says_anything(&out) => Cow::Owned(err),
            [Some(said), _] | [None, Some(said)] => Cow::Owned(said),
            [None, None] => ["\"text\":", "\"output\":"]
                .into_iter()
                .find_map(|name| string_under(head, name))
                .map_or(Cow::Borrowed(text), |text| Cow::Owned(unescaped(text))),
        };
        Self { body, failed }
    }
}

/// `Exit code: 0`, lines about the run, `Output:`, and what was printed.
fn with_exit_code(text: &str) -> Option<(&str, &str)> {
    let (code, rest) = text.strip_prefix("Exit code: ")?.split_once('\n')?;
    let (_, body) = rest.split_once("Output:\n").or_else(|| {
        let ends = rest.ends_with("Output:");
        ends.then_some(("", ""))
    })?;
    Some((code.trim(), body))
}

/// The text of the string that stands after `name`; nothing for `null`.
fn string_under<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(name)?;
    let Some(string) = rest.trim_start().strip_prefix('"') else {
        return rest.trim_start().starts_with("null").then_some("");
    };
    let mut escaped = false;
    let closing = string.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    string.get(..closing.unwrap_or(string.len()))
}

fn follows(text: &str, name: &str, is: impl Fn(&str) -> bool) -> bool {
    text.split_once(name)
        .is_some_and(|(_, value)| is(value.trim_start()))
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
        .replace("\\r", "\n")
        .replace("\\t", "\n")
}
