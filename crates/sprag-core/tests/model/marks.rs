//! Who is stopped for good, who never is, and who is only watched.

use std::collections::BTreeSet;

use serde_json::json;
use sprag_core::{Code, Decision, Id, Identity, Observation, Observed, RuleId};

use super::engine::{Answer, CasePolicy, ENGINES, answers};
use super::generator::{Habits, history};
use super::seeds::{each_seed, policy_of};

const HISTORIES: u64 = 5_000;

/// The session that acts and how sure its identity is; none for orders, dispatches and outsiders.
pub(crate) fn actor(event: &Observation) -> Option<(&Id, Identity)> {
    match &event.what {
        Observed::Message(message) => Some((message.from.as_ref()?, message.identity)),
        Observed::Call(call) => Some((&call.session, call.identity)),
        Observed::Step(step) => Some((&step.session, step.identity)),
        Observed::Usage(usage) => Some((&usage.session, usage.identity)),
        Observed::Output(output) => Some((&output.session, output.identity)),
        _ => None,
    }
}

/// Everything in a killed session or below it is told so, until the reset.
fn stays_killed(events: &[Observation], told: Vec<Answer>) {
    let mut killed: BTreeSet<&str> = BTreeSet::new();
    for (event, answer) in events.iter().zip(told) {
        match &event.what {
            Observed::Kill(order) => drop(killed.insert(order.session.as_str())),
            Observed::Reset(order) => drop(killed.remove(order.session.as_str())),
            _ => {}
        }
        let (Some((session, identity)), Ok(verdict)) = (actor(event), answer) else {
            continue;
        };
        let mut line = session.parents().chain([session.as_str()]);
        let is_kill = verdict.decision == Decision::Kill;
        if line.any(|id| killed.contains(id)) {
            assert_eq!(verdict.rule, Some(RuleId::SessionKilled), "{event:?}");
            assert_eq!(is_kill, identity == Identity::Exact, "{event:?}");
        } else if is_kill && verdict.rule != Some(RuleId::SessionKilled) {
            killed.insert(session.as_str());
        }
    }
}

#[test]
fn a_killed_session_and_those_below_it_get_nothing_until_the_reset() {
    let habits = Habits {
        use_ids: false,
        ..Habits::ALL
    };
    each_seed(HISTORIES, policy_of, |seed, policy, samples| {
        let events = history(seed, samples, habits);
        for engine in ENGINES {
            stays_killed(&events, answers(*engine, policy, &events));
        }
    });
}

fn share(event: &mut Observation) {
    match &mut event.what {
        Observed::Message(message) => message.identity = Identity::Shared,
        Observed::Call(call) => call.identity = Identity::Shared,
        Observed::Step(step) => step.identity = Identity::Shared,
        Observed::Usage(usage) => usage.identity = Identity::Shared,
        Observed::Output(output) => output.identity = Identity::Shared,
        _ => {}
    }
}

#[test]
fn no_mark_is_set_for_a_shared_identity() {
    let habits = Habits {
        kills: false,
        ..Habits::ALL
    };
    each_seed(HISTORIES, policy_of, |seed, policy, samples| {
        let mut events = history(seed, samples, habits);
        events.iter_mut().for_each(share);
        for engine in ENGINES {
            for verdict in answers(*engine, policy, &events).into_iter().flatten() {
                let is_free = verdict.decision <= Decision::Deny
                    && !matches!(
                        verdict.code,
                        Some(Code::SessionKilledLoopGuard | Code::SessionBlockedLoopGuard)
                    );
                assert!(is_free, "seed {seed}: {verdict:?}");
            }
        }
    });
}

/// The policy of a seed with every rule in shadow.
fn policy_in_shadow(seed: u64) -> CasePolicy {
    let mut policy = policy_of(seed).written;
    for one in policy["override"].as_array_mut().into_iter().flatten() {
        one.as_object_mut().map(|keys| keys.remove("rules"));
    }
    policy["rules"] = json!({"*": "shadow"});
    CasePolicy::new(policy)
}

#[test]
fn in_shadow_only_what_an_operator_killed_is_stopped() {
    each_seed(HISTORIES, policy_in_shadow, |seed, policy, samples| {
        let events = history(seed, samples, Habits::ALL);
        for engine in ENGINES {
            for verdict in answers(*engine, policy, &events).into_iter().flatten() {
                let is_quiet = matches!(
                    (verdict.decision, verdict.rule),
                    (Decision::Allow, None)
                        | (_, Some(RuleId::SessionKilled | RuleId::SessionPanic))
                );
                assert!(is_quiet, "seed {seed}: {verdict:?}");
            }
        }
    });
}
