//! A flow's correlation id on its way to the upstream: in the body, as `traceparent` and in the `baggage`.
//!
//! A fresh id is 16 random bytes in hex, which is also what the W3C calls a trace id: so a whole flow is one
//! trace. An id that a client made may be any text; its trace id is then derived from it, always the same.

use axum::http::HeaderValue;
use sha2::{Digest as _, Sha256};
use sprag::Id;

use super::headers::percent_encoded;
use crate::problem::{Problem, ProblemKind};

/// The flow's key in the baggage.
const KEY: &str = "sprag.flow";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Problem::new(
            ProblemKind::Unavailable,
            format!("the system gives no random numbers: {error}"),
        )),
    }
}

/// A fresh id with nothing in it to guess.
pub(super) fn fresh() -> Result<Id, Problem> {
    let text = hex(&random::<16>()?);
    Id::new(&text).map_err(|error| Problem::new(ProblemKind::Unavailable, error.to_string()))
}

/// The trace context of a message of `flow`.
pub(super) fn parent(flow: &Id) -> Result<HeaderValue, Problem> {
    let text = format!("00-{}-{}-01", trace_id(flow), hex(&random::<8>()?));
    HeaderValue::try_from(text).map_err(|error| {
        Problem::new(
            ProblemKind::Unavailable,
            format!("the trace context: {error}"),
        )
    })
}

fn trace_id(flow: &Id) -> String {
    let text = flow.as_str();
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() == 32 && text.bytes().all(is_hex) && text.bytes().any(|byte| byte != b'0') {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    hex(digest.get(..16).unwrap_or_default())
}

/// The baggage with the flow in it, and with what others put there.
pub(super) fn baggage<'a>(held: impl Iterator<Item = &'a HeaderValue>, flow: &Id) -> String {
    let mut members: Vec<String> = held
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|member| member.trim().to_owned())
        .filter(|member| !member.is_empty() && key_of(member) != KEY)
        .collect();
    members.push(format!("{KEY}={}", percent_encoded(flow.as_str())));
    members.join(",")
}

fn key_of(member: &str) -> &str {
    member.split('=').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_is_its_own_trace_id() {
        let id = fresh().unwrap();
        let parent = parent(&id).unwrap();
        let parts: Vec<&str> = parent.to_str().unwrap().split('-').collect();
        assert_eq!((parts[0], parts[1], parts[3]), ("00", id.as_str(), "01"));
        assert_eq!(parts[2].len(), 16);
        assert_ne!(fresh().unwrap(), id);
    }

    #[test]
    fn any_other_id_has_a_trace_id_of_its_own() {
        for text in [
            "abc123",
            "0".repeat(32).as_str(),
            "A".repeat(32).as_str(),
            "fluß",
        ] {
            let id = Id::new(text).unwrap();
            assert_eq!(trace_id(&id).len(), 32);
            assert_ne!(trace_id(&id), text);
            assert_eq!(trace_id(&id), trace_id(&id));
        }
        let abc = Id::new("abc123").unwrap();
        assert_eq!(trace_id(&abc), "6ca13d52ca70c883e0f0bb101e425a89");
    }

    #[test]
    fn the_baggage_of_others_stays() {
        let held = [
            HeaderValue::from_static("user=1;x=y, sprag.flow=forged"),
            HeaderValue::from_static("k=v"),
        ];
        let flow = Id::new("a b,c").unwrap();
        assert_eq!(
            baggage(held.iter(), &flow),
            "user=1;x=y,k=v,sprag.flow=a%20b%2Cc"
        );
    }
}
