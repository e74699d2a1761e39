//! A message that was refused: the rule's own words, under a status that fits.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sprag::{Code, Id, RuleId, Verdict};
use utoipa::ToSchema;

use crate::problem::MEDIA_TYPE;
use crate::wire;

/// What a refused message is answered with: a problem that also tells the verdict.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refused {
    /// Always `urn:sprag:problem:refused`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The same in words.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// What the rule says.
    detail: String,
    /// What it was: `deny`, `block` or `kill`.
    #[schema(value_type = wire::Decision)]
    verdict: sprag::Decision,
    /// The rule.
    #[schema(value_type = Option<String>, required)]
    rule: Option<RuleId>,
    /// A machine word where a caller needs one.
    #[schema(value_type = Option<wire::Code>, required)]
    code: Option<Code>,
    /// What convinces a person.
    #[schema(value_type = Option<Object>, required)]
    evidence: Option<sprag_core::Evidence>,
    /// When to come back, in milliseconds, for limits that a window lifts by itself.
    #[schema(required)]
    retry_after_ms: Option<u64>,
    /// What whoever runs the agent server can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    help: Option<String>,
    /// The command that lifts or tunes it, where a person asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hint: Option<String>,
}

/// What an agent server must do so that its agents' messages belong to a flow.
fn help(verdict: &Verdict, base: &str, from: Option<&Id>) -> Option<String> {
    let from = from.filter(|_| verdict.rule == Some(RuleId::FlowCorrelation))?;
    Some(format!(
        "The relay knows of no message that session {from} works on. While an agent works, keep the answer to its \
         message open; or answer 202 at once, and POST {base}/{{id}}/idle when it has nothing more to do."
    ))
}

/// The answer to a message that `verdict` refuses; `from` is the session of the agent that sent it, and the relay's
/// routes are below `base`.
pub(super) fn refused(verdict: Verdict, base: &str, from: Option<&Id>) -> Response {
    let status = status(&verdict);
    let help = help(&verdict, base, from);
    let retry_after_ms = verdict.retry_after_ms;
    let body = Refused {
        kind: "urn:sprag:problem:refused",
        title: "The guard refused this message",
        status: status.as_u16(),
        detail: verdict.message.unwrap_or_default(),
        verdict: verdict.decision,
        rule: verdict.rule,
        code: verdict.code,
        evidence: verdict.evidence,
        retry_after_ms,
        help,
        // A command is for a person: an agent might run it.
        hint: verdict.hint.filter(|_| from.is_none()),
    };
    let text = serde_json::to_vec(&body).unwrap_or_default();
    let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        let seconds = retry_after_ms.unwrap_or_default().div_ceil(1000).max(1);
        let value = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// 400: the caller's mistake. 409: from before a reset. 423: killed. 429: come back later. 403: no.
fn status(verdict: &Verdict) -> StatusCode {
    match (verdict.code, verdict.rule) {
        (Some(Code::SessionStaleGeneration), _) => StatusCode::CONFLICT,
        (_, Some(RuleId::SessionKilled)) => StatusCode::LOCKED,
        (_, Some(RuleId::FlowCorrelation | RuleId::FlowSelfCall)) => StatusCode::BAD_REQUEST,
        (_, Some(RuleId::FlowRate | RuleId::InboxRate)) => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::FORBIDDEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag::Decision;

    #[test]
    fn a_message_without_a_flow_says_what_the_agent_server_must_do() {
        let verdict = |rule| Verdict::new(Decision::Deny).with_rule(rule);
        let from = Id::new("7").unwrap();
        let missing = verdict(RuleId::FlowCorrelation);
        assert_eq!(
            help(&missing, "/api/sessions", Some(&from)).as_deref(),
            Some(
                "The relay knows of no message that session 7 works on. While an agent works, keep the answer to its \
                 message open; or answer 202 at once, and POST /api/sessions/{id}/idle when it has nothing more to do."
            )
        );
        assert_eq!(help(&missing, "/api/sessions", None), None);
        assert_eq!(
            help(&verdict(RuleId::FlowDepth), "/api/sessions", Some(&from)),
            None
        );
    }

    #[test]
    fn every_rule_has_its_status() {
        let mut told: Vec<(u16, &str)> = RuleId::ALL
            .iter()
            .map(|rule| {
                let verdict = Verdict::new(Decision::Deny).with_rule(*rule);
                (status(&verdict).as_u16(), rule.as_str())
            })
            .filter(|(status, _)| *status != 403)
            .collect();
        told.sort_unstable();
        assert_eq!(
            told,
            [
                (400, "flow.correlation"),
                (400, "flow.self_call"),
                (423, "session.killed"),
                (429, "flow.rate"),
                (429, "inbox.rate"),
            ]
        );
    }
}
