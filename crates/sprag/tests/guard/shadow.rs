//! An adapter in shadow: nothing is stopped, the guard goes on learning, and people see what would have been.

use sprag::{Decision, Event, Guard, SessionQuery, SessionState};

use crate::place::Place;

fn delete(guard: &Guard, session: &str) -> (Decision, Option<Decision>) {
    let verdict = guard.check(Event::call(session, "delete_asset").unwrap());
    let verdict = verdict.unwrap();
    (verdict.decision, verdict.would.map(|would| would.decision))
}

/// The same call with the same answer; what the step was told.
fn step(guard: &Guard, session: &str) -> (Decision, Option<Decision>) {
    let call = Event::call(session, "read_note").unwrap();
    guard.check(call.id("c").unwrap()).unwrap();
    let step = Event::step(session).unwrap().id("c").unwrap();
    let verdict = guard.check(step.result("buy milk")).unwrap();
    (verdict.decision, verdict.would.map(|would| would.decision))
}

fn listed(guard: &Guard, session: &str) -> (SessionState, Option<SessionState>) {
    let page = guard.sessions(&SessionQuery::default()).unwrap();
    let found = page.items.iter().find(|item| item.id.as_str() == session);
    let found = found.unwrap();
    (found.state, found.would)
}

#[test]
fn in_shadow_sessions_are_listed_as_would_be_killed_or_blocked_and_go_on() {
    for place in Place::every() {
        let guard = place.guard.in_shadow();
        for _ in 0..3 {
            assert_eq!(delete(&guard, "cleaner").0, Decision::Allow);
        }
        let killed = Some(SessionState::Killed);
        assert_eq!(listed(&guard, "cleaner"), (SessionState::Active, killed));
        let mut would = Vec::new();
        for _ in 0..8 {
            place.clock.advance(sprag::Millis(2_000));
            let (decision, shadow) = step(&guard, "looper");
            assert_eq!(decision, Decision::Allow);
            would.push(shadow);
        }
        assert!(would.contains(&Some(Decision::Block)), "{would:?}");
        // It goes on learning after the block that was none: the later steps are judged too.
        assert_eq!(would.last(), Some(&Some(Decision::Block)), "{would:?}");
        let blocked = Some(SessionState::Blocked);
        assert_eq!(listed(&guard, "looper"), (SessionState::Active, blocked));
        // Who asks without shadow is judged by what was learned, and not by a mark that nobody set.
        assert_eq!(delete(&place.guard, "cleaner").0, Decision::Kill);
        assert_eq!(listed(&guard, "cleaner"), (SessionState::Killed, None));
        guard.reset("looper", "ops", "fixed").unwrap();
        assert_eq!(listed(&guard, "looper"), (SessionState::Active, None));
        assert!(guard.verify().unwrap().is_sound());
    }
}

#[test]
fn a_call_of_an_adapter_in_shadow_is_not_asked_about() {
    let place = Place::memory();
    let guard = place.guard.in_shadow();
    let call = Event::call("s", "Bash").unwrap();
    let call = call.args(serde_json::json!({"command": "terraform destroy"}));
    let verdict = guard.check(call.root("/srv/app")).unwrap();
    assert_eq!(
        (verdict.decision, verdict.approval),
        (Decision::Allow, None)
    );
    assert_eq!(verdict.would.unwrap().decision, Decision::Ask);
}
