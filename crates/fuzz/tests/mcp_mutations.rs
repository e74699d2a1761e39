//! Recorded messages with bytes changed, moved and doubled: nothing panics, nothing slips through.

#![cfg(test)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use sprag_fuzz_targets::counting_gate;
use sprag_mcp::{ClientAction, ServerAction};

/// A small generator: the same numbers in every run.
struct SeededRng(u64);

impl SeededRng {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    /// A few changes of the kinds that break readers.
    fn mutate(&mut self, line: &str) -> Vec<u8> {
        const PARTS: [&str; 12] = [
            "\"",
            "\\",
            "{",
            "}",
            "[",
            "]",
            ",",
            "\"method\":\"tools/call\",",
            "\"id\":7,",
            "null",
            "\\u0061",
            "\u{0}",
        ];
        let mut bytes = line.as_bytes().to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => drop(bytes.drain(at..(at + self.below(20)).min(bytes.len()))),
                1 => drop(bytes.splice(at..at, PARTS[self.below(PARTS.len())].bytes())),
                2 => {
                    let end = (at + self.below(60)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(end..end, copy);
                }
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes.retain(|byte| *byte != b'\n');
        bytes
    }
}

fn recorded() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sprag-mcp/tests/corpus");
    let files = folder
        .read_dir()
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let lines: Vec<String> = files
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut lines: Vec<(String, String)> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.retain(|(_, line)| line.len() < 2000);
    lines.sort();
    lines
}

/// Whether a reader that takes the last of two equal keys would run a tool for it.
fn is_call(message: &Value) -> bool {
    message["method"] == "tools/call" && message["params"]["name"].is_string()
}

#[test]
fn no_call_that_a_reader_understands_passes_unjudged() {
    let asked = Arc::new(AtomicU64::new(0));
    let gate = counting_gate(&asked);
    let scope = gate.scope();
    let lines = recorded();
    let mut rng = SeededRng(0x5eed_5eed);
    let mut calls = 0;
    for _ in 0..60_000 {
        let (who, line) = &lines[rng.below(lines.len())];
        let message = rng.mutate(line);
        let shown = String::from_utf8_lossy(&message).into_owned();
        if who == "server" {
            if let ServerAction::Replace(new) = gate.from_server(&scope, &message) {
                assert!(new.len() > message.len());
                let was_json = serde_json::from_slice::<Value>(&message).is_ok();
                let is_json = serde_json::from_slice::<Value>(&new).is_ok();
                assert_eq!(is_json, was_json, "{shown}");
            }
            continue;
        }
        let before = asked.load(Ordering::Relaxed);
        let passed = gate.from_client(&scope, &message) == ClientAction::Pass;
        let Ok(read) = serde_json::from_slice::<Value>(&message) else {
            continue;
        };
        let is_next_round = !read["params"]["inputResponses"].is_null()
            || !read["params"]["requestState"].is_null();
        if passed && is_call(&read) && !is_next_round {
            calls += 1;
            assert_ne!(asked.load(Ordering::Relaxed), before, "unjudged: {shown}");
        }
    }
    assert!(
        calls > 1000,
        "too few calls survived to prove anything: {calls}"
    );
}
