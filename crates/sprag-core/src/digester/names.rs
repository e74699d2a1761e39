//! What the name of an argument or of a part of a result tells about its value.
//!
//! Some values are secrets, and no trace of them may stand alone in a log. Some are made up anew for
//! every request: they say nothing about what is tried or what came of it.

use crate::snake_name::SnakeName;

/// How much of a name is looked at for secrets.
const NAME_BYTES: usize = 64;
/// The most letters in a name that is listed whole.
const LISTED_LETTERS: usize = 20;

/// Whether a value under `name` may be a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let snake = SnakeName::<NAME_BYTES>::new(name);
    let mut before = "";
    snake.as_str().split(['_', ' ', '/', ':']).any(|part| {
        let secret = is_secret_word(part) || part == "key" && makes_key_secret(before);
        before = part;
        secret
    })
}

fn is_secret_word(word: &str) -> bool {
    matches!(
        word,
        "accesskey"
            | "apikey"
            | "auth"
            | "authorization"
            | "bearer"
            | "cookie"
            | "cookies"
            | "credential"
            | "credentials"
            | "jwt"
            | "otp"
            | "passcode"
            | "passphrase"
            | "passwd"
            | "password"
            | "passwords"
            | "privatekey"
            | "pwd"
            | "secret"
            | "secretkey"
            | "secrets"
            | "token"
    )
}

fn makes_key_secret(word: &str) -> bool {
    matches!(
        word,
        "access" | "api" | "encryption" | "private" | "secret" | "signing"
    )
}

/// Whether a value under `name` is made up anew for every request.
pub(super) fn is_nonce(name: &str) -> bool {
    let mut letters = [0; LISTED_LETTERS];
    matches!(
        squash(name, &mut letters),
        b"clienttoken"
            | b"correlationid"
            | b"idempotencykey"
            | b"idempotencytoken"
            | b"nonce"
            | b"requestid"
            | b"requestuuid"
            | b"spanid"
            | b"timestamp"
            | b"traceid"
            | b"traceparent"
            | b"xrequestid"
    )
}

/// Whether a value under `name` says how long something took: noise in a result, a choice in
/// arguments.
pub(super) fn is_measure(name: &str) -> bool {
    let mut letters = [0; LISTED_LETTERS];
    matches!(
        squash(name, &mut letters),
        b"duration"
            | b"durationms"
            | b"durationseconds"
            | b"elapsed"
            | b"elapsedms"
            | b"elapsedseconds"
            | b"elapsedtime"
            | b"latencyms"
            | b"responsetime"
            | b"took"
            | b"tookms"
    )
}

/// The letters of `name` in lower case without separators; nothing if there are too many.
fn squash<'l>(name: &str, letters: &'l mut [u8; LISTED_LETTERS]) -> &'l [u8] {
    let mut count = 0;
    for byte in name.bytes().filter(|byte| !b"_-.".contains(byte)) {
        let Some(letter) = letters.get_mut(count) else {
            return &[];
        };
        *letter = byte.to_ascii_lowercase();
        count += 1;
    }
    letters.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_a_part_of_their_name() {
        for name in [
            "password",
            "dbPassword",
            "DB_PASSWD",
            "api_key",
            "apiKey",
            "X-API-Key",
            "apikey",
            "access_token",
            "Authorization",
            "client-secret",
            "aws.credentials",
            "privateKey",
            "accessKey",
            "session_cookie",
            "bearer",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "max_tokens",
            "key",
            "keyboard",
            "author",
            "passive",
            "path",
            "asset_id",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn nonces_are_known_in_every_spelling() {
        for name in [
            "request_id",
            "requestId",
            "X-Request-ID",
            "nonce",
            "TraceID",
            "timestamp",
        ] {
            assert!(is_nonce(name), "{name}");
        }
        for name in ["id", "asset_id", "requested", "timestamps_after", ""] {
            assert!(!is_nonce(name), "{name}");
        }
        assert!(is_measure("duration_ms") && is_measure("took") && !is_measure("count"));
    }
}
