//! Files of any length are read in little memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};

use sprag_scan::MAX_LINE_BYTES;

use crate::recorded::{brief, fixture, scanned};

/// How many bytes the long file has; the soak asks for a gigabyte.
#[expect(
    clippy::disallowed_methods,
    reason = "the length of a long run is set from outside"
)]
fn long() -> u64 {
    match std::env::var("SPRAG_SCAN_BYTES") {
        Ok(bytes) => bytes.parse().expect("SPRAG_SCAN_BYTES is a number"),
        Err(_) => 60_000_000,
    }
}

#[test]
fn one_line_that_is_far_too_long_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let text = fs::read_to_string(fixture("claude", "loop")).unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for (number, line) in text.lines().enumerate() {
        if number == 7 {
            file.write_all(b"{\"type\":\"user\",\"sessionId\":\"s\",\"picture\":\"")
                .unwrap();
            for _ in 0..100 {
                file.write_all(&vec![b'x'; 1_000_000]).unwrap();
            }
            file.write_all(b"\"}\n").unwrap();
        }
        writeln!(file, "{line}").unwrap();
    }
    file.into_inner().unwrap();
    let report = scanned(&path);
    assert_eq!(brief(&report), brief(&scanned(&fixture("claude", "loop"))));
    assert_eq!(report.skipped[0].line, Some(8));
    assert_eq!(
        report.skipped[0].why,
        format!("it has more than {} MiB", MAX_LINE_BYTES / 1024 / 1024)
    );
}

/// One session that never ends: every loop in it is found, and memory does not grow with it.
#[test]
fn a_file_of_any_length_needs_no_more_memory_than_a_short_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless.jsonl");
    let text = fs::read(fixture("codex", "edit-test")).unwrap();
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let mut rounds = 0;
    for _ in 0..=(long() / u64::try_from(text.len()).unwrap()) {
        file.write_all(&text).unwrap();
        rounds += 1;
    }
    file.into_inner().unwrap();
    let before = peak_kilobytes();
    let report = scanned(&path);
    let grown = peak_kilobytes().saturating_sub(before);
    assert_eq!(report.total.calls, 16 * rounds);
    assert!(report.total.loops >= 1);
    assert!(
        grown < 200_000,
        "{grown} kB for {} bytes",
        report.total.bytes
    );
}

/// The most memory that this process ever had, where the system tells.
fn peak_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words.and_then(|number| number.parse().ok()).unwrap_or(0)
}
