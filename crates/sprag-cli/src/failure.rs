//! How a command ends when it can't do what it was asked: what happened, and what to do next.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::style::{BAD, CAREFUL, paint};

/// What a command returns.
pub(crate) type Run = Result<ExitCode, Failure>;

/// The checks ran, and something did not hold.
pub(crate) const FAILED: u8 = 1;
/// The command could not do its work: wrong arguments, unreadable or wrong input.
pub(crate) const UNUSABLE: u8 = 2;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something to tell the person.
    Explained {
        /// What happened, to what.
        message: String,
        /// What to do next.
        next: Option<String>,
    },
    /// The output went away.
    Output(std::io::Error),
}

impl Failure {
    /// A failure that says what happened.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Explained {
            message: message.into(),
            next: None,
        }
    }

    /// With what to do next.
    pub(crate) fn next(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Explained { message, .. } => Self::Explained {
                message,
                next: Some(advice.into()),
            },
            output @ Self::Output(_) => output,
        }
    }

    /// A file that can't be read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        let failure = Self::new(format!(
            "can't read {}: {}",
            path.display(),
            Self::reason(error)
        ));
        match error.kind() {
            ErrorKind::NotFound => failure.next("check the path; it is relative to where you are"),
            _ => failure,
        }
    }

    /// A file that can't be written.
    pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!(
            "can't write {}: {}",
            path.display(),
            Self::reason(error)
        ))
    }

    /// The system's word without its number: `no such file or directory`.
    pub(crate) fn reason(error: &std::io::Error) -> String {
        let text = error.to_string();
        let words = text.split(" (os error").next().unwrap_or_default();
        words.to_lowercase()
    }

    /// Tells the person, and says how the process ends.
    pub(crate) fn tell(self, err: &mut dyn Write) -> ExitCode {
        match self {
            // Whoever read our output has seen enough, as in `sprag rules | head -3`.
            Self::Output(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(error) => report(
                err,
                &format!("can't write the output: {}", Self::reason(&error)),
                None,
            ),
            Self::Explained { message, next } => report(err, &message, next.as_deref()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

fn report(err: &mut dyn Write, message: &str, next: Option<&str>) -> ExitCode {
    let mut text = format!("{} {message}\n", paint(BAD, "error:"));
    if let Some(next) = next {
        let _ = writeln!(text, "{} {next}", paint(CAREFUL, "next:"));
    }
    // Where standard error is gone as well there is nobody left to tell.
    let _ = err.write_all(text.as_bytes());
    ExitCode::from(UNUSABLE)
}
