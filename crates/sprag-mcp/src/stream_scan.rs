//! Messages too long to hold, looked at as they pass.
//!
//! A result of a hundred megabytes must not become a hundred megabytes of memory. Its bytes go on as
//! they come; what is kept is what the guard needs: the id, which many servers write last, whether it
//! is an error, and of the result its beginning and the digest of all of it.
//!
//! The same reader serves messages that a strict one refuses: what says to be a call in any way that
//! some server may understand is found here.

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::call_outcome::CallOutcome;
use crate::duplicate_keys::unescaped;
use crate::json_lexer::{JsonLexer, JsonToken};
use crate::large_payload::{KEPT, reduced};

/// The longest key or small value that is kept.
const KEPT_OF_MEMBER: usize = 1024;

/// A member that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Id,
    Method,
    IsError,
    ResultType,
}

/// What is known of a long message so far.
#[derive(Debug, Default)]
pub(crate) struct StreamScan {
    lexer: JsonLexer,
    in_key: bool,
    key: Vec<u8>,
    /// The top-level key whose value is being read is `result`.
    in_result: bool,
    /// The small value being read, and the depth of its object.
    reading: Option<(Member, usize)>,
    value: Vec<u8>,
    ids: Vec<Vec<u8>>,
    methods: Vec<Vec<u8>>,
    is_response: bool,
    is_error: bool,
    result_type: Vec<u8>,
    kept: Vec<u8>,
    digest: Sha256,
}

impl StreamScan {
    /// Looks at the next bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        let mut result_from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let depth = self.lexer.depth();
            let was_in_result = self.in_result;
            match self.lexer.read(*byte) {
                JsonToken::KeyStart => {
                    self.in_key = true;
                    self.key.clear();
                }
                JsonToken::KeyEnd => self.in_key = false,
                JsonToken::Colon => self.start(depth),
                JsonToken::Comma | JsonToken::CloseObject => self.end(depth),
                _ => self.keep(*byte),
            }
            if self.in_result && !was_in_result {
                result_from = at + 1;
            } else if was_in_result && !self.in_result {
                self.take_result(bytes.get(result_from..at).unwrap_or_default());
            }
        }
        if self.in_result {
            self.take_result(bytes.get(result_from..).unwrap_or_default());
        }
    }

    /// The id that it says, where it says one.
    pub(crate) fn id(&self) -> Option<Box<RawValue>> {
        let [id] = self.ids.as_slice() else {
            return None;
        };
        serde_json::from_slice(id).ok()
    }

    /// Whether it says to be a call of a tool, by any of its methods.
    pub(crate) fn is_call(&self) -> bool {
        let methods = self.methods.iter();
        methods
            .filter_map(|raw| inner(raw))
            .any(|method| *unescaped(method) == *b"tools/call")
    }

    /// Whether it says to be a request or a notification.
    pub(crate) fn has_method(&self) -> bool {
        !self.methods.is_empty()
    }

    /// Whether it says to be an answer.
    pub(crate) fn is_response(&self) -> bool {
        self.is_response
    }

    /// Whether the result asks for something instead of being the last word.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(inner(&self.result_type), Some(b"input_required" | b"task"))
    }

    /// What came of the call.
    pub(crate) fn outcome(&self) -> CallOutcome {
        CallOutcome {
            result: Some(reduced(&self.kept, self.digest.clone())),
            is_error: self.is_error,
        }
    }

    fn start(&mut self, depth: usize) {
        let key = unescaped(&self.key);
        let member = match (depth, &*key) {
            (1, b"id") => Some(Member::Id),
            (1, b"method") => Some(Member::Method),
            (2, b"isError") if self.in_result => Some(Member::IsError),
            (2, b"resultType") if self.in_result => Some(Member::ResultType),
            _ => None,
        };
        if depth == 1 {
            self.in_result = *key == *b"result";
            self.is_response |= self.in_result || *key == *b"error";
            self.is_error |= *key == *b"error";
        }
        if let Some(member) = member {
            self.value.clear();
            self.reading = Some((member, depth));
        }
    }

    fn end(&mut self, depth: usize) {
        if depth == 1 {
            self.in_result = false;
        }
        let Some((member, _)) = self.reading.take_if(|(_, of)| *of == depth) else {
            return;
        };
        let value = std::mem::take(&mut self.value).trim_ascii().to_vec();
        match member {
            Member::Id => self.ids.push(value),
            Member::Method => self.methods.push(value),
            Member::IsError => self.is_error = value == b"true",
            Member::ResultType => self.result_type = value,
        }
        // More of them than one is enough to know that they are not one.
        self.ids.truncate(2);
        self.methods.truncate(8);
    }

    fn keep(&mut self, byte: u8) {
        let kept = match (self.in_key, self.reading) {
            (true, _) => &mut self.key,
            (false, Some(_)) => &mut self.value,
            (false, None) => return,
        };
        if kept.len() < KEPT_OF_MEMBER {
            kept.push(byte);
        }
    }

    fn take_result(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        let room = KEPT.saturating_sub(self.kept.len());
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.kept.extend_from_slice(kept);
    }
}

/// What stands between the quotes of a text.
fn inner(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str, chunk: usize) -> StreamScan {
        let mut long = StreamScan::default();
        message
            .as_bytes()
            .chunks(chunk)
            .for_each(|bytes| long.read(bytes));
        long
    }

    #[test]
    fn an_answer_is_known_whatever_the_order_of_its_members() {
        let result = r#"{"content":[{"type":"text","text":"id\":9,\"isError\":false"}],"isError":true,"id":7}"#;
        for message in [
            format!(r#"{{"result":{result},"jsonrpc":"2.0","id":"a\"1"}}"#),
            format!(r#"{{ "id" : "a\"1" , "result" :{result}}}"#),
        ] {
            for chunk in [1, 2, 7, 1000] {
                let long = read(&message, chunk);
                assert_eq!(long.id().unwrap().get(), r#""a\"1""#);
                assert!(long.is_response() && long.is_error && long.is_final());
                assert!(!long.has_method());
                assert_eq!(long.kept, result.as_bytes());
                assert_eq!(long.digest.clone().finalize(), Sha256::digest(result));
            }
        }
    }

    #[test]
    fn a_call_is_known_however_it_is_written() {
        for message in [
            r#"{"method":"tools/call","id":1}"#,
            r#"{"id":1,"\u006dethod":"tools\u002fcall","params":{"x":NaN}}"#,
            r#"{"method":"ping","id":1,"method":"tools/call"}"#,
        ] {
            assert!(read(message, 3).is_call(), "{message}");
        }
        for message in [
            r#"{"id":1,"params":{"method":"tools/call"},"method":"x"}"#,
            r#"["tools/call"]"#,
            "\"method\":\"tools/call\"",
        ] {
            assert!(!read(message, 3).is_call(), "{message}");
        }
    }

    #[test]
    fn what_asks_for_more_is_not_the_last_word() {
        let asks = r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{}}}"#;
        assert!(!read(asks, 5).is_final());
        let ends = r#"{"id":1,"result":{"resultType":"complete","content":[]}}"#;
        assert!(read(ends, 5).is_final());
    }
}
