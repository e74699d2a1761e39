//! Which names announce a secret.

/// Parts of names, in lower case without separators, that make the value under them a secret.
const PARTS: [&str; 19] = [
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "authorization",
    "bearer",
    "connectionstring",
    "cookie",
    "credential",
    "encryptionkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "signingkey",
    "sshkey",
    "token",
];
/// The same where they are a whole word: inside another they mean something else (`author`).
const WORDS: [&str; 7] = ["auth", "jwt", "otp", "pass", "pin", "pwd", "sas"];
/// Names that are longer than this are sentences.
const MAX_NAME_BYTES: usize = 100;

/// Whether a value under `name` may be a secret.
pub(super) fn is_secret(name: &str) -> bool {
    if name.len() > MAX_NAME_BYTES {
        return false;
    }
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let without = letters.replace("tokeniz", "");
    PARTS.iter().any(|part| without.contains(part)) || words(name).any(|word| is_word(&word))
}

fn is_word(word: &str) -> bool {
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The words of a name, at separators and where a capital follows a small letter.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (was_small && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        was_small = c.is_ascii_lowercase();
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c);
        }
    }
    words.into_iter()
}

/// Whether the value under a secret-looking name is only a number of model tokens.
pub(super) fn is_count(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let counts =
        name.contains("tokens") || name.contains("token_count") || name.ends_with("tokencount");
    counts && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether everything up to the end of the line belongs to the secret, as in an HTTP header.
pub(super) fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie")
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
            "api-key",
            "apiKey",
            "X-Api-Key",
            "OPENAI_API_KEY",
            "aws_secret_access_key",
            "Authorization",
            "auth",
            "basicAuth",
            "Set-Cookie",
            "PGPASSWORD",
            "github_token",
            "accessToken",
            "client_secret",
            "AccountKey",
            "SSH_KEY",
            "pin",
            "jwt",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_left_alone() {
        for name in [
            "author",
            "keyboard",
            "primary_key",
            "tokenizer",
            "path",
            "passenger",
            "compass",
            "opinion",
            "id",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_count("max_tokens", "4096"));
        assert!(!is_count("token", "4096"));
        assert!(!is_count("tokens", "abc"));
    }
}
