//! Two fingerprints of a failure, so that the same failure is known again through its noise.
//!
//! A test that fails prints a thread id, a numbered temporary folder, a seed, a memory figure and the
//! lines of its parallel workers in any order: each run looks new, and a loop of edits that do not
//! help goes unseen. A longer list of noise is never long enough, so failures are compared in two
//! stricter forms:
//!
//! - the *firm* form leaves out numbers that stand alone in brackets, numbers in paths, short hashes
//!   and memory figures. A number anywhere else is news: `got 4` and `got 3.5` differ;
//! - the *rough* form leaves out every number and every path. Only what counts failed, passed,
//!   errors or warnings stays. Two failures of one approach that are equal in this form, with no
//!   change in between, are the same failure.
//!
//! In both forms the order of the lines does not matter.
//!
//! Across approaches a third view counts: the *words* of a failure, without numbers and paths. An
//! attempt whose own words come back in the failure (`unknown option --foo`) fails in new words each
//! time, but most of them stay.
//!
//! Bounded by: the text it is given, which `noise.rs` has cut to 80 KiB.
//! Odd cases: a result that is JSON holds its lines behind `\n` escapes, which end lines too.

use super::words::WordList;

/// What stands for a part that is left out.
const MARK: char = '\u{1}';

/// The shortest hash, and the fewest digits of an id in brackets.
const HASH_LETTERS: usize = 6;
const BRACKETED_DIGITS: usize = 2;
/// So many dots in a row say nothing by their number.
const DOTS: usize = 4;

/// What a number beside one of these words counts.
const COUNTED: WordList = WordList::new(
    "failed failure failures fail passed pass errors error warnings warning skipped passing failing",
);

const MEMORY_UNITS: WordList = WordList::new("b kb mb gb kib mib gib bytes");

/// What a wrapping says of any failure: a failure of these words alone says nothing.
const FRAME: WordList = WordList::new(
    "error errors exit exited code status command commands failed failure with process returned \
     return returncode non zero nonzero the tool execution result stderr stdout was not executed null none",
);

/// The words of `body` that say what went wrong, in small letters.
pub(super) fn telling_words(body: &str) -> impl Iterator<Item = String> {
    body.split(|c: char| !is_token(c))
        .map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|token| !token.is_empty() && !is_path(token))
        .filter(|token| !token.bytes().any(|byte| byte.is_ascii_digit()))
        .map(str::to_lowercase)
        .filter(|word| !FRAME.has(word))
}

/// Which of the two forms is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Firm,
    Rough,
}

/// The lines of `normal`, a failure without noise, in `form` and in a fixed order.
pub(super) fn form(normal: &str, form: Form) -> String {
    let mut lines: Vec<String> = lines(normal).map(|line| of_line(line, form)).collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.split("\\n"))
}

fn of_line(line: &str, form: Form) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let token_end = rest
            .find(|c: char| !is_token(c))
            .unwrap_or(rest.len())
            .max(first.len_utf8());
        let (token, after) = rest.split_at(token_end);
        let (token, dots) = token.split_at(without_dots(token).len());
        if !token
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte == b'/' || char::from(byte) == MARK)
        {
            out.push_str(token);
        } else if is_path(token) {
            write_path(token, form, &mut out);
        } else {
            let before = out.clone();
            write_token(token, (&before, after), form, &mut out);
        }
        if !dots.is_empty() {
            out.push(MARK);
        }
        rest = after;
    }
    out
}

/// What hangs together: a word, a number, a path, a version.
fn is_token(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '\\' | '~' | '#') || c == MARK
}

/// A word without the dots behind it that show how long something took: `Connecting......`.
fn without_dots(token: &str) -> &str {
    let bare = token.trim_end_matches(['.', '_', '-']);
    if token.len() - bare.len() >= DOTS {
        bare
    } else {
        token
    }
}

fn is_path(token: &str) -> bool {
    token.contains('/') && token.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// In the firm form the parts of a path that have a digit are left out, in the rough one all of it.
fn write_path(path: &str, form: Form, out: &mut String) {
    if form == Form::Rough {
        return out.push(MARK);
    }
    for (at, part) in path.split('/').enumerate() {
        if at > 0 {
            out.push('/');
        }
        if part.bytes().any(|byte| byte.is_ascii_digit()) {
            out.push(MARK);
        } else {
            out.push_str(part);
        }
    }
}

/// A token with a digit in it, `around` being what was written before it and what follows.
fn write_token(token: &str, around: (&str, &str), form: Form, out: &mut String) {
    let counts = token.bytes().all(|byte| byte.is_ascii_digit()) && counts(around);
    let left_out = !counts
        && (token.starts_with(MARK)
            || is_hash(token)
            || token.starts_with("0x")
            || is_measured(token, around)
            || is_alone_in_brackets(token, around)
            || is_core_file(token)
            || is_memory(token, around.1));
    if left_out {
        out.push(MARK);
    } else if form == Form::Firm || counts {
        out.push_str(token);
    } else {
        without_digits(token, out);
    }
}

fn without_digits(token: &str, out: &mut String) {
    let mut rest = token;
    while let Some(at) = rest.bytes().position(|byte| byte.is_ascii_digit()) {
        let (plain, number) = rest.split_at(at);
        out.push_str(plain);
        out.push('0');
        rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        // A fraction is part of its number.
        let fraction = rest.strip_prefix('.').unwrap_or_default();
        if fraction.starts_with(|c: char| c.is_ascii_digit()) {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    out.push_str(rest);
}

/// `3 failed`, `failures=3`, `Errors: 0`.
fn counts((before, after): (&str, &str)) -> bool {
    let next = after
        .trim_start()
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    let last = before
        .trim_end_matches([' ', ':', '='])
        .rsplit(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    let separated = before.ends_with([':', '=']) || before.ends_with(": ");
    is_counted(next) || separated && is_counted(last)
}

fn is_counted(word: &str) -> bool {
    word.len() <= 8 && COUNTED.has(&word.to_ascii_lowercase())
}

/// A time that the run took or a rate: `in 0.123 (…)`, `812.34 runs/s`, `#9 3.21` of a builder.
fn is_measured(token: &str, (before, after): (&str, &str)) -> bool {
    let token = token.trim_end_matches('.');
    let decimal = token.contains('.')
        && token
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let mut words = before.split_whitespace();
    let step_of_builder = before.starts_with('#') && words.clone().count() == 1;
    let last = words.next_back().unwrap_or_default();
    let rate = after
        .split_whitespace()
        .next()
        .is_some_and(|unit| unit.trim_end_matches(['.', ',']).ends_with("/s"));
    decimal && (rate || step_of_builder || matches!(last, "in" | "took" | "after"))
}

/// Six hexadecimal digits and more with letters and digits among them, also behind a name and before more groups
/// of them.
fn is_hash(token: &str) -> bool {
    let is_hexadecimal = |word: &&str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups = token.trim_end_matches('.').rsplit(['_', '-']);
    groups.take_while(is_hexadecimal).any(|word| {
        word.len() >= HASH_LETTERS
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// `(4711)`, `[gw3]`, `<0.123.0>`: what a bracket holds is an id, not a value that was computed. `(3/30)` says
/// how far something got.
fn is_alone_in_brackets(token: &str, (before, after): (&str, &str)) -> bool {
    let open = before.trim_end().chars().next_back();
    let close = after.trim_start().chars().next();
    let matched = matches!(
        (open, close),
        (Some('('), Some(')')) | (Some('['), Some(']')) | (Some('<'), Some('>'))
    );
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let is_counter = token
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'/');
    if token.contains('/') && is_counter {
        return false;
    }
    matched && (digits >= BRACKETED_DIGITS || token.bytes().any(|byte| !byte.is_ascii_digit()))
}

/// `core.4711`.
fn is_core_file(token: &str) -> bool {
    token
        .strip_prefix("core.")
        .is_some_and(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `8.50 MB`, `512KiB`.
fn is_memory(token: &str, after: &str) -> bool {
    let number_end = token
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(token.len());
    let (number, unit) = token.split_at(number_end);
    let unit = if unit.is_empty() {
        let next = after.strip_prefix(' ').unwrap_or_default();
        next.split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .unwrap_or_default()
    } else {
        unit
    };
    !number.is_empty() && unit.len() <= 5 && MEMORY_UNITS.has(&unit.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(left: &str, right: &str, which: Form) -> bool {
        form(left, which) == form(right, which)
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_out_of_both_forms() {
        for (left, right) in [
            ("thread 'a' (22418) panicked", "thread 'a' (931) panicked"),
            ("[gw3] FAILED test_a", "[gw11] FAILED test_a"),
            ("from #PID<0.123.0>", "from #PID<0.99.0>"),
            (
                "log: /home/user/_logs/run-7/a.log",
                "log: /home/user/_logs/run-8/a.log",
            ),
            ("Memory: 8.50 MB", "Memory: 10.00 MB"),
            ("commit 9fceb02", "commit 1ab23cd"),
            ("query 01b618a1-0d2f-a0c2", "query 01b60f2a-02d9-35f1"),
            // What noise.rs left of an address: its place in the page.
            ("died at \u{1}bdb", "died at \u{1}608"),
            ("b failed\na failed", "a failed\nb failed"),
            ("Connecting......_____\nno", "Connecting........._____\nno"),
            ("{\"out\":\"b\\na\"}", "{\"out\":\"b\\na\"}"),
        ] {
            assert!(equal(left, right, Form::Firm), "firm: {left} / {right}");
            assert!(equal(left, right, Form::Rough), "rough: {left} / {right}");
        }
    }

    #[test]
    fn a_value_that_was_computed_is_kept_in_the_firm_form_only() {
        for (left, right) in [
            ("got 4", "got 3.5"),
            ("Rebasing (3/30)", "Rebasing (4/30)"),
            ("expected 3, got 4", "expected 3, got 5"),
        ] {
            assert!(!equal(left, right, Form::Firm), "firm: {left} / {right}");
            assert!(equal(left, right, Form::Rough), "rough: {left} / {right}");
        }
    }

    #[test]
    fn a_failure_of_nothing_but_an_exit_code_has_no_words() {
        let words = |body| telling_words(body).collect::<Vec<_>>();
        for body in [
            "",
            "Exit code 1",
            "Error: Command failed with exit code 127",
        ] {
            assert!(words(body).is_empty(), "{body}");
        }
        assert_eq!(
            words("cat: /etc/x9: Permission denied"),
            ["cat", "permission", "denied"]
        );
    }

    #[test]
    fn what_counts_failures_is_kept_in_both_forms() {
        for (left, right) in [
            ("3 failed, 17 passed", "2 failed, 18 passed"),
            ("FAILED (failures=3)", "FAILED (failures=2)"),
            (
                "Tests run: 9, Failures: 3, Errors: 0",
                "Tests run: 9, Failures: 1, Errors: 0",
            ),
            ("12 warnings", "11 warnings"),
        ] {
            assert!(!equal(left, right, Form::Firm), "firm: {left} / {right}");
            assert!(!equal(left, right, Form::Rough), "rough: {left} / {right}");
        }
    }
}
