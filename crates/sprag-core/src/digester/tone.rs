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

mod result_text;

use std::borrow::Cow;

use super::pending::is_pending;
use super::words::{PhraseList, WordList};
use crate::observation::Tone;
use result_text::ResultText;

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
     not running|not a valid|forbidden|unavailable|aborted|not permitted|session expired|\
     session has expired|token expired|token has expired|sign in again|log in again|not logged in|\
     not authenticated|captcha|checking your browser|verify you are human|not a robot",
);

/// At the beginning of a long text, these do.
const LOUD_FAILURES: PhraseList =
    PhraseList::new("traceback|syntax error|error:|fatal:|usage:|command not found|exception");

/// In the last lines of a text, these do too.
const ENDINGS: PhraseList =
    PhraseList::new("failed|failure|timed out|refused|aborted|killed|error");

/// How an empty finding begins.
const NOTHING: PhraseList = PhraseList::new(
    "no results|no result|no matches|no match|no files|no file|no data|no rows|\
     no records|no entries|no items|no documents|no references|nothing found|nothing to|\
     found 0",
);

/// One word that may be an empty finding, or a value like any other.
const BARE_NOTHING: WordList = WordList::new("none null false no 0 empty undefined n/a nil");

/// What says that the thing asked for is not there.
const ABSENT: PhraseList = PhraseList::new(
    "no such file|not found|404|does not exist|doesn't exist|enoent|cannot find|can't find|\
     could not find|couldn't find|not exist",
);

/// An empty finding that ends in `is empty` has at most this many words.
const EMPTY_WORDS: usize = 5;
/// `0` counts what follows it within so many words.
const NONE_WORDS: usize = 4;
/// An answer up to this long may be an acknowledgement.
const ACKNOWLEDGEMENT_BYTES: usize = 128;

/// What `0` of these is.
const COUNTED: WordList = WordList::new("rows results matches files hits items records");

/// What a field holds if there is nothing in it.
const NO_VALUES: [&str; 8] = ["[]", "{}", "null", "none", "nil", "false", "\"\"", "''"];

/// WordList of an acknowledgement.
const DONE: WordList = WordList::new(
    "ok done success successful successfully succeeded written wrote saved created \
     updated applied edited deleted removed added modified completed complete started \
     stopped sent submitted installed moved set pressed clicked typed tapped scrolled",
);

/// What a number beside one of these is the count of. A tool that counts its findings did its work.
const REPORTED: WordList = WordList::new(
    "errors warnings problems failures violations issues offenses findings failed failing passed",
);
const REPORTED_ONE: WordList =
    WordList::new("error warning problem failure violation issue offense finding");

/// What a text tells of itself.
pub(super) struct ReadResult<'t> {
    /// What it says, out of its wrapping.
    pub(super) body: Cow<'t, str>,
    pub(super) tone: Tone,
    /// It says so itself: by the error flag, an exit code or a field of its wrapping.
    pub(super) failed: bool,
    /// It is longer than an acknowledgement.
    pub(super) long: bool,
    /// It says that the thing asked for is not there, or may say so in one word.
    pub(super) absent: bool,
    /// A failure that may be a finding: it counts what it found, or nothing but a word says that it
    /// failed.
    pub(super) weak: bool,
    /// It says that something is on its way or in the way, for now.
    pub(super) pending: bool,
}

/// Reads `text`.
pub(super) fn read(text: &str, is_error: bool) -> ReadResult<'_> {
    let said = ResultText::of(text);
    let body = said.body.trim();
    let words = edges(body);
    let bare = words.trim_matches(|c: char| !c.is_alphanumeric());
    let absent = body.len() <= SHORT_FAILURE_BYTES
        && (BARE_NOTHING.has(bare) || ABSENT.places(&words).next().is_some());
    let failed = is_error || said.failed;
    let tone = if failed && body == "0" {
        // What counts and found none ends in a failure, as `grep -c` does.
        Tone::Empty
    } else if failed {
        Tone::Failure
    } else {
        tone_of(body, &words)
    };
    let long = body.len() > ACKNOWLEDGEMENT_BYTES;
    let only_a_word = !failed && !tell(beginning(&words, FIRST_BYTES), &LOUD_FAILURES);
    let weak = tone == Tone::Failure && (only_a_word || counts_findings(&words));
    ReadResult {
        tone,
        failed,
        long,
        absent,
        weak,
        pending: body.len() <= SHORT_FAILURE_BYTES && is_pending(&words),
        body: said.body,
    }
}

/// `2 errors`, `found 1 error`, `failures: 3`; not the `error 2` of a program that was not run.
fn counts_findings(words: &str) -> bool {
    let mut tokens = words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    let mut before = "";
    while let Some(token) = tokens.next() {
        if token.bytes().all(|byte| byte.is_ascii_digit()) {
            let next = tokens.peek().copied().unwrap_or_default();
            let one = matches!(token, "0" | "1") && REPORTED_ONE.has(next);
            if one || REPORTED.has(next) || REPORTED.has(before) {
                return true;
            }
        }
        before = token;
    }
    false
}

fn tone_of(body: &str, words: &str) -> Tone {
    if !says_anything(body) {
        return match body {
            "[]" | "{}" => Tone::Empty,
            _ => Tone::Silent,
        };
    }
    if let Some(tone) = tone_of_list(body, words) {
        return tone;
    }
    let short = body.len() <= SHORT_BYTES;
    if short && has_no_output(words) {
        Tone::Silent
    } else if short && is_nothing(words) {
        Tone::Empty
    } else if fails(body.len(), words) {
        Tone::Failure
    } else if short && acknowledges(words) {
        Tone::Done
    } else {
        Tone::Telling
    }
}

/// A JSON object whose only content is an empty list, as of a page beyond the last: its other values are
/// numbers or nothing. An empty list of problems is what everybody hopes for.
fn tone_of_list(body: &str, words: &str) -> Option<Tone> {
    if body.len() > SHORT_BYTES || !body.starts_with('{') {
        return None;
    }
    let (before, after) = words.split_once("[]")?;
    let has_values = |text: &str| {
        text.split(',').any(|field| {
            let (_, value) = field.rsplit_once(':').unwrap_or_default();
            let value = value.trim().trim_end_matches(['}', ']']);
            let is_nothing = matches!(value, "" | "null" | "false" | "[");
            !is_nothing && !value.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let name = before.rsplit('"').nth(1).unwrap_or_default();
    if has_values(before) || has_values(after) {
        None
    } else if REPORTED.has(name) || REPORTED_ONE.has(name) {
        Some(Tone::Done)
    } else {
        Some(Tone::Empty)
    }
}

/// Whether the last lines of `text` tell of a failure.
pub(super) fn ends_failing(text: &str) -> bool {
    let mut tail = end(text, TAIL_BYTES).to_owned();
    tail.make_ascii_lowercase();
    tell(&tail, &LOUD_FAILURES) || tell(&tail, &ENDINGS)
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
        || bare == "not found"
        || bare.ends_with("is empty") && is_one_clause(bare, EMPTY_WORDS)
        || has_only_field(words, "false")
        || bare.strip_prefix("0 ").is_some_and(|rest| {
            rest.split_whitespace().next().is_some_and(|what| {
                COUNTED.has(what.trim_end_matches(|c: char| !c.is_alphanumeric()))
            })
        })
}

/// A few words without a pause between them.
fn is_one_clause(words: &str, most: usize) -> bool {
    !words.contains([',', ';', ':', '.']) && words.split_whitespace().count() <= most
}

/// `{"correct": false}`, `found: false`: the answer is one field and its value.
fn has_only_field(words: &str, value: &str) -> bool {
    let field = words.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}'));
    let Some((name, held)) = field.split_once(':') else {
        return false;
    };
    held.trim() == value && name.split_whitespace().count() == 1 && !name.contains(',')
}

/// `(no output)`, `Tool ran with no output`: silence in words.
fn has_no_output(words: &str) -> bool {
    let mut before = "";
    words
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .any(|word| {
            let silent = word == "output" && matches!(before, "no" | "without");
            before = word;
            silent
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
        let after = words.get(at..).unwrap_or_default();
        !denied && !counts_none(before) && !holds_nothing(after)
    })
}

/// `errors: 0`, `"failed":0`, `"errors":[]`, `error=null`, `ifInErrors.49 = Counter32: 0`, `errors_total{a="b"} 0`:
/// a field that counts none, or holds nothing.
fn holds_nothing(from: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    let after = from.trim_start_matches(is_name);
    let value = after.trim_start_matches(['"', '\'']).trim_start();
    if let Some(value) = value.strip_prefix([':', '=']) {
        let value = without_type(value.trim_start());
        let is_zero = value.strip_prefix('0').is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | 'x'))
        });
        return is_zero || NO_VALUES.iter().any(|none| is_whole_value(value, none));
    }
    let labelled = after
        .strip_prefix('{')
        .and_then(|labels| labels.split_once('}'));
    let value = labelled.map_or(after, |(_, value)| value);
    value.lines().next().unwrap_or_default().trim() == "0"
}

/// A value without the name of its type before it: `Counter32: 0`, `INTEGER: 0`.
fn without_type(value: &str) -> &str {
    let rest = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    match rest.strip_prefix(": ") {
        Some(typed) if rest.len() < value.len() => typed,
        _ => value,
    }
}

/// Whether `value` begins with `whole` and nothing else belongs to it.
fn is_whole_value(value: &str, whole: &str) -> bool {
    value.strip_prefix(whole).is_some_and(|rest| {
        let rest = rest.trim_start_matches(' ');
        rest.is_empty() || rest.starts_with([',', '}', ']', ')', '\n', '\r'])
    })
}

/// Whether `before` ends in what there are none of: `0 chart(s)`, `0 of 12 tests`.
fn counts_none(before: &str) -> bool {
    let clause = before.rsplit([',', ';', ':', '.', '\n']).next();
    let words = clause.unwrap_or_default().split_whitespace();
    words.rev().take(NONE_WORDS).any(|word| word == "0")
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
    fn a_field_of_errors_that_holds_nothing_is_no_failure() {
        for text in [
            "{\"success\":true,\"errors\":[]}",
            "{\"id\":7,\"error\":null}",
            "{\"error\":\"\",\"id\":\"a7\"}",
            "{\"failed\": {}, \"moved\": 3}",
            "error=none\nstate=idle",
            "IF-MIB::ifInErrors.49 = Counter32: 0",
            "http_errors_total{code=\"500\"} 0\nrx_errors 0\nerrors.total = 0",
        ] {
            assert_ne!(read(text, false).tone, Tone::Failure, "{text}");
        }
        for text in [
            "{\"error\":\"none of the disks answers\"}",
            "error: nullpointer in a.c",
            "{\"errors\":[\"no licence\"]}",
            "error: none of them matches",
            "error: code: 0x80070005",
            "IF-MIB::ifInErrors.49 = Counter32: 17",
        ] {
            assert_eq!(read(text, false).tone, Tone::Failure, "{text}");
        }
    }

    #[test]
    fn a_door_that_is_shut_is_a_failure_in_whatever_page_it_stands() {
        for text in [
            "Session expired. Please sign in again.",
            "Checking your browser before accessing. Ray ID: 7f3a",
        ] {
            assert_eq!(read(text, false).tone, Tone::Failure, "{text}");
        }
    }

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
            ("1 chart(s) linted, 0 chart(s) failed", Tone::Telling),
            ("user 7 created, admin: false", Tone::Done),
            ("label set, the old label is empty", Tone::Done),
            (
                "the queue of mails that nobody wanted to read is empty",
                Tone::Telling,
            ),
            ("found: false", Tone::Empty),
            ("(Bash completed with no output)", Tone::Silent),
            ("false", Tone::Telling),
            ("content of file number 7", Tone::Telling),
            ("running 42%", Tone::Telling),
        ] {
            assert_eq!(read(text, false).tone, expected, "{text}");
        }
    }

    #[test]
    fn a_failure_that_counts_its_findings_or_only_mentions_one_is_weak() {
        let stub = format!("// stub\nthrow new Error('todo')\n{}", "x = 1\n".repeat(30));
        for (text, is_error, weak) in [
            ("found 1 error in 3 files", true, true),
            ("Tests: 12, Failures: 3", true, true),
            ("make: *** [test] Error 2", true, false),
            ("HTTP 500 error", true, false),
            ("401 Unauthorized: token expired", true, false),
            (stub.as_str(), false, true),
            (stub.as_str(), true, false),
            ("error: no licence", false, false),
            ("access denied", false, true),
            ("access denied", true, false),
        ] {
            let answer = read(text, is_error);
            assert_eq!(answer.tone, Tone::Failure, "{text}");
            assert_eq!(answer.weak, weak, "{text}");
        }
    }

    #[test]
    fn whatever_it_says_an_error_is_a_failure() {
        assert_eq!(read("all fine", true).tone, Tone::Failure);
    }

    #[test]
    fn a_long_text_that_mentions_an_error_is_no_failure() {
        let page = format!("A chapter on {} error handling", "very ".repeat(200));
        assert_eq!(read(&page, false).tone, Tone::Telling);
        let trace = format!("Traceback (most recent call last): {}", "x".repeat(2000));
        assert_eq!(read(&trace, false).tone, Tone::Failure);
    }
}
