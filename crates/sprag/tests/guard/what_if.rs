//! What another policy would have stopped, saved, and left unknown.

use sprag::replay::{LogRecording, Replay, ReplayOutcome, differs};
use sprag::{Decision, Event, Guard, Policy, Role, Timestamp};

use crate::place::{START, event};

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap()
}

fn guard(text: &str) -> Guard {
    Guard::builder().policy(policy(text)).build().unwrap()
}

fn tell(guard: &Guard, second: u64, event: impl Into<Event>) -> Decision {
    let at = Timestamp(START.0 + second * 1000);
    guard.check_at(Role::Operator, event, at).unwrap().decision
}

/// What another policy makes of a log, in one word an event.
fn words(guard: &Guard, text: &str) -> Vec<&'static str> {
    let mut replay = Replay::what_if(policy(text));
    let pasts = LogRecording::all(guard.store());
    let seen = pasts.map(|past| replay.fold(&past.unwrap()).unwrap());
    seen.filter_map(|seen| match seen {
        ReplayOutcome::Judged { unknown: true, .. } => Some("allow, unknown"),
        ReplayOutcome::Judged { verdict, .. } => Some(verdict.decision.as_str()),
        ReplayOutcome::Saved => Some("saved"),
        ReplayOutcome::Skipped => Some("skipped"),
        ReplayOutcome::Unknown => Some("unknown"),
        ReplayOutcome::Error(_) => Some("error"),
        ReplayOutcome::Noted => None,
    })
    .collect()
}

fn delete(session: &str, id: u64) -> Event {
    let call = Event::call(session, "delete_asset").unwrap();
    call.id(&id.to_string())
        .unwrap()
        .args(serde_json::json!({ "id": id }))
        .into()
}

fn step(session: &str, id: u64) -> Event {
    let step = Event::step(session).unwrap();
    step.id(&id.to_string()).unwrap().result("done").into()
}

#[test]
fn what_came_after_a_kill_that_both_make_is_no_difference() {
    let guard = guard("");
    for n in 0..3 {
        tell(&guard, n, delete("s", n));
    }
    tell(&guard, 3, step("s", 2));
    let work = sprag_core::DispatchEvent::new(sprag::Id::new("s").unwrap());
    assert_eq!(tell(&guard, 4, Event::DispatchEnd(work)), Decision::Allow);
    assert_eq!(
        words(&guard, ""),
        ["allow", "warn", "kill", "skipped", "skipped"]
    );
}

#[test]
fn what_comes_after_a_would_be_kill_is_saved_until_a_reset() {
    let guard = guard("[destructive]\nmax_calls = 50\n");
    for n in 0..4 {
        assert_eq!(tell(&guard, n, delete("s", n)), Decision::Allow);
        tell(&guard, n, step("s", n));
    }
    tell(&guard, 5, Event::call("other", "read").unwrap());
    tell(&guard, 5, Event::call("s/helper", "read").unwrap());
    tell(&guard, 6, Event::reset("s").unwrap());
    tell(&guard, 7, delete("s", 7));
    assert_eq!(
        words(&guard, "[destructive]\nmax_calls = 2\n"),
        [
            "allow", "allow", "kill", "saved", "saved", "saved", "saved", "saved", "allow",
            "saved", "allow", "allow"
        ]
    );
}

#[test]
fn where_a_refusal_would_be_allowed_its_result_is_unknown() {
    let guard = guard("[access]\ndeny = [\"delete_*\"]\n");
    assert_eq!(tell(&guard, 0, delete("s", 1)), Decision::Deny);
    tell(&guard, 0, step("s", 1));
    tell(&guard, 1, Event::call("s", "read").unwrap());
    assert_eq!(words(&guard, ""), ["allow, unknown", "unknown", "allow"]);
}

#[test]
fn what_was_refused_after_a_stop_is_neither_saved_nor_judged() {
    let guard = guard("");
    for n in 0..5 {
        tell(&guard, n, delete("s", n));
    }
    let same = ["allow", "warn", "kill", "skipped", "skipped"];
    assert_eq!(words(&guard, ""), same);
    let later = [
        "allow",
        "allow",
        "allow, unknown",
        "allow, unknown",
        "allow, unknown",
    ];
    assert_eq!(words(&guard, "[destructive]\nmax_calls = 50\n"), later);
}

#[test]
fn a_user_who_unblocks_lets_a_blocked_session_go_on() {
    let loose = "[rules]\n\"progress.*\" = \"off\"\n";
    let guard = guard(loose);
    let look = r#"{"type":"step","session":"s","approach":"look","outcome":"the same old thing"}"#;
    for n in 0..8 {
        tell(&guard, n, event(look));
    }
    tell(
        &guard,
        9,
        event(r#"{"type":"message","to":"s","unblock":true}"#),
    );
    tell(&guard, 10, event(look));
    let words = words(&guard, "");
    let blocked = words.iter().position(|word| *word == "block").unwrap();
    assert!(
        words[blocked + 1..8].iter().all(|word| *word == "saved"),
        "{words:?}"
    );
    assert_eq!(words.last(), Some(&"allow"), "{words:?}");
}

#[test]
fn two_policies_differ_where_verdict_or_rule_do() {
    let guard = guard("");
    for n in 0..3 {
        tell(&guard, n, delete("s", n));
    }
    let mut replays = [
        Replay::what_if(policy("")),
        Replay::what_if(policy("[destructive]\nmax_calls = 9\n")),
    ];
    let mut numbers = Vec::new();
    for past in LogRecording::all(guard.store()) {
        let past = past.unwrap();
        let [one, other] = replays.each_mut().map(|replay| replay.fold(&past).unwrap());
        if differs(&one, &other) {
            numbers.push(past.number());
        }
    }
    assert_eq!(numbers, [3, 4]);
}

/// A rule that asks where the recording let things run.
const ASKS: &str = "[rules]\n\"destructive.volume\" = \"ask\"\n\"destructive.target\" = \"off\"\n";

#[test]
fn what_ran_counts_as_approved_and_each_ask_is_told() {
    let guard = guard("[destructive]\nmax_calls = 50\n");
    for n in 0..5 {
        assert_eq!(tell(&guard, n, delete("s", n)), Decision::Allow);
        tell(&guard, n, step("s", n));
    }
    // The third and every later one would be asked; an approved call is not counted, and its step happened.
    assert_eq!(
        words(&guard, ASKS),
        [
            "allow", "allow", "warn", "allow", "ask", "allow", "ask", "allow", "ask", "allow"
        ]
    );
}

#[test]
fn answers_to_questions_that_nobody_would_ask_are_left_out() {
    let guard = guard(ASKS);
    let mut asked = None;
    for n in 0..3 {
        let at = Timestamp(START.0 + n * 1000);
        asked = guard
            .check_at(Role::Operator, delete("s", n), at)
            .unwrap()
            .approval;
    }
    let code = asked.unwrap();
    let yes = format!(r#"{{"type":"approve","session":"s","approval":"{code}"}}"#);
    tell(&guard, 4, Event::parse(yes.as_bytes()).unwrap());
    assert_eq!(tell(&guard, 5, delete("s", 2)), Decision::Allow);
    assert_eq!(
        words(
            &guard,
            "[destructive]\nmax_calls = 50\n[rules]\n\"destructive.target\" = \"off\"\n"
        ),
        ["allow", "allow", "allow, unknown", "skipped", "allow"]
    );
    assert_eq!(
        words(&guard, ASKS),
        ["allow", "warn", "ask", "allow", "allow"]
    );
}
