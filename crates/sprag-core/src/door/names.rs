//! What the name of an argument or of a part of a result tells about its value.
//!
//! Some values are secrets, and no trace of them may stand alone in a log. Some are made up anew for
//! every request: they say nothing about what is tried or what came of it.

use crate::snake_name::SnakeName;

/// Longer names are not looked at.
const NAME_BYTES: usize = 64;

/// Parts of a name that make it look like a secret's.
const SECRET_PARTS: [&str; 22] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "secrets",
    "token",
    "accesskey",
];

/// What comes before `key` in the name of a secret.
const SECRET_KEYS: [&str; 6] = [
    "access",
    "api",
    "encryption",
    "private",
    "secret",
    "signing",
];

/// Names of values made up for one request, without separators.
const NONCES: [&str; 12] = [
    "clienttoken",
    "correlationid",
    "idempotencykey",
    "idempotencytoken",
    "nonce",
    "requestid",
    "requestuuid",
    "spanid",
    "timestamp",
    "traceid",
    "traceparent",
    "xrequestid",
];

/// Names of measured times, without separators: noise in a result, a choice in arguments.
const MEASURES: [&str; 11] = [
    "duration",
    "durationms",
    "durationseconds",
    "elapsed",
    "elapsedms",
    "elapsedseconds",
    "elapsedtime",
    "latencyms",
    "responsetime",
    "took",
    "tookms",
];

/// Whether a value under `name` may be a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let snake = SnakeName::<NAME_BYTES>::new(name);
    let mut before = "";
    snake.as_str().split(['_', ' ', '/', ':']).any(|part| {
        let secret = SECRET_PARTS.contains(&part) || part == "key" && SECRET_KEYS.contains(&before);
        before = part;
        secret
    })
}

/// Whether a value under `name` is made up anew for every request.
pub(super) fn is_nonce(name: &str) -> bool {
    listed(name, &NONCES)
}

/// Whether a value under `name` says how long something took.
pub(super) fn is_measure(name: &str) -> bool {
    listed(name, &MEASURES)
}

/// Whether `name` is one of `list`, letter case and separators aside.
fn listed(name: &str, list: &[&str]) -> bool {
    list.iter().any(|wanted| {
        let letters = name
            .bytes()
            .filter(|byte| !matches!(byte, b'_' | b'-' | b'.'));
        name.len() >= wanted.len()
            && name.len() <= NAME_BYTES
            && letters
                .map(|byte| byte.to_ascii_lowercase())
                .eq(wanted.bytes())
    })
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
