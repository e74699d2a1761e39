//! What an attack on the running server once found, and what of it must not come back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use crate::sandbox::Sandbox;
use crate::serve::Serving;

/// A Redis on a port of its own; ends with the test.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    /// None if there is no Redis on this machine.
    fn start(sandbox: &Sandbox) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--save", "", "--dir"])
            .arg(sandbox.path())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let redis = Self { child, port };
        let answers = || {
            std::thread::park_timeout(std::time::Duration::from_millis(10));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        };
        assert!((0..1_000).any(|_| answers()), "redis does not start");
        Some(redis)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_over_redis_once_did_not_start_in_a_fresh_home() {
    let sandbox = Sandbox::new();
    let Some(redis) = Redis::start(&sandbox) else {
        return;
    };
    let url = format!("redis://127.0.0.1:{}/", redis.port);
    let mut child = sandbox
        .command(&["serve", "--listen", "127.0.0.1:0", "--redis", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let _ = child.kill();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("listening on "), "{line}{said}");
}

#[test]
fn a_server_once_took_half_a_minute_to_end_while_clients_held_on() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    // It answers, so it hears signals.
    server
        .client()
        .post("/v1/check", r#"{"type":"call","session":"s","tool":"t"}"#)
        .unwrap();
    // Clients that say half of what they have to say, and never read.
    let mut held = Vec::new();
    for n in 0..20 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let head = "POST /v1/check HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9000\r\n\r\n{";
        stream
            .write_all(head.get(..head.len() - n % 3).unwrap().as_bytes())
            .unwrap();
        held.push(stream);
    }
    let socket = UnixStream::connect(sandbox.path().join("s.db.sock")).unwrap();
    server.signal("-TERM");
    // Five seconds at most; the test allows a busy machine twice that.
    let mut ended = None;
    for _ in 0..500 {
        ended = server.child.try_wait().unwrap();
        if ended.is_some() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    drop((held, socket));
    assert!(ended.expect("it ends by itself").success());
}

#[test]
fn a_server_without_file_descriptors_guards_on() {
    let sandbox = Sandbox::new();
    let mut server = Serving::limited(&sandbox, "ulimit -n 256");
    let mut client = server.client();
    let call = |session: &str| format!(r#"{{"type":"call","session":"{session}","tool":"t"}}"#);
    let first = client.post("/v1/check", &call("s1")).unwrap();
    assert!(first.contains(r#""verdict":"allow""#), "{first}");
    // Connections take all the descriptors that there are.
    let held: Vec<TcpStream> = (0..400)
        .filter_map(|_| TcpStream::connect(server.address()).ok())
        .collect();
    // Whoever is connected is still guarded, and a kill is given and enforced.
    let killed = client.post("/v1/sessions/s1/kill", r#"{"why":"test"}"#);
    assert!(killed.is_some());
    let refused = client.post("/v1/check", &call("s1")).unwrap();
    assert!(refused.contains(r#""verdict":"kill""#), "{refused}");
    drop(held);
    let mut again = server.client();
    let refused = (0..200).find_map(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(20));
        again.post("/v1/check", &call("s1"))
    });
    assert!(refused.unwrap().contains(r#""verdict":"kill""#));
    server.signal("-TERM");
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn a_hangup_once_ended_the_server_and_now_reloads_its_policy() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", "");
    let mut server = Serving::with(&sandbox, &["--policy", "p.toml"]);
    let mut client = server.client();
    let call = r#"{"type":"call","session":"s","tool":"tidy"}"#;
    let verdict = client.post("/v1/check", call).unwrap();
    assert!(verdict.contains(r#""verdict":"allow""#), "{verdict}");
    sandbox.file("p.toml", "[access]\ndeny = [\"tidy\"]\n");
    server.signal("-HUP");
    let mut is_reloaded = || {
        std::thread::park_timeout(std::time::Duration::from_millis(20));
        let verdict = client.post("/v1/check", call);
        verdict.unwrap().contains("access.denied")
    };
    assert!((0..1_000).any(|_| is_reloaded()), "it was not reloaded");
    server.signal("-TERM");
    assert!(server.child.wait().unwrap().success());
}
