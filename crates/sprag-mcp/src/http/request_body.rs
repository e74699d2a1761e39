//! Reading the body of a request, within its bounds.

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Bytes, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::limits;
use super::local_response::{self, ErrorResponse};

/// BodyReader for bodies, shared by all who send large ones.
#[derive(Debug)]
pub(super) struct BodyReader {
    most: usize,
    kib: Semaphore,
}

impl BodyReader {
    pub(super) fn new(most: usize) -> Self {
        let kib = usize::try_from(limits::BODIES_KIB).unwrap_or(usize::MAX);
        Self {
            most,
            kib: Semaphore::new(kib),
        }
    }

    /// The whole body, and the room that it takes for as long as it is held.
    pub(super) async fn read(
        &self,
        mut body: Incoming,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), ErrorResponse> {
        let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if told > self.most {
            return Err(self.too_large());
        }
        let mut room = None;
        let mut first = Bytes::new();
        let mut held = Vec::new();
        loop {
            let frame = tokio::time::timeout(limits::BODY_TIME, body.frame());
            let Ok(frame) = frame.await else {
                let why = "the rest of the request did not come";
                return Err(local_response::plain(StatusCode::REQUEST_TIMEOUT, why).into());
            };
            let data = match frame {
                None => break,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(_)) => {
                    let why = "the request broke off";
                    return Err(local_response::plain(StatusCode::BAD_REQUEST, why).into());
                }
            };
            let length = first.len() + held.len() + data.len();
            if length > self.most {
                return Err(self.too_large());
            }
            if room.is_none() && length.max(told) > limits::SMALL_BODY_BYTES {
                room = Some(self.room(told.max(length)).await?);
            }
            // Most bodies come in one piece, which is then never copied.
            if first.is_empty() && held.is_empty() {
                first = data;
            } else {
                if held.is_empty() {
                    held.extend_from_slice(&first);
                    first = Bytes::new();
                }
                held.extend_from_slice(&data);
            }
        }
        let whole = if held.is_empty() { first } else { held.into() };
        Ok((whole, room))
    }

    /// A body that does not say its length is taken for the longest.
    async fn room(&self, bytes: usize) -> Result<SemaphorePermit<'_>, ErrorResponse> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let room = self.kib.acquire_many(kib.min(limits::BODIES_KIB));
        let ends =
            |_| local_response::plain(StatusCode::SERVICE_UNAVAILABLE, "the proxy ends").into();
        room.await.map_err(ends)
    }

    fn too_large(&self) -> ErrorResponse {
        let why = format!("a request of more than {} bytes is not read", self.most);
        local_response::plain(StatusCode::PAYLOAD_TOO_LARGE, &why).into()
    }
}
