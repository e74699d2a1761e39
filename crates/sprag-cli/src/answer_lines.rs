//! Events in, answers out, line by line.
//!
//! The simplest way to use a guard from any language: keep the process open, write a line, read a
//! line. So the answers come one for one and at once, and a bad line costs nobody the stream.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use serde::Serialize;
use sprag_core::{Event, MAX_EVENT_BYTES, Verdict};

use crate::bounded_lines::{BoundedLine, BoundedLines};
use crate::failure::{Failure, Run};

/// How much is read at once.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// An answer to one line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum LineAnswer {
    Verdict(Box<Verdict>),
    Error { error: LineError },
}

#[derive(Debug, Serialize)]
struct LineError {
    line: u64,
    message: String,
}

/// Answers every line of `input`; with `strict`, stops at the first that can't be.
pub(crate) fn answer_lines(
    input: impl BufRead,
    output: &mut dyn Write,
    strict: bool,
    mut judge: impl FnMut(Event) -> Result<Verdict, String>,
) -> Run {
    let mut lines = BoundedLines::new(input, MAX_EVENT_BYTES);
    let mut text = Vec::new();
    while let Some((number, line)) = lines.next().map_err(unreadable)? {
        if matches!(line, BoundedLine::Bytes(bytes) if bytes.trim_ascii().is_empty()) {
            continue;
        }
        let answer = match parse(&line).and_then(&mut judge) {
            Ok(verdict) => LineAnswer::Verdict(Box::new(verdict)),
            Err(message) => LineAnswer::Error {
                error: LineError {
                    line: number,
                    // An event is one line here, and the number of that line is given already.
                    message: message.replace(" at line 1 column ", " at column "),
                },
            },
        };
        text.clear();
        serde_json::to_writer(&mut text, &answer).map_err(std::io::Error::from)?;
        text.push(b'\n');
        output.write_all(&text)?;
        output.flush()?;
        if let (LineAnswer::Error { error }, true) = (&answer, strict) {
            return Err(
                Failure::new(format!("line {}: {}", error.line, error.message))
                    .next("fix the line, or leave out --strict to skip lines like it"),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(line: &BoundedLine<'_>) -> Result<Event, String> {
    match line {
        BoundedLine::Bytes(bytes) => Event::parse(bytes).map_err(|error| error.to_string()),
        BoundedLine::TooLong(bytes) => Err(format!(
            "an event has at most {MAX_EVENT_BYTES} bytes, this line has {bytes}"
        )),
    }
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::new(format!("can't read standard input: {error}"))
}
