//! Budgets of a session whose sub-agents work side by side.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use serde_json::json;
use sprag::{Event, Judge, Timestamp};
use sprag_core::Policy;

const ANSWER_MICROS: u64 = 400_000;
const BUDGET_MICROS: u64 = 1_000_000;

/// What `agents` sub-agents spend if all of them ask before the first of their answers is known.
fn spent_by(agents: u64) -> u64 {
    let policy = Policy::from_toml("[budget]\ncost_usd = { session = 1.0 }\n").unwrap();
    let mut judge = Judge::new(policy);
    let mut at = 1_000_000;
    let mut verdict = |event: serde_json::Value| {
        at += 1_000;
        let event = Event::from_value(&event).unwrap();
        judge.judge(&event, Timestamp(at)).unwrap()
    };
    for agent in 0..agents {
        let child = format!("s1/worker{agent}");
        verdict(
            json!({ "type": "message", "kind": "spawn", "from": "s1", "to": child, "flow": "f" }),
        );
    }
    let mut spent = 0;
    for round in 0..10 {
        let names = (0..agents).map(|agent| format!("s1/worker{agent}"));
        let runs: Vec<String> = names
            .filter(|session| {
                let args = json!({ "path": format!("{session} {round}") });
                let call =
                    json!({ "type": "call", "session": session, "tool": "read", "args": args });
                !verdict(call).refuses()
            })
            .collect();
        for session in runs {
            verdict(
                json!({ "type": "usage", "session": session, "output_tokens": 10, "cost_usd": 0.4 }),
            );
            spent += ANSWER_MICROS;
        }
    }
    spent
}

#[test]
fn parallel_sub_agents_overshoot_a_budget_by_at_most_one_answer_each() {
    for agents in 1..=12 {
        let spent = spent_by(agents);
        assert!(spent >= BUDGET_MICROS, "{agents}: {spent}");
        let most = BUDGET_MICROS + agents * ANSWER_MICROS;
        assert!(spent < most, "{agents} sub-agents spent {spent} of {most}");
    }
}
