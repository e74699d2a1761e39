//! The body of an answer on its way to the client, as it comes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::open_exchange::OpenExchange;
use super::sse::{MessageInspector as _, SseSplitter};
use crate::gate::ExchangeEnd;
use crate::stream_scan::StreamScan;

/// The body of an answer.
pub struct ResponseBody {
    state: BodyState,
    open: Option<OpenExchange>,
}

enum BodyState {
    /// All of it is here.
    Whole(Bytes),
    /// It passes without a look.
    Passing(Incoming),
    /// It passes event by event, after what we say ourselves.
    Events(Bytes, Incoming, Box<SseSplitter>),
    /// It is too long to be held: what was held already, and the rest.
    Long(Bytes, Incoming, Box<StreamScan>),
    /// The server broke off after this much. The client gets it before it is cut off too.
    Broken(Bytes, io::Error),
    Cut(io::Error),
    Over,
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        Self {
            state: BodyState::Whole(bytes),
            open: None,
        }
    }

    pub(super) fn passing(body: Incoming, open: OpenExchange) -> Self {
        Self {
            state: BodyState::Passing(body),
            open: Some(open),
        }
    }

    pub(super) fn events(first: Bytes, body: Incoming, open: OpenExchange) -> Self {
        Self {
            state: BodyState::Events(first, body, Box::default()),
            open: Some(open),
        }
    }

    pub(super) fn long(held: Bytes, body: Incoming, open: OpenExchange) -> Self {
        let mut long = Box::new(StreamScan::default());
        long.read(&held);
        Self {
            state: BodyState::Long(held, body, long),
            open: Some(open),
        }
    }

    fn end(&mut self, end: &ExchangeEnd) {
        self.state = BodyState::Over;
        if let Some(mut open) = self.open.take() {
            open.end(end);
        }
    }

    /// The next part of a stream; none at its end.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let (first, body) = match &mut self.state {
            BodyState::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.state = BodyState::Over;
                return Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))));
            }
            BodyState::Over | BodyState::Broken(..) | BodyState::Cut(_) => {
                return self.cut(context);
            }
            BodyState::Passing(body) => (None, body),
            BodyState::Events(first, body, _) | BodyState::Long(first, body, _) => {
                (Some(first), body)
            }
        };
        if let Some(first) = first
            && !first.is_empty()
        {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(first)))));
        }
        let frame = ready!(Pin::new(body).poll_frame(context));
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
    }

    /// What the client still gets of an answer that broke off.
    fn cut(&mut self, context: &Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match std::mem::replace(&mut self.state, BodyState::Over) {
            BodyState::Broken(held, error) if !held.is_empty() => {
                self.state = BodyState::Broken(Bytes::new(), error);
                Poll::Ready(Some(Ok(Frame::data(held))))
            }
            BodyState::Broken(_, error) => {
                // What was given out is on its way only when nothing more is ready.
                self.state = BodyState::Cut(error);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            BodyState::Cut(error) => Poll::Ready(Some(Err(error))),
            _ => Poll::Ready(None),
        }
    }

    /// The server broke off.
    fn broke(&mut self, error: io::Error) {
        let held = match &mut self.state {
            BodyState::Events(_, _, events) => events.rest(),
            _ => Bytes::new(),
        };
        self.end(&ExchangeEnd::ServerCut);
        self.state = BodyState::Broken(held, error);
    }

    /// Looks at a part of a stream, and tells what goes on of it.
    fn look(&mut self, data: Bytes) -> Bytes {
        let Some(open) = &mut self.open else {
            return data;
        };
        match &mut self.state {
            BodyState::Events(_, _, events) => events.read(data, open),
            BodyState::Long(_, _, long) => {
                long.read(&data);
                data
            }
            _ => data,
        }
    }

    fn is_drained(&self) -> bool {
        matches!(&self.state, BodyState::Long(_, body, _) if body.is_end_stream())
    }

    /// The stream ended as it should.
    fn over(&mut self) -> Option<Bytes> {
        let rest = match std::mem::replace(&mut self.state, BodyState::Over) {
            BodyState::Events(_, _, mut events) => Some(events.rest()),
            BodyState::Long(_, _, long) => {
                if let Some(open) = &mut self.open {
                    open.long(&long);
                }
                None
            }
            _ => None,
        };
        self.end(&ExchangeEnd::ServerCut);
        rest.filter(|rest| !rest.is_empty())
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // What was said or held already is no news to look at.
        let is_new = match &self.state {
            BodyState::Events(first, ..) | BodyState::Long(first, ..) => first.is_empty(),
            _ => false,
        };
        loop {
            let is_cut = matches!(self.state, BodyState::Cut(_));
            let frame = match ready!(self.next(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) if is_cut => return Poll::Ready(Some(Err(error))),
                Some(Err(error)) => {
                    self.broke(error);
                    continue;
                }
                None => {
                    let rest = self.over();
                    return Poll::Ready(rest.map(|rest| Ok(Frame::data(rest))));
                }
            };
            if !is_new || matches!(self.state, BodyState::Broken(..)) {
                return Poll::Ready(Some(Ok(frame)));
            }
            match frame.into_data() {
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                Ok(data) => {
                    let passed = self.look(data);
                    // A client that was told the length does not ask what comes after the last byte.
                    if self.is_drained() {
                        self.over();
                    }
                    if !passed.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(passed))));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            BodyState::Whole(bytes) => bytes.is_empty(),
            BodyState::Over => true,
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            BodyState::Whole(bytes) => {
                SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            }
            BodyState::Passing(body) => body.size_hint(),
            BodyState::Over => SizeHint::with_exact(0),
            _ => SizeHint::default(),
        }
    }
}
