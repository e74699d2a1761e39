//! An agent can't play the user, reset itself or kill another.

use sprag::{Decision, Guard, Role};

use crate::place::{Place, event};

#[test]
fn an_agent_can_not_play_the_user_nor_reset_itself() {
    let place = Place::memory();
    let guard = &place.guard;
    guard.kill("s", "ops", "enough").unwrap();
    for (text, message) in [
        (
            r#"{"type":"reset","session":"s"}"#,
            "agents may not send a reset; an operator may",
        ),
        (
            r#"{"type":"kill","session":"t"}"#,
            "agents may not send a kill; an operator may",
        ),
        (
            r#"{"type":"message","to":"s","unblock":true}"#,
            "agents may not send a message without a sender; a relay, a hook or an operator may",
        ),
        (
            r#"{"type":"dispatch_start","session":"s","flow":"f"}"#,
            "agents may not send a dispatch; a relay, a hook or an operator may",
        ),
        (
            r#"{"type":"message","from":"s","to":"s/x","kind":"spawn"}"#,
            "agents may not send a spawn; a relay, a hook or an operator may",
        ),
    ] {
        let before = guard.status().last_seq;
        assert_eq!(guard.check(event(text)).unwrap_err().to_string(), message);
        assert_eq!(guard.status().last_seq, before, "nothing is written");
    }
    let reset = guard.check_as(Role::Relay, event(r#"{"type":"reset","session":"s"}"#));
    assert!(reset.is_err());
    let reset = guard.check_as(Role::Operator, event(r#"{"type":"reset","session":"s"}"#));
    assert_eq!(reset.unwrap().generation, 2);
}

#[test]
fn a_relay_starts_a_flow_for_the_user_and_agents_talk_in_it() {
    let guard = Guard::in_memory().unwrap();
    let hello = event(r#"{"type":"message","to":"1","content":"please"}"#);
    let verdict = guard.check_as(Role::Relay, hello).unwrap();
    let flow = verdict.flow.unwrap();
    let say = event(&format!(
        r#"{{"type":"message","from":"1","to":"2","flow":"{flow}"}}"#
    ));
    let verdict = guard.check(say).unwrap();
    assert_eq!(
        (verdict.decision, verdict.depth),
        (Decision::Allow, Some(2))
    );
}
