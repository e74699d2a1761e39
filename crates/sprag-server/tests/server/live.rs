//! What happens while others look on, kill, and end the server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use sprag::Role;

use crate::test_server::TestServer;

fn call(session: &str, turn: u32) -> String {
    format!(r#"{{"type":"call","session":"{session}","tool":"t","args":{turn}}}"#)
}

#[test]
fn after_the_answer_to_a_kill_nothing_is_allowed() {
    let server = TestServer::start();
    server.check(&call("s", 0));
    let killed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for turn in 0..100_u32 {
            let (server, killed) = (&server, &killed);
            scope.spawn(move || {
                if turn == 50 {
                    let order = r#"{"why":"enough"}"#;
                    let answer = server.operator("POST", "/v1/sessions/s/kill", order);
                    assert_eq!(answer.status, 200);
                    killed.store(true, Ordering::SeqCst);
                } else {
                    let was_killed = killed.load(Ordering::SeqCst);
                    let verdict = server.check(&call("s", turn));
                    assert!(!was_killed || verdict["verdict"] == "kill", "{verdict}");
                }
            });
        }
    });
    assert_eq!(server.check(&call("s", 101))["verdict"], "kill");
}

#[test]
fn a_kill_that_was_answered_outlives_the_server() {
    let server = TestServer::start();
    for session in ["a", "b", "c"] {
        server.check(&call(session, 0));
        let path = format!("/v1/sessions/{session}/kill");
        assert_eq!(server.operator("POST", &path, r#"{"why":"x"}"#).status, 200);
    }
    let again = TestServer::over(server.end(), |_| {});
    for session in ["a", "b", "c"] {
        assert_eq!(again.check(&call(session, 1))["verdict"], "kill");
    }
}

/// Reads server-sent events from an open stream.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(server: &TestServer, headers: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let token = server.token(Role::Operator);
        let (address, wait) = (server.address, std::time::Duration::from_secs(30));
        stream.set_read_timeout(Some(wait)).unwrap();
        write!(
            stream,
            "GET /v1/stream HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{headers}\r\n"
        )
        .unwrap();
        let mut stream = Self(BufReader::new(stream));
        assert!(stream.line().starts_with("HTTP/1.1 200"));
        while !stream.line().is_empty() {}
        stream
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The id and the data of the next record.
    fn record(&mut self) -> (u64, serde_json::Value) {
        let (mut id, mut data) = (None, None::<serde_json::Value>);
        loop {
            let line = self.line();
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.parse().ok();
            }
            if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).ok();
            }
            if let (true, Some(id), Some(data)) = (line.is_empty(), id, &data) {
                return (id, data.clone());
            }
        }
    }
}

#[test]
fn a_stream_tells_every_record_in_order_and_goes_on_where_it_was_left() {
    let server = TestServer::start();
    let mut live = Stream::open(&server, "");
    for turn in 0..50 {
        server.check(&call("s", turn));
    }
    let (first, _) = live.record();
    for expected in first + 1..first + 50 {
        assert_eq!(live.record().0, expected);
    }
    let mut again = Stream::open(&server, &format!("last-event-id: {}\r\n", first + 9));
    for expected in first + 10..first + 50 {
        assert_eq!(again.record().0, expected);
    }
    server.check(&call("s", 99));
    assert_eq!(again.record().0, first + 50);
    assert_eq!(live.record().0, first + 50);
    let path = "/v1/sessions/s/kill";
    server.operator("POST", path, r#"{"why":"x"}"#);
    assert_eq!(live.record().1["event"]["type"], "kill");
}

#[test]
fn a_batch_is_answered_line_by_line_while_it_is_being_written() {
    let server = TestServer::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let address = server.address;
    write!(
        stream,
        "POST /v1/check/batch HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    for turn in 0..20 {
        let event = call("s", turn) + "\n";
        write!(stream, "{:x}\r\n{event}\r\n", event.len()).unwrap();
        line.clear();
        while !line.contains("\"verdict\"") {
            line.clear();
            assert_ne!(answers.read_line(&mut line).unwrap(), 0);
        }
    }
    write!(stream, "0\r\n\r\n").unwrap();
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("verdict"), "{rest}");
}

#[test]
fn a_server_that_ends_lets_its_streams_end() {
    let server = TestServer::start();
    let mut live = Stream::open(&server, "");
    let home = server.end();
    let mut rest = Vec::new();
    live.0.read_to_end(&mut rest).unwrap();
    drop(home);
}
