//! What happens, in lines that a person can read while it happens.
//!
//! The log of records is for proofs and replays; these lines are for whoever looks at a terminal or greps through a
//! journal. [`line()`] makes one of a record, or none where there is nothing to say: an event that was
//! allowed. `[RECURSION]` is about calls between agents, `[LoopGuard]` about everything else that a rule stops,
//! `[Operator]`, `[Policy]` and `[Store]` about what people and the guard itself do.
//!
//! Names in a line come from agents: [`safe`](safe::safe) makes sure that none can start a line of its own.
//! [`LogLines`] writes them through `tracing`, and leaves out what is too much of the same.

mod flood;
mod notes;
mod output;
mod safe;
mod verdicts;

use sprag_core::{Decision, Observed, RuleId};
use sprag_store::{Record, RecordKind};
use tracing::Level;

pub use output::{LogError, LogFormat, LogLines, log_to, start_logging};
pub use safe::safe;
pub(crate) use safe::safe_sentence;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// The text, in one line.
    pub text: String,
    /// What programs read.
    pub fields: LogFields,
}

/// The fields behind a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFields {
    /// The record's number.
    pub seq: u64,
    /// The session that it is about, made safe.
    pub session: Option<String>,
    /// The rule that decided, or would have.
    pub rule: Option<RuleId>,
    /// What was answered, where something was judged.
    pub verdict: Option<Decision>,
    /// Whether a rule in shadow is told.
    pub shadow: bool,
}

/// The line of a record; none where there is nothing to say.
#[must_use]
pub fn line(record: &Record) -> Option<LogLine> {
    let mut fields = LogFields {
        seq: record.seq,
        ..LogFields::default()
    };
    let (level, text) = match &record.kind {
        RecordKind::Note(noted) => notes::told(noted, record)?,
        RecordKind::Event { observation, .. } => {
            fields.session = Some(safe(observation.what.session().as_str()));
            match &observation.what {
                Observed::Kill(order) => notes::killed(order),
                Observed::Reset(order) => notes::reset(order, record.verdict.generation),
                Observed::Approve(answer) => notes::answered(answer, "Approved"),
                Observed::Decline(answer) => notes::answered(answer, "Declined"),
                what => {
                    fields.verdict = Some(record.verdict.decision);
                    let told = verdicts::VerdictLine::of(&record.verdict);
                    match (told, &record.verdict.notice) {
                        (Some(told), _) => {
                            fields.rule = Some(told.rule);
                            fields.shadow = told.shadow;
                            (told.level(), told.text(what))
                        }
                        (None, Some(notice)) => notes::noticed(what.session(), notice),
                        (None, None) if observation.clock_back => notes::clock_back(what.session()),
                        (None, None) => return None,
                    }
                }
            }
        }
    };
    Some(LogLine {
        level,
        text,
        fields,
    })
}
