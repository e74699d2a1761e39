//! How many sessions one caller may open.

use sprag::Role;
use sprag_server::SessionQuota;

use crate::test_server::TestServer;

fn call(session: &str, tool: &str, number: usize) -> String {
    format!(r#"{{"type":"call","session":"{session}","tool":"{tool}","args":{{"id":{number}}}}}"#)
}

#[test]
fn one_caller_that_opens_too_many_sessions_is_refused_and_the_others_are_not() {
    let server = TestServer::with(|config| {
        config.session_limits = SessionQuota {
            opened_per_hour: 3,
            ..SessionQuota::default()
        };
    });
    for number in 0..3 {
        let verdict = server.check(&call(&format!("s{number}"), "read", 1));
        assert_eq!(verdict["verdict"], "allow", "{verdict}");
    }
    let refused = server.check(&call("s3", "read", 1));
    assert_eq!(refused["verdict"], "deny", "{refused}");
    assert_eq!(refused["code"], "session_limit");
    // What it opened goes on, and a call that ran already is not refused.
    let known = server.check(&call("s0", "read", 2));
    assert_eq!(known["verdict"], "allow", "{known}");
    let ran = server.check(r#"{"type":"step","session":"s4","result":"r"}"#);
    assert_eq!(ran["verdict"], "warn", "{ran}");
    let token = server.token(Role::Agent);
    let header = format!("authorization: Bearer {token}\r\n");
    let other = server.send("POST", "/v1/check", &header, &call("s5", "read", 1));
    assert_eq!(other.json()["verdict"], "allow", "{other:?}");
}

#[test]
fn one_caller_filled_the_store_with_killed_sessions() {
    let server = TestServer::with(|config| {
        config.session_limits = SessionQuota {
            stopped: 2,
            ..SessionQuota::default()
        };
    });
    for session in ["a", "b"] {
        for number in 0..3 {
            server.check(&call(session, "delete_asset", number));
        }
        assert_eq!(server.check(&call(session, "read", 1))["verdict"], "kill");
    }
    let refused = server.check(&call("c", "read", 1));
    assert_eq!(refused["code"], "session_limit", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("2 sessions of agent without a token"),
        "{message}"
    );
}
