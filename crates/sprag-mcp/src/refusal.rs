//! The response to a call that is refused.
//!
//! Every client passes a result with `isError` and one short text to its model unchanged. A protocol error
//! loses its data in one client and gains a stack trace in another. So a refusal is a result, with its code at the end of
//! the text and in `_meta`, for programs. A protocol error is used for messages that are wrong in
//! themselves, and for a client that waits for a task and can't read a result.

use serde_json::Value;
use sprag_core::Code;

use crate::envelope::Envelope;

/// The guard refuses the call, and the client can't read a result. Outside the range reserved by JSON-RPC.
pub(crate) const REFUSED: i64 = -31_001;
/// The message is not valid JSON.
pub(crate) const PARSE_ERROR: i64 = -32_700;
/// The message is ambiguous, or too long to be judged.
pub(crate) const INVALID_REQUEST: i64 = -32_600;

/// The form of a refusal that the client can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalForm {
    /// A result.
    Plain,
    /// A result with its type (2026-07-28).
    Typed,
    /// A protocol error, for a client that waits for a task (2025-11-25).
    Error,
}

/// Why a call is refused: a sentence for the model, and a code for programs, if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reason<'r> {
    pub(crate) why: &'r str,
    pub(crate) code: Option<Code>,
}

impl<'r> From<&'r str> for Reason<'r> {
    fn from(why: &'r str) -> Self {
        Self { why, code: None }
    }
}

impl Reason<'_> {
    /// The text of a refusal. The code is part of it, because few clients keep anything but the text.
    fn text(self) -> Value {
        match self.code {
            None => self.why.into(),
            Some(code) => {
                let next = match code {
                    Code::SessionStaleGeneration => ". This run has ended; begin a new one.",
                    _ => "",
                };
                format!("{}{next} [{}]", self.why, code.as_str()).into()
            }
        }
    }

    /// The code as a member of the result.
    fn meta(self) -> String {
        let code = self.code.map(Code::as_str);
        code.map_or_else(String::new, |code| {
            format!(r#""_meta":{{"{CODE}":"{code}"}},"#)
        })
    }
}

/// The key of the code in `_meta`.
const CODE: &str = "sprag/code";

/// The refusal of the request `id`, which is JSON as it came.
pub(crate) fn refusal(id: &str, form: RefusalForm, reason: Reason<'_>) -> String {
    let (why, meta) = (reason.text(), reason.meta());
    let kind = match form {
        RefusalForm::Plain => "",
        RefusalForm::Typed => r#""resultType":"complete","#,
        RefusalForm::Error => return error_of(id, REFUSED, &why),
    };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{{kind}{meta}"content":[{{"type":"text","text":{why}}}],"isError":true}}}}"#
    )
}

/// The error response to a message that is wrong in itself.
pub(crate) fn error(id: &str, code: i64, why: &str) -> String {
    error_of(id, code, &Value::from(why))
}

fn error_of(id: &str, code: i64, why: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{why}}}}}"#)
}

/// The id of a request as it came; none for a notification, which gets no response.
pub(crate) fn id_of<'m>(message: &Envelope<'m>) -> Option<&'m str> {
    message.id.map(|id| id.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_short_text_under_the_id_as_it_came() {
        assert_eq!(
            refusal(r#""\u0061""#, RefusalForm::Plain, "no: \"x\"".into()),
            r#"{"jsonrpc":"2.0","id":"\u0061","result":{"content":[{"type":"text","text":"no: \"x\""}],"isError":true}}"#
        );
        assert_eq!(
            refusal("12345678901234567890123", RefusalForm::Typed, "no".into()),
            r#"{"jsonrpc":"2.0","id":12345678901234567890123,"result":{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true}}"#
        );
        assert_eq!(
            refusal("null", RefusalForm::Error, "no".into()),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-31001,"message":"no"}}"#
        );
    }

    #[test]
    fn the_code_of_a_refusal_is_in_its_text_and_in_its_meta() {
        let reason = Reason {
            why: "Session s was killed.",
            code: Some(Code::SessionKilledLoopGuard),
        };
        assert_eq!(
            refusal("1", RefusalForm::Plain, reason),
            r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"sprag/code":"session_killed_loop_guard"},"content":[{"type":"text","text":"Session s was killed. [session_killed_loop_guard]"}],"isError":true}}"#
        );
        assert_eq!(
            refusal("1", RefusalForm::Error, reason),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-31001,"message":"Session s was killed. [session_killed_loop_guard]"}}"#
        );
    }
}
