//! Who a client is where it says nothing better: by what it shows to the server.
//!
//! A protocol session or a token tells clients apart, but neither may stand in a log: whoever reads one could use it.
//! So a session of the guard is called by a digest. What a person chose (a password) could be guessed from a
//! digest, so there it is keyed with a number that only this process knows.

use hyper::header::{self, HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};
use sprag_core::Id;

/// The session of the guard for a protocol session of the server `at` that path.
pub(super) fn of_session(at: &str, session: &HeaderValue) -> Option<Id> {
    named("mcp-session", &[at.as_bytes(), session.as_bytes()])
}

/// The session of the guard for whoever shows these credentials; none where nothing is shown.
pub(super) fn of_principal(headers: &HeaderMap, secret: &str) -> Option<Id> {
    let shown = headers.get(header::AUTHORIZATION)?.as_bytes();
    let is_drawn = shown
        .get(..7)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
    let key = if is_drawn { "" } else { secret };
    named("mcp-principal", &[key.as_bytes(), shown])
}

fn named(kind: &str, parts: &[&[u8]]) -> Option<Id> {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    let beginning = u128::from_be_bytes(*digest.first_chunk()?);
    Id::new(&format!("{kind}-{beginning:032x}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &'static str) -> HeaderMap {
        let value = HeaderValue::from_static(value);
        HeaderMap::from_iter([(header::AUTHORIZATION, value)])
    }

    #[test]
    fn the_same_token_is_the_same_session_and_is_not_shown() {
        let one = of_principal(&shown("Bearer canary"), "a").unwrap();
        assert_eq!(
            Some(one.clone()),
            of_principal(&shown("Bearer canary"), "b")
        );
        assert_ne!(Some(one.clone()), of_principal(&shown("Bearer other"), "a"));
        assert!(!one.as_str().contains("canary"));
        assert_eq!(one.as_str().len(), "mcp-principal-".len() + 32);
    }

    #[test]
    fn a_password_is_keyed_and_nothing_shown_is_nobody() {
        let of = |secret| of_principal(&shown("Basic bWU6cGFzcw=="), secret);
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert_eq!(of_principal(&HeaderMap::new(), "a"), None);
    }

    #[test]
    fn protocol_sessions_of_two_servers_are_two() {
        let session = HeaderValue::from_static("1");
        assert_ne!(of_session("/a", &session), of_session("/b", &session));
    }
}
