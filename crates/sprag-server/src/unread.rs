//! Whether a request was read to its end by the time it is answered.
//!
//! A body that nobody read is still on its way when the answer goes out, so the connection can't be used again. An
//! answer must say so (`Connection: close`), or its client sends the next request into nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

/// Tells at any time whether the body of a request has ended.
pub(crate) struct BodyEnd(Option<Arc<AtomicBool>>);

impl BodyEnd {
    /// Watches the body of `request`.
    pub(crate) fn watch(request: Request<Incoming>) -> (Request<Body>, Self) {
        if request.body().is_end_stream() {
            return (request.map(Body::new), Self(None));
        }
        let ended = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&ended);
        let request = request.map(|body| {
            Body::new(WatchedBody {
                body,
                ended: watched,
            })
        });
        (request, Self(Some(ended)))
    }

    /// Announces that the connection closes, if an error answers a request that was not read to its end.
    pub(crate) fn announce(&self, response: &mut Response<Body>) {
        let status = response.status();
        let is_error = status.is_client_error() || status.is_server_error();
        let ended = self
            .0
            .as_ref()
            .is_none_or(|ended| ended.load(Ordering::Acquire));
        if is_error && !ended {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    }
}

struct WatchedBody {
    body: Incoming,
    ended: Arc<AtomicBool>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.ended.store(true, Ordering::Release);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
