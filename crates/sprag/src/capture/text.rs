//! Secrets that are known by what stands before them: `password=`, `Authorization:`, `--token`.

use std::ops::Range;

use sprag_core::{is_secret_name, is_token_count};

use super::byte_pairs::BytePairs;
use super::spans::Spans;
use super::{command_line, secret_files, words};

/// Parameters of addresses that carry a secret under a name that means nothing elsewhere.
const PARAMETERS: [&str; 6] = [
    "key=",
    "sig=",
    "signature=",
    "code=",
    "X-Amz-Signature=",
    "X-Goog-Signature=",
];
/// Cookies that hold a session, in programs' own names for them.
const SESSION_COOKIES: [&str; 4] = [
    "PHPSESSID",
    "JSESSIONID",
    "ASP.NET_SessionId",
    "connect.sid",
];
/// Functions that take the name of a secret and do not hold one.
const READERS: [&str; 6] = ["get", "read", "fetch", "load", "find", "has"];

/// How far a password in an address is looked for.
const MAX_ADDRESS_CHARS: usize = 300;

/// Finds secrets by their surroundings.
pub(super) fn find(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    key_blocks(text, pairs, spans);
    addresses(text, pairs, spans);
    parameters(text, pairs, spans);
    assignments(text, spans);
    words::find(text, spans);
    command_line::find(text, spans);
    secret_files::find(text, pairs, spans);
}

/// Private keys, from their first line to their last, or to the end where that is cut off.
fn key_blocks(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    let mut done = 0;
    for Range { start, .. } in pairs.places(text, "-----BEGIN ") {
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
fn addresses(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    for Range { end: start, .. } in pairs.places(text, "://") {
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

/// `?key=…` and the like, in addresses only.
fn parameters(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    for name in PARAMETERS {
        let mut done = 0;
        for Range { start: at, end } in pairs.places(text, name) {
            // Looking back is bounded, so that a text without blanks costs no more than others.
            let from = text.floor_char_boundary(at.saturating_sub(MAX_ADDRESS_CHARS));
            let before = text.get(from..at).unwrap_or_default();
            if at < done || !before.ends_with(['?', '&', ';']) {
                continue;
            }
            let word = before.rsplit(char::is_whitespace).next();
            if word.is_some_and(|word| word.contains("://")) {
                let rest = text.get(end..).unwrap_or_default();
                let ends = |c: char| {
                    c.is_whitespace() || matches!(c, '&' | '"' | '\'' | '<' | '>' | '#' | '`')
                };
                done = end + rest.find(ends).unwrap_or(rest.len());
                spans.add(end..done);
            }
        }
    }
}

/// `name = value` in any of the ways that files, shells, headers, programs and broken JSON write it.
fn assignments(text: &str, spans: &mut Spans) {
    let mut done = 0;
    for (at, sign) in text.match_indices(['=', ':', '(', ',', '>']) {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 1..).unwrap_or_default();
        if at < done || !is_assignment(sign, before, after) {
            continue;
        }
        let name = name_at_end(before.trim_end_matches([' ', '\t', '"', '\'', '\\', '`', ']']));
        let is_cookie = SESSION_COOKIES.contains(&name);
        if !is_cookie && (!is_secret_name(name) || sign == "(" && is_reader(name)) {
            continue;
        }
        let after = after.strip_prefix(['>', '=']).unwrap_or(after);
        let offset = text.len() - after.len();
        let (start, value) =
            folded(offset, after).unwrap_or_else(|| value(offset, after, is_line(name)));
        if !is_token_count(name, value) && !is_code(text, start, value) {
            done = start + value.len();
            spans.add(start..done);
        }
    }
}

/// Whether `sign` joins a name and a value: `set_password("…")`, `define('PASSWORD', '…')` and
/// `<password>…` do, other brackets and commas don't.
fn is_assignment(sign: &str, before: &str, after: &str) -> bool {
    let is_quoted = after.trim_start_matches(' ').starts_with(['"', '\'']);
    match sign {
        "(" => is_quoted,
        "," => {
            let Some(quoted) = before.strip_suffix(['"', '\'']) else {
                return false;
            };
            let call = quoted.strip_suffix(name_at_end(quoted)).unwrap_or_default();
            is_quoted && (call.ends_with("('") || call.ends_with("(\""))
        }
        ">" => {
            let tag = before.strip_suffix(name_at_end(before));
            tag.is_some_and(|tag| tag.ends_with('<')) && !after.starts_with('<')
        }
        _ => true,
    }
}

/// Whether the value is a call in a program: `token = parser.next_token()`.
fn is_code(text: &str, start: usize, value: &str) -> bool {
    let is_quoted = text
        .get(..start)
        .is_some_and(|before| before.ends_with(['"', '\'', '`']));
    let Some((path, rest)) = value.split_once('(').filter(|_| !is_quoted) else {
        return false;
    };
    let is_path = path
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':'));
    is_path && !path.is_empty() && (path.contains(['.', '_', ':']) || rest.is_empty())
}

fn is_reader(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    READERS.iter().any(|word| name.starts_with(word))
}

/// The value on the lines below its name, as YAML writes it: `key: |` and `key: >-`.
fn folded(at: usize, rest: &str) -> Option<(usize, &str)> {
    let head = rest.trim_start_matches([' ', '\t']);
    let head = head.strip_prefix(['|', '>'])?;
    let head = head.trim_start_matches(['-', '+']).strip_prefix('\n')?;
    let mut length = 0;
    for line in head.split_inclusive('\n') {
        if !line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            break;
        }
        length += line.len();
    }
    let value = head.get(..length)?.trim_end();
    let blank = value.len() - value.trim_start().len();
    Some((at + (rest.len() - head.len()) + blank, value.trim_start()))
}

/// Whether everything up to the end of the line belongs to the secret, as in an HTTP header or a
/// phrase of words.
fn is_line(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "mnemonic", "phrase"]
        .iter()
        .any(|end| name.ends_with(end))
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
fn value(at: usize, rest: &str, is_line: bool) -> (usize, &str) {
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
        None if is_line => value.find(['\n', '\r', '"', '\'']),
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
