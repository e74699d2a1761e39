//! How an exchange over HTTP ends, and the outcome of its calls that got no response.
//!
//! Closing a stream is how a client of revision 2026-07-28 cancels. In a protocol session of the older
//! revisions it is not: the response may be fetched later on another stream. A server that cuts a stream
//! asks its client to send the same call again, so the next one does not count as a repetition.

use super::{Gate, RequestScope};
use crate::call_outcome::CallOutcome;
use crate::in_flight::{PendingRequest, after_cut};

/// How an exchange ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExchangeEnd {
    /// The client closed the connection.
    ClientGone,
    /// The server ended the stream.
    ServerCut,
    /// There is no response, for this reason.
    Failed(String),
}

impl Gate {
    /// Closes the calls of an exchange that ended. `may_resume`: their responses may still come on a later
    /// exchange, unless the request itself failed.
    pub(crate) fn ended(&self, scope: &RequestScope, end: &ExchangeEnd, may_resume: bool) {
        let is_failed = matches!(end, ExchangeEnd::Failed(_));
        if may_resume && !is_failed {
            return;
        }
        for request in scope.take_own() {
            let PendingRequest::Call(call) = request else {
                continue;
            };
            match end {
                ExchangeEnd::ServerCut => {
                    let again = after_cut(call.fingerprint);
                    self.in_flight().waiting.insert(again, call);
                }
                ExchangeEnd::ClientGone => {
                    let reason = "the client closed the stream";
                    self.finish_later(*call, CallOutcome::cancelled(Some(reason)));
                }
                ExchangeEnd::Failed(why) => self.finish_later(*call, CallOutcome::failed(why)),
            }
        }
    }
}
