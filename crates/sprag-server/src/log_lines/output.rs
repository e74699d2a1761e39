//! Lines on their way out: through `tracing`, as text or as JSON, to stderr.

use std::sync::{Mutex, PoisonError};

use sprag_core::{Timestamp, words};
use sprag_store::Record;
use tracing::{Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::flood::{Admission, Flood, LeftOut};
use super::{LogFields, LogLine, line};

words! {
    "log format",
    /// How lines look.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum LogFormat {
        /// For people.
        #[default]
        Text = "text",
        /// For programs: one JSON object a line.
        Json = "json",
    }
}

/// Where lines go from now on in this process: stderr. `filter` is as in `RUST_LOG`; none means `info`.
///
/// # Errors
/// Returns an error if lines already go somewhere, or the filter can't be read.
pub fn start_logging(format: LogFormat, filter: Option<&str>) -> Result<(), LogError> {
    let subscriber = log_to(std::io::stderr, format, filter)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LogError::Started)
}

/// Why logging could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// It was started before.
    #[error("logging was started already")]
    Started,
    /// The filter is wrong.
    #[error(
        "the log filter `{filter}` can't be read: {source}; write for example `info` or `sprag=debug`"
    )]
    Filter {
        /// As it was given.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
}

/// A subscriber of `tracing` that writes lines to `writer`.
///
/// # Errors
/// Returns an error if the filter can't be read.
pub fn log_to<W>(
    writer: W,
    format: LogFormat,
    filter: Option<&str>,
) -> Result<Box<dyn Subscriber + Send + Sync>, LogError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = filter.unwrap_or("info");
    let filter = EnvFilter::try_new(filter).map_err(|source| LogError::Filter {
        filter: filter.to_owned(),
        source,
    })?;
    let lines = tracing_subscriber::fmt()
        .with_writer(writer)
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false);
    Ok(match format {
        LogFormat::Text => Box::new(lines.finish()),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).finish()),
    })
}

/// Writes the lines of records, and leaves out what is too much of the same.
#[derive(Debug, Default)]
pub struct LogLines(Mutex<Flood>);

impl LogLines {
    /// Writes the line of a record, where it has one. Answers how many lines are newly known to be left out.
    pub fn observe(&self, record: &Record) -> u64 {
        let mut flood = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let swept = tell_left_out(flood.sweep(record.at));
        let Some(line) = line(record) else {
            return swept;
        };
        let always = line.level == Level::ERROR;
        let admission = match (&line.fields.session, line.fields.rule) {
            (Some(session), Some(rule)) if !always => flood.pass(rule, session, record.at),
            _ => Admission::Yes { left_out: 0 },
        };
        drop(flood);
        let Admission::Yes { left_out } = admission else {
            return swept;
        };
        write(&line, left_out);
        swept.saturating_add(left_out)
    }

    /// Tells what was left out in windows that are over, for when no further record does. Answers how many lines
    /// that were.
    pub fn look(&self, now: Timestamp) -> u64 {
        let mut flood = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tell_left_out(flood.sweep(now))
    }

    /// Tells what was left out and not told of. Answers how many lines that were.
    pub fn end(&self) -> u64 {
        let mut flood = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tell_left_out(flood.end())
    }
}

fn tell_left_out(left: Vec<LeftOut>) -> u64 {
    let mut lines = 0_u64;
    for LeftOut {
        session,
        rule,
        lines: more,
    } in left
    {
        tracing::info!(target: "sprag", session, rule = rule.as_str(), left_out = more, "{more} more lines of {rule} in session {session} were left out");
        lines = lines.saturating_add(more);
    }
    lines
}

/// The level of an event of `tracing` is fixed where it stands, so there is one for each.
fn write(line: &LogLine, left_out: u64) {
    let text = &line.text;
    let LogFields {
        seq,
        session,
        rule,
        verdict,
        shadow,
    } = &line.fields;
    let session = session.as_deref();
    let rule = rule.map(|rule| rule.as_str());
    let verdict = verdict.map(|verdict| verdict.as_str());
    let shadow = shadow.then_some(true);
    let left_out = (left_out > 0).then_some(left_out);
    macro_rules! at {
        ($level:expr) => {
            tracing::event!(target: "sprag", $level, seq, session, rule, verdict, shadow, left_out, "{text}")
        };
    }
    match line.level {
        Level::ERROR => at!(Level::ERROR),
        Level::WARN => at!(Level::WARN),
        _ => at!(Level::INFO),
    }
}
