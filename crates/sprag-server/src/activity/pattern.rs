//! What equal messages have in common.

/// A message without what differs between equal ones: numbers, and words that hold digits and look like ids.
pub(super) fn pattern(message: &str) -> String {
    let mut pattern = String::with_capacity(message.len());
    let mut word = String::new();
    for c in message.chars() {
        if c.is_alphanumeric() || c == '_' || c == '-' {
            word.push(c);
        } else {
            push(&mut pattern, &word);
            word.clear();
            pattern.push(c);
        }
    }
    push(&mut pattern, &word);
    pattern
}

/// The words that are ids as a whole are at least this long.
const ID: usize = 16;

fn push(pattern: &mut String, word: &str) {
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    let is_id =
        has_digit && (word.len() >= ID || word.chars().all(|c| c.is_ascii_hexdigit() || c == '-'));
    if is_id {
        pattern.push('#');
        return;
    }
    let mut in_number = false;
    for c in word.chars() {
        let digit = c.is_ascii_digit();
        if !digit {
            pattern.push(c);
        } else if !in_number {
            pattern.push('#');
        }
        in_number = digit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_numbers_and_ids_are_equal_and_others_are_not() {
        let of = |text| pattern(text);
        assert_eq!(of("3 deletes in 12s (a.tmp)"), "# deletes in #s (a.tmp)");
        assert_eq!(
            of("depth 6 exceeds limit (max 5)"),
            of("depth 7 exceeds limit (max 5)")
        );
        assert_eq!(of("courier-2c wrote"), of("courier-14c wrote"));
        assert_eq!(of("run 0b9f2f0a-11cd-4e2b"), of("run 77"));
        assert_ne!(of("run_tests failed"), of("get_tests failed"));
        assert_eq!(of("größe 10 µs"), "größe # µs");
    }
}
