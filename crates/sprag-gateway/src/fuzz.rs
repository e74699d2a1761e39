//! What the fuzz targets run of what this crate keeps to itself: one request and its answer, without a network.

use std::sync::Arc;

use hyper::header::HeaderMap;
use reqwest::Url;
use sprag::{Decision, Event, FailMode, Id, NoVerdict, Sender, Verdict};
use sprag_mcp::{FallbackSource, VerdictSource};

use crate::answer::StreamedAnswer;
use crate::conversations::Conversations;
use crate::dialect::Dialect;
use crate::identity::Identity;
use crate::judge::{Judge, JudgeParts, Plan};
use crate::pump::Passage as _;
use crate::request::ModelRequest;
use crate::sse::SseSplitter;

/// What stands between a request and its answer.
const ANSWER: &[u8] = b"\n---\n";

/// A guard that allows everything, or one that warns of each result and refuses each call of a tool that deletes.
#[derive(Clone, Copy)]
enum FuzzSource {
    Allows,
    Minds,
}

impl VerdictSource for FuzzSource {
    fn check(&self, _: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict> {
        let decision = match (self, event) {
            (Self::Minds, Event::Step(_)) => Decision::Warn,
            (Self::Minds, Event::Call(call)) if call.tool.as_str().contains("delete") => {
                Decision::Deny
            }
            _ => Decision::Allow,
        };
        let verdict = Verdict::new(decision);
        Ok(if decision > Decision::Allow {
            verdict.with_message("enough \"of\" this")
        } else {
            verdict
        })
    }
}

/// The first byte says which API, the rest is a request and its answer. However an answer is cut into pieces, the
/// same goes on; what a guard allows passes as the bytes it came as; what is changed is JSON still.
pub fn exchange(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let (dialect, path) = match first {
        b'm' => (Dialect::Messages, "v1/messages"),
        b'r' => (Dialect::Responses, "v1/responses"),
        b'c' => (Dialect::Chat, "v1/chat/completions"),
        b'l' => (Dialect::Gemini, "v1beta/models/m:streamGenerateContent"),
        _ => (
            Dialect::Gemini,
            "v1beta/models/m:streamGenerateContent?alt=sse",
        ),
    };
    let Ok(target) = Url::parse(&format!("https://model.example/{path}")) else {
        return;
    };
    let middle = rest.windows(ANSWER.len()).position(|part| part == ANSWER);
    let (request, answer) = match middle {
        Some(at) => (
            rest.get(..at).unwrap_or_default(),
            rest.get(at + ANSWER.len()..).unwrap_or_default(),
        ),
        None => (rest, rest),
    };
    let Some(read) = dialect.read(request, &target) else {
        return;
    };
    for guard in [FuzzSource::Allows, FuzzSource::Minds] {
        changed(dialect, guard, &read, request);
        whole(dialect, guard, &read, answer);
        let at_once = streamed(dialect, guard, &read, answer, answer.len().max(1));
        assert!(at_once == streamed(dialect, guard, &read, answer, 7));
        if matches!(guard, FuzzSource::Allows) {
            assert!(is_part(&at_once, answer));
        }
    }
    let (_, spoken) = dialect.spoken(&read, "stop \"it\"");
    assert!(std::str::from_utf8(&spoken).is_ok());
}

fn judge(guard: FuzzSource, request: &ModelRequest, bytes: usize) -> Option<(Judge, Identity)> {
    let identity = Identity::of(&HeaderMap::new(), request, &[0; 16], None);
    let (name, conversation) = Conversations::default().of(&identity.session, &[0; 16]);
    let parts = JudgeParts {
        guard: Arc::new(FallbackSource::new(
            Box::new(guard),
            FailMode::Closed,
            Box::new(|_| {}),
        )),
        tally: Arc::default(),
        estimates: Arc::default(),
        session: Id::new(&name).ok()?,
        agent: None,
        client: None,
        conversation,
        model: request
            .model
            .as_deref()
            .and_then(|model| Id::new(model).ok()),
        reservation: Id::new("reservation").ok()?,
        is_agent: request.has_tools,
    };
    Some((Judge::new(parts, request, bytes), identity))
}

/// A request with warnings in it is one that can be read, with as many results.
fn changed(dialect: Dialect, guard: FuzzSource, read: &ModelRequest, request: &[u8]) {
    let Some((judge, identity)) = judge(guard, read, request.len()) else {
        return;
    };
    let Plan::Forward(changes) = judge.begin(read, &identity) else {
        return;
    };
    if let Some(new) = dialect.change(request, &changes) {
        assert!(is_json(&new));
    }
}

/// An answer in one piece stays JSON if calls are taken out of it.
fn whole(dialect: Dialect, guard: FuzzSource, read: &ModelRequest, answer: &[u8]) {
    let Some((judge, _)) = judge(guard, read, 0) else {
        return;
    };
    let Some(whole) = dialect.whole(answer, read) else {
        return;
    };
    let fates = judge.calls(&whole.calls, &whole.id);
    assert!(fates.texts.len() == whole.calls.len() || fates.stopped.is_some());
    if let Some(new) = dialect.settle(answer, &fates.texts) {
        assert!(is_json(&new));
    }
}

/// What the client gets of an answer that comes in pieces of `length` bytes.
fn streamed(
    dialect: Dialect,
    guard: FuzzSource,
    read: &ModelRequest,
    answer: &[u8],
    length: usize,
) -> Vec<u8> {
    let Some((judge, _)) = judge(guard, read, 0) else {
        return Vec::new();
    };
    let mut stream = StreamedAnswer::new(judge, dialect.stream(read));
    let mut out = Vec::new();
    for piece in answer.chunks(length) {
        out.extend(stream.push(piece));
    }
    out.extend(stream.finish());
    out
}

/// Whether `out` is `answer`, but for events that were never whole.
fn is_part(out: &[u8], answer: &[u8]) -> bool {
    let mut came = events(answer).into_iter();
    events(out)
        .iter()
        .all(|event| came.any(|other| other == *event))
}

fn events(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut splitter = SseSplitter::default();
    splitter.push(bytes);
    let mut events: Vec<Vec<u8>> = std::iter::from_fn(|| splitter.next())
        .map(|event| event.raw)
        .collect();
    events.push(splitter.rest());
    events
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
