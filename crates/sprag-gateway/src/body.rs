//! The body of an answer on its way to the client.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::limits::QUEUED_PIECES;

/// The body of an answer.
#[derive(Debug)]
pub struct AnswerBody(Inner);

#[derive(Debug)]
enum Inner {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Result<Bytes, Cut>>),
}

/// The upstream broke off: the client's connection is cut as well.
#[derive(Debug, thiserror::Error)]
#[error("the upstream broke off")]
pub struct Cut;

impl AnswerBody {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Whole(Some(bytes.into())))
    }

    /// A body that is filled from elsewhere. Its sender learns when the client is gone.
    pub(crate) fn pieces() -> (mpsc::Sender<Result<Bytes, Cut>>, Self) {
        let (sender, receiver) = mpsc::channel(QUEUED_PIECES);
        (sender, Self(Inner::Pieces(receiver)))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut self.0 {
            Inner::Whole(bytes) => {
                let bytes = bytes.take().filter(|bytes| !bytes.is_empty());
                Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
            Inner::Pieces(pieces) => {
                let piece = pieces.poll_recv(context);
                piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Inner::Pieces(_) => SizeHint::default(),
        }
    }
}
