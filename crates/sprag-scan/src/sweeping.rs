//! Commands that took a whole place where data lives at once: not loops, but what people regret most.

use serde::Serialize;
use sprag_core::{Decision, Timestamp};

use crate::found_loop::time;
use crate::transcript_source::TranscriptSource;

/// A command that a guard would have asked about, or refused, the first time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepingCommand {
    /// Who wrote the transcript.
    pub client: TranscriptSource,
    /// The folder that the session worked in.
    pub project: Option<String>,
    /// The session.
    pub session: String,
    /// The transcript.
    pub file: String,
    /// When it was called; none if the transcript has no times.
    #[serde(serialize_with = "time")]
    pub at: Option<Timestamp>,
    /// The number of the call in the session, from 1.
    pub call: usize,
    /// The call, in brief and without secrets.
    pub what: String,
    /// What it destroys, in words.
    pub effects: Vec<String>,
    /// What a guard would have answered: ask, or deny for `/`, homes, system directories and devices.
    pub verdict: Decision,
}
