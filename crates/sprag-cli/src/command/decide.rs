//! `sprag decide`: events in, verdicts out, line by line.
//!
//! The simplest way to use the engine from any language: keep the process open, write a line, read
//! a line. So the answers come one for one and at once, and a bad line costs nobody the stream.

use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;

use serde::Serialize;
use sprag::Judge;
use sprag_core::{Event, MAX_EVENT_BYTES, Timestamp, Verdict};

use crate::args::DecideArgs;
use crate::clock;
use crate::failure::{Failure, Run};
use crate::lines::{Line, Lines};
use crate::policy_file::PolicyFile;
use crate::settings::Settings;

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// Judges standard input.
pub(crate) fn run(args: &DecideArgs, settings: &Settings) -> Run {
    let policy = PolicyFile::find(settings, args.policy.policy.as_deref()).load()?;
    let input = BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    decide(
        Judge::new(policy),
        input,
        &mut output,
        args.strict,
        clock::now,
    )
}

/// An answer to one line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer {
    Verdict(Box<Verdict>),
    Error { error: LineError },
}

#[derive(Debug, Serialize)]
struct LineError {
    line: u64,
    message: String,
}

fn decide(
    mut judge: Judge,
    input: impl BufRead,
    output: &mut dyn Write,
    strict: bool,
    now: impl Fn() -> Timestamp,
) -> Run {
    let mut lines = Lines::new(input, MAX_EVENT_BYTES);
    let mut text = Vec::new();
    while let Some((number, line)) = lines.next().map_err(unreadable)? {
        if matches!(line, Line::Bytes(bytes) if bytes.trim_ascii().is_empty()) {
            continue;
        }
        let answer = match answer(&mut judge, &line, &now) {
            Ok(verdict) => Answer::Verdict(Box::new(verdict)),
            Err(message) => Answer::Error {
                error: LineError {
                    line: number,
                    message,
                },
            },
        };
        text.clear();
        serde_json::to_writer(&mut text, &answer).map_err(std::io::Error::from)?;
        text.push(b'\n');
        output.write_all(&text)?;
        output.flush()?;
        if let (Answer::Error { error }, true) = (&answer, strict) {
            return Err(
                Failure::new(format!("line {}: {}", error.line, error.message))
                    .next("mend the line, or leave out --strict to skip lines like it"),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(
    judge: &mut Judge,
    line: &Line<'_>,
    now: impl Fn() -> Timestamp,
) -> Result<Verdict, String> {
    let bytes = match line {
        Line::Bytes(bytes) => bytes,
        Line::TooLong(bytes) => {
            return Err(format!(
                "an event has at most {MAX_EVENT_BYTES} bytes, this line has {bytes}"
            ));
        }
    };
    let event = Event::parse(bytes).map_err(|error| message(&error))?;
    let at = event.at().unwrap_or_else(now);
    judge.judge(&event, at).map_err(|error| message(&error))
}

/// An event is one line here, and the number of that line is told already.
fn message(error: &dyn std::error::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::new(format!("can't read standard input: {error}"))
}
