//! Secrets that a word before them announces: `Bearer …`, `--password …`, `password is …`.

use sprag_core::{is_secret_name, is_token_count};

use super::spans::{Spans, place_in};

/// From this length on, a word of letters and digits after the name of a secret is taken for one.
const VALUE_CHARS: usize = 8;
/// `token` is also a word of parsers and models, which print identifiers after it.
const TOKEN_CHARS: usize = 12;
/// What a code is for, if it is a secret.
const CODES: [&str; 8] = [
    "verification",
    "security",
    "one-time",
    "recovery",
    "backup",
    "login",
    "access",
    "authentication",
];
/// What a key is for, if it is a secret.
const KEYS: [&str; 7] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "license",
];

/// What a password may be instead of a value.
const STATES: [&str; 24] = [
    "a",
    "also",
    "an",
    "correct",
    "empty",
    "expired",
    "hashed",
    "in",
    "incorrect",
    "invalid",
    "kept",
    "missing",
    "never",
    "not",
    "now",
    "only",
    "required",
    "set",
    "still",
    "stored",
    "the",
    "too",
    "valid",
    "wrong",
];

/// Finds what a word before it announces.
pub(super) fn find(text: &str, spans: &mut Spans) {
    let mut before: [&str; 4] = [""; 4];
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c| matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | '\\'));
        // In JSON that was cut off the next member follows without a blank.
        let bare = bare.split('"').next().unwrap_or(bare);
        let is_quoted = word.starts_with(['"', '\'', '`']);
        let flag_or_name = announces([before[2], before[3]], bare);
        if flag_or_name || said(before, bare.trim_end_matches('.'), is_quoted) {
            let inside = place_in(text, bare);
            spans.add(inside..inside + bare.len());
        }
        let quoted = |c| matches!(c, '"' | '\'' | '`' | ',' | '[' | '(');
        let last = word.rsplit(quoted).find(|part| !part.is_empty());
        before.rotate_left(1);
        before[3] = last.unwrap_or_default();
    }
}

/// `Bearer …`, `-u user:…`, `--password …`, `password is …`.
fn announces([earlier, before]: [&str; 2], word: &str) -> bool {
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
        return !name.contains(['=', ':']) && is_secret_name(name) && !is_token_count(name, word);
    }
    before.eq_ignore_ascii_case("is") && is_secret_name(earlier) && is_told(earlier, word)
}

/// Whether `word` is the secret in "`name` is `word`", and not how the secret is: "is not set".
fn is_told(name: &str, word: &str) -> bool {
    let is_word = word.chars().skip(1).all(|c| c.is_ascii_lowercase());
    !is_word || name.to_ascii_lowercase().contains("passw") && !STATES.contains(&word)
}

/// `login me password …`, `IDENTIFIED BY '…'`, `GITHUB_TOKEN …`, `api key …`, `verification code is …`.
fn said(before: [&str; 4], word: &str, is_quoted: bool) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_login = |word: &&str| without_sign(word).eq_ignore_ascii_case("login");
    // Whatever is announced has a digit, stands in quotes or follows a login: most words do not.
    if !has_digit && !is_quoted && !before.iter().any(is_login) {
        return false;
    }
    let plain = |word: &str| without_sign(word).to_ascii_lowercase();
    let mut words: Vec<String> = before.iter().map(|word| plain(word)).collect();
    words.retain(|word| !word.is_empty());
    let was_said = words
        .pop_if(|word| matches!(&**word, "is" | "was"))
        .is_some();
    let mut last = words.iter().rev().map(String::as_str);
    let (name, earlier) = (
        last.next().unwrap_or_default(),
        last.next().unwrap_or_default(),
    );
    let is_login = last.next() == Some("login") && name == "password";
    if name == "code" && CODES.contains(&earlier) {
        return has_digit;
    }
    if is_login || name == "by" && earlier == "identified" {
        return is_login || is_quoted;
    }
    if name == "key" && KEYS.contains(&earlier) {
        return is_value(word, VALUE_CHARS);
    }
    let is_password = matches!(name, "password" | "passwd" | "passphrase");
    if is_password && is_quoted && !was_said {
        return word.len() >= 4;
    }
    let is_name = !name.contains(['=', '/', '(']) && is_secret_name(name);
    let is_variable = before[3].contains('_') && !before[3].contains(|c: char| c.is_lowercase());
    let least = if is_password || is_variable {
        VALUE_CHARS
    } else {
        TOKEN_CHARS
    };
    is_name && is_value(word, least)
}

/// Letters and digits in one word without the signs of code, paths and addresses.
fn without_sign(word: &str) -> &str {
    word.trim_end_matches([':', '='])
}

fn is_value(word: &str, least: usize) -> bool {
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    let is_plain = !word.contains(['/', '(', '=', ':', '.', '{', '<', '$', '[']);
    word.len() >= least && is_plain && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// Whether the next of several arguments is a secret because of this one.
pub(super) fn announces_next(argument: &str) -> bool {
    let flag = argument.trim_start_matches('-');
    let is_flag = flag.len() < argument.len();
    let is_name = !argument.contains(char::is_whitespace) && argument.len() < 40;
    is_name && is_secret_name(flag)
        || is_flag && matches!(argument, "-u" | "--user" | "--proxy-user")
}
