//! An exchange that is under way, and what holds when it ends before its answer.

use std::sync::Arc;

use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::sse::MessageInspector;
use super::upstream::McpServer;
use crate::gate::{ExchangeEnd, RequestScope, ServerAction};
use crate::stream_scan::StreamScan;

/// An exchange that is under way. Dropped before it is over, the client has gone away.
pub(super) struct OpenExchange {
    upstream: Arc<McpServer>,
    scope: RequestScope,
    may_resume: bool,
    is_over: bool,
    _turn: OwnedSemaphorePermit,
}

impl OpenExchange {
    pub(super) fn new(
        upstream: Arc<McpServer>,
        (scope, may_resume): (RequestScope, bool),
        turn: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            upstream,
            scope,
            may_resume,
            is_over: false,
            _turn: turn,
        }
    }

    pub(super) fn scope(&self) -> &RequestScope {
        &self.scope
    }

    /// Whether a stream may carry an answer that is waited for.
    pub(super) fn is_looked_at(&self) -> bool {
        self.may_resume || self.scope.is_waiting()
    }

    /// Looks at a whole answer; what goes on in its place.
    pub(super) fn whole(&mut self, body: Bytes) -> Bytes {
        self.message(&body).map_or(body, Bytes::from)
    }

    /// It came to its end.
    pub(super) fn end(&mut self, end: &ExchangeEnd) {
        if !std::mem::replace(&mut self.is_over, true) && self.scope.is_waiting() {
            let (scope, may_resume) = (&self.scope, self.may_resume);
            self.upstream
                .judge(|gate| gate.ended(scope, end, may_resume));
        }
    }
}

impl MessageInspector for OpenExchange {
    fn message(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        if !self.scope.is_waiting() {
            return None;
        }
        let scope = &self.scope;
        match self.upstream.judge(|gate| gate.from_server(scope, message)) {
            ServerAction::Pass => None,
            ServerAction::Replace(new) => Some(new),
        }
    }

    fn long(&mut self, long: &StreamScan) {
        let scope = &self.scope;
        self.upstream
            .judge(|gate| gate.long_from_server(scope, long));
    }
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.end(&ExchangeEnd::ClientGone);
    }
}
