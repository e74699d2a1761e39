//! Reading the body of a request: within its bounds, in time, and at nobody else's cost.
//!
//! All large bodies share a room, in KiB. A body takes from it as its bytes come, never by the length that it
//! announces: connections that announce much and send nothing take nothing. A body that comes too slowly is cut, and so
//! is one that finds no more room for a while; what they held is free again.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::limits::{BODY_BYTES_PER_MS, ROOM_TIME};

/// A body that is larger than what is read without asking takes room in steps of this size.
const STEP_BYTES: usize = 64 * 1024;

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is longer than allowed.
    #[error("a body has at most {most} bytes here")]
    TooLarge {
        /// The most that is read.
        most: usize,
    },
    /// It came too slowly.
    #[error("the body came too slowly; it was cut after {bytes} bytes")]
    Late {
        /// How much of it came.
        bytes: usize,
    },
    /// The connection broke off, or what came is not a body.
    #[error("the body: {0}")]
    Broken(String),
    /// Other bodies take all the room.
    #[error("too many large bodies are being read; try again later")]
    NoRoom,
}

impl BodyError {
    /// The status of an answer that says so.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Late { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Broken(_) => StatusCode::BAD_REQUEST,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Reads bodies that share one room.
#[derive(Debug)]
pub struct BodyReader {
    room: Semaphore,
    room_kib: u32,
    /// Up to this many bytes are read without asking for room.
    small: usize,
    /// How long a body may take, besides what its bytes take at the slowest pace that is accepted.
    time: Duration,
    /// How long a body waits for room.
    patience: Duration,
}

impl BodyReader {
    /// A reader with a room of its own.
    #[must_use]
    pub fn new(room_kib: u32, small: usize, time: Duration) -> Self {
        Self {
            room: Semaphore::new(usize::try_from(room_kib).unwrap_or(usize::MAX)),
            room_kib,
            small,
            time,
            patience: ROOM_TIME,
        }
    }

    /// The whole body, of at most `most` bytes, and the room that it takes for as long as it is held.
    ///
    /// # Errors
    /// Returns an error if the body is too long, too slow, broken, or finds no room.
    pub async fn read<B>(
        &self,
        mut body: B,
        most: usize,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), BodyError>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if told > most {
            return Err(BodyError::TooLarge { most });
        }
        let start = Instant::now();
        let mut room = None;
        let mut first = Bytes::new();
        let mut held = Vec::new();
        loop {
            let bytes = first.len() + held.len();
            let pace = Duration::from_millis(u64::try_from(bytes / BODY_BYTES_PER_MS).unwrap_or(0));
            let frame = tokio::time::timeout_at(start + self.time + pace, body.frame());
            let data = match frame.await {
                Err(_) => return Err(BodyError::Late { bytes }),
                Ok(None) => break,
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
                Ok(Some(Err(error))) => return Err(BodyError::Broken(error.to_string())),
            };
            let length = bytes + data.len();
            if length > most {
                return Err(BodyError::TooLarge { most });
            }
            self.take_room(&mut room, length).await?;
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

    /// Takes what is missing of the room for `length` bytes.
    async fn take_room<'r>(
        &'r self,
        room: &mut Option<SemaphorePermit<'r>>,
        length: usize,
    ) -> Result<(), BodyError> {
        if length <= self.small {
            return Ok(());
        }
        let wanted = length.next_multiple_of(STEP_BYTES) / 1024;
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX).min(self.room_kib);
        let taken = room.as_ref().map_or(0, SemaphorePermit::num_permits);
        let missing = wanted.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX));
        if missing == 0 {
            return Ok(());
        }
        // Those that wait hold what they have taken. So they wait only for a while: then one gives up, and others go on.
        let more = tokio::time::timeout(self.patience, self.room.acquire_many(missing));
        let Ok(Ok(more)) = more.await else {
            return Err(BodyError::NoRoom);
        };
        match room {
            Some(room) => room.merge(more),
            None => *room = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::Frame;

    /// A body in parts, after which it ends or falls silent.
    struct Parts {
        parts: VecDeque<Bytes>,
        ends: bool,
    }

    impl Body for Parts {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.parts.pop_front() {
                Some(part) => Poll::Ready(Some(Ok(Frame::data(part)))),
                None if self.ends => Poll::Ready(None),
                None => Poll::Pending,
            }
        }
    }

    fn body(parts: &[usize], ends: bool) -> Parts {
        let parts = parts.iter().map(|length| vec![b'x'; *length].into());
        Parts {
            parts: parts.collect(),
            ends,
        }
    }

    fn reader() -> BodyReader {
        BodyReader {
            patience: Duration::from_millis(20),
            ..BodyReader::new(4096, 1024, Duration::from_millis(20))
        }
    }

    #[tokio::test]
    async fn room_is_taken_as_bytes_come_and_given_back() {
        let reader = reader();
        let all = reader.room.available_permits();
        let (_, room) = reader.read(body(&[1], true), 1 << 20).await.unwrap();
        assert!(room.is_none());
        let large = reader.read(body(&[70_000, 70_000], true), 1 << 20);
        let (read, room) = large.await.unwrap();
        assert_eq!(read.len(), 140_000);
        assert_eq!(reader.room.available_permits(), all - 192);
        drop(room);
        assert_eq!(reader.room.available_permits(), all);
    }

    #[tokio::test]
    async fn a_body_that_falls_silent_is_cut_and_gives_its_room_back() {
        let reader = reader();
        let all = reader.room.available_permits();
        let read = reader.read(body(&[2000, 5], false), 1 << 20).await;
        assert_eq!(read.unwrap_err(), BodyError::Late { bytes: 2005 });
        assert_eq!(reader.room.available_permits(), all);
    }

    #[tokio::test]
    async fn a_body_that_finds_no_room_gives_up_and_small_ones_need_none() {
        let reader = reader();
        let _all = reader.room.acquire_many(4096).await.unwrap();
        let read = reader.read(body(&[2000], true), 1 << 20).await;
        assert_eq!(read.unwrap_err(), BodyError::NoRoom);
        assert!(reader.read(body(&[1000], true), 1 << 20).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_refused() {
        let reader = reader();
        let read = reader.read(body(&[600, 600], true), 1000).await;
        assert_eq!(read.unwrap_err(), BodyError::TooLarge { most: 1000 });
    }
}
