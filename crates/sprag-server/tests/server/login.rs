//! How an operator gets into the dashboard, and who does not.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use serde_json::Value;
use sprag::{Role, TestClock, Timestamp};
use sprag_server::{SharedClock, TokenFile};

use crate::test_server::{HttpAnswer, TestServer};

const ORDER: &str = r#"{"why":"test"}"#;

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

fn code(server: &TestServer) -> String {
    let made = server.operator("POST", "/v1/login/code", "");
    assert_eq!(made.status, 200, "{made:?}");
    made.json()["code"].as_str().unwrap().to_owned()
}

fn login(server: &TestServer, field: &str, value: &str) -> HttpAnswer {
    let body = format!(r#"{{"{field}":"{value}"}}"#);
    server.send("POST", "/v1/login", "", &body)
}

fn token(answer: &HttpAnswer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["token"].as_str().unwrap().to_owned()
}

fn detail(answer: &HttpAnswer) -> Value {
    answer.json()["detail"].clone()
}

/// A server whose clock the test moves.
fn with_clock() -> (TestServer, Arc<TestClock>) {
    let clock = Arc::new(TestClock::at(Timestamp(1_000_000)));
    let shared = SharedClock(Arc::clone(&clock) as Arc<dyn sprag::Clock>);
    let server = TestServer::with(|config| config.clock = shared);
    (server, clock)
}

#[test]
fn a_link_holds_a_code_in_its_fragment_and_no_token() {
    let server = TestServer::start();
    let made = server.operator("POST", "/v1/login/code", "").json();
    let (link, code) = (
        made["link"].as_str().unwrap(),
        made["code"].as_str().unwrap(),
    );
    assert_eq!(link, format!("http://{}/#code={code}", server.address));
    assert_eq!(code.len(), 32);
}

#[test]
fn a_code_is_exchanged_once_for_a_token_of_the_dashboard() {
    let server = TestServer::start();
    let code = code(&server);
    let first = login(&server, "code", &code);
    assert_eq!(first.header("set-cookie"), None);
    let token = token(&first);
    assert!(token.starts_with("sprag_dashboard_"), "{token}");
    let listed = server.send("GET", "/v1/sessions", &bearer(&token), "");
    assert_eq!(listed.status, 200);
    let stolen = login(&server, "code", &code);
    assert_eq!(stolen.status, 401);
    assert_eq!(
        detail(&stolen),
        "this link was used before or is older than 60 seconds; `sprag open` makes a new one"
    );
}

#[test]
fn a_code_older_than_a_minute_opens_nothing() {
    let (server, clock) = with_clock();
    let (early, late) = (code(&server), code(&server));
    clock.set(Timestamp(1_000_000 + 59_999));
    assert_eq!(login(&server, "code", &early).status, 200);
    clock.set(Timestamp(1_000_000 + 60_000));
    assert_eq!(login(&server, "code", &late).status, 401);
}

#[test]
fn a_token_of_the_dashboard_ends_after_twelve_hours_and_can_not_renew_itself() {
    let (server, clock) = with_clock();
    let held = token(&login(&server, "token", &server.token(Role::Operator)));
    let seen = || {
        server
            .send("GET", "/v1/sessions", &bearer(&held), "")
            .status
    };
    assert_eq!(login(&server, "token", &held).status, 403);
    let code = server.send("POST", "/v1/login/code", &bearer(&held), "");
    assert_eq!(code.status, 403);
    assert_eq!(
        detail(&code),
        "a token of the dashboard can't be exchanged for another; use the operator token or `sprag open`"
    );
    clock.set(Timestamp(1_000_000 + 12 * 3_600_000 - 1));
    assert_eq!(seen(), 200);
    clock.set(Timestamp(1_000_000 + 12 * 3_600_000));
    assert_eq!(seen(), 401);
}

#[test]
fn a_token_of_the_dashboard_is_listed_revoked_and_named_in_the_log() {
    let server = TestServer::start();
    let answer = login(&server, "code", &code(&server));
    let (held, name) = (token(&answer), answer.json()["name"].clone());
    let kill = server.send("POST", "/v1/sessions/s/kill", &bearer(&held), ORDER);
    assert_eq!(kill.status, 200);
    let log = server.operator("GET", "/v1/log?session=s", "").body;
    let by = format!("operator (as {})", name.as_str().unwrap());
    assert!(log.contains(&format!(r#""by":"{by}""#)), "{log}");
    let tokens = TokenFile::beside(&server.home.path().join("sprag.db"));
    let text = std::fs::read_to_string(tokens.path()).unwrap();
    assert!(!text.contains(&held));
    let listed = tokens.list().unwrap();
    assert_eq!(listed[0].name, name.as_str().unwrap());
    assert!(listed[0].expires.is_some());
    tokens.revoke(&listed[0].name).unwrap();
    let seen = server.send("GET", "/v1/sessions", &bearer(&held), "");
    assert_eq!(seen.status, 401);
}

#[test]
fn logging_out_ends_the_dashboards_own_token_and_no_other() {
    let server = TestServer::start();
    let operator = server.token(Role::Operator);
    let held = token(&login(&server, "token", &operator));
    for token in [&held, &operator] {
        let out = server.send("DELETE", "/v1/login", &bearer(token), "");
        assert_eq!(out.status, 204);
    }
    assert_eq!(server.send("GET", "/v1/me", &bearer(&held), "").status, 401);
    assert_eq!(server.operator("GET", "/v1/me", "").status, 200);
}

#[test]
fn past_the_most_dashboards_the_oldest_token_ends() {
    let (server, clock) = with_clock();
    let operator = server.token(Role::Operator);
    let first = token(&login(&server, "token", &operator));
    for turn in 1..=32 {
        clock.set(Timestamp(1_000_000 + turn));
        token(&login(&server, "token", &operator));
    }
    let tokens = TokenFile::beside(&server.home.path().join("sprag.db"));
    assert_eq!(tokens.list().unwrap().len(), 32);
    assert_eq!(
        server.send("GET", "/v1/me", &bearer(&first), "").status,
        401
    );
}

#[test]
fn a_login_needs_a_code_or_an_operators_token() {
    let server = TestServer::start();
    let agent = server.token(Role::Agent);
    assert_eq!(login(&server, "token", &agent).status, 403);
    assert_eq!(login(&server, "token", "nope").status, 401);
    assert_eq!(login(&server, "other", "x").status, 400);
    let both = r#"{"code":"a","token":"b"}"#;
    assert_eq!(server.send("POST", "/v1/login", "", both).status, 400);
}

/// A cookie of an older version, or one that another port of the host set, proves nothing. Neither does an `Origin`
/// that any client can write.
#[test]
fn neither_a_cookie_nor_a_made_up_origin_makes_an_operator() {
    let server = TestServer::start();
    let (operator, address) = (server.token(Role::Operator), server.address);
    let held = token(&login(&server, "code", &code(&server)));
    for value in [&operator, &held] {
        for name in ["sprag_operator", "sprag.token", "token"] {
            let headers = format!("cookie: {name}={value}\r\norigin: http://{address}\r\n");
            let seen = server.send("GET", "/v1/sessions", &headers, "");
            assert_eq!(seen.status, 401, "{name}");
            let order = server.send("POST", "/v1/sessions/s/reset", &headers, ORDER);
            assert_eq!(order.status, 401, "{name}");
        }
    }
    let link = server.send("GET", &format!("/?token={operator}"), "", "");
    assert_eq!((link.status, link.header("set-cookie")), (200, None));
    let other = format!("origin: http://127.0.0.1:1\r\n{}", bearer(&held));
    assert_eq!(server.send("GET", "/v1/sessions", &other, "").status, 403);
}

#[cfg(unix)]
#[test]
fn the_list_of_tokens_is_for_its_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = TestServer::start();
    token(&login(&server, "code", &code(&server)));
    for name in [
        "tokens.json",
        "tokens.json.lock",
        "operator.token",
        "hook.token",
    ] {
        let held = std::fs::metadata(server.home.path().join(name)).unwrap();
        assert_eq!(held.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn behind_a_tls_proxy_the_link_leads_to_the_proxy() {
    let home = tempfile::tempdir().unwrap();
    let tokens = TokenFile::beside(&home.path().join("sprag.db"));
    tokens.add("agents", Role::Agent, Timestamp(0)).unwrap();
    let server = TestServer::over(home, |config| {
        config.transport = sprag_server::Transport::BehindProxy;
        config.hosts = vec!["guard.example".to_owned()];
    });
    let made = server.operator("POST", "/v1/login/code", "").json();
    let link = made["link"].as_str().unwrap();
    assert!(link.starts_with("https://guard.example/#code="), "{link}");
}

#[test]
fn a_stream_ends_with_the_token_that_opened_it() {
    let server = TestServer::start();
    let held = token(&login(&server, "code", &code(&server)));
    let head = format!("host: {}\r\n{}", server.address, bearer(&held));
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    let request = format!("GET /v1/stream HTTP/1.1\r\n{head}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    let out = server.send("DELETE", "/v1/login", &bearer(&held), "");
    assert_eq!(out.status, 204);
    server.check(r#"{"type":"call","session":"later","tool":"t"}"#);
    let mut rest = String::new();
    while !rest.ends_with("0\r\n\r\n") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert_ne!(read, 0, "{rest}");
        rest += &String::from_utf8_lossy(&bytes[..read]);
    }
}
