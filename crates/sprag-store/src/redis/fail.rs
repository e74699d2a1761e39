//! What a rule that fails closed refuses.

use sprag_core::{Decision, Id, Mode, Observed, Policy, RuleId, Verdict};

use super::options::{Fail, FailModes};
use crate::draft::Draft;

/// The rules that let everything pass without Redis.
pub(super) fn open_rules(fail: &FailModes) -> Vec<RuleId> {
    let rules = RuleId::ALL.iter().copied();
    rules.filter(|rule| fail.of(*rule) == Fail::Open).collect()
}

/// The verdict of the first rule that would judge this event, is in force and fails closed.
pub(super) fn closed(fail: &FailModes, draft: &Draft, why: &str) -> Option<Verdict> {
    let observed = &draft.observation.what;
    let policy = &draft.policy.policy;
    let rule = RuleId::ALL.iter().copied().find(|rule| {
        fail.of(*rule) == Fail::Closed
            && judges(*rule, observed)
            && is_enforced(policy, *rule, observed)
    })?;
    let decision = match observed {
        Observed::Step(_) | Observed::Usage(_) => Decision::Warn,
        _ => Decision::Deny,
    };
    Some(Verdict {
        decision,
        rule: Some(rule),
        message: Some(format!(
            "Sprag can't reach its shared memory ({why}), and {rule} is set to refuse until it can."
        )),
        ..Verdict::default()
    })
}

fn is_enforced(policy: &Policy, rule: RuleId, observed: &Observed) -> bool {
    let (agent, session) = who(observed);
    let limits = policy.limits_for(agent.map(Id::as_str), session.as_str());
    limits.modes.get(rule) == Mode::Enforce
}

/// The agent and the session whose limits are asked.
pub(super) fn who(observed: &Observed) -> (Option<&Id>, &Id) {
    match observed {
        Observed::Message(message) => match &message.from {
            Some(from) => (message.agent.as_ref(), from),
            None => (message.to_agent.as_ref(), &message.to),
        },
        Observed::Call(call) => (call.agent.as_ref(), &call.session),
        Observed::Step(step) => (step.agent.as_ref(), &step.session),
        Observed::Usage(usage) => (usage.agent.as_ref(), &usage.session),
        Observed::Kill(order) | Observed::Reset(order) => (None, &order.session),
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            (None, &dispatch.session)
        }
    }
}

/// Whether a rule looks at such an event at all. A user's word is never refused for want of Redis.
fn judges(rule: RuleId, observed: &Observed) -> bool {
    let family = rule.as_str().split('.').next().unwrap_or_default();
    match observed {
        Observed::Message(message) => {
            message.from.is_some()
                && (matches!(family, "flow" | "inbox" | "conversation")
                    || matches!(rule, RuleId::SessionKilled | RuleId::BudgetActions))
        }
        Observed::Call(_) => matches!(
            family,
            "access" | "call" | "destructive" | "session" | "budget"
        ),
        Observed::Step(_) => family == "progress",
        Observed::Usage(_) => family == "budget",
        Observed::Kill(_)
        | Observed::Reset(_)
        | Observed::DispatchStart(_)
        | Observed::DispatchEnd(_) => false,
    }
}
