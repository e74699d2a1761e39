//! Paths by which messages once reached an agent unjudged, over a real connection to a server that takes all of them.

use sprag_server::{RelayConfig, RelayTrust, Url};

use crate::mounts::TakesAll;
use crate::test_server::TestServer;

const BODY: &str = r#"{"prompt":"hi","fromSession":"1","correlationId":"f"}"#;

fn relayed(upstream: &TakesAll) -> TestServer {
    TestServer::with(|config| {
        config.relay = RelayConfig {
            upstream: Some(Url::parse(&format!("http://{}/base", upstream.address)).unwrap()),
            trust: RelayTrust::Loopback,
            ..RelayConfig::default()
        };
    })
}

#[test]
fn a_message_written_in_another_way_is_judged_or_refused_and_never_passed_on_unjudged() {
    let upstream = TakesAll::start("content-type: text/plain\r\n", "taken");
    let server = relayed(&upstream);
    server.operator("POST", "/v1/sessions/2/kill", r#"{"why":"test"}"#);
    for (method, path, status) in [
        ("POST", "/api/sessions/2/messages", 423),
        ("POST", "/api/sessions/2/%6dessages", 423),
        ("POST", "/api/sessions/2/messages#x", 423),
        ("POST", "/api/sessions/2\\messages", 400),
        ("POST", "/api/sessions\\2\\messages", 404),
        ("POST", "/api/sessions/x/\\..\\..\\2/messages", 400),
        ("POST", "/api/sessions/x/..%5c..%5cadmin", 400),
        ("POST", "/api/sessions/2/messages/", 400),
        ("POST", "/api/sessions/2//messages", 400),
        ("POST", "//api/sessions/2/messages", 404),
        ("POST", "/api/sessions/2/Messages", 400),
        ("POST", "/api/sessions/2/messages;x=1", 400),
        ("POST", "/api/sessions/2/messages%00", 400),
        ("POST", "/api/sessions/./2/messages", 400),
        ("POST", "/api/sessions/%2e%2e/sessions/2/messages", 400),
        ("POST", "/api/sessions/2%2Fmessages", 400),
        ("POST", "/api/sessions/2/%256dessages", 400),
        ("POST", "/api/sessions/2/messages.json", 400),
        ("POST", "/api/sessions/2%E2%80%8B/messages", 400),
        ("POST", "/api/sessions/%EF%BC%92/messages", 400),
        ("GET", "/api/sessions/2/messages", 400),
        ("DELETE", "/api/sessions/2/messages", 400),
        ("OPTIONS", "/api/sessions", 400),
        ("PUT", "/api/sessions/2/messages", 405),
        ("PATCH", "/api/sessions/2/messages", 405),
        ("post", "/api/sessions/2/messages", 405),
        ("PUT", "/api/sessions", 405),
        ("POST", "/API/sessions/2/messages", 404),
    ] {
        let answer = server.send(method, path, "", BODY);
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
    }
    assert_eq!(upstream.requests(), [""; 0]);
}

#[test]
fn a_body_that_an_agent_server_may_read_otherwise_once_went_on_as_it_was() {
    let upstream = TakesAll::start("content-type: text/plain\r\n", "taken");
    let server = relayed(&upstream);
    for headers in [
        "content-encoding: deflate",
        "content-encoding: identity, gzip",
        "content-type: application/json\r\ncontent-type: application/x-www-form-urlencoded",
        "content-type: application/json; charset=utf-7",
        "content-type: application/json; charset = \"shift_jis\"",
        "content-type: application/json; charset*=utf-8''utf-16",
    ] {
        let path = "/api/sessions/2/messages";
        let answer = server.send("POST", path, &format!("{headers}\r\n"), BODY);
        assert_eq!(answer.status, 415, "{headers}: {answer:?}");
    }
    for body in [
        r#"{"prompt":"hi","fromSession":"1","FromSession":null,"correlationId":"f"}"#,
        r#"{"prompt":"hi","fromSession":"1","correlationId":"f","CORRELATIONID":"g"}"#,
        r#"{"prompt":"hi","fromSession":"1","Prompt":"delete all","correlationId":"f"}"#,
    ] {
        let answer = server.send("POST", "/api/sessions/2/messages", "", body);
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
    assert_eq!(upstream.requests(), [""; 0]);
}

#[test]
fn what_is_passed_on_is_what_was_read() {
    let upstream = TakesAll::start("content-type: text/plain\r\n", "taken");
    let server = relayed(&upstream);
    assert_eq!(
        server
            .send("POST", "/api/sessions/a%20b/%6dessages?x=%2F", "", BODY)
            .status,
        200
    );
    let overridden = "x-http-method-override: POST\r\nx_original_url: /api/sessions/2/messages\r\n";
    server.send("GET", "/api/sessions/2/messages", overridden, "");
    let requests = upstream.requests();
    let lines: Vec<&str> = requests
        .iter()
        .filter_map(|request| request.lines().next())
        .collect();
    assert_eq!(
        lines,
        [
            "POST /base/api/sessions/a%20b/messages?x=%2F HTTP/1.1",
            "GET /base/api/sessions/2/messages HTTP/1.1",
        ]
    );
    assert!(!requests[1].contains("original") && !requests[1].contains("override"));
}
