//! A loop that was found: where, what, what it cost, and what a guard would have done.

use serde::{Serialize, Serializer};
use sprag::rfc3339;
use sprag_core::{Decision, RuleId, Timestamp};

use crate::transcript_source::TranscriptSource;

/// A loop in a session. What it shows of calls and results is short and without secrets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loop {
    /// Who wrote the transcript.
    pub client: TranscriptSource,
    /// The folder that the session worked in.
    pub project: Option<String>,
    /// The session.
    pub session: String,
    /// The transcript.
    pub file: String,
    /// When it began; none where the transcript has no times.
    #[serde(serialize_with = "time")]
    pub began: Option<Timestamp>,
    /// The rule that saw it first.
    pub rule: RuleId,
    /// The strongest that a guard would have answered.
    pub verdict: Decision,
    /// The number of its first call in the session, from 1.
    pub first_call: usize,
    /// The number of its last call.
    pub last_call: usize,
    /// How many calls went into it.
    pub calls: usize,
    /// How long it took; none where the transcript has no times.
    pub seconds: Option<u64>,
    /// What it took of the model.
    pub tokens: LoopTokens,
    /// The call that it went around in, in brief.
    pub what: String,
    /// What came of that, in brief.
    pub outcome: String,
    /// When a guard would first have said something to the agent.
    pub warned: Option<Reaction>,
    /// When it would have refused to go on.
    pub stopped: Option<Reaction>,
    /// What that would have saved.
    pub saved: Saved,
    /// Sprag guarded the session: it refused calls in it, which are not counted here.
    pub guarded: bool,
    /// Calls of the loop whose results the hooks of this client don't report: a guard sees less than this scan.
    pub unseen: usize,
    /// How the work ended that it was part of.
    pub ending: Ending,
    /// Calls after the loop, until the person next wrote.
    pub calls_after: usize,
    /// The stop may have been wrong: the agent got out by itself, went on with other things and finished.
    pub perhaps_wrong: bool,
    /// Its calls; of a long loop the first and the last.
    pub steps: Vec<LoopStep>,
    /// The calls that `steps` leaves out in the middle.
    pub left_out: usize,
    /// When each call was made, in milliseconds from the first, for a picture.
    #[serde(skip)]
    pub ticks: Vec<u32>,
}

/// Tokens that went through the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LoopTokens {
    /// Read, without those from a cache.
    pub input: u64,
    /// Read from a cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
    /// All of them.
    pub total: u64,
    /// The transcript does not say; it is a quarter of the bytes that calls and results added.
    pub estimated: bool,
}

/// What a guard would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reaction {
    /// At which call, by its number in the session.
    pub call: usize,
    /// What to do.
    pub verdict: Decision,
    /// The rule.
    pub rule: RuleId,
    /// What the agent would have been told.
    pub message: String,
}

/// What a stop would have saved, until the person next wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Calls.
    pub calls: usize,
    /// Time.
    pub seconds: u64,
    /// Tokens.
    pub tokens: u64,
}

/// How a turn of the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent said something to the person.
    Finished,
    /// The person stopped it.
    Interrupted,
    /// The transcript ends, or the person wrote, in the middle of the work.
    Open,
}

/// One call of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopStep {
    /// Its number in the session.
    pub call: usize,
    /// Since the loop began, in milliseconds.
    pub after_ms: u64,
    /// What was called, in brief.
    pub what: String,
    /// What came of it, in brief.
    pub outcome: String,
    /// Whether it failed.
    pub failed: bool,
    /// What a guard would have answered.
    pub verdict: Decision,
}

impl Loop {
    /// What makes one loop worse than another: the calls that a stop saves, then what it cost at all.
    pub(crate) fn weight(&self) -> (bool, usize, usize, u64) {
        let certain = self.stopped.is_some() && !self.perhaps_wrong;
        (certain, self.saved.calls, self.calls, self.tokens.total)
    }
}

pub(crate) fn time<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.serialize_str(&rfc3339(*at)),
        None => serializer.serialize_none(),
    }
}
