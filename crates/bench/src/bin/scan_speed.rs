//! How much of transcripts is scanned in a second on one core, beside counting the lines of the same bytes.
//!
//! Run: `cargo run --release -p sprag-bench --features adapters --bin scan_speed [MEGABYTES]`.
//!
//! Sessions of the real clients are repeated under new names until there is enough; what their tools answered is made as long as it
//! is in practice, since scripted answers are short. Each client is measured by itself, on one thread, in the same run as a plain
//! count of lines, which says what the machine and its cache can do at best. What counts is the time that the process has had on a
//! core, if the system reports it: what else the machine does changes that little.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sprag_scan::{Options, named, scan};

/// What clients call a session, so that a copy gets a name of its own.
const FIXTURES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../sprag-scan/tests/scan/fixtures"
);
/// What the scripts' tools answer, and a longer answer in its place.
const SHORT: &str = "job 17 is queued";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 200,
    };
    let folder = std::env::temp_dir().join(format!("sprag-scan-speed-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&folder, megabytes * 1_000_000);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &Path, bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    say(&format!(
        "{:10} {:>8} {:>8} {:>12} {:>12} {:>8}",
        "client", "MB", "calls", "scan MB/s", "lines MB/s", "loops"
    ));
    for client in ["claude", "codex", "gemini", "copilot"] {
        let path = folder.join(format!("{client}.jsonl"));
        fs::write(&path, repeated(client, bytes)?)?;
        let (lines_rate, lines) = count_lines(&path)?;
        let (scan_rate, calls, loops) = scan_one(&path)?;
        let length = fs::metadata(&path)?.len() / 1_000_000;
        say(&format!(
            "{client:10} {length:8} {calls:8} {scan_rate:12.0} {lines_rate:12.0} {loops:8}"
        ));
        say(&format!("figure scan.{client} {scan_rate:.1}"));
        debug_assert!(lines > 0);
        fs::remove_file(&path)?;
    }
    Ok(())
}

/// The transcripts of a client one after the other, in as many sessions as are needed.
fn repeated(client: &str, bytes: usize) -> Result<Vec<u8>, std::io::Error> {
    let long: String = (1..60)
        .map(|n| format!("src/module_{n}.rs:{n}: warning: unused variable `value_{n}`\\n"))
        .collect();
    let mut once = String::new();
    for script in ["batch", "poll", "parallel", "loop", "edit-test"] {
        once += &fs::read_to_string(
            Path::new(FIXTURES)
                .join(client)
                .join(format!("{script}.jsonl")),
        )?;
    }
    let once = once
        .replace(SHORT, &long)
        .replace("page ", &format!("{long}page "));
    let mut all = String::with_capacity(bytes + once.len());
    while all.len() < bytes {
        all += &once;
    }
    Ok(all.into_bytes())
}

fn rate(bytes: u64, seconds: f64) -> f64 {
    let megabytes = u32::try_from(bytes / 1_000).map_or(f64::MAX, f64::from) / 1_000.0;
    megabytes / seconds
}

/// Seconds that this process has had on a core, counted in hundredths.
fn on_core() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok().map(f64::from);
    Some((ticks()? + ticks()?) / 100.0)
}

/// Does `work`, and tells how many seconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (began, core) = (now(), on_core());
    let done = work();
    let seconds = on_core().zip(core).map(|(after, before)| after - before);
    // What is over within a hundredth of a second is measured by the clock.
    let seconds = seconds.filter(|seconds| *seconds >= 0.1);
    (
        done,
        seconds.unwrap_or_else(|| began.elapsed().as_secs_f64()),
    )
}

fn count_lines(path: &Path) -> Result<(f64, usize), std::io::Error> {
    let (counted, seconds) = timed(|| -> Result<_, std::io::Error> {
        let bytes = fs::read(path)?;
        let lines = memchr::memchr_iter(b'\n', &bytes).count();
        Ok((u64::try_from(bytes.len()).unwrap_or(u64::MAX), lines))
    });
    let (bytes, lines) = counted?;
    Ok((rate(bytes, seconds), lines))
}

fn scan_one(path: &PathBuf) -> Result<(f64, usize, usize), Box<dyn std::error::Error>> {
    let transcripts = named(std::slice::from_ref(path))?;
    let options = Options {
        threads: Some(1),
        ..Options::default()
    };
    let ((report, _), seconds) = timed(|| scan(&transcripts, &options, &|_| {}));
    let rate = rate(report.total.bytes, seconds);
    Ok((rate, report.total.calls, report.total.loops))
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn say(line: &str) {
    println!("{line}");
}
