//! What looks drawn and is meant to be seen: pictures, checksums, public keys, certificates.
//!
//! Redacting them makes logs unreadable and protects nobody.

use std::ops::Range;

use super::byte_pairs::BytePairs;

/// How files that agents pass around as base64 start: PNG, JPEG, GIF, WebP, SVG, PDF.
const FILES: [&str; 7] = [
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "UklGR",
    "PHN2Zy",
    "PD94bWwg",
    "JVBERi0",
];
/// How checksums and public keys start.
const PUBLIC: [&str; 10] = [
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "SHA256:",
    "h1:",
    ";base64,",
    "AAAAB3NzaC1",
    "AAAAC3NzaC1",
    "AAAAE2VjZHNh",
];

/// The places of such data in `text`, in order.
pub(super) fn find(text: &str, pairs: &BytePairs) -> Vec<Range<usize>> {
    let mut found = blocks(text, pairs);
    for start in FILES.iter().chain(&PUBLIC) {
        let mut done = 0;
        for Range {
            start: at,
            end: body,
        } in pairs.places(text, start)
        {
            if at < done || !begins(text, at, start) {
                continue;
            }
            let rest = text.get(body..).unwrap_or_default();
            done = body + rest.find(|c| !is_base64(c)).unwrap_or(rest.len());
            found.push(at..done);
        }
    }
    found.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Whether `at` lies in one of `ranges`, which [`find`] returned.
pub(super) fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    let last = after.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| range.contains(&at))
}

fn begins(text: &str, at: usize, start: &str) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    start.starts_with(';') || !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '+')
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')
}

/// Certificates and public keys, from their first line to their last.
fn blocks(text: &str, pairs: &BytePairs) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !pairs.may_hold("-----BEGIN ") {
        return found;
    }
    for kind in ["CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST"] {
        let (begin, end) = (
            format!("-----BEGIN {kind}-----"),
            format!("-----END {kind}-----"),
        );
        let mut from = 0;
        while let Some(start) = text.get(from..).and_then(|rest| rest.find(&begin)) {
            let start = from + start;
            let rest = text.get(start..).unwrap_or_default();
            let length = rest
                .find(&end)
                .map_or(rest.len(), |length| length + end.len());
            found.push(start..start + length);
            from = start + length;
        }
    }
    found
}
