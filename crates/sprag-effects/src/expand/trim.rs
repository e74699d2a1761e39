//! `${name%pattern}` and its kin, for patterns of plain text, `*` and `?`.

use super::field::{Field, HOME, UNKNOWN};
use crate::shell::Trim;

/// The longest value that is trimmed.
const MAX_BYTES: usize = 256;

/// `value` without what `pattern` takes from one of its ends; none if that is not known.
pub(super) fn trimmed(value: &Field, trim: Trim, pattern: &Field) -> Option<Field> {
    let (text, glob) = (value.raw(), pattern.raw());
    let odd = |text: &str| text.contains(['[', ']', '\\', '(', ')', '|', '~']);
    let long = text.len() > MAX_BYTES || glob.len() > MAX_BYTES;
    if long || !pattern.is_known() || odd(glob) || text.contains(UNKNOWN) || value.has_unset() {
        return None;
    }
    // Quoted stars are text, and a field does not say which of its stars are quoted.
    let stars = glob.contains(['*', '?']);
    if stars && !pattern.globs {
        return None;
    }
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    if trim.end != trim.longest {
        ends.reverse();
    }
    let found = ends.into_iter().find(|at| {
        let (before, after) = text.split_at_checked(*at).unwrap_or_default();
        matches(glob, if trim.end { after } else { before })
    });
    // The end of a home is not known, except that no slash is there.
    if text.contains(HOME) && !(glob == "/" && trim.end) {
        return None;
    }
    let kept = match (found, trim.end) {
        (None, _) => Some(text),
        (Some(at), true) => text.get(..at),
        (Some(at), false) => text.get(at..),
    };
    let mut kept = Field::literal(kept?);
    kept.globs = value.globs;
    Some(kept)
}

/// Whether `text` is what `pattern` describes.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stood, and from where what follows it was tried.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || Some(&wanted) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else {
                    return false;
                };
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == '*')
}
