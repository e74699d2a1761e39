//! Secrets that are known by their looks: prefixes that issuers chose, forms, and plain randomness.

use std::ops::Range;

use super::byte_pairs::BytePairs;
use super::issued::is_issued;
use super::public_data;
use super::spans::Spans;

/// Addresses that are secrets themselves: whoever knows what follows may post there.
const HOOKS: [&str; 5] = [
    "hooks.slack.com/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    ".webhook.office.com/",
    "api.telegram.org/bot",
];
/// What starts the hash of a password, as `crypt` writes it.
const CRYPT: [&str; 12] = [
    "$1$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$5$",
    "$6$",
    "$y$",
    "$apr1$",
    "$argon2i$",
    "$argon2d$",
    "$argon2id$",
    "$scrypt$",
];

/// From this length on a mix of letters and digits is taken for a secret.
const RANDOM_CHARS: usize = 32;
/// A secret key of AWS has this length, and slashes.
const AWS_CHARS: usize = 40;

/// Finds secrets by their looks.
pub(super) fn find(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    let public = public_data::find(text, pairs);
    let is_public = |at: usize| public_data::holds(&public, at);
    for (start, word) in runs(text, is_token) {
        if is_formed(word) {
            spans.add(start..start + word.len());
            continue;
        }
        for (at, rest) in inner_starts(word) {
            if is_issued(rest) && !is_public(start + at) {
                spans.add(start + at..start + word.len());
                break;
            }
        }
    }
    let mut drawn = |start: usize, word: &str| {
        if looks_random(word) && !is_public(start) {
            spans.add(start..start + word.len());
        }
    };
    for (start, word) in runs(text, |c| is_token(c) && c != '.' && c != '/') {
        if word.len() >= RANDOM_CHARS {
            drawn(start, word);
        }
    }
    for (start, word) in runs(text, |c| c.is_ascii_alphanumeric() || c == '/' || c == '+') {
        if word.len() == AWS_CHARS {
            drawn(start, word);
        }
    }
    for start in HOOKS.iter().chain(&CRYPT) {
        following((text, *start), pairs, spans);
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Places in a run where a prefix may start: its beginning, and after a character that joins.
fn inner_starts(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let joined = word.match_indices(['=', '/', '.', '-', '_', '+']);
    let starts = std::iter::once(0).chain(joined.map(|(at, _)| at + 1));
    starts.filter_map(|at| Some((at, word.get(at..)?)))
}

/// The longest runs of characters that are `wanted`, with their places.
fn runs(text: &str, wanted: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(&wanted)?;
        let rest = text.get(start..)?;
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        at = start + length;
        Some((start, rest.get(..length)?))
    })
}

/// Capitals, small letters and digits that change about as often as in random text. Words joined in
/// camel case change less often; hex digests have no capitals.
fn looks_random(word: &str) -> bool {
    let class = |byte: u8| match byte {
        b'A'..=b'Z' => 1_u8,
        b'a'..=b'z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let classes: Vec<u8> = word.bytes().map(class).filter(|class| *class > 0).collect();
    let all = [1, 2, 3].iter().all(|class| classes.contains(class));
    let pairs = classes.iter().zip(classes.iter().skip(1));
    let changes = pairs.filter(|(one, next)| one != next).count();
    all && changes * 5 >= classes.len() * 2
}

/// Two forms that have no prefix: `pat….<64 hex>` of Airtable, `<32 hex>-us12` of Mailchimp.
fn is_formed(word: &str) -> bool {
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let airtable = word
        .split_once('.')
        .is_some_and(|(id, rest)| id.len() == 17 && id.starts_with("pat") && is_hex(rest, 64));
    let mailchimp = word.split_once("-us").is_some_and(|(key, place)| {
        is_hex(key, 32) && !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit())
    });
    airtable || mailchimp
}

/// Takes out what follows `start`, up to a blank or a quote. A hash has a salt before it.
fn following((text, start): (&str, &str), pairs: &BytePairs, spans: &mut Spans) {
    let is_hash = start.starts_with('$');
    let mut done = 0;
    for Range { end: from, .. } in pairs.places(text, start) {
        if from < done {
            continue;
        }
        let rest = text.get(from..).unwrap_or_default();
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')');
        let length = rest.find(ends).unwrap_or(rest.len());
        done = from + length;
        let has_salt = rest.get(..length).is_some_and(|hash| hash.contains('$'));
        if !is_hash || length >= 20 && (has_salt || start.starts_with("$2")) {
            spans.add(from..done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_names_and_paths_are_no_secrets() {
        for text in [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "550e8400-e29b-41d4-a716-446655440000",
            "TestUserServiceShouldReturn404WhenMissing",
            "crates/sprag-core/src/rules/progress/Recurrence.rs:17",
            "sk-learn and hf_hub and the AKIA of old",
            "toolu_01 call_abc123 gpt-4.1-mini-2025-04-14",
        ] {
            let mut spans = Spans::default();
            find(text, &BytePairs::of(text), &mut spans);
            assert_eq!(spans.replace(text, "*"), text);
        }
    }
}
