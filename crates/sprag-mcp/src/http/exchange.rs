//! One request on its way to the server.

use std::sync::Arc;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use sprag_core::{Role, Sender};
use sprag_http::headers;
use tokio::sync::OwnedSemaphorePermit;

use super::local_response::{self, ErrorResponse, HEADER_MISMATCH, NO_SERVER};
use super::mirrored_headers;
use super::open_exchange::OpenExchange;
use super::public_address::PublicAddress;
use super::readable;
use super::response_body::ResponseBody;
use super::response_forwarder::ResponseForwarder;
use super::upstream::McpServer;
use crate::envelope::Envelope;
use crate::gate::{ClientAction, ExchangeEnd, Gate};

/// One request and its answer.
pub(super) struct McpExchange {
    pub(super) upstream: Arc<McpServer>,
    /// How the client sees this server.
    pub(super) public: PublicAddress,
    pub(super) target: Uri,
    pub(super) turn: OwnedSemaphorePermit,
}

impl McpExchange {
    /// Judges the request, passes it on, and passes the answer back.
    pub(super) async fn run(
        self,
        mut head: Parts,
        body: Bytes,
    ) -> Result<Response<ResponseBody>, ErrorResponse> {
        let upstream = self.upstream;
        let sender = head.extensions.remove::<Arc<Sender>>();
        // Nobody vouches for the clients of a proxy on its own port.
        let sender = sender.unwrap_or_else(|| Arc::new(Sender::anonymous(Role::Agent)));
        let (scope, may_resume) = upstream.scope(&head.headers);
        let scope = (scope.sent_by(sender), may_resume);
        let (onward, ours) = if readable::is_message(&head, &body)? {
            agrees(&head, &body, &upstream.gate)?;
            match upstream.judge(|gate| gate.from_client(&scope.0, &body)) {
                ClientAction::Pass => (body, None),
                ClientAction::Stop { onward, answer } => match onward {
                    None => return Ok(local_response::judged(answer)),
                    Some(onward) => (onward.into(), answer),
                },
            }
        } else {
            (body, None)
        };
        let mut open = OpenExchange::new(Arc::clone(&upstream), scope, self.turn);
        let ended = (head.method == Method::DELETE).then(|| head.headers.clone());
        headers::for_server(&mut head.headers);
        if head.headers.contains_key(header::ORIGIN) && self.public.is_own_origin {
            upstream.set_origin(&mut head.headers);
        }
        let sent = upstream.send(request(head, self.target, onward.clone()));
        let answered = match sent.await {
            Ok(answered) => answered,
            Err(failed) => {
                let why = format!("the server behind can't be asked: {}", failed.why);
                open.end(&ExchangeEnd::Failed(why.clone()));
                return Ok(local_response::error(
                    failed.status,
                    &onward,
                    NO_SERVER,
                    &why,
                ));
            }
        };
        if let Some(headers) = ended.filter(|_| answered.status().is_success()) {
            upstream.forget(&headers);
        }
        let passing = ResponseForwarder {
            upstream,
            public: self.public,
            asked: onward,
            ours,
            open,
        };
        Ok(passing.on(answered).await)
    }
}

/// Refuses a message whose headers contradict it.
fn agrees(head: &Parts, body: &[u8], gate: &Gate) -> Result<(), ErrorResponse> {
    if !mirrored_headers::repeats(&head.headers) {
        return Ok(());
    }
    let message = Envelope::read(body);
    let why = message.and_then(|message| {
        mirrored_headers::mismatch(&head.headers, &message, |tool| gate.header_arguments(tool))
    });
    match why {
        None => Ok(()),
        Some(why) => {
            let status = StatusCode::BAD_REQUEST;
            Err(local_response::error(status, body, HEADER_MISMATCH, &why).into())
        }
    }
}

fn request(head: Parts, target: Uri, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = head.method;
    *request.uri_mut() = target;
    *request.headers_mut() = head.headers;
    request
}
