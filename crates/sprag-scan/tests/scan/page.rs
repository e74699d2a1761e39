//! The page: one file that asks for nothing and takes nothing for a part of itself.

use serde_json::{Value, json};
use sprag_core::Timestamp;
use sprag_scan::{ScanReport, page};

use crate::recorded::{fixture, scanned, scanned_text};

/// A point in November 2026.
const NOW: Timestamp = Timestamp(1_794_800_000_000);

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let page = page(&scanned(&fixture("claude", "loop")), NOW);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert!(page.contains("default-src 'none'"));
    for word in [
        "<script",
        "http:",
        "https:",
        "url(",
        "@import",
        "src=",
        "href=",
        "javascript:",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("<h1>1 loop in 1 session</h1>"));
    assert!(page.contains("Bash: cat status.txt"));
}

#[test]
fn what_agents_handled_is_no_part_of_the_page() {
    let evil = "</code><img src=x onerror=alert(1)>\"'&<script>alert(2)</script>";
    let turn = |n: u32| {
        [
            json!({"role": "assistant", "tool_calls": [{"id": format!("c{n}"), "function": {"name": evil, "arguments": json!({"command": evil}).to_string()}}]}),
            json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": evil}),
        ]
    };
    let messages: Vec<Value> = (0..8).flat_map(turn).collect();
    let report = scanned_text("<b>chat.json", json!(messages).to_string());
    let page = page(&report, NOW);
    assert!(!page.contains("<img") && !page.contains("<script") && !page.contains("<b>"));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn a_page_without_loops_says_so() {
    let page = page(&ScanReport::default(), NOW);
    assert!(page.contains("<h1>No loops in 0 sessions</h1>"));
    assert!(page.contains("No session went around in circles long enough to be stopped."));
}
