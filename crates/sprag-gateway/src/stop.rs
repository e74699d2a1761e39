//! The words of the guard in place of the model's: who stopped it, why, and how to go on.
//!
//! Clients look for statuses and phrases in texts and retry on some, so these texts name none.

use sprag_core::{Code, Decision, Verdict};

/// How every text of ours begins. Requests are read back by it.
pub(crate) const MARK: &str = "[sprag] ";

/// The text in the place of a call that was refused.
pub(crate) fn refused_call(tool: &str, verdict: &Verdict) -> String {
    let why = reason(verdict);
    match verdict.decision {
        Decision::Ask => format!("{MARK}`{tool}` waits for a person. {why}{}", hint(verdict)),
        _ => format!("{MARK}`{tool}` was not run. {why}{}", hint(verdict)),
    }
}

/// The text of an answer that stands in place of the model's.
pub(crate) fn stopped(verdict: &Verdict) -> String {
    let is_killed =
        verdict.decision == Decision::Kill || verdict.code == Some(Code::SessionKilledLoopGuard);
    let how = if is_killed {
        "This session was stopped."
    } else {
        "The model is not asked again until you write."
    };
    format!("{MARK}{how} {}{}", reason(verdict), hint(verdict))
}

/// The text at the end of an answer that was cut off while it repeated itself.
pub(crate) fn chanted() -> String {
    format!("\n\n{MARK}This answer was ended here: it only repeated itself.")
}

/// The text next to a tool result.
pub(crate) fn warning(message: &str) -> String {
    format!("{MARK}{message}")
}

fn reason(verdict: &Verdict) -> String {
    verdict.message.clone().unwrap_or_default()
}

fn hint(verdict: &Verdict) -> String {
    let hint = verdict.hint.as_deref();
    hint.map_or_else(String::new, |hint| format!(" (To change that: {hint})"))
}

/// What is said when nothing may run without the guard.
pub(crate) fn without_guard(text: &str) -> String {
    format!("{MARK}{text}")
}
