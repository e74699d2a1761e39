//! What the upstream answers, on its way to the caller, as it comes.
//!
//! The dispatch ends with the answer's last byte, before the caller sees that byte: who has the whole answer
//! can rely on it. An answer that breaks off, or that nobody waits for any more, ends it too.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};

use super::dispatches::DispatchGuard;
use super::headers;

/// An answer of the upstream.
pub(super) struct UpstreamResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    left: Option<u64>,
    body: BoxStream<'static, io::Result<Bytes>>,
}

impl UpstreamResponse {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            left: response.content_length(),
            body: response
                .bytes_stream()
                .map(|chunk| chunk.map_err(io::Error::other))
                .boxed(),
        }
    }

    /// The whole body where it is JSON of at most `most` bytes and says so beforehand; it can still be
    /// passed on.
    pub(super) async fn peek(&mut self, most: u64) -> Option<Bytes> {
        let media = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let is_json = media.starts_with("application/json");
        if !is_json || self.left.is_none_or(|left| left > most) {
            return None;
        }
        let mut read = Vec::new();
        while let Some(chunk) = self.body.next().await {
            match chunk {
                Ok(chunk) => read.extend_from_slice(&chunk),
                Err(error) => {
                    let parts = [Ok(Bytes::from(read)), Err(error)];
                    self.body = stream::iter(parts).boxed();
                    return None;
                }
            }
        }
        let read = Bytes::from(read);
        self.body = stream::iter([Ok(read.clone())]).boxed();
        Some(read)
    }

    /// Reads it to its end for nobody.
    pub(super) async fn drain(mut self) {
        while let Some(Ok(_)) = self.body.next().await {}
    }

    /// Passes it on. `dispatch` ends with it, or lingers where the upstream works on.
    pub(super) fn pass_on(
        self,
        is_agent: bool,
        dispatch: Option<DispatchGuard>,
        longest: impl FnOnce() -> Duration,
    ) -> Response {
        let dispatch = if self.status == StatusCode::ACCEPTED {
            if let Some(dispatch) = dispatch {
                dispatch.linger(longest());
            }
            None
        } else {
            dispatch
        };
        let tail = TrackedBody {
            body: self.body,
            left: self.left,
            dispatch,
        };
        let mut response =
            Response::new(Body::from_stream(stream::unfold(tail, TrackedBody::next)));
        *response.status_mut() = self.status;
        *response.headers_mut() = headers::for_caller(&self.headers, is_agent);
        response
    }
}

struct TrackedBody {
    body: BoxStream<'static, io::Result<Bytes>>,
    left: Option<u64>,
    dispatch: Option<DispatchGuard>,
}

impl TrackedBody {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        let chunk = self.body.next().await;
        if matches!(chunk, Some(Err(_))) {
            // The connection is dropped together with what it holds, so what came before goes out first.
            tokio::task::yield_now().await;
        }
        let length = match &chunk {
            Some(Ok(chunk)) => u64::try_from(chunk.len()).unwrap_or(u64::MAX),
            Some(Err(_)) | None => u64::MAX,
        };
        self.left = self.left.map(|left| left.saturating_sub(length));
        let is_last = self.left == Some(0) || length == u64::MAX;
        if let Some(dispatch) = self.dispatch.take_if(|_| is_last) {
            dispatch.end().await;
        }
        chunk.map(|chunk| (chunk, self))
    }
}
