//! What a client should do about a verdict, before it is put into that client's own format.

use sprag::{Decision, Verdict};
use sprag_core::Code;

use crate::parsed_hook::HookPhase;

/// What the client should do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Go on as if nobody had asked.
    Silent,
    /// Go on, and let the model read this.
    Note(String),
    /// Let the client ask the person about the call; refuse it if nobody is there.
    Ask(Question),
    /// Refuse the call, and let the model read why.
    Refuse(String),
    /// Refuse the call, and end the turn or the session if the client can.
    Stop(String),
    /// Go on, and let the person read this, not the model: that nobody could check it, or how long
    /// the agent has waited.
    Unchecked(String),
}

/// A call that a person has to decide about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// For the client's dialog: why it is asked, and what each answer means.
    pub(crate) person: String,
    /// For the model, if the client asks nobody.
    pub(crate) refusal: String,
    /// How a person approves it later.
    approve: Option<String>,
}

impl Question {
    fn of(verdict: &Verdict) -> Self {
        let evidence = verdict.evidence.as_ref();
        let why = evidence.and_then(|evidence| evidence.get("why")?.as_str());
        let why = why.or(verdict.message.as_deref()).unwrap_or("not allowed");
        let person = format!(
            "sprag asks before this runs: {why}.\nYes: it runs, and the same call is not asked about \
             again in this session. No: it does not run."
        );
        let code = verdict.approval.as_ref();
        Self {
            person,
            refusal: reason(verdict),
            approve: code.map(|code| format!("sprag approve {code}")),
        }
    }

    /// One text for clients that show it in their dialog and, if nobody is there to answer, give it to the
    /// model as the reason of a refusal.
    pub(crate) fn for_both(&self) -> String {
        match &self.approve {
            Some(approve) => format!(
                "{}\nFor the agent, if nobody can answer here: the user can run `{approve}`; then make the \
                 same call again. Do not work around it.",
                self.person
            ),
            None => self.person.clone(),
        }
    }
}

impl Reply {
    /// What `verdict` means in `phase`.
    pub(crate) fn to(phase: HookPhase, verdict: &Verdict) -> Self {
        let text = || reason(verdict);
        let is_blocked = verdict.code == Some(Code::SessionBlockedLoopGuard);
        match (phase, verdict.decision) {
            // Clients show it to the person after a call, or not at all: never to the model.
            (HookPhase::After | HookPhase::Batch, Decision::Allow) => match &verdict.notice {
                Some(notice) => Self::Unchecked(format!("sprag: {notice}")),
                None => Self::Silent,
            },
            (_, Decision::Allow) => Self::Silent,
            (HookPhase::Return | HookPhase::Start | HookPhase::Ignored, _) => Self::Silent,
            // Calls that a client refuses by itself have no hook before them. A blocked session that
            // goes on making such calls can only be ended here.
            (HookPhase::Batch, _) if is_blocked => Self::Stop(text()),
            (_, Decision::Warn) => Self::Note(text()),
            (HookPhase::Before | HookPhase::After | HookPhase::Batch, Decision::Kill) => {
                Self::Stop(text())
            }
            // The tool ran: its result stays, and the refusals start with the next call.
            (HookPhase::After | HookPhase::Batch, _) => Self::Note(text()),
            (HookPhase::Before, Decision::Ask) => Self::Ask(Question::of(verdict)),
            (HookPhase::Before, _) if verdict.end_turn => Self::Stop(text()),
            (HookPhase::Before | HookPhase::Prompt | HookPhase::Spawn, _) => Self::Refuse(text()),
        }
    }
}

/// The verdict in words, for a model and the person behind it. The model reads it as well, and models tend to run commands that they read;
/// so it says whose command that is.
#[must_use]
pub fn reason(verdict: &Verdict) -> String {
    let message = match (&verdict.message, verdict.rule) {
        (Some(message), _) => message.clone(),
        (None, Some(rule)) => format!("{} by {}", verdict.decision, rule.as_str()),
        (None, None) => verdict.decision.to_string(),
    };
    match &verdict.hint {
        // A question names the command that answers it.
        Some(hint) if !message.contains(hint.as_str()) => {
            format!(
                "sprag: {message}\nOnly the user may lift or tune this, never you, with: {hint}"
            )
        }
        _ => format!("sprag: {message}"),
    }
}
