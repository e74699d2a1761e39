//! Every message of the guard in one file, so that a reader sees what agents and people are told.
//!
//! Each entry is a short history under a policy; what is shown is the last verdict with its message and
//! its hint.

use std::fmt::Write as _;

use serde_json::Value;
use sprag::{Decision, Event, Judge, Policy, Timestamp, Verdict};

use crate::histories::{self, History};
use crate::step_histories;

pub(crate) fn histories() -> Vec<History> {
    [histories::histories(), step_histories::histories()].concat()
}

/// The verdicts on `events`, which come a second apart where they do not say when; after a block or a
/// kill what is still told is told.
pub(crate) fn judge(policy: Policy, events: &[Value]) -> Vec<Verdict> {
    let mut judge = Judge::new(policy);
    let mut at = 1_760_000_000_000;
    events
        .iter()
        .map(|event| {
            let parsed = Event::parse(event.to_string().as_bytes())
                .unwrap_or_else(|error| panic!("{error}: {event}"));
            at = parsed.at().map_or(at + 1_000, |at| at.0);
            judge.judge(&parsed, Timestamp(at)).unwrap()
        })
        .collect()
}

pub(crate) fn policy(document: &Value) -> Policy {
    Policy::from_value(document).unwrap_or_else(|error| panic!("{error}: {document}"))
}

#[test]
fn every_message() {
    let mut text = String::new();
    for history in histories() {
        let verdicts = judge(policy(&history.policy), &history.events);
        // The last word of a stop is the one that stopped; of the rest, the last one.
        let stop = verdicts
            .iter()
            .position(|verdict| verdict.decision >= Decision::Block);
        let own = history.name.starts_with("progress") || history.name.starts_with("plain");
        let last = if own { stop } else { None }.or_else(|| {
            verdicts
                .iter()
                .rposition(|verdict| verdict.decision > Decision::Allow)
        });
        let Some(verdict) = last.map(|at| &verdicts[at]) else {
            panic!("{} says nothing", history.name);
        };
        let rule = verdict.rule.map_or("", |rule| rule.as_str());
        writeln!(text, "# {}\n{} {rule}", history.name, verdict.decision).unwrap();
        writeln!(text, "{}", verdict.message.as_deref().unwrap_or_default()).unwrap();
        if verdict.end_turn {
            writeln!(text, "(the turn is to be ended)").unwrap();
        }
        writeln!(
            text,
            "hint: {}\n",
            verdict.hint.as_deref().unwrap_or("none")
        )
        .unwrap();
    }
    insta::assert_snapshot!(text);
}
