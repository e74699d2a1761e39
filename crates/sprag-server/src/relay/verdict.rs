//! Verdicts as the relay's callers get them.
//!
//! The caller may be an agent, and what an agent reads it may repeat: the flow's id is left out for it.

use axum::http::{HeaderMap, HeaderValue};
use sprag::{Decision, Verdict};

use super::headers::{RULE, VERDICT, WARNING, sentence};

/// Under these names evidence could show a flow.
const FLOW: [&str; 3] = ["flow", "flows", "correlation_id"];

/// The verdict without what tells an agent the flow.
pub(super) fn without_flow(mut verdict: Verdict) -> Verdict {
    verdict.flow = None;
    let would = verdict.would.as_mut().map(|would| &mut would.evidence);
    for evidence in verdict.evidence.as_mut().into_iter().chain(would) {
        evidence.retain(|key, _| !FLOW.contains(&key.as_str()));
    }
    verdict
}

/// ResponseBody a warning in headers, so that the body stays the upstream's.
pub(super) fn warn(headers: &mut HeaderMap, verdict: &Verdict) {
    if verdict.decision != Decision::Warn {
        return;
    }
    headers.insert(VERDICT, HeaderValue::from_static("warn"));
    if let Some(rule) = verdict.rule {
        headers.insert(RULE, HeaderValue::from_static(rule.as_str()));
    }
    let message = verdict.message.as_deref().unwrap_or_default();
    if let Ok(value) = HeaderValue::try_from(sentence(message)) {
        headers.insert(WARNING, value);
    }
}
