//! What passed through a gateway, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// What was seen, spent and stopped since the gateway started.
#[derive(Debug, Default)]
pub struct Tally {
    requests: AtomicU64,
    calls: AtomicU64,
    refused: AtomicU64,
    warned: AtomicU64,
    stops: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
}

macro_rules! counters {
    ($($name:ident $add:ident: $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[must_use]
            pub fn $name(&self) -> u64 {
                self.$name.load(Ordering::Relaxed)
            }

            pub(crate) fn $add(&self, more: u64) {
                self.$name.fetch_add(more, Ordering::Relaxed);
            }
        )*
    };
}

impl Tally {
    counters! {
        requests add_requests: "Requests to a model.";
        calls add_calls: "Tool calls that the model made.";
        refused add_refused: "Calls that were taken out of an answer.";
        warned add_warned: "Warnings put next to a result.";
        stops add_stops: "Blocks, requests that the gateway answered itself, and answers that it ended.";
        input_tokens add_input_tokens: "Tokens that went in, cached ones among them.";
        output_tokens add_output_tokens: "Tokens that came out.";
    }
}
