//! Runs of an agent: what ends one, what begins one, and what a long one may do.

use std::sync::Arc;

use sprag::{Millis, TestClock, Timestamp};

use crate::gate_fixture::{GateFixture, call, text_result};

const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"c"}}}"#;

/// Kills the session of `fixture`, as the gate is told with its next call.
fn kill(fixture: &GateFixture) {
    fixture.guard.kill("s1", "ops", "enough").unwrap();
    let why = fixture.refused(&call(2, "read", "{}"));
    assert!(why.ends_with("[session_killed_loop_guard]"), "{why}");
}

#[test]
fn a_killed_agent_once_went_on_after_a_reset_as_if_nothing_had_happened() {
    let fixture = GateFixture::new();
    fixture.up(HELLO);
    fixture.up(&call(2, "read", "{}"));
    kill(&fixture);
    fixture.guard.reset("s1", "ops", "looked at it").unwrap();
    for n in 3..6 {
        let why = fixture.refused(&call(n, "read", "{}"));
        assert_eq!(
            why,
            "Session s1 was reset: generation 1 has ended, the current one is 2. This run has ended; begin a new one. [session_stale_generation]"
        );
    }
    // A client that introduces itself again begins a new run.
    fixture.up(HELLO);
    fixture.up(&call(7, "read", "{}"));
    // So does another process in the same session.
    kill(&fixture);
    fixture.guard.reset("s1", "ops", "looked at it").unwrap();
    let begun = GateFixture::over_guard(fixture.guard.clone());
    begun.up(&call(2, "read", "{}"));
}

#[test]
fn a_kill_and_a_reset_between_two_calls_once_went_unnoticed() {
    let fixture = GateFixture::new();
    fixture.up(HELLO);
    fixture.up(&call(2, "read", "{}"));
    fixture.guard.kill("s1", "ops", "enough").unwrap();
    fixture.guard.reset("s1", "ops", "looked at it").unwrap();
    for n in 3..6 {
        let why = fixture.refused(&call(n, "read", "{}"));
        assert!(why.ends_with("[session_stale_generation]"), "{why}");
    }
    fixture.up(HELLO);
    fixture.up(&call(7, "read", "{}"));
    // A run that began after the kill has nothing to do with it.
    let begun = GateFixture::over_guard(fixture.guard.clone());
    begun.up(&call(2, "read", "{}"));
    begun.guard.reset("s1", "ops", "to be sure").unwrap();
    begun.up(&call(3, "read", "{}"));
}

#[test]
fn an_agent_that_was_never_killed_goes_on_after_a_reset() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "read", "{}"));
    fixture.guard.reset("s1", "ops", "to be sure").unwrap();
    fixture.up(&call(2, "read", "{}"));
}

#[test]
fn asking_the_same_once_an_hour_was_once_blocked_in_a_client_without_user_events() {
    for (pause, hours) in [(Millis::HOUR, 48), (Millis(1_000), 48)] {
        let clock = Arc::new(TestClock::at(Timestamp(1_794_700_000_000)));
        let fixture = GateFixture::with_clock(Arc::clone(&clock));
        fixture.up(HELLO);
        let mut stopped = None;
        for n in 2..2 + hours {
            let message = call(n, "inbox_check", r#"{"folder":"INBOX"}"#);
            let passed = fixture.gate.from_client(&fixture.scope, message.as_bytes());
            if passed != sprag_mcp::ClientAction::Pass {
                stopped = Some(n);
                break;
            }
            let result = text_result(n, "no new messages");
            fixture.gate.from_server(&fixture.scope, result.as_bytes());
            clock.advance(pause);
        }
        // Once an hour is a habit; once a second is a loop.
        assert_eq!(stopped.is_some(), pause == Millis(1_000), "{stopped:?}");
    }
}
