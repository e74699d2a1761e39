//! What an answer is like, judged from its text.
//!
//! Rules must not take an acknowledgement for a finding: sixty files written and sixty times `ok` is
//! work, sixty searches and sixty times `No results found.` is not, and the same failure from
//! different commands is a wall. The guess is made from the beginning and the end of the text, by
//! words that tools of all kinds use. It errs to [`Tone::Telling`], which is judged by its digest.
//!
//! Odd cases: a text without any letter or digit (a bare prompt) is silent; results of shells wrapped
//! in JSON are judged by what was printed and by their exit code; `0 failed` and `no errors` are no
//! failure.

use std::borrow::Cow;

use super::words::{PhraseList, WordList};
use crate::observation::Tone;

/// How much of the beginning and of the end of a text is read.
const HEAD_BYTES: usize = 400;
const TAIL_BYTES: usize = 200;
/// A failure is the whole of a text up to this long; in a longer one it must come first.
const SHORT_FAILURE_BYTES: usize = 600;
/// How soon it must come in a longer one.
const FIRST_BYTES: usize = 300;
/// An acknowledgement or an empty finding is at most this long.
const SHORT_BYTES: usize = 200;

/// Anywhere in a short text, these mean a failure.
const FAILURES: PhraseList = PhraseList::new(
    "error|fail|exception|traceback|not found|no such|cannot|can't|could not|couldn't|\
     unable to|denied|invalid|refused|timed out|timeout|malformed|usage:|wrong|\
     unexpected|incorrect|fatal|unknown|illegal|missing|panic|undefined|unrecogni|\
     not running|not a valid|forbidden|unavailable|aborted|not permitted",
);

/// At the beginning of a long text, these do.
const LOUD_FAILURES: PhraseList =
    PhraseList::new("traceback|syntax error|error:|fatal:|usage:|command not found|exception");

/// How an empty finding begins.
const NOTHING: PhraseList = PhraseList::new(
    "no results|no result|no matches|no match|no files|no file|no data|no rows|\
     no records|no entries|no items|no documents|no references|nothing found|nothing to|\
     found 0",
);

/// An empty finding that is one word.
const BARE_NOTHING: WordList = WordList::new("none null false no 0 empty undefined n/a nil");

/// What `0` of these is.
const COUNTED: WordList = WordList::new("rows results matches files hits items records");

/// Words of an acknowledgement.
const DONE: WordList = WordList::new(
    "ok done success successful successfully succeeded written wrote saved created \
     updated applied edited deleted removed added modified completed complete started \
     stopped sent submitted installed moved set",
);

/// The tone of `text`.
pub(crate) fn tone(text: &str, is_error: bool) -> Tone {
    if is_error {
        return Tone::Failure;
    }
    let said = ResultText::of(text);
    if said.failed {
        return Tone::Failure;
    }
    let body = said.body.trim();
    if !says_anything(body) {
        return match body {
            "[]" | "{}" => Tone::Empty,
            _ => Tone::Silent,
        };
    }
    let short = body.len() <= SHORT_BYTES;
    let words = edges(body);
    if short && is_nothing(&words) {
        Tone::Empty
    } else if fails(body.len(), &words) {
        Tone::Failure
    } else if short && acknowledges(&words) {
        Tone::Done
    } else {
        Tone::Telling
    }
}

/// The text of a result without its JSON wrapping.
struct ResultText<'t> {
    body: Cow<'t, str>,
    failed: bool,
}

impl<'t> ResultText<'t> {
    fn of(text: &'t str) -> Self {
        let plain = Self {
            body: Cow::Borrowed(text),
            failed: false,
        };
        if !text.trim_start().starts_with(['{', '[']) {
            return plain;
        }
        let (head, tail) = (beginning(text, 4096), end(text, HEAD_BYTES));
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
            [None, None] => string_under(head, "\"text\":")
                .map_or(Cow::Borrowed(text), |text| Cow::Owned(unescaped(text))),
        };
        Self { body, failed }
    }
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

fn says_anything(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn end(text: &str, bytes: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(from..).unwrap_or(text)
}

/// The beginning and the end, in small letters.
fn edges(body: &str) -> String {
    let mut words = if body.len() <= HEAD_BYTES + TAIL_BYTES {
        body.to_owned()
    } else {
        format!("{} {}", beginning(body, HEAD_BYTES), end(body, TAIL_BYTES))
    };
    words.make_ascii_lowercase();
    words
}

fn is_nothing(words: &str) -> bool {
    let bare = words.trim_matches(|c: char| !c.is_alphanumeric());
    NOTHING.start(bare.as_bytes())
        || BARE_NOTHING.has(bare)
        || bare == "not found"
        || bare.ends_with("is empty")
        || bare.ends_with(": false")
        || bare.ends_with(":false")
        || bare.strip_prefix("0 ").is_some_and(|rest| {
            rest.split_whitespace().next().is_some_and(|what| {
                COUNTED.has(what.trim_end_matches(|c: char| !c.is_alphanumeric()))
            })
        })
}

fn fails(length: usize, words: &str) -> bool {
    if length <= SHORT_FAILURE_BYTES {
        tell(words, &FAILURES)
    } else {
        tell(beginning(words, FIRST_BYTES), &LOUD_FAILURES)
    }
}

/// Whether one of the phrases is there and not denied by the word before it.
fn tell(words: &str, phrases: &PhraseList) -> bool {
    phrases.places(words).any(|at| {
        let before = words.get(..at).unwrap_or_default().trim_end();
        let denied = ["no", "0", "zero", "without", "any"].into_iter().any(|no| {
            before
                .strip_suffix(no)
                .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
        });
        !denied
    })
}

fn acknowledges(words: &str) -> bool {
    words
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| DONE.has(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        for (text, expected) in [
            ("", Tone::Silent),
            ("\n>> \n", Tone::Silent),
            (
                "{\"stdout\": \"\", \"stderr\": \"\", \"returncode\": 0, \"timed_out\": false}",
                Tone::Silent,
            ),
            (
                "{\"returncode\":0,\"stderr\":\"\",\"stdout\":\"\\n\"}",
                Tone::Silent,
            ),
            ("ok", Tone::Done),
            ("{\"success\": true, \"path\": \"/srv/a.py\"}", Tone::Done),
            ("Script completed successfully, no errors.", Tone::Done),
            (
                "[{\"type\":\"text\",\"text\":\"File written\"}]",
                Tone::Done,
            ),
            ("No results found.", Tone::Empty),
            ("No matches found for \"pow.py\" in /src", Tone::Empty),
            ("0 rows", Tone::Empty),
            ("[]", Tone::Empty),
            ("report is empty", Tone::Empty),
            ("{\"correct\": false}", Tone::Empty),
            ("Wrong flag!", Tone::Failure),
            ("503 service unavailable", Tone::Failure),
            (
                "{\"stdout\": \"x\", \"stderr\": \"\", \"returncode\": 127}",
                Tone::Failure,
            ),
            (
                "{\"stdout\": null, \"stderr\": null, \"returncode\": null, \"timed_out\": true}",
                Tone::Failure,
            ),
            ("{\"success\": false}", Tone::Failure),
            ("3 failed, 17 passed", Tone::Failure),
            ("0 failed, 20 passed", Tone::Telling),
            ("content of file number 7", Tone::Telling),
            ("running 42%", Tone::Telling),
        ] {
            assert_eq!(tone(text, false), expected, "{text}");
        }
    }

    #[test]
    fn whatever_it_says_an_error_is_a_failure() {
        assert_eq!(tone("all fine", true), Tone::Failure);
    }

    #[test]
    fn a_long_text_that_mentions_an_error_is_no_failure() {
        let page = format!("A chapter on {} error handling", "very ".repeat(200));
        assert_eq!(tone(&page, false), Tone::Telling);
        let trace = format!("Traceback (most recent call last): {}", "x".repeat(2000));
        assert_eq!(tone(&trace, false), Tone::Failure);
    }
}
