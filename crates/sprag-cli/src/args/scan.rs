//! The arguments of `sprag scan`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use sprag_core::{Millis, Timestamp};
use sprag_hooks::Client;

use super::PolicyArg;
use super::word::word;

/// What a person would type, and what for.
pub(super) const EXAMPLES: &str = "\
Reads the transcripts that Claude Code, Codex, Gemini CLI, Copilot CLI and opencode keep, or the files
and folders that are named: transcripts, chat logs with `tool_calls`, events as for `sprag decide`.
Every session is judged from its beginning. Nothing leaves the machine, and nothing is written but
the file of --html. Secrets are taken out of what is shown.

Examples:
  sprag scan
  sprag scan --since 7d --html loops.html
  sprag scan --client claude --client codex
  sprag scan chat.json runs/
  sprag scan --policy strict.toml --json | jq '.loops[] | {session, calls, what}'

Exit code: 0 whatever was found; 2 if something that was named can't be read.";

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Transcripts, chat logs or folders of them [default: the folders of the agent CLIs].
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Only what went on since then: `7d`, `36h`, or a day like `2026-11-01`.
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
    /// Only this agent CLI; may be given more than once.
    #[arg(long, value_name = "CLIENT", value_parser = word::<Client>())]
    pub(crate) client: Vec<Client>,
    /// Also write a page that can be shown around: one file, which loads nothing.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A point in time, as a person names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// So long ago.
    Ago(Millis),
    /// Then.
    At(Timestamp),
}

impl Since {
    /// The point in time, seen from `now`.
    pub(crate) fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(span) => Timestamp(now.0.saturating_sub(span.0)),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Since {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(at) = sprag_scan::parse_time(text) {
            return Ok(Self::At(at));
        }
        let span: Result<Millis, _> = text.parse();
        let wrong = "a point in time is written like 7d, 36h or 2026-11-01";
        span.map(Self::Ago).map_err(|_| wrong.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_counts_back_from_now_and_a_day_is_a_day() {
        let now = Timestamp(10 * Millis::DAY.0);
        let at = |text: &str| {
            text.parse::<Since>()
                .map(|since| since.at(now).0 / Millis::HOUR.0)
        };
        assert_eq!(at("7d"), Ok(72));
        assert_eq!(at("36h"), Ok(204));
        assert_eq!(at("1970-01-03"), Ok(48));
        assert_eq!(at("20d"), Ok(0));
        assert!(at("last week").is_err());
    }
}
