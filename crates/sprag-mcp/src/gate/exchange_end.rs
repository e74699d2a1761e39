//! How an exchange over HTTP ends, and what came of the calls on it that got no answer.
//!
//! Closing a stream is how a client of 2026-07-28 cancels; in a protocol session of the older revisions it is not,
//! the answer may be fetched later on another stream. A server that cuts a stream asks its client to send the
//! same call again, so the next one is no repetition.

use super::{Gate, RequestScope};
use crate::call_outcome::CallOutcome;
use crate::in_flight::{PendingCall, PendingRequest, after_cut};

/// How an exchange came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExchangeEnd {
    /// The client went away.
    ClientGone,
    /// The server ended the stream.
    ServerCut,
    /// There is no answer, and this is why.
    Failed(String),
}

impl Gate {
    /// An exchange ended. `may_resume`: what was asked may still be answered on a later one.
    pub(crate) fn ended(&self, scope: &RequestScope, end: &ExchangeEnd, may_resume: bool) {
        let is_failed = matches!(end, ExchangeEnd::Failed(_));
        if may_resume && !is_failed {
            return;
        }
        for asked in scope.take_own() {
            let PendingRequest::Call(call) = asked else {
                continue;
            };
            match end {
                ExchangeEnd::ServerCut => self.await_again(call),
                ExchangeEnd::ClientGone => {
                    let reason = "the client closed the stream";
                    self.finish_unheard(*call, CallOutcome::cancelled(Some(reason)));
                }
                ExchangeEnd::Failed(why) => self.finish_unheard(*call, CallOutcome::failed(why)),
            }
        }
    }

    fn await_again(&self, call: Box<PendingCall>) {
        self.in_flight()
            .waiting
            .insert(after_cut(call.fingerprint), call);
    }
}
