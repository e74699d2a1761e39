//! What people like to see of a session, as bytes before its cell.

use super::bytes::{Malformed, Reader, Writer};
use crate::query::{SessionState, Tally};

/// The state first, at a fixed place, where a script finds it.
pub(crate) fn encode_tally(state: SessionState, tally: &Tally) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(match state {
        SessionState::Active => b'a',
        SessionState::Blocked => b'b',
        SessionState::Killed => b'k',
    });
    out.number(tally.events);
    out.number(tally.refused);
    out.text(tally.last_rule.map_or("", |rule| rule.as_str()));
    out.0
}

/// The counts, and what comes after them.
pub(crate) fn decode_tally(bytes: &[u8]) -> Result<(Tally, &[u8]), Malformed> {
    let mut from = Reader(bytes);
    from.byte()?;
    let tally = Tally {
        events: from.number()?,
        refused: from.number()?,
        // A rule that this build doesn't know is shown as none.
        last_rule: from.text()?.parse().ok(),
    };
    Ok((tally, from.0))
}
