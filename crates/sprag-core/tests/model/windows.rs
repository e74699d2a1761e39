//! What windows count: what happened, whatever the clock says, however often it is asked.

use serde_json::{Value, json};
use sprag_core::{Decision, Id, Observation, Observed, RuleId, Timestamp};

use super::engine::{Answer, CasePolicy, ENGINES, answers};
use super::generator::{Habits, history};
use super::seeds::{each_seed, policy_of};

const HISTORIES: u64 = 5_000;

/// The policy of a seed without the rules that count refusals, and with flows that outlive it.
fn policy_without_memory_of_refusals(seed: u64) -> CasePolicy {
    let mut policy = policy_of(seed).written;
    forget_refusals(&mut policy);
    if let Some(Value::Array(overrides)) = policy.get_mut("override") {
        overrides.iter_mut().for_each(forget_refusals);
    }
    policy["flow"]["max_duration"] = json!("2h");
    policy["rules"]["budget.*"] = json!("off");
    policy["rules"]["session.defiance"] = json!("off");
    CasePolicy::new(policy)
}

fn forget_refusals(policy: &mut Value) {
    if let Some(Value::Object(flow)) = policy.get_mut("flow") {
        flow.remove("max_duration");
    }
    if let Some(Value::Object(rules)) = policy.get_mut("rules") {
        rules.retain(|rule, _| !rule.starts_with("budget.") && rule != "session.defiance");
    }
}

/// Refused, and no mark is left of it.
fn left_no_mark(answer: &Answer) -> bool {
    answer.as_ref().is_ok_and(|verdict| match verdict.decision {
        Decision::Deny => true,
        Decision::Kill => verdict.rule == Some(RuleId::SessionKilled),
        _ => false,
    })
}

#[test]
fn refusals_never_change_a_window() {
    let policy = policy_without_memory_of_refusals;
    each_seed(HISTORIES, policy, |seed, policy, samples| {
        for engine in ENGINES {
            let events = history(seed, samples, Habits::SHORT);
            let told = answers(*engine, policy, &events);
            let (kept, expected): (Vec<Observation>, Vec<Answer>) = events
                .into_iter()
                .zip(told)
                .filter(|(_, answer)| !left_no_mark(answer))
                .unzip();
            assert_eq!(answers(*engine, policy, &kept), expected, "seed {seed}");
        }
    });
}

#[test]
fn replaying_a_history_gives_the_same_verdicts() {
    each_seed(HISTORIES, policy_of, |seed, policy, samples| {
        let events = history(seed, samples, Habits::ALL);
        for engine in ENGINES {
            let told = answers(*engine, policy, &events);
            assert_eq!(told, answers(*engine, policy, &events), "seed {seed}");
        }
    });
}

fn touches(event: &Observation, session: &Id) -> bool {
    match &event.what {
        Observed::Message(message) => {
            message.from.as_ref() == Some(session) || message.to == *session
        }
        Observed::Call(call) => call.session == *session,
        Observed::Step(step) => step.session == *session,
        Observed::Usage(usage) => usage.session == *session,
        Observed::Output(output) => output.session == *session,
        Observed::Kill(order) | Observed::Reset(order) => order.session == *session,
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            dispatch.session == *session
        }
        Observed::Approve(answer) | Observed::Decline(answer) => answer.session == *session,
    }
}

#[test]
fn a_clock_that_goes_back_counts_as_one_that_stands_still() {
    let habits = Habits {
        use_ids: false,
        ..Habits::ALL
    };
    each_seed(HISTORIES, policy_of, |seed, policy, samples| {
        let mut events = history(seed, samples, habits);
        // All of one session, so that it remembers the latest time of all.
        events.retain(|event| touches(event, &samples.sessions[0]));
        for engine in ENGINES {
            let told = answers(*engine, policy, &events);
            let mut latest = Timestamp::default();
            let mut still = events.clone();
            for (event, answer) in still.iter_mut().zip(&told) {
                event.at = latest.max(event.at);
                // An error changes nothing, not even what time it is.
                if answer.is_ok() {
                    latest = event.at;
                }
            }
            assert_eq!(told, answers(*engine, policy, &still), "seed {seed}");
        }
    });
}
