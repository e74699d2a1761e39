//! Servers behind this one: what they may not do to its pages, and what they never receive.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use sprag::Role;
use sprag_gateway::{GatewayOptions, Upstreams};
use sprag_mcp::http::ProxyConfig;
use sprag_server::{RelayConfig, ServerConfig, Url};

use crate::test_server::{HttpAnswer, TestServer};

/// A server that answers every request alike, and keeps what it received.
pub(crate) struct TakesAll {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl TakesAll {
    pub(crate) fn start(headers: &'static str, body: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
        };
        let requests = Arc::clone(&server.requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let requests = Arc::clone(&requests);
                std::thread::spawn(move || {
                    let mut bytes = Vec::new();
                    let mut part = [0; 4096];
                    while !is_whole(&bytes) {
                        match stream.read(&mut part) {
                            Ok(read @ 1..) => bytes.extend_from_slice(&part[..read]),
                            _ => return,
                        }
                    }
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    requests.lock().unwrap().push(text);
                    let length = body.len();
                    let _ = write!(
                        stream,
                        "HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
                    );
                });
            }
        });
        server
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Whether a request of a known length, or without a body, is there as a whole.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

/// A page that pauses the guard if a browser runs it as a page of this server.
const PAGE: &str =
    "<!doctype html><script>fetch('/v1/pause', {method: 'POST', body: '{}'})</script>";
const PAGE_HEADERS: &str = "content-type: text/html\r\n\
    set-cookie: sprag_operator=forged\r\n\
    set-cookie: other=1\r\n\
    access-control-allow-origin: *\r\n\
    access-control-allow-credentials: true\r\n\
    access-control-expose-headers: *\r\n\
    content-security-policy: default-src *\r\n\
    content-security-policy: script-src 'unsafe-inline'\r\n\
    x-frame-options: ALLOWALL\r\n\
    cross-origin-resource-policy: cross-origin\r\n\
    clear-site-data: \"*\"\r\n\
    service-worker-allowed: /\r\n\
    refresh: 0;url=/v1/pause\r\n\
    link: </evil.js>; rel=preload\r\n\
    strict-transport-security: max-age=1\r\n\
    secure-session-registration: (ES256); path=\"/s\"\r\n\
    use-as-dictionary: match=\"/*\"\r\n\
    x-own: kept\r\n";

/// A server with another one behind it, as relay, as MCP server and as model API.
fn before(upstream: &TakesAll) -> TestServer {
    before_with(upstream, |_| {})
}

/// The same, with other settings besides.
pub(crate) fn before_with(
    upstream: &TakesAll,
    change: impl FnOnce(&mut ServerConfig),
) -> TestServer {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("mcp.toml");
    let servers = format!(
        "[[upstream]]\nurl = \"http://{}/catalog\"\n",
        upstream.address
    );
    std::fs::write(&place, servers).unwrap();
    TestServer::over(home, |config| {
        config.mcp = Some(ProxyConfig::read(&place).unwrap());
        let mut upstreams = Upstreams::real().unwrap();
        for mount in ["anthropic", "openai", "gemini"] {
            let address = format!("http://{}", upstream.address);
            upstreams.set(mount, &address).unwrap();
        }
        config.gateway = Some(GatewayOptions::new(upstreams));
        config.relay = RelayConfig {
            upstream: Some(Url::parse(&format!("http://{}", upstream.address)).unwrap()),
            ..RelayConfig::default()
        };
        change(config);
    })
}

/// Every way through this server to one behind it.
const WAYS: [&str; 8] = [
    "/anthropic/v1/models",
    "/openai/v1/models",
    "/openai/v1/chat/completions",
    "/gemini/v1beta/models",
    "/mcp/catalog",
    "/mcp/catalog/below",
    "/api/sessions/2",
    "/api/sessions/2/messages",
];

fn headers(answer: &HttpAnswer) -> Vec<&str> {
    let lines = answer.head.lines().skip(1);
    let mut lines: Vec<&str> = lines.filter(|line| !line.starts_with("date: ")).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_page_of_a_server_behind_can_not_run_as_a_page_of_this_one() {
    let upstream = TakesAll::start(PAGE_HEADERS, PAGE);
    let server = before(&upstream);
    let length = format!("content-length: {}", PAGE.len());
    for path in WAYS {
        let answer = server.send("GET", path, "", "");
        assert_eq!((answer.status, answer.body.as_str()), (200, PAGE), "{path}");
        assert_eq!(
            headers(&answer),
            [
                "cache-control: no-store",
                "connection: close",
                &length,
                "content-security-policy: default-src 'none'; sandbox; frame-ancestors 'none'; form-action 'none'",
                "content-type: text/html",
                "cross-origin-resource-policy: same-origin",
                "referrer-policy: no-referrer",
                "x-content-type-options: nosniff",
                "x-frame-options: DENY",
                "x-own: kept",
            ],
            "{path}"
        );
    }
}

#[test]
fn what_no_route_of_ours_answered_is_treated_as_a_strangers() {
    let upstream = TakesAll::start(PAGE_HEADERS, PAGE);
    let server = before(&upstream);
    for path in ["/api/sessions/%00", "/api/sessions/2%5Cmessages"] {
        let answer = server.send("GET", path, "", "");
        let csp = answer.header("content-security-policy").unwrap();
        assert!(csp.contains("sandbox"), "{path}: {csp}");
    }
    for path in ["/", "/docs", "/sessions", "/nothing", "/mcp/nothing"] {
        let answer = server.send("GET", path, "", "");
        let csp = answer.header("content-security-policy").unwrap();
        assert!(!csp.contains("sandbox"), "{path}: {csp}");
    }
}

#[test]
fn no_server_behind_ever_receives_a_token_or_a_cookie_of_this_one() {
    let upstream = TakesAll::start("content-type: text/plain\r\n", "taken");
    let server = before(&upstream);
    for role in [Role::Operator, Role::Hook, Role::Relay, Role::Agent] {
        let token = server.token(role);
        for credentials in [
            format!("authorization: Bearer {token}\r\n"),
            format!("authorization: bearer  {token}\r\n"),
            format!("sprag-token: {token}\r\n"),
            format!("cookie: a=1; sprag_operator={token}; b=2\r\n"),
            format!("x-api-key: {token}\r\n"),
            format!("x-sprag-token: {token}\r\n"),
        ] {
            for path in WAYS {
                let method = if path.ends_with("messages") {
                    "POST"
                } else {
                    "GET"
                };
                let body = r#"{"prompt":"hi","fromSession":"1","correlationId":"f"}"#;
                let body = if method == "POST" { body } else { "" };
                server.send(method, path, &credentials, body);
                server.send("GET", &format!("{path}?token={token}"), "", "");
            }
        }
    }
    let requests = upstream.requests();
    assert!(requests.len() > 60, "{}", requests.len());
    for request in requests {
        let request = request.to_lowercase();
        assert!(!request.contains("sprag_"), "{request}");
        assert!(!request.contains("sprag-token"), "{request}");
    }
}

#[test]
fn credentials_for_a_server_behind_reach_it() {
    let upstream = TakesAll::start("content-type: text/plain\r\n", "taken");
    let server = before(&upstream);
    let theirs = "authorization: Bearer theirs\r\ncookie: sid=1; sprag_operator=x\r\n";
    server.send("GET", "/mcp/catalog", theirs, "");
    let request = upstream.requests().pop().unwrap();
    assert!(
        request.contains("authorization: Bearer theirs"),
        "{request}"
    );
    assert!(request.contains("cookie: sid=1\r\n"), "{request}");
}
