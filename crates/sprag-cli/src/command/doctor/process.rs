//! A program that is asked something: it gets its input, and must answer in time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The most lines of an answer that are looked at.
const MAX_LINES: usize = 10_000;

/// Runs `command` with `input` and returns the lines that it prints, until one of them is `last`, it ends,
/// or nothing comes for as long as `deadline`. Then it is stopped. Its input stays open until then if
/// there is a last line to wait for. None if it can't be started.
pub(super) fn lines(
    mut command: Command,
    input: &str,
    deadline: Duration,
    last: Option<fn(&str) -> bool>,
) -> Option<Vec<String>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // A program that does not read its input may still answer.
        let _ = stdin.write_all(input.as_bytes());
        let _ = stdin.flush();
    }
    if last.is_none() {
        stdin = None;
    }
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let read = BufReader::new(stdout).lines().map_while(Result::ok);
        for line in read.take(MAX_LINES) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut lines = Vec::new();
    while let Ok(line) = receiver.recv_timeout(deadline) {
        let done = last.is_some_and(|last| last(&line));
        lines.push(line);
        if done {
            break;
        }
    }
    drop(stdin);
    // It has ended, or its end does not matter any more.
    let _ = child.kill();
    let _ = child.wait();
    Some(lines)
}
