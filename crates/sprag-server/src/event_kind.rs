//! The kinds of events as numbers, so that counts per kind are an array and not a map.

use sprag_core::Observed;

/// Every kind, as on the wire, in the order of [`index`].
pub(crate) const KINDS: [&str; 11] = [
    "message",
    "call",
    "step",
    "usage",
    "kill",
    "reset",
    "dispatch_start",
    "dispatch_end",
    "approve",
    "decline",
    "output",
];

/// The place of an event's kind in [`KINDS`].
pub(crate) const fn index(what: &Observed) -> usize {
    match what {
        Observed::Message(_) => 0,
        Observed::Call(_) => 1,
        Observed::Step(_) => 2,
        Observed::Usage(_) => 3,
        Observed::Kill(_) => 4,
        Observed::Reset(_) => 5,
        Observed::DispatchStart(_) => 6,
        Observed::DispatchEnd(_) => 7,
        Observed::Approve(_) => 8,
        Observed::Decline(_) => 9,
        Observed::Output(_) => 10,
    }
}
