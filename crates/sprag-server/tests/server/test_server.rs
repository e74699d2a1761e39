//! A real server on a free port, and a small client that says exactly what is sent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use sprag::{Guard, PolicyFile, Role, Timestamp};
use sprag_server::{Server, ServerConfig, ServerError, TokenFile};
use tokio::sync::oneshot;

/// A server that runs until it is dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) home: tempfile::TempDir,
    pub(crate) guard: Guard,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

/// An answer, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The header `name`, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines();
        lines
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

pub(crate) fn config(home: &Path) -> ServerConfig {
    ServerConfig {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        socket: Some(home.join("s.sock")),
        policy: Some(PolicyFile::optional(home.join("policy.toml"))),
        ..ServerConfig::new(home.join("sprag.db"))
    }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::over(tempfile::tempdir().unwrap(), change)
    }

    /// A server over what an earlier one left in `home`.
    pub(crate) fn over(home: tempfile::TempDir, change: impl FnOnce(&mut ServerConfig)) -> Self {
        let mut config = config(home.path());
        change(&mut config);
        let server = Server::bind(config).unwrap();
        let (address, guard) = (server.address(), server.guard().clone());
        let (end, ends) = oneshot::channel();
        let until = async {
            let _ = ends.await;
        };
        let thread = std::thread::spawn(move || server.run(until));
        Self {
            address,
            home,
            guard,
            end: Some(end),
            thread: Some(thread),
        }
    }

    /// Ends it and hands over what it left.
    pub(crate) fn end(mut self) -> tempfile::TempDir {
        self.finish();
        let home = tempfile::tempdir().unwrap();
        let held = std::mem::replace(&mut self.home, home);
        // The store is given back when the last guard is gone.
        self.guard = Guard::in_memory().unwrap();
        held
    }

    fn finish(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }

    pub(crate) fn token(&self, role: Role) -> String {
        match role {
            Role::Operator => self.file("operator.token"),
            Role::Hook => self.file("hook.token"),
            role => {
                let tokens = TokenFile::beside(&self.home.path().join("sprag.db"));
                let name = format!("{role}-{}", tokens.list().unwrap().len());
                tokens.add(&name, role, Timestamp(0)).unwrap()
            }
        }
    }

    fn file(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.home.path().join(name)).unwrap();
        text.trim().to_owned()
    }

    /// Sends a request in a role; none: without a token.
    pub(crate) fn ask(
        &self,
        role: Option<Role>,
        method: &str,
        path: &str,
        body: &str,
    ) -> HttpAnswer {
        let token = role.map(|role| format!("authorization: Bearer {}\r\n", self.token(role)));
        self.send(method, path, &token.unwrap_or_default(), body)
    }

    pub(crate) fn operator(&self, method: &str, path: &str, body: &str) -> HttpAnswer {
        self.ask(Some(Role::Operator), method, path, body)
    }

    /// The verdict on an event that an agent of this machine tells.
    pub(crate) fn check(&self, event: &str) -> Value {
        let answer = self.ask(None, "POST", "/v1/check", event);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Sends a request with these headers besides the usual ones.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> HttpAnswer {
        let host = format!("host: {}\r\n", self.address);
        let host = if headers.contains("host:") { "" } else { &host };
        let kind = if headers.contains("content-type:") || body.is_empty() {
            ""
        } else {
            "content-type: application/json\r\n"
        };
        let length = body.len();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\n{host}{kind}{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
    }

    /// Sends bytes and reads until the server closes.
    pub(crate) fn raw(&self, bytes: &str) -> HttpAnswer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        // One that is refused early may be closed while it is still being written to.
        let _ = stream.write_all(bytes.as_bytes());
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        parse(&text)
    }

    /// The same over the Unix socket.
    pub(crate) fn raw_unix(&self, bytes: &str) -> HttpAnswer {
        let mut stream = UnixStream::connect(self.home.path().join("s.sock")).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        parse(&text)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.finish();
        }
    }
}

/// Takes an answer apart; chunks are put together.
pub(crate) fn parse(bytes: &[u8]) -> HttpAnswer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = if head.contains("transfer-encoding: chunked") {
        dechunk(body)
    } else {
        body.to_owned()
    };
    HttpAnswer {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body,
    }
}

fn dechunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        body += after.get(..size).unwrap_or(after);
        rest = after.get(size + 2..).unwrap_or("");
    }
    body
}
