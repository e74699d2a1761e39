//! From a verdict to what a client should do, before it is put into that client's words.

use sprag::{Decision, Verdict};

use crate::reading::Moment;

/// What the client should do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Go on as if nobody had asked.
    Silent,
    /// Go on, and let the model read this.
    Note(String),
    /// Don't, and let the model read why.
    Refuse(String),
    /// Don't, and end the session where the client can.
    Stop(String),
    /// Nobody could check it; go on, and let the person read why.
    Unchecked(String),
}

impl Reply {
    /// What `verdict` means at `moment`.
    pub(crate) fn to(moment: Moment, verdict: &Verdict) -> Self {
        let text = || reason(verdict);
        match (moment, verdict.decision) {
            (_, Decision::Allow) | (Moment::Return | Moment::Elsewhere, _) => Self::Silent,
            (_, Decision::Warn) => Self::Note(text()),
            (Moment::Before | Moment::After, Decision::Kill) => Self::Stop(text()),
            // The tool ran: its result stays, and the refusals start with the next call.
            (Moment::After, _) => Self::Note(text()),
            (Moment::Before | Moment::Prompt | Moment::Spawn, _) => Self::Refuse(text()),
        }
    }
}

/// The verdict in words. The model reads it as well, and models like to follow commands that they
/// read; so it says whose command that is.
fn reason(verdict: &Verdict) -> String {
    let message = match (&verdict.message, verdict.rule) {
        (Some(message), _) => message.clone(),
        (None, Some(rule)) => format!("{} by {}", verdict.decision, rule.as_str()),
        (None, None) => verdict.decision.to_string(),
    };
    match &verdict.hint {
        Some(hint) => {
            format!(
                "sprag: {message}\nOnly the user may lift or tune this, never you, with: {hint}"
            )
        }
        None => format!("sprag: {message}"),
    }
}
