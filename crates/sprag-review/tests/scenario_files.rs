//! Scenario files that nobody would write on purpose: they are told what is wrong, and nothing breaks.

use proptest::prelude::*;
use sprag_review::scenario::{parse, run};

const GOOD: &str = r#"[{"name": "a", "source": "x", "policy": {"rules": {"flow.*": "off"}, "call": {"window": "5s"}},
 "events": [{"event": {"type": "call", "at": 1, "session": "s", "tool": "delete_x", "args": {"id": [1, null, "z"]}}, "expect": {"verdict": "allow", "also": []}},
            {"event": {"type": "message", "from": "1", "to": "2", "flow": "f"}, "expect": {"depth": 2}},
            {"event": {"type": "step", "session": "s", "approach": "p", "outcome": "o"}}],
 "overall": {"silent": true, "no_stop": false, "warn_by": 3, "stop_by": 4, "not_before": 1}}]"#;

/// Reads and, where it can be read, runs.
fn take(bytes: &[u8]) {
    match parse(bytes) {
        Ok(scenarios) => {
            for scenario in &scenarios {
                assert_eq!(run(scenario).events, scenario.events.len());
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        take(&bytes);
    }

    #[test]
    fn a_good_file_with_a_piece_put_elsewhere_is_taken(from in 0..GOOD.len(), length in 0..40_usize, to in 0..GOOD.len()) {
        let mut bytes = GOOD.as_bytes().to_vec();
        let end = (from + length).min(bytes.len());
        let piece: Vec<u8> = bytes.drain(from..end).collect();
        let to = to.min(bytes.len());
        bytes.splice(to..to, piece);
        take(&bytes);
    }

    #[test]
    fn a_good_file_with_other_bytes_in_it_is_taken(changes in prop::collection::vec((0..GOOD.len(), any::<u8>()), 1..4)) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        take(&bytes);
    }
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(parse(GOOD.as_bytes()).expect("it is good").len(), 1);
}
