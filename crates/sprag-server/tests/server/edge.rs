//! What comes to the door: too much, the wrong kind, broken, or nothing at all.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sprag_server::{Server, ServerError, Transport};

use crate::test_server::{TestServer, config};

const CALL: &str = r#"{"type":"call","session":"s","tool":"t"}"#;

#[test]
fn what_can_not_be_read_is_told_with_its_place() {
    let server = TestServer::start();
    let told = |body: &str| server.send("POST", "/v1/check", "", body).body;
    insta::assert_snapshot!(told("{\"type\":\"call\",\n\"session\":}"), @r#"{"type":"urn:sprag:problem:bad-event","title":"Not an event","status":400,"detail":"not an event: session: expected value at line 2 column 11","line":2,"column":11}"#);
    insta::assert_snapshot!(told(r#"{"type":"cal","session":"s","tool":"t"}"#), @r#"{"type":"urn:sprag:problem:bad-event","title":"Not an event","status":400,"detail":"type: unknown event type \"cal\"; did you mean \"call\"?","field":"type"}"#);
    insta::assert_snapshot!(told(r#"{"type":"call","session":"s"}"#), @r#"{"type":"urn:sprag:problem:bad-event","title":"Not an event","status":400,"detail":"tool: missing, and a call needs it","field":"tool"}"#);
    insta::assert_snapshot!(server.send("POST", "/v1/check", "content-type: text/plain\r\n", CALL).body, @r#"{"type":"urn:sprag:problem:unsupported-media-type","title":"Unsupported media type","status":415,"detail":"send `Content-Type: application/json`, not \"text/plain\""}"#);
    insta::assert_snapshot!(server.send("PATCH", "/v1/check", "", "").body, @r#"{"type":"urn:sprag:problem:method-not-allowed","title":"Method not allowed","status":405,"detail":"not with this method; the Allow header names those that work"}"#);
    insta::assert_snapshot!(server.operator("GET", "/v1/log?limit=0", "").body, @r#"{"type":"urn:sprag:problem:bad-request","title":"Bad request","status":400,"detail":"limit: a page has 1 to 500 items, not 0","field":"limit"}"#);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let server = TestServer::with(|config| config.body_bytes = 1_000);
    let head = "POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let told = server.raw(&format!(
        "{head}content-length: 1001\r\nconnection: close\r\n\r\n"
    ));
    assert_eq!(told.status, 413);
    let chunk = format!("3e9\r\n{}\r\n0\r\n\r\n", "x".repeat(1001));
    let told = server.raw(&format!(
        "{head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n{chunk}"
    ));
    assert_eq!(told.status, 413);
    let fits = format!(
        r#"{{"type":"call","session":"s","tool":"t","args":"{}"}}"#,
        "x".repeat(900)
    );
    assert_eq!(server.check(&fits)["verdict"], "allow");
}

#[test]
fn garbage_and_silent_clients_do_not_keep_honest_ones_waiting() {
    let server = TestServer::start();
    let mut silent = Vec::new();
    for turn in 0..300_u32 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        match turn % 3 {
            0 => {}
            1 => stream
                .write_all(b"POST /v1/check HTTP/1.1\r\nhost: loc")
                .unwrap(),
            _ => stream.write_all(&[0xff; 4096]).unwrap(),
        }
        silent.push(stream);
    }
    assert_eq!(server.check(CALL)["verdict"], "allow");
    for stream in silent.iter_mut().skip(2).step_by(3) {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 400"), "{answer:?}");
    }
    assert_eq!(server.check(CALL)["verdict"], "allow");
}

#[test]
fn past_the_limit_a_connection_is_closed_and_the_others_live_on() {
    let server = TestServer::with(|config| config.connections = 2);
    let one = TcpStream::connect(server.address).unwrap();
    let other = TcpStream::connect(server.address).unwrap();
    let mut third = TcpStream::connect(server.address).unwrap();
    assert_eq!(third.read(&mut [0; 1]).unwrap_or(0), 0);
    drop((one, other));
    while server.send("GET", "/healthz", "", "").status != 200 {}
}

#[test]
fn no_answer_allows_another_origin_and_every_answer_is_guarded_against_browsers() {
    let server = TestServer::start();
    let json = server.operator("GET", "/v1/sessions", "");
    assert_eq!(json.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(json.header("cache-control"), Some("no-store"));
    assert_eq!(json.header("access-control-allow-origin"), None);
    for path in ["/", "/docs", "/docs/style.css"] {
        let answer = server.send("GET", path, "", "");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let csp = answer.header("content-security-policy").unwrap();
        assert!(
            csp.starts_with("default-src 'none'; script-src 'self'"),
            "{csp}"
        );
    }
}

#[test]
fn a_server_that_strangers_could_misuse_does_not_start() {
    let home = tempfile::tempdir().unwrap();
    let mut open = config(home.path());
    open.listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused = Server::bind(open.clone()).unwrap_err();
    assert!(matches!(refused, ServerError::Naked { .. }), "{refused}");
}

#[test]
fn a_server_without_a_token_for_agents_makes_one_and_no_second() {
    let home = tempfile::tempdir().unwrap();
    let mut open = config(home.path());
    open.transport = Transport::BehindProxy;
    let first = Server::bind(open.clone()).unwrap();
    let file = first.first_token().unwrap().to_owned();
    let token = std::fs::read_to_string(&file).unwrap();
    assert!(token.starts_with("sprag_agent_"), "{token}");
    drop(first);
    assert_eq!(Server::bind(open).unwrap().first_token(), None);
    assert_eq!(std::fs::read_to_string(file).unwrap(), token);
}

#[test]
fn behind_a_proxy_nobody_is_trusted_for_coming_from_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let tokens = sprag_server::TokenFile::beside(&home.path().join("sprag.db"));
    let token = tokens
        .add("agents", sprag::Role::Agent, sprag::Timestamp(0))
        .unwrap();
    let server = TestServer::over(home, |config| config.transport = Transport::BehindProxy);
    assert_eq!(server.send("POST", "/v1/check", "", CALL).status, 401);
    let known = format!("authorization: Bearer {token}\r\n");
    assert_eq!(server.send("POST", "/v1/check", &known, CALL).status, 200);
}

#[test]
fn a_second_server_on_the_same_store_is_refused() {
    let server = TestServer::start();
    let mut second = config(server.home.path());
    second.socket = None;
    let refused = Server::bind(second).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("is owned by a running `sprag serve`"),
        "{refused}"
    );
}

#[test]
fn silent_connections_that_announce_large_bodies_once_took_all_room_from_honest_ones() {
    let server = TestServer::start();
    let mut silent = Vec::new();
    for _ in 0..33 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = "POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).unwrap();
        silent.push(stream);
    }
    let large = format!(
        r#"{{"type":"call","session":"s","tool":"t","args":"{}"}}"#,
        "x".repeat(1_000_000)
    );
    assert_eq!(server.check(&large)["verdict"], "allow");
}

#[test]
fn a_body_that_comes_too_slowly_is_cut_and_its_client_is_told_that_the_connection_closes() {
    let server = TestServer::with(|config| config.body_time = Duration::from_millis(200));
    let told = server.raw("POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    assert_eq!(
        (told.status, told.header("connection")),
        (408, Some("close"))
    );
    assert_eq!(
        told.json()["detail"],
        "the body came too slowly; it was cut after 1 bytes"
    );
}

#[test]
fn an_answer_to_a_request_that_was_not_read_says_that_the_connection_closes() {
    let server = TestServer::with(|config| config.body_bytes = 1_000);
    for (line, status) in [
        ("POST /v1/check", 413),
        ("POST /nothing", 404),
        ("POST /v1/log", 405),
        ("POST /v1/sessions/s/kill", 401),
    ] {
        let told = server.raw(&format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\n\r\n"
        ));
        assert_eq!(
            (told.status, told.header("connection")),
            (status, Some("close")),
            "{line}"
        );
    }
    // One that was read to its end may be followed by another on the same connection.
    let call = format!(
        "POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{CALL}",
        CALL.len()
    );
    let end = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let told = server.raw(&format!("{call}{end}"));
    assert_eq!((told.status, told.header("connection")), (200, None));
    assert!(told.body.contains("HTTP/1.1 200 OK"), "{told:?}");
}

#[test]
fn a_request_with_two_hosts_is_refused() {
    let server = TestServer::start();
    let own = server.address;
    for (target, hosts) in [
        ("/healthz", "host: localhost\r\nhost: evil.example\r\n"),
        ("/healthz", "host: localhost\r\nhost: localhost\r\n"),
        ("http://localhost/healthz", "host: 127.0.0.1\r\n"),
    ] {
        let told = server.raw(&format!(
            "GET {target} HTTP/1.1\r\n{hosts}connection: close\r\n\r\n"
        ));
        assert_eq!(told.status, 400, "{target} {hosts}");
    }
    let told = server.raw(&format!(
        "GET http://{own}/healthz HTTP/1.1\r\nhost: {own}\r\nconnection: close\r\n\r\n"
    ));
    assert_eq!(told.status, 200);
}

#[test]
fn a_client_that_never_reads_its_answers_does_not_keep_its_connection() {
    let server = TestServer::with(|config| {
        config.connections = 1;
        config.write_time = Duration::from_millis(200);
    });
    let mut deaf = TcpStream::connect(server.address).unwrap();
    deaf.set_nonblocking(true).unwrap();
    // As many requests as it takes until nothing more is accepted: then answers wait for a client that reads.
    let asked = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2_000);
    let _ = deaf.write(asked.as_bytes());
    let is_free = || {
        std::thread::park_timeout(Duration::from_millis(20));
        server.send("GET", "/healthz", "", "").status == 200
    };
    assert!((0..1_000).any(|_| is_free()), "it is still held");
}
