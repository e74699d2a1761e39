//! Which names announce a secret: the one list for digesting, capturing and redacting.
//!
//! No trace of a secret may stand alone in a log. The digester therefore makes no digest of a value
//! under such a name, and what is captured keeps the value out.

use crate::snake_name::SnakeName;

/// What makes a value a secret, wherever it stands in the letters of its name.
const PARTS: [&str; 29] = [
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "authorization",
    "bearer",
    "clientkey",
    "connectionstring",
    "cookie",
    "credential",
    "decryptionkey",
    "encryptionkey",
    "functionskey",
    "keypass",
    "masterkey",
    "mnemonic",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "presharedkey",
    "privatekey",
    "secret",
    "signingkey",
    "sshkey",
    "storepass",
    "subscriptionkey",
    "token",
    "validationkey",
];
/// The same as whole words only: inside another word they mean something else (`author`).
const WORDS: [&str; 8] = ["auth", "jwt", "otp", "pass", "pin", "psk", "pwd", "sas"];
/// Longer names are sentences.
const MAX_NAME_BYTES: usize = 100;

/// Whether a value under `name` may be a secret. The spelling of the name does not matter: `apiKey`,
/// `API_KEY` and `X-Api-Key` are the same.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if name.len() > MAX_NAME_BYTES {
        return false;
    }
    // Words are told apart by capitals too; most names have none.
    if name
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        return has_secret(name);
    }
    // No character has more than twice as many bytes in snake case, so nothing is cut.
    has_secret(SnakeName::<{ 2 * MAX_NAME_BYTES }>::new(name).as_str())
}

/// The letters of a text as a set, whatever their case. Other bytes may set any bit: that finds more, never less.
const fn letters_of(text: &[u8]) -> u32 {
    let (mut letters, mut rest) = (0, text);
    while let [byte, after @ ..] = rest {
        letters |= 1 << (*byte & 31);
        rest = after;
    }
    letters
}

/// The letters of each part and word.
const LETTERS: [u32; PARTS.len() + WORDS.len()] = {
    let mut letters = [0; PARTS.len() + WORDS.len()];
    let (mut rest, mut others) = (PARTS.as_slice(), WORDS.as_slice());
    let mut to = letters.as_mut_slice();
    while let [slot, after @ ..] = to {
        (*slot, rest, others) = match (rest, others) {
            ([part, rest @ ..], others) => (letters_of(part.as_bytes()), rest, others),
            ([], [word, others @ ..]) => (letters_of(word.as_bytes()), rest, others),
            ([], []) => (0, rest, others),
        };
        to = after;
    }
    letters
};

/// The same for a name without capitals.
fn has_secret(name: &str) -> bool {
    // Nearly every name lacks a letter of every one of them.
    let letters = letters_of(name.as_bytes());
    let may_have = LETTERS
        .iter()
        .fold(false, |any, of| any | (of & !letters == 0));
    if !may_have {
        return false;
    }
    // The letters and digits of the name without separators. The digester asks for every argument
    // of every call, so they are kept on the stack.
    let mut letters = [0; MAX_NAME_BYTES];
    let (mut length, mut word_start) = (0, 0);
    for byte in name.bytes() {
        if !byte.is_ascii_alphanumeric() {
            if is_word(letters.get(word_start..length)) {
                return true;
            }
            word_start = length;
        } else if let Some(slot) = letters.get_mut(length) {
            *slot = byte;
            length += 1;
        }
    }
    let starts = (0..length).filter_map(|start| letters.get(start..length));
    is_word(letters.get(word_start..length)) || starts.into_iter().any(starts_with_part)
}

fn is_word(letters: Option<&[u8]>) -> bool {
    WORDS.iter().any(|word| letters == Some(word.as_bytes()))
}

fn starts_with_part(letters: &[u8]) -> bool {
    // Most letters start none of them, which saves the comparison of all parts.
    let may_start = matches!(
        letters,
        [b'a', b'c' | b'p' | b'u', ..]
            | [b'b' | b'd' | b'k', b'e', ..]
            | [b'c', b'l' | b'o' | b'r', ..]
            | [b'e', b'n', ..]
            | [b'f', b'u', ..]
            | [b'm', b'a' | b'n', ..]
            | [b'p', b'a' | b'r', ..]
            | [b's', b'e' | b'i' | b's' | b't' | b'u', ..]
            | [b't', b'o', ..]
            | [b'v', b'a', ..]
    );
    may_start
        && PARTS
            .iter()
            .any(|part| letters.starts_with(part.as_bytes()))
        && !letters.starts_with(b"tokeniz")
}

/// Whether the value under a secret-looking name is only a number of model tokens.
#[must_use]
pub fn is_token_count(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let counts =
        name.contains("tokens") || name.contains("token_count") || name.ends_with("tokencount");
    counts && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in [
            "password",
            "DB_PASSWORD",
            "userPassword",
            "PGPASSWORD",
            "api-key",
            "apiKey",
            "X-API-Key",
            "OPENAI_API_KEY",
            "aws_secret_access_key",
            "aws.credentials",
            "Authorization",
            "auth",
            "basicAuth",
            "Set-Cookie",
            "session_cookie",
            "github_token",
            "accessToken",
            "max_tokens",
            "client-secret",
            "privateKey",
            "AccountKey",
            "SSH_KEY",
            "bearer",
            "jwt",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_left_alone() {
        for name in [
            "author",
            "key",
            "keyboard",
            "primary_key",
            "tokenizer",
            "path",
            "passive",
            "passenger",
            "compass",
            "opinion",
            "asset_id",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(!is_secret_name(&"password ".repeat(12)));
    }

    #[test]
    fn a_number_of_tokens_is_not_a_secret() {
        assert!(is_token_count("max_tokens", "4096"));
        assert!(!is_token_count("token", "4096"));
        assert!(!is_token_count("tokens", "abc"));
    }

    #[test]
    fn every_part_starts_with_letters_that_are_looked_for() {
        for part in PARTS {
            assert!(starts_with_part(part.as_bytes()), "{part}");
        }
    }
}
