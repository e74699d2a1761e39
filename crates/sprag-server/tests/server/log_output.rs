//! How lines are written: as text, as JSON, and not a thousand times.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sprag_server::log_lines::{LogFormat, LogLines, log_to};
use tracing_subscriber::fmt::MakeWriter;

use crate::guard_fixture::{GuardFixture, START};

/// A place to write to that a test can read.
#[derive(Debug, Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Paper {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What is written of a chain that goes too deep `times` times, without the time of day.
fn written(format: LogFormat, times: u64) -> String {
    let paper = Paper::default();
    let subscriber = log_to(paper.clone(), format, None).unwrap();
    let fixture = GuardFixture::new("flow.max_depth = 1");
    for _ in 0..times {
        fixture.clock.set(START);
        fixture.tell(json!({"type": "message", "from": "1", "to": "2", "flow": "f"}));
    }
    tracing::subscriber::with_default(subscriber, || {
        let lines = LogLines::default();
        let mut left_out = 0;
        for record in fixture.records() {
            left_out += lines.observe(&record);
        }
        left_out += lines.end();
        assert_eq!(left_out, times.saturating_sub(5));
    });
    let bytes = paper.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_storm_of_refusals_is_a_few_lines_and_a_number() {
    let text = written(LogFormat::Text, 1_000);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[0].contains("WARN [RECURSION] Rejected call 1→2: chain depth 2 exceeds max 1"));
    assert!(lines[5].contains("995 more lines of flow.depth in session 1 were left out"));
}

#[test]
fn a_storm_that_is_over_is_told_without_a_further_record() {
    let fixture = GuardFixture::new("flow.max_depth = 1");
    for _ in 0..8 {
        fixture.clock.set(START);
        fixture.tell(json!({"type": "message", "from": "1", "to": "2", "flow": "f"}));
    }
    let lines = LogLines::default();
    for record in fixture.records() {
        assert_eq!(lines.observe(&record), 0);
    }
    let now = fixture.guard.now();
    assert_eq!(lines.look(now), 0);
    assert_eq!(lines.look(now.plus(sprag::Millis(10_000))), 3);
    assert_eq!(lines.end(), 0);
}

#[test]
fn json_lines_hold_the_facts_apart() {
    let text = written(LogFormat::Json, 1);
    let mut line: Value = serde_json::from_str(&text).unwrap();
    line["timestamp"] = "…".into();
    insta::assert_json_snapshot!(line);
}

#[test]
fn a_wrong_filter_is_told() {
    let error = log_to(io::stderr, LogFormat::Text, Some("sprag=loud"))
        .err()
        .unwrap();
    insta::assert_snapshot!(error);
}
