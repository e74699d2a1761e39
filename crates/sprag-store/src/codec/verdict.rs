//! Verdicts as bytes: a few for the many that only allow, JSON for those that say something.

use sprag_core::{Decision, Verdict};

use super::bytes::{Malformed, Reader, Writer};

const PLAIN: u8 = 0;
const JSON: u8 = 1;

/// Nothing fired: all it says is the generation and, for a message, its place in a flow.
fn is_plain(verdict: &Verdict) -> bool {
    let Verdict {
        decision,
        rule,
        code,
        message,
        evidence,
        hint,
        also,
        would,
        flow: _,
        depth: _,
        generation: _,
        retry_after_ms,
    } = verdict;
    *decision == Decision::Allow
        && rule.is_none()
        && code.is_none()
        && message.is_none()
        && evidence.is_none()
        && hint.is_none()
        && also.is_empty()
        && would.is_none()
        && retry_after_ms.is_none()
}

/// The bytes of a verdict.
pub(crate) fn encode_verdict(verdict: &Verdict) -> Result<Vec<u8>, Malformed> {
    let mut out = Writer::default();
    if is_plain(verdict) {
        out.byte(PLAIN);
        out.flags([verdict.flow.is_some(), verdict.depth.is_some()]);
        out.number(u64::from(verdict.generation));
        out.ids([verdict.flow.as_ref()]);
        if let Some(depth) = verdict.depth {
            out.number(u64::from(depth));
        }
    } else {
        out.byte(JSON);
        serde_json::to_writer(&mut out.0, verdict)
            .map_err(|error| Malformed::Json(error.to_string()))?;
    }
    Ok(out.0)
}

/// The verdict that bytes stand for.
pub(crate) fn decode_verdict(bytes: &[u8]) -> Result<Verdict, Malformed> {
    let mut from = Reader(bytes);
    match from.byte()? {
        PLAIN => {
            let [flow, depth] = from.flags()?;
            let verdict = Verdict {
                generation: from.small()?,
                flow: from.id_if(flow)?,
                depth: from.small_if(depth)?,
                ..Verdict::default()
            };
            match from.0.len() {
                0 => Ok(verdict),
                rest => Err(Malformed::Rest(rest)),
            }
        }
        JSON => serde_json::from_slice(from.0).map_err(|error| Malformed::Json(error.to_string())),
        other => Err(Malformed::Tag(u64::from(other), "form of a verdict")),
    }
}
