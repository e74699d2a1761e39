//! Names of values that are noise: made up for each request, or measured.
//!
//! They carry no information about what is tried or what came of it.

/// The most letters in a name that is listed whole.
const LISTED_LETTERS: usize = 20;

/// Whether a value under `name` is made up for each request.
pub(super) fn is_nonce(name: &str) -> bool {
    // Every argument and every value in it is asked for, and most names start with another letter.
    let first = name.bytes().find(|byte| !b"_-.".contains(byte));
    if !first.is_some_and(|first| b"cinrstx".contains(&(first | 0x20))) {
        return false;
    }
    let mut letters = [0; LISTED_LETTERS];
    matches!(
        squash(name, &mut letters),
        b"clienttoken"
            | b"correlationid"
            | b"idempotencykey"
            | b"idempotencytoken"
            | b"nonce"
            | b"requestid"
            | b"requestuuid"
            | b"spanid"
            | b"timestamp"
            | b"traceid"
            | b"traceparent"
            | b"xrequestid"
    )
}

/// Whether a parameter of a URL under `name` only keeps a cache from answering.
pub(super) fn is_cache_buster(name: &str) -> bool {
    let mut letters = [0; LISTED_LETTERS];
    let busts = matches!(
        squash(name, &mut letters),
        b"nocache" | b"cachebust" | b"cachebuster" | b"cb" | b"ts" | b"rand" | b"random" | b"rnd"
    );
    busts || name == "_" || is_nonce(name)
}

/// Whether a value under `name` is how long something took: noise in a result, a choice in
/// arguments.
pub(super) fn is_measure(name: &str) -> bool {
    let mut letters = [0; LISTED_LETTERS];
    matches!(
        squash(name, &mut letters),
        b"duration"
            | b"durationms"
            | b"durationseconds"
            | b"elapsed"
            | b"elapsedms"
            | b"elapsedseconds"
            | b"elapsedtime"
            | b"latencyms"
            | b"responsetime"
            | b"took"
            | b"tookms"
    )
}

/// Whether a text under `name`, beside a command, is what the model remarks about it.
pub(super) fn is_remark(name: &str) -> bool {
    matches!(
        name,
        "description" | "justification" | "explanation" | "reason" | "thought" | "purpose"
    )
}

/// The letters of `name` in lower case without separators; nothing if there are too many.
fn squash<'l>(name: &str, letters: &'l mut [u8; LISTED_LETTERS]) -> &'l [u8] {
    let mut count = 0;
    for byte in name.bytes().filter(|byte| !b"_-.".contains(byte)) {
        let Some(letter) = letters.get_mut(count) else {
            return &[];
        };
        *letter = byte.to_ascii_lowercase();
        count += 1;
    }
    letters.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_known_in_every_spelling() {
        for name in [
            "request_id",
            "requestId",
            "X-Request-ID",
            "nonce",
            "TraceID",
            "timestamp",
        ] {
            assert!(is_nonce(name), "{name}");
        }
        for name in ["id", "asset_id", "requested", "timestamps_after", ""] {
            assert!(!is_nonce(name), "{name}");
        }
        assert!(is_cache_buster("_") && is_cache_buster("no-cache") && !is_cache_buster("page"));
        assert!(is_measure("duration_ms") && is_measure("took") && !is_measure("count"));
    }
}
