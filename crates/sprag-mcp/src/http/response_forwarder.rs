//! An answer on its way to the client: as it comes, with a look where it may answer a call.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header;
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use sprag_http::headers;

use super::limits::HELD_BYTES;
use super::local_response;
use super::local_response::NO_SERVER;
use super::open_exchange::OpenExchange;
use super::public_address::PublicAddress;
use super::response_body::ResponseBody;
use super::upstream::McpServer;
use crate::envelope::batch;
use crate::gate::ExchangeEnd;

/// An answer on its way to the client.
pub(super) struct ResponseForwarder {
    pub(super) upstream: Arc<McpServer>,
    pub(super) public: PublicAddress,
    /// What the server was asked.
    pub(super) asked: Bytes,
    /// What the guard answers itself, to a part of a batch.
    pub(super) ours: Option<Vec<u8>>,
    pub(super) open: OpenExchange,
}

/// A body that was read, as far as it is held.
enum BufferedBody {
    Whole(Bytes),
    TooLong(Bytes),
    Broken,
    Late,
}

impl ResponseForwarder {
    /// Passes it on.
    pub(super) async fn on(mut self, answered: Response<Incoming>) -> Response<ResponseBody> {
        let (mut head, body) = answered.into_parts();
        headers::for_client(&mut head.headers);
        self.public.rewrite(&self.upstream, &mut head.headers);
        self.upstream.introduce(&head.headers, self.open.scope());
        let is_readable = !head.headers.contains_key(header::CONTENT_ENCODING);
        let is_looked_at = is_readable && self.open.is_looked_at();
        if headers::is_events(&head.headers) && (is_looked_at || self.ours.is_some()) {
            let first = self.ours.as_deref().map(as_events).unwrap_or_default();
            head.headers.remove(header::CONTENT_LENGTH);
            return Response::from_parts(head, ResponseBody::events(first, body, self.open));
        }
        if headers::is_json(&head.headers) && (is_looked_at || self.ours.is_some()) {
            return self.json(head, body).await;
        }
        let why = no_answer(head.status);
        self.open.end(&ExchangeEnd::Failed(why));
        match self.ours {
            Some(ours) => local_response::judged(Some(ours)),
            None => Response::from_parts(head, ResponseBody::passing(body, self.open)),
        }
    }

    async fn json(mut self, mut head: Parts, mut body: Incoming) -> Response<ResponseBody> {
        let told = head.headers.remove(header::CONTENT_LENGTH);
        let held = tokio::time::timeout(self.upstream.timeout(), read(&mut body));
        match held.await.unwrap_or(BufferedBody::Late) {
            BufferedBody::Whole(bytes) => {
                let bytes = self.open.whole(bytes);
                let bytes = match &self.ours {
                    None => bytes,
                    Some(ours) => joined(ours, &bytes),
                };
                self.open.end(&ExchangeEnd::Failed(no_answer(head.status)));
                Response::from_parts(head, ResponseBody::whole(bytes))
            }
            BufferedBody::TooLong(held) => {
                if let Some(told) = told {
                    head.headers.insert(header::CONTENT_LENGTH, told);
                }
                Response::from_parts(head, ResponseBody::long(held, body, self.open))
            }
            BufferedBody::Broken => {
                let why = "the answer of the server behind broke off";
                self.failed(StatusCode::BAD_GATEWAY, why)
            }
            BufferedBody::Late => {
                let why = "the answer of the server behind did not come to its end";
                self.failed(StatusCode::GATEWAY_TIMEOUT, why)
            }
        }
    }

    fn failed(mut self, status: StatusCode, why: &str) -> Response<ResponseBody> {
        self.open.end(&ExchangeEnd::Failed(why.to_owned()));
        local_response::error(status, &self.asked, NO_SERVER, why)
    }
}

/// What is told of a call that the server left without an answer.
fn no_answer(status: StatusCode) -> String {
    format!("no answer but HTTP {}", status.as_u16())
}

/// Reads a body as far as it is held.
async fn read(body: &mut Incoming) -> BufferedBody {
    let mut first = Bytes::new();
    let mut held = Vec::new();
    while !body.is_end_stream() {
        let data = match body.frame().await {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => return BufferedBody::Broken,
        };
        if first.is_empty() && held.is_empty() {
            first = data;
            continue;
        }
        if held.is_empty() {
            held.extend_from_slice(&first);
        }
        held.extend_from_slice(&data);
        if held.len() > HELD_BYTES {
            return BufferedBody::TooLong(held.into());
        }
    }
    BufferedBody::Whole(if held.is_empty() { first } else { held.into() })
}

/// Our answers before those of the server, as the one batch that the client waits for.
fn joined(ours: &[u8], theirs: &[u8]) -> Bytes {
    let inner = |list: &[u8]| {
        let list = list.trim_ascii();
        let inside = list
            .strip_prefix(b"[")
            .and_then(|list| list.strip_suffix(b"]"));
        inside.unwrap_or(list).trim_ascii().to_vec()
    };
    let parts: Vec<Vec<u8>> = [inner(ours), inner(theirs)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    [b"[", parts.join(&b',').as_slice(), b"]"].concat().into()
}

/// Our answers as events, one each.
fn as_events(ours: &[u8]) -> Bytes {
    let mut out = Vec::new();
    for answer in batch(ours).unwrap_or_default() {
        out.extend_from_slice(b"event: message\ndata: ");
        out.extend_from_slice(answer.get().as_bytes());
        out.extend_from_slice(b"\n\n");
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_answers_join_those_of_the_server() {
        for (theirs, whole) in [
            ("[{\"id\":2}]", "[{\"id\":1},{\"id\":2}]"),
            (" {\"id\":2} ", "[{\"id\":1},{\"id\":2}]"),
            ("[ ]", "[{\"id\":1}]"),
            ("", "[{\"id\":1}]"),
        ] {
            assert_eq!(joined(b"[{\"id\":1}]", theirs.as_bytes()), whole);
        }
        assert_eq!(
            as_events(b"[{\"id\":1},{\"id\":2}]"),
            "event: message\ndata: {\"id\":1}\n\nevent: message\ndata: {\"id\":2}\n\n"
        );
    }
}
