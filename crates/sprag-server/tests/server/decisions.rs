//! The one way to a decision: whichever way an event comes in, it is timed, exported and counted if the store
//! fails; and one that waits for the network holds nothing else up.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use sprag::Role;
use sprag_server::telemetry::TelemetrySettings;

use crate::mounts::{TakesAll, before_with};
use crate::receiver::Receiver;
use crate::redis_server::RedisServer;
use crate::test_server::{HttpAnswer, TestServer};

/// Every way in which an event reaches the guard: who sends it, where to, and what.
const WAYS: [(&str, Option<Role>, &str, &str); 5] = [
    (
        "the API",
        Some(Role::Agent),
        "/v1/check",
        r#"{"type":"call","session":"api","tool":"read"}"#,
    ),
    (
        "a posted hook",
        Some(Role::Hook),
        "/v1/hooks/claude",
        r#"{"hook_event_name":"PreToolUse","session_id":"hook","transcript_path":"t","tool_name":"Read","tool_input":{"file_path":"a"},"tool_use_id":"toolu_1"}"#,
    ),
    (
        "the relay",
        None,
        "/api/sessions/2/messages",
        r#"{"prompt":"hi","fromSession":"1","correlationId":"f"}"#,
    ),
    (
        "an order",
        Some(Role::Operator),
        "/v1/sessions/api/kill",
        r#"{"why":"enough"}"#,
    ),
    (
        "the mounted MCP proxy",
        None,
        "/mcp/catalog",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}"#,
    ),
];

fn send(server: &TestServer, role: Option<Role>, path: &str, body: &str) -> HttpAnswer {
    let token = role.map(|role| format!("authorization: Bearer {}\r\n", server.token(role)));
    let accept = "accept: application/json, text/event-stream\r\n";
    let headers = format!("{}{accept}", token.unwrap_or_default());
    server.send("POST", path, &headers, body)
}

/// The sum of all series of a metric.
fn counted(server: &TestServer, name: &str) -> u64 {
    let metrics = server.operator("GET", "/metrics", "").body;
    metrics
        .lines()
        .filter(|line| line.starts_with(name))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        .sum()
}

#[test]
fn every_way_to_a_decision_is_timed_and_exported_as_a_span() {
    let upstream = TakesAll::start("content-type: application/json\r\n", "{}");
    let traces = Receiver::answering(&[]);
    let server = before_with(&upstream, |config| {
        config.telemetry = TelemetrySettings {
            traces: Some(traces.url("/v1/traces")),
            ..TelemetrySettings::default()
        };
    });
    for (way, role, path, body) in WAYS {
        let before = counted(&server, "sprag_decision_duration_seconds_count");
        let answer = send(&server, role, path, body);
        let after = counted(&server, "sprag_decision_duration_seconds_count");
        assert!(after > before, "{way}: {answer:?}");
    }
    let decisions = counted(&server, "sprag_decision_duration_seconds_count");
    // What waits to be exported is sent when the server ends.
    server.end();
    let mut spans = 0;
    while spans < decisions {
        let body = traces.next().body;
        let request = ExportTraceServiceRequest::decode(&*body).unwrap();
        let scopes = request
            .resource_spans
            .iter()
            .flat_map(|all| &all.scope_spans);
        spans += scopes.map(|scope| scope.spans.len() as u64).sum::<u64>();
    }
    assert_eq!(spans, decisions, "one span for each decision");
}

#[test]
fn a_store_that_fails_is_counted_whichever_way_an_event_comes() {
    let upstream = TakesAll::start("content-type: application/json\r\n", "{}");
    let server = before_with(&upstream, |_| {});
    let bodies = WAYS.map(|(way, role, path, body)| {
        let token = role.map(|role| (role, server.token(role)));
        (way, token, path, body)
    });
    server.guard.close().unwrap();
    for (way, token, path, body) in bodies {
        let before = counted(&server, "sprag_store_errors_total");
        let token = token.map(|(_, token)| format!("authorization: Bearer {token}\r\n"));
        let answer = server.send("POST", path, &token.unwrap_or_default(), body);
        let after = counted(&server, "sprag_store_errors_total");
        assert!(after > before, "{way}: {answer:?}");
    }
}

fn signal(redis: &RedisServer, signal: &str) {
    let pid = redis.child.id().to_string();
    let status = Command::new("kill").args([signal, &pid]).status().unwrap();
    assert!(status.success());
}

#[test]
fn decisions_that_wait_for_the_network_hold_no_other_request_up() {
    let Some(redis) = RedisServer::start() else {
        return;
    };
    let server = TestServer::with(|config| {
        let mut options = redis.options("server");
        options.deadline = Duration::from_secs(600);
        config.redis = Some(options);
    });
    server.check(r#"{"type":"call","session":"s0","tool":"read"}"#);
    signal(&redis, "-STOP");
    // More of them than the runtime has threads.
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let waiting: Vec<TcpStream> = (0..=threads)
        .map(|n| {
            let body = format!(r#"{{"type":"call","session":"s{n}","tool":"read"}}"#);
            let mut stream = TcpStream::connect(server.address).unwrap();
            write!(
                stream,
                "POST /v1/check HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                server.address,
                body.len()
            )
            .unwrap();
            stream
        })
        .collect();
    // A worker thread that waited would leave one of these without an answer.
    for _ in 0..50 {
        assert_eq!(server.send("GET", "/healthz", "", "").status, 200);
    }
    signal(&redis, "-CONT");
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
