//! Files that hold secrets by where they stand in them: Kubernetes secrets, `.pgpass`.

use super::byte_pairs::BytePairs;
use super::spans::{Spans, place_in};

/// The ports of PostgreSQL and of the poolers before it.
const POSTGRES: [&str; 4] = ["*", "5432", "5433", "6432"];

/// Finds the secrets of such files in a text.
pub(super) fn find(text: &str, pairs: &BytePairs, spans: &mut Spans) {
    let has_secret = pairs.places(text, "kind: Secret").next().is_some();
    let mut section = None;
    for line in text.split_inclusive('\n') {
        let (start, line) = (place_in(text, line), line.trim_end());
        pgpass(start, line, spans);
        if has_secret {
            section = kubernetes(start, line, section, spans);
        }
    }
}

/// `host:port:database:user:password`
fn pgpass(start: usize, line: &str, spans: &mut Spans) {
    let fields: Vec<&str> = line.splitn(6, ':').collect();
    let [_, port, database, user, password] = fields.as_slice() else {
        return;
    };
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    if POSTGRES.contains(port) && [database, user, password].iter().all(|text| is_word(text)) {
        let end = start + line.len();
        spans.add(end - password.len()..end);
    }
}

/// Takes the values of `data:` and `stringData:` out. `section` is the indentation of the open one.
fn kubernetes(
    start: usize,
    line: &str,
    section: Option<usize>,
    spans: &mut Spans,
) -> Option<usize> {
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    if matches!(bare, "data:" | "stringData:") {
        return Some(indent);
    }
    let section = section.filter(|open| indent > *open || bare.is_empty())?;
    if let Some((_, value)) = bare.split_once(": ") {
        let end = start + line.len();
        spans.add(end - value.len()..end);
    }
    Some(section)
}
