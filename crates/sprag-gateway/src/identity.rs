//! Who sends a request: the session, the sub-agent, and whether a person just spoke.
//!
//! The clients' own headers come first, then a header for this gateway, then what other gateways
//! use. A client that sends nothing is known by what its conversation keeps from start to end: the
//! credential, the system text and the first words of its user.

use hyper::HeaderMap;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::conversations::{Credential, hex};
use crate::request::ModelRequest;

/// Headers that name a session, the clients' own first.
const SESSIONS: [&str; 9] = [
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "x-session-id",
    "x-opencode-session",
    "x-sprag-session",
    "x-litellm-session-id",
    "x-bf-session-id",
    "helicone-session-id",
];
/// What clients show to their provider.
const CREDENTIALS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/// Who sends a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) session: String,
    /// Nobody named the session: every conversation that begins alike goes by it.
    pub(crate) is_guessed: bool,
    /// The sub-agent, in its own session below the client's.
    pub(crate) agent: Option<String>,
    pub(crate) parent: Option<String>,
    /// The client, as a kind of agent.
    pub(crate) client: Option<&'static str>,
    pub(crate) speaker: Speaker,
}

/// Whether a person spoke, by what the client says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The client names its user's prompt.
    Prompt(String),
    /// The client names a run, which a person or a program started.
    Run(String),
    /// The client says that a person wrote.
    Person,
    /// The client says that nobody did.
    Nobody,
    /// The client says nothing.
    Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TurnMetadata {
    turn_id: Option<String>,
    turn_trigger: Option<String>,
    agent_name: Option<String>,
}

impl Identity {
    /// Reads a request's headers and, if they name no session, its content.
    pub(crate) fn of(
        headers: &HeaderMap,
        request: &ModelRequest,
        credential: &Credential,
        own: Option<&str>,
    ) -> Self {
        let named = SESSIONS.iter().find_map(|name| text(headers, name));
        // opencode names the session above as well; the client's session is the one at the top.
        let above = text(headers, "x-parent-session-id");
        let known = above.or(named).or(request.session.as_deref()).or(own);
        let session = known
            .map(bounded)
            .unwrap_or_else(|| fingerprint(credential, request));
        let agent = text(headers, "x-claude-code-agent-id").or_else(|| {
            text(headers, "x-codex-parent-thread-id").and_then(|_| text(headers, "thread-id"))
        });
        let agent = agent.or_else(|| above.and(named)).map(bounded);
        let delegate = || request.is_delegate.then(|| delegate(request));
        let parent = text(headers, "x-claude-code-parent-agent-id");
        Self {
            session,
            is_guessed: known.is_none(),
            agent: agent.or_else(delegate),
            parent: parent.map(bounded),
            client: client(headers),
            speaker: speaker(headers),
        }
    }
}

/// The digest of what the client shows; all zeros if it shows nothing. Gemini takes a key in the query.
pub(crate) fn credential(headers: &HeaderMap, query: Option<&str>, key: &[u8]) -> Credential {
    let mut digest = Sha256::new();
    digest.update(key);
    let mut shown = false;
    let pairs = query.unwrap_or_default().split('&');
    for pair in pairs.filter(|pair| pair.starts_with("key=")) {
        shown = true;
        digest.update(pair.as_bytes());
    }
    for name in CREDENTIALS {
        for value in headers.get_all(name) {
            shown = true;
            digest.update(name.as_bytes());
            digest.update(value.len().to_be_bytes());
            digest.update(value.as_bytes());
        }
    }
    let digest = digest.finalize();
    match digest.first_chunk::<16>() {
        Some(digest) if shown => *digest,
        _ => Credential::default(),
    }
}

fn fingerprint(credential: &Credential, request: &ModelRequest) -> String {
    let mut digest = Sha256::new();
    digest.update(credential);
    digest.update(&request.opening);
    let digest = digest.finalize();
    format!("gateway-{}", hex(digest.get(..12).unwrap_or_default()))
}

/// A sub-agent that names itself nowhere is known by what it was told.
fn delegate(request: &ModelRequest) -> String {
    let digest = Sha256::digest(&request.opening);
    format!("sub-{}", hex(digest.get(..6).unwrap_or_default()))
}

fn speaker(headers: &HeaderMap) -> Speaker {
    if let Some(prompt) = text(headers, "x-claude-code-prompt-id") {
        return match text(headers, "x-claude-code-request-class") {
            None | Some("main") => Speaker::Prompt(prompt.to_owned()),
            Some(_) => Speaker::Nobody,
        };
    }
    if let Some(initiator) = text(headers, "x-initiator") {
        return match initiator {
            "user" => Speaker::Person,
            _ => Speaker::Nobody,
        };
    }
    let metadata = text(headers, "x-codex-turn-metadata");
    let metadata: Option<TurnMetadata> =
        metadata.and_then(|metadata| serde_json::from_str(metadata).ok());
    let Some(TurnMetadata {
        turn_id: Some(turn),
        turn_trigger: Some(trigger),
        agent_name,
    }) = metadata
    else {
        return Speaker::Unknown;
    };
    if agent_name.is_some_and(|name| name != "/root") {
        return Speaker::Nobody;
    }
    match trigger.as_str() {
        "user" => Speaker::Prompt(turn),
        "exec" => Speaker::Run(turn),
        _ => Speaker::Unknown,
    }
}

fn client(headers: &HeaderMap) -> Option<&'static str> {
    let agent = text(headers, "user-agent")?.to_ascii_lowercase();
    let starts = [
        ("claude-cli", "claude"),
        ("codex", "codex"),
        ("geminicli", "gemini"),
        ("copilot", "copilot"),
        ("opencode", "opencode"),
    ];
    let found = starts.iter().find(|(start, _)| agent.starts_with(start));
    found.map(|(_, name)| *name)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then_some(value)
}

/// An id of the guard has at most 256 bytes, and a sub-agent's name stands behind it: a longer name
/// is known by its digest.
fn bounded(name: &str) -> String {
    if name.len() <= 100 && !name.chars().any(char::is_control) {
        return name.to_owned();
    }
    let digest = Sha256::digest(name.as_bytes());
    format!("long-{}", hex(digest.get(..12).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        list.iter().map(pair).collect()
    }

    fn identity(list: &[(&'static str, &'static str)]) -> Identity {
        Identity::of(&headers(list), &ModelRequest::default(), &[7; 16], None)
    }

    #[test]
    fn each_client_is_known_by_its_own_headers() {
        let claude = identity(&[
            ("x-claude-code-session-id", "s1"),
            ("x-claude-code-agent-id", "a1"),
            ("x-claude-code-prompt-id", "p1"),
            ("user-agent", "claude-cli/2.1.325 (external, sdk-cli)"),
        ]);
        assert_eq!(
            (claude.session.as_str(), claude.agent.as_deref()),
            ("s1", Some("a1"))
        );
        assert_eq!(
            (claude.client, claude.speaker),
            (Some("claude"), Speaker::Prompt("p1".to_owned()))
        );
        let codex = identity(&[
            ("session-id", "s2"),
            (
                "x-codex-turn-metadata",
                r#"{"turn_id":"t1","turn_trigger":"user"}"#,
            ),
        ]);
        assert_eq!(
            (codex.session.as_str(), codex.speaker),
            ("s2", Speaker::Prompt("t1".to_owned()))
        );
        let child = identity(&[("x-session-id", "s5"), ("x-parent-session-id", "s4")]);
        assert_eq!(
            (child.session.as_str(), child.agent.as_deref()),
            ("s4", Some("s5"))
        );
        let copilot = identity(&[("x-initiator", "agent"), ("x-sprag-session", "s3")]);
        assert_eq!(
            (copilot.session.as_str(), copilot.speaker),
            ("s3", Speaker::Nobody)
        );
    }

    #[test]
    fn a_sub_agent_that_names_itself_nowhere_is_known_by_what_it_was_told() {
        let of = |opening: &str, is_delegate| {
            let request = ModelRequest {
                opening: opening.as_bytes().to_vec(),
                is_delegate,
                ..ModelRequest::default()
            };
            let identity = Identity::of(&HeaderMap::new(), &request, &[7; 16], Some("gemini-1"));
            assert_eq!(identity.session, "gemini-1");
            identity.agent
        };
        assert_eq!(of("a", false), None);
        assert!(of("a", true).is_some());
        assert_eq!(of("a", true), of("a", true));
        assert_ne!(of("a", true), of("b", true));
    }

    #[test]
    fn a_turn_that_a_program_may_have_started_is_told_from_a_persons() {
        let of = |metadata: &'static str| identity(&[("x-codex-turn-metadata", metadata)]).speaker;
        assert_eq!(
            of(r#"{"turn_id":"t1","turn_trigger":"exec"}"#),
            Speaker::Run("t1".to_owned())
        );
        assert_eq!(
            of(r#"{"turn_id":"t1","turn_trigger":"user"}"#),
            Speaker::Prompt("t1".to_owned())
        );
    }

    #[test]
    fn a_client_that_names_nothing_is_known_by_credential_and_opening() {
        let request = |opening: &str| ModelRequest {
            opening: opening.as_bytes().to_vec(),
            ..ModelRequest::default()
        };
        let of = |opening, credential| {
            Identity::of(&HeaderMap::new(), &request(opening), &credential, None).session
        };
        assert_eq!(of("a", [1; 16]), of("a", [1; 16]));
        assert_ne!(of("a", [1; 16]), of("b", [1; 16]));
        assert_ne!(of("a", [1; 16]), of("a", [2; 16]));
    }

    #[test]
    fn a_credential_is_keyed_and_a_long_name_is_cut_to_a_digest() {
        let shown = headers(&[("x-api-key", "canary")]);
        assert_ne!(
            credential(&shown, None, b"1"),
            credential(&shown, None, b"2")
        );
        assert_eq!(
            credential(&HeaderMap::new(), Some("alt=sse"), b"1"),
            [0; 16]
        );
        assert_ne!(
            credential(&HeaderMap::new(), Some("alt=sse&key=canary"), b"1"),
            [0; 16]
        );
        assert!(bounded(&"x".repeat(300)).len() < 40);
    }
}
