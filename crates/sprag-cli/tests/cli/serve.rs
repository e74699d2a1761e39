//! The server as a process: how it starts, how it ends, and what it must not lose.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sprag::{Guard, LogQuery, RecordKind};

use crate::mask::mask;
use crate::sandbox::Sandbox;

/// A server that was started as a user would.
pub(crate) struct Serving {
    pub(crate) child: Child,
    /// What it said when it started.
    pub(crate) printed: String,
    address: String,
    token: String,
}

impl Serving {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::with(sandbox, &[])
    }

    /// With more arguments than the usual ones.
    pub(crate) fn with(sandbox: &Sandbox, more: &[&str]) -> Self {
        let usual = ["serve", "--listen", "127.0.0.1:0", "--db", "s.db"];
        Self::spawn(sandbox, sandbox.command(&[&usual, more].concat()))
    }

    /// After a shell has set `limit`.
    pub(crate) fn limited(sandbox: &Sandbox, limit: &str) -> Self {
        let mut command = std::process::Command::new("sh");
        let serve = "exec \"$0\" serve --listen 127.0.0.1:0 --db s.db";
        command
            .args(["-c", &format!("{limit}; {serve}")])
            .arg(env!("CARGO_BIN_EXE_sprag"))
            .current_dir(sandbox.path())
            .env("HOME", sandbox.path());
        Self::spawn(sandbox, command)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn spawn(sandbox: &Sandbox, mut command: std::process::Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut printed = String::new();
        let mut told = |start: &str| {
            let line = lines.next().unwrap().unwrap();
            printed += &line;
            printed.push('\n');
            line.strip_prefix(start)
                .unwrap_or_else(|| panic!("{line}"))
                .trim()
                .to_owned()
        };
        let address = told("listening on ");
        told("socket ");
        told("operator ");
        let token = sandbox.read("operator.token").trim().to_owned();
        // Whoever reads no more must not stop it from saying its last word.
        std::thread::spawn(move || lines.count());
        Self {
            child,
            printed,
            address,
            token,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client {
            address: self.address.clone(),
            token: self.token.clone(),
            stream: None,
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([name, &pid])
            .status();
        assert!(sent.unwrap().success());
    }
}

/// One keep-alive connection.
pub(crate) struct Client {
    address: String,
    token: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    /// The body of a good answer; none where the server is gone.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Option<String> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).ok()?;
            self.stream = Some(BufReader::new(stream));
        }
        let answer = self.exchange(path, body);
        if answer.is_none() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, path: &str, body: &str) -> Option<String> {
        let stream = self.stream.as_mut()?;
        let (host, token, length) = (&self.address, &self.token, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.get_mut().write_all(request.as_bytes()).ok()?;
        let mut length = 0;
        let mut status = String::new();
        stream.read_line(&mut status).ok()?;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(told) = line.to_lowercase().strip_prefix("content-length: ") {
                length = told.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        status
            .contains(" 200 ")
            .then(|| String::from_utf8_lossy(&body).into_owned())
    }
}

/// Ids of calls that stand in the log of a store.
fn logged(sandbox: &Sandbox) -> BTreeSet<String> {
    let guard = Guard::open(sandbox.path().join("s.db")).unwrap();
    assert!(guard.verify().unwrap().is_sound());
    let mut query = LogQuery::default();
    let mut found = BTreeSet::new();
    loop {
        let page = guard.records(&query).unwrap();
        for record in page.items {
            if let RecordKind::Event { observation, .. } = record.kind
                && let sprag_core::Observed::Call(call) = observation.what
            {
                found.extend(call.id.map(|id| id.to_string()));
            }
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return found,
        }
    }
}

#[test]
fn a_server_that_is_asked_to_end_under_load_loses_nothing_that_it_answered() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    let answered = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (mut client, answered) = (server.client(), &answered);
            scope.spawn(move || {
                for turn in 0.. {
                    let id = format!("{worker}-{turn}");
                    let call = format!(
                        r#"{{"type":"call","session":"s{worker}-{}","id":"{id}","tool":"t","args":{turn}}}"#,
                        turn / 100
                    );
                    match client.post("/v1/check", &call) {
                        Some(_) => answered.lock().unwrap().insert(id),
                        None => break,
                    };
                }
            });
        }
        while answered.lock().unwrap().len() < 500 {
            std::thread::yield_now();
        }
        server.signal("-TERM");
    });
    assert!(server.child.wait().unwrap().success());
    let (answered, logged) = (answered.into_inner().unwrap(), logged(&sandbox));
    let lost: Vec<_> = answered.difference(&logged).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(!sandbox.path().join("s.db.sock").exists());
}

#[test]
fn a_server_that_dies_under_load_keeps_every_kill_that_it_answered() {
    let sandbox = Sandbox::new();
    let killed = Mutex::new(BTreeSet::new());
    for round in 0..3 {
        let mut server = Serving::start(&sandbox);
        let mut client = server.client();
        for session in killed.lock().unwrap().iter() {
            let call = format!(r#"{{"type":"call","session":"{session}","tool":"t"}}"#);
            let verdict = client.post("/v1/check", &call).unwrap();
            assert!(
                verdict.starts_with(r#"{"verdict":"kill""#),
                "{session}: {verdict}"
            );
        }
        let enough = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (mut client, killed, enough) = (server.client(), &killed, &enough);
                scope.spawn(move || {
                    for turn in 0.. {
                        let session = format!("s{round}-{worker}-{turn}");
                        let call = format!(r#"{{"type":"call","session":"{session}","tool":"t"}}"#);
                        let path = format!("/v1/sessions/{session}/kill");
                        let asked = client.post("/v1/check", &call);
                        let done = asked.and_then(|_| client.post(&path, r#"{"why":"test"}"#));
                        if done.is_none() {
                            break;
                        }
                        killed.lock().unwrap().insert(session);
                        enough.store(turn > 5, Ordering::SeqCst);
                    }
                });
            }
            while !enough.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            server.signal("-KILL");
        });
        server.child.wait().unwrap();
    }
    assert!(logged(&sandbox).is_empty());
}

#[test]
fn what_would_be_dangerous_is_told_with_what_to_do() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["serve", "--listen", "0.0.0.0:0", "--db", "s.db"]), @"
    exit 2
    --- stderr
    error: 0.0.0.0:0 can be reached from elsewhere, and nothing keeps strangers from reading along
    next: give --tls-cert and --tls-key, or say --behind-tls-proxy if something in front does TLS
    ");
    insta::assert_snapshot!(sandbox.run(&["serve", "--db", "s.db", "--tls-cert", "none.pem", "--tls-key", "none.pem"]), @"
    exit 2
    --- stderr
    error: can't use none.pem for TLS: I/O error: No such file or directory (os error 2)
    ");
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&[
        "token", "add", "--role", "relay", "--name", "chat", "--db", "s.db",
    ]);
    let token = made
        .strip_prefix("exit 0\n--- stdout\nsprag_relay_")
        .unwrap();
    assert_eq!(token.trim().len(), 64);
    assert!(!sandbox.read("tokens.json").contains(token.trim()));
    let listed = sandbox.run(&["token", "list", "--db", "s.db"]);
    assert!(
        listed.contains("chat") && listed.contains("relay"),
        "{listed}"
    );
    insta::assert_snapshot!(sandbox.run(&["token", "add", "--role", "agent", "--name", "chat", "--db", "s.db"]), @r#"
    exit 2
    --- stderr
    error: there is a token "chat" already; revoke it first, or take another name
    "#);
    insta::assert_snapshot!(sandbox.run(&["token", "add", "--role", "agent", "--name", "a b", "--db", "s.db"]), @r#"
    exit 2
    --- stderr
    error: a token's name has 1 to 64 letters, digits, dots, dashes or underscores, not "a b"
    "#);
    insta::assert_snapshot!(sandbox.run(&["token", "revoke", "chat", "--db", "s.db"]), @"
    exit 0
    --- stdout
    revoked chat: whoever holds it is refused from now on
    ");
    insta::assert_snapshot!(sandbox.run(&["token", "revoke", "chat", "--db", "s.db"]), @r#"
    exit 2
    --- stderr
    error: there is no token "chat"
    next: `sprag token list` shows those there are
    "#);
}

#[test]
fn a_pause_through_a_running_server_needs_no_reason_and_tells_when_it_ends() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    let paused = "paused until <time> UTC: rules report what they would do and stop nothing; killed sessions stay killed\n`sprag resume` ends it\n";
    for why in [&[][..], &["--why", "release day"]] {
        let args = [&["pause", "--for", "1h", "--db", "s.db"], why].concat();
        let expected = format!("exit 0\n--- stdout\n{paused}");
        assert_eq!(mask(&sandbox.run(&args)), expected);
    }
    insta::assert_snapshot!(sandbox.run(&["resume", "--db", "s.db"]), @"
    exit 0
    --- stdout
    resumed: rules decide again
    ");
    insta::assert_snapshot!(sandbox.run(&["resume", "--db", "s.db"]), @"
    exit 0
    --- stdout
    nothing was paused
    ");
    server.signal("-TERM");
    server.child.wait().unwrap();
}

#[test]
fn a_second_server_names_the_first() {
    let sandbox = Sandbox::new();
    let mut first = Serving::start(&sandbox);
    let (pid, address) = (first.child.id(), first.address.clone());
    for listen in [address.as_str(), "127.0.0.1:0"] {
        let second = sandbox.run(&["serve", "--listen", listen, "--db", "s.db"]);
        let expected = format!(
            "exit 2\n--- stderr\nerror: another server (process {pid}) uses s.db and listens on {address}\n\
             next: `sprag open` opens its dashboard, http://{address}/; `kill {pid}` ends it; --db and --listen start another\n"
        );
        assert_eq!(second, expected);
    }
    // A server that answers also listens for signals.
    let call = r#"{"type":"call","session":"s","tool":"t"}"#;
    assert!(first.client().post("/v1/check", call).is_some());
    first.signal("-TERM");
    first.child.wait().unwrap();
    assert!(!sandbox.path().join("s.db.server.json").exists());
}

#[test]
fn a_start_that_fails_leaves_no_files() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = ["--listen", &address, "--db", "s.db"];
    let runs = [
        busy.as_slice(),
        &["--listen", "0.0.0.0:0", "--db", "s.db"],
        &[
            "--db",
            "s.db",
            "--tls-cert",
            "none.pem",
            "--tls-key",
            "none.pem",
        ],
    ];
    for args in runs {
        let output = sandbox.run(&[&["serve"], args].concat());
        assert!(output.starts_with("exit 2"), "{output}");
        let left: Vec<_> = std::fs::read_dir(sandbox.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?} after {args:?}");
    }
}
