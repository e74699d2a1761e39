//! JSON that readers disagree on, rewritten so that there is one way to read it.
//!
//! Clients and tools write JSON that a strict reader refuses: half a surrogate pair (Node and Python
//! write them), a number beyond `f64`, a key twice, a hundred levels and more, `NaN`, a raw line
//! break in a string. Refusing to read a call would let it run unjudged. So the value is reduced to
//! the nearest one that every reader understands the same way, and that one is judged:
//!
//! - half a surrogate pair becomes U+FFFD; a raw control character is escaped;
//! - a number that `f64` can't hold, `NaN` and `Infinity` become their text;
//! - of a key that occurs twice the last value keeps the name, as in most readers. The earlier ones
//!   stay under a name of their own, so that nothing is dropped from the digest;
//! - what is nested too deep becomes its text.
//!
//! Bounded by: the text is read once, recursion ends at [`MAX_DEPTH`].

use std::collections::HashMap;
use std::ops::Range;

use super::json::MAX_DEPTH;

/// The nearest JSON that every reader understands the same way; none if `text` is not one JSON value
/// even by these rules. JSON without oddities keeps its meaning.
///
/// ```
/// let reduced = sprag_core::reduced_json(r#"{"a":1,"a":"\ud83d","n":1e999}"#);
/// assert_eq!(reduced.as_deref(), Some("{\"a\u{fffd}1\":1,\"a\":\"\u{fffd}\",\"n\":\"1e999\"}"));
/// ```
#[must_use]
pub fn reduced_json(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reducer = Reducer {
        text,
        at: 0,
        out: String::with_capacity(text.len()),
    };
    reducer.value(0)?;
    reducer.skip_space();
    (reducer.at == text.len()).then_some(reducer.out)
}

struct Reducer<'t> {
    text: &'t str,
    at: usize,
    out: String,
}

impl Reducer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes `byte`, after white space.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'{' | b'[' if depth >= MAX_DEPTH => self.too_deep(),
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string(),
            _ => self.word(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.items(b'[', b']', |reducer| reducer.value(depth))
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let start = self.out.len();
        let mut keys = Vec::new();
        self.items(b'{', b'}', |reducer| {
            reducer.skip_space();
            let key_start = reducer.out.len();
            reducer.string()?;
            keys.push(key_start..reducer.out.len());
            reducer.take(b':')?;
            reducer.out.push(':');
            reducer.value(depth)
        })?;
        self.rename_repeated(start, &keys);
        Some(())
    }

    /// What stands between `open` and `close`, with commas between the items.
    fn items(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        self.out.push(char::from(open));
        self.skip_space();
        if self.peek()? != close {
            loop {
                item(self)?;
                self.skip_space();
                if self.peek()? != b',' {
                    break;
                }
                self.at += 1;
                self.out.push(',');
            }
        }
        self.take(close)?;
        self.out.push(char::from(close));
        Some(())
    }

    /// Gives the earlier ones of equal keys names of their own. The object starts at `start` of the
    /// output and has its keys at `keys`.
    fn rename_repeated(&mut self, start: usize, keys: &[Range<usize>]) {
        let name = |range: &Range<usize>| {
            let quoted = self.out.get(range.clone()).unwrap_or_default();
            serde_json::from_str::<String>(quoted).unwrap_or_default()
        };
        let names: Vec<String> = keys.iter().map(name).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *counts.entry(name).or_default() += 1;
        }
        if counts.values().all(|count| *count == 1) {
            return;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut rebuilt = String::with_capacity(self.out.len() - start + 16);
        let mut copied = start;
        for (range, name) in keys.iter().zip(&names) {
            let nth = seen.entry(name).or_default();
            *nth += 1;
            if counts.get(name.as_str()) == Some(nth) {
                continue;
            }
            // The closing quote of the key comes after the mark.
            let close = range.end.saturating_sub(1);
            rebuilt.push_str(self.out.get(copied..close).unwrap_or_default());
            rebuilt.push_str(&format!("\u{fffd}{nth}"));
            copied = close;
        }
        rebuilt.push_str(self.out.get(copied..).unwrap_or_default());
        self.out.truncate(start);
        self.out.push_str(&rebuilt);
    }

    /// A string, each character of which is written so that it can be read.
    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        self.out.push('"');
        loop {
            let rest = self.text.get(self.at..)?;
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ')?;
            self.out.push_str(rest.get(..plain)?);
            self.at += plain;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.out.push('"');
                    return Some(());
                }
                b'\\' => self.escape()?,
                control => {
                    self.at += 1;
                    self.out.push_str(&format!("\\u{control:04x}"));
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let escaped = *self.text.as_bytes().get(self.at + 1)?;
        if escaped != b'u' {
            let known = b"\"\\/bfnrt".contains(&escaped);
            // A backslash before anything else stands for itself.
            self.out.push_str(if known { "\\" } else { "\\\\" });
            self.at += 1;
            if known {
                self.out.push(char::from(escaped));
                self.at += 1;
            }
            return Some(());
        }
        let Some(unit) = self.code_unit(self.at) else {
            self.out.push_str("\\\\");
            self.at += 1;
            return Some(());
        };
        self.at += 6;
        let low = self
            .code_unit(self.at)
            .filter(|low| (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(low));
        let code = match low {
            Some(low) => {
                self.at += 6;
                0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            None => unit,
        };
        match char::from_u32(code) {
            Some(c) if c < ' ' || c == '"' || c == '\\' => {
                self.out.push_str(&format!("\\u{code:04x}"));
            }
            Some(c) => self.out.push(c),
            None => self.out.push('\u{fffd}'),
        }
        Some(())
    }

    /// The code unit of the escape `\uXXXX` at `at`.
    fn code_unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    }

    /// A number or one of JSON's words; any other word becomes its text.
    fn word(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let word = rest.get(..length).filter(|word| !word.is_empty())?;
        let is_json = matches!(word, "true" | "false" | "null")
            || serde_json::from_str::<f64>(word).is_ok_and(f64::is_finite);
        let is_number = || word.parse::<f64>().is_ok() || matches!(word, "undefined" | "None");
        match is_json {
            true => self.out.push_str(word),
            false if is_number() => self.out.push_str(&format!("\"{word}\"")),
            false => return None,
        }
        self.at += length;
        Some(())
    }

    /// An array or object below the last level: its text. Strings in it may hold brackets.
    fn too_deep(&mut self) -> Option<()> {
        let start = self.at;
        let mut open = 0_usize;
        let mut in_string = false;
        let mut escaped = false;
        for byte in self.text.as_bytes().get(start..)? {
            self.at += 1;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => open += 1,
                b']' | b'}' if !in_string => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                let raw = self.text.get(start..self.at)?;
                self.out.push_str(&serde_json::to_string(raw).ok()?);
                return Some(());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digester::canonical_json;

    fn reduced(text: &str) -> String {
        reduced_json(text).unwrap()
    }

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        for half in ["\\ud83d", "\\uDE00", "\\ude00\\ud83d", "\\ud83d\\ud83d"] {
            let text = reduced(&format!("\"a{half}b\""));
            assert!(
                text.starts_with("\"a\u{fffd}") && text.ends_with("b\""),
                "{text}"
            );
        }
        assert_eq!(reduced("\"\\ud83d\\ude00\""), "\"😀\"");
    }

    #[test]
    fn of_equal_keys_the_last_keeps_its_name_and_none_is_dropped() {
        assert_eq!(
            reduced(r#"{"a":1,"b":{"x":1,"x":2},"\u0061":3,"a":4}"#),
            "{\"a\u{fffd}1\":1,\"b\":{\"x\u{fffd}1\":1,\"x\":2},\"a\u{fffd}2\":3,\"a\":4}"
        );
    }

    #[test]
    fn what_no_number_can_hold_becomes_text() {
        assert_eq!(
            reduced("[1e999,-1e999,NaN,-Infinity,1,1.50]"),
            r#"["1e999","-1e999","NaN","-Infinity",1,1.50]"#
        );
    }

    #[test]
    fn a_hundred_thousand_levels_are_a_hundred_and_a_text() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = reduced(&deep);
        assert!(canonical_json(&text).is_ok());
        assert_ne!(text, reduced(&deep.replacen("[]", "[7]", 1)));
    }

    #[test]
    fn whatever_is_reduced_has_a_canonical_form() {
        for odd in [
            "\u{feff}{\"a\":1}",
            "\"raw \n line and \u{1} and \\q and \\u12\"",
            " [ 1 , { \"k\" : [ ] } ] ",
            "{\"\\ud800\":1,\"\\udc00\":2}",
            "\"\\u0000\\u001f\\u0022\\u005c\"",
        ] {
            assert!(canonical_json(&reduced(odd)).is_ok(), "{odd}");
        }
    }

    #[test]
    fn plain_json_keeps_its_meaning() {
        for plain in [
            r#"{"a":[1,2.5,-3e2,true,false,null],"b":{"c":"d\n\u00e9\/"}}"#,
            "\"😀\"",
            "12345678901234567890123",
        ] {
            assert_eq!(
                canonical_json(plain).unwrap(),
                canonical_json(&reduced(plain)).unwrap()
            );
        }
    }

    #[test]
    fn what_is_not_json_is_not_made_into_it() {
        for text in [
            "", "{", "[1,]", "\"open", "{\"a\"}", "1 2", "garbage", "{a:1}",
        ] {
            assert_eq!(reduced_json(text), None, "{text}");
        }
    }
}
