//! A text without its noise and its numbers: what two answers have in common that differ in counts and ids only.
//!
//! Short hashes are left out too, since a receipt often bears one (`queued with id 3fa9c1b2-54d1`). They are no
//! noise: a hash that a program computed is an answer, and beside a single word it is what the text says.
//!
//! Bounded by: the first 4 KiB.

/// How much of a text has a shape.
const SHAPE_BYTES: usize = 4 * 1024;
/// The fewest digits of a hash that a shape leaves out, and of another group of digits that belongs to it.
const SHORT_HASH: usize = 6;
const GROUP: usize = 3;
/// A text of so many words without digits says more than its hash.
const SAYING_WORDS: usize = 2;
/// What stands for noise.
const NOISE: char = '\u{1}';

/// Appends what is left of the beginning of `normal`, a text without noise, when numbers and short hashes are taken
/// out too.
pub(crate) fn shape(normal: &str, out: &mut String) {
    let end = normal.floor_char_boundary(SHAPE_BYTES);
    let mut rest = normal.get(..end).unwrap_or_default();
    let says_more = words(rest).nth(SAYING_WORDS - 1).is_some();
    out.reserve(rest.len());
    while let Some(at) = rest.bytes().position(|byte| byte.is_ascii_digit()) {
        let (plain, number) = rest.split_at(at);
        let head = plain.bytes().rev().take_while(u8::is_ascii_alphanumeric);
        let (plain, head) = plain.split_at(plain.len() - head.count());
        let tail = number.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (tail, after) = number.split_at(tail);
        push_text(plain, out);
        if says_more && is_short_hash(head, tail) {
            rest = after_groups(after);
        } else {
            out.push_str(head);
            rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        out.push('0');
    }
    push_text(rest, out);
}

/// The words of a text that have no digit in them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Noise that was left out is like a number: what is too short for noise is one.
fn push_text(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c == NOISE { '0' } else { c }));
}

/// What follows the other groups of a hash: `-54d1-4232`.
fn after_groups(mut rest: &str) -> &str {
    while let Some(group) = rest.strip_prefix(['-', '_']) {
        let digits = group.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (_, after) = group.split_at(digits);
        if digits < GROUP || after.starts_with(|c: char| c.is_alphanumeric()) {
            break;
        }
        rest = after;
    }
    rest
}

/// Whether a word, cut in two, is six hexadecimal digits or more with letters and digits among them.
fn is_short_hash(head: &str, tail: &str) -> bool {
    let mut bytes = head.bytes().chain(tail.bytes());
    let has_letter = || {
        head.bytes()
            .chain(tail.bytes())
            .any(|byte| byte.is_ascii_alphabetic())
    };
    head.len() + tail.len() >= SHORT_HASH
        && has_letter()
        && bytes.all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_hash_is_left_out_of_a_shape() {
        let of = |text: &str| {
            let mut out = String::new();
            shape(text, &mut out);
            out
        };
        assert_eq!(
            of("queued with id 3fa9c1b2."),
            of("queued with id b2c09d7e.")
        );
        assert_eq!(of("issues/51"), of("issues/52"));
        assert_eq!(
            of("envelope 2b327dad-54d1-4232 was sent"),
            of("envelope e556a0b5-092f-4c04 was sent")
        );
        for (left, right) in [
            ("screenshot 3fa9c1b2", "screenshot b2c09d7e"),
            ("part a1b2", "part a1c2"),
            ("module 7", "facade 7"),
            ("id 3g9c1b2", "id 3h9c1b2"),
        ] {
            assert_ne!(of(left), of(right), "{left} / {right}");
        }
    }

    #[test]
    fn a_shape_is_what_is_left_without_numbers() {
        let shape_of = |text| {
            let mut out = String::new();
            shape(text, &mut out);
            out
        };
        assert_eq!(shape_of("base 13920>"), shape_of("base 7>"));
        assert_ne!(shape_of("base 7>"), shape_of("base seven>"));
    }
}
