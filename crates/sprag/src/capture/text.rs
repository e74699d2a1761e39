//! Secrets that can be told by what stands before them: `password=`, `Authorization:`, `--token`.

use sprag_core::{is_secret_name, is_token_count};

use super::spans::Spans;

/// How far a password in an address is looked for.
const MAX_ADDRESS_CHARS: usize = 300;

/// Finds secrets by their surroundings.
pub(super) fn find(text: &str, spans: &mut Spans) {
    key_blocks(text, spans);
    addresses(text, spans);
    assignments(text, spans);
    words(text, spans);
}

/// Private keys, from their first line to their last, or to the end where that is cut off.
fn key_blocks(text: &str, spans: &mut Spans) {
    let mut done = 0;
    for (start, _) in text.match_indices("-----BEGIN ") {
        let rest = text.get(start..).unwrap_or_default();
        let title = rest.get(11..).and_then(|title| title.split_once("-----"));
        if start < done || !title.is_some_and(|(title, _)| title.contains("PRIVATE KEY")) {
            continue;
        }
        let end = rest.find("-----END ").and_then(|end| {
            let tail = rest.get(end + 9..)?;
            Some(end + 9 + tail.find("-----")? + 5)
        });
        done = start + end.unwrap_or(rest.len());
        spans.add(start..done);
    }
}

/// `scheme://user:password@host`: who it is stands there for the password's sake.
fn addresses(text: &str, spans: &mut Spans) {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let address = beginning(text.get(start..).unwrap_or_default());
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '?' | '#' | '<' | '>' | '`');
        let address = address.split(ends).next().unwrap_or_default();
        let authority = address.split('/').next().unwrap_or_default();
        // A password may hold a slash that nobody escaped; the last `@` decides then.
        let at = authority.rfind('@').or_else(|| {
            let at = address.rfind('@')?;
            authority.contains(':').then_some(at)
        });
        if let Some(at) = at {
            spans.add(start..start + at);
        }
    }
}

/// As much of a text as an address may take up before its host.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_ADDRESS_CHARS);
    text.get(..end.map_or(text.len(), |(at, _)| at))
        .unwrap_or_default()
}

/// `name = value` in any of the ways that files, shells, headers and broken JSON write it.
fn assignments(text: &str, spans: &mut Spans) {
    let mut done = 0;
    for (at, _) in text.match_indices(['=', ':']) {
        let before = text.get(..at).unwrap_or_default();
        let name = name_at_end(before.trim_end_matches([' ', '\t', '"', '\'', '\\', '`']));
        if at < done || !is_secret_name(name) {
            continue;
        }
        let after = text.get(at + 1..).unwrap_or_default();
        let after = after.strip_prefix(['>', '=']).unwrap_or(after);
        let (start, value) = value(text.len() - after.len(), after, is_header(name));
        if !is_token_count(name, value) {
            done = start + value.len();
            spans.add(start..done);
        }
    }
}

/// Whether everything up to the end of the line belongs to the secret, as in an HTTP header.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie")
}

fn name_at_end(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start = text.rfind(|c| !is_name(c)).map_or(0, |at| {
        at + text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    });
    text.get(start..).unwrap_or_default()
}

/// The value at the start of `rest`, which stands at `at`: to its closing quote, the end of the line of
/// a header, or the end of the word.
fn value(at: usize, rest: &str, is_header: bool) -> (usize, &str) {
    let trimmed = rest.trim_start_matches([' ', '\t', '\\']);
    let quote = trimmed
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'));
    let value = match quote {
        Some(quote) => trimmed.strip_prefix(quote).unwrap_or_default(),
        None => trimmed,
    };
    let start = at + (rest.len() - value.len());
    let is_inner = rest.trim_start_matches([' ', '\t']).starts_with('\\');
    let end = match quote {
        Some(quote) => closing(value, quote, is_inner),
        None if is_header => value.find(['\n', '\r', '"', '\'']),
        None => value.find(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    ',' | ';' | '&' | '"' | '\'' | '<' | '>' | ')' | '}' | ']' | '`'
                )
        }),
    };
    (
        start,
        value.get(..end.unwrap_or(value.len())).unwrap_or_default(),
    )
}

/// Where a quoted text ends. A quote after a backslash belongs to it, unless the opening one has a
/// backslash too: then the whole stands in a quoted text itself.
fn closing(value: &str, quote: char, is_inner: bool) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in value.char_indices() {
        if c == quote && is_inner {
            return Some(if escaped { at - 1 } else { at });
        }
        if c == quote && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// What follows a word that announces it: `Bearer …`, `--password …`, `-u user:…`, `password is …`.
fn words(text: &str, spans: &mut Spans) {
    let mut before = ("", "");
    let mut at = 0;
    for word in text.split_whitespace() {
        let start = at + text.get(at..).and_then(|rest| rest.find(word)).unwrap_or(0);
        at = start + word.len();
        let bare = word.trim_matches(|c| matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | '\\'));
        // In JSON that was cut off the next member follows without a blank.
        let bare = bare.split('"').next().unwrap_or(bare);
        if announces(before, bare) {
            let inside = start + word.find(bare).unwrap_or(0);
            spans.add(inside..inside + bare.len());
        }
        let quoted = |c| matches!(c, '"' | '\'' | '`' | ',' | '[' | '(');
        let last = word.rsplit(quoted).find(|part| !part.is_empty());
        before = (before.1, last.unwrap_or_default());
    }
}

fn announces((earlier, before): (&str, &str), word: &str) -> bool {
    if word.is_empty() || word.starts_with('-') && word.len() < 3 {
        return false;
    }
    if before.eq_ignore_ascii_case("bearer") {
        return word.len() >= 8;
    }
    if matches!(before, "-u" | "--user" | "--proxy-user") {
        return word.contains(':');
    }
    if let Some(flag) = before.strip_prefix('-') {
        let name = flag.trim_start_matches('-');
        let is_pass = name == "p" && earlier.ends_with("sshpass");
        return is_pass
            || !name.contains(['=', ':']) && is_secret_name(name) && !is_token_count(name, word);
    }
    before.eq_ignore_ascii_case("is") && is_secret_name(earlier)
}

/// Whether the next of several arguments is a secret because of this one.
pub(super) fn announces_next(argument: &str) -> bool {
    let flag = argument.trim_start_matches('-');
    let is_flag = flag.len() < argument.len();
    let is_name = !argument.contains(char::is_whitespace) && argument.len() < 40;
    is_name && is_secret_name(flag)
        || is_flag && matches!(argument, "-u" | "--user" | "--proxy-user")
}
