//! An exchange that is under way, and what holds when it ends before its answer.

use std::sync::Arc;

use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::events::Judge;
use super::upstream::Upstream;
use crate::gate::{Downward, Ending, Line};
use crate::long::Long;

/// An exchange that is under way. Dropped before it is over, the client has gone away.
pub(super) struct Open {
    upstream: Arc<Upstream>,
    line: Line,
    may_resume: bool,
    is_over: bool,
    _turn: OwnedSemaphorePermit,
}

impl Open {
    pub(super) fn new(
        upstream: Arc<Upstream>,
        (line, may_resume): (Line, bool),
        turn: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            upstream,
            line,
            may_resume,
            is_over: false,
            _turn: turn,
        }
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Whether a stream may carry an answer that is waited for.
    pub(super) fn is_looked_at(&self) -> bool {
        self.may_resume || self.line.is_waiting()
    }

    /// Looks at a whole answer; what goes on in its place.
    pub(super) fn whole(&mut self, body: Bytes) -> Bytes {
        self.message(&body).map_or(body, Bytes::from)
    }

    /// It came to its end.
    pub(super) fn end(&mut self, ending: &Ending) {
        if !std::mem::replace(&mut self.is_over, true) && self.line.is_waiting() {
            let (line, may_resume) = (&self.line, self.may_resume);
            self.upstream
                .judge(|gate| gate.ended(line, ending, may_resume));
        }
    }
}

impl Judge for Open {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        if !self.line.is_waiting() {
            return None;
        }
        let line = &self.line;
        match self.upstream.judge(|gate| gate.from_server(line, message)) {
            Downward::Pass => None,
            Downward::Replace(new) => Some(new),
        }
    }

    fn long(&mut self, long: &Long) {
        let line = &self.line;
        self.upstream
            .judge(|gate| gate.long_from_server(line, long));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end(&Ending::ClientGone);
    }
}
