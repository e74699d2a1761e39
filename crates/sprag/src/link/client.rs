//! A small blocking HTTP client for the server's Unix socket.
//!
//! A hook has ten milliseconds from start to end, so there is no runtime, no pool of threads and
//! nothing that a request to our own server does not need: one request, one answer with a stated
//! length, connections kept for the next. Sent again is only what a kept connection swallowed
//! without a word, because the server closed it meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use sprag_core::{Event, Role, Verdict};

use super::error::LinkError;

#[cfg(unix)]
use std::os::unix::net::UnixStream;

/// The longest answer that is read.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// The longest head of an answer.
const MAX_HEAD: usize = 16 * 1024;
/// The type of the problem that a session belongs to somebody else.
pub const NOT_OWNER: &str = "urn:sprag:problem:not-owner";
/// How many idle connections are kept.
const KEPT: usize = 8;

/// An answer of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// A client of the server of this machine.
#[derive(Debug)]
pub struct ServerClient {
    socket: PathBuf,
    db: PathBuf,
    deadline: Duration,
    idle: Mutex<Vec<Stream>>,
}

#[cfg(unix)]
type Stream = UnixStream;
#[cfg(not(unix))]
type Stream = std::net::TcpStream;

/// What went wrong on the wire.
enum Broken {
    /// A kept connection was closed before it said anything.
    Stale,
    Error(LinkError),
}

/// Where the token lies with which hooks prove themselves to the server that has its store at `db`.
#[must_use]
pub fn hook_token_file(db: &Path) -> PathBuf {
    db.with_file_name("hook.token")
}

/// The token in a file.
///
/// # Errors
/// Returns an error if it can't be read.
pub fn read_token(file: &Path) -> std::io::Result<String> {
    Ok(std::fs::read_to_string(file)?.trim().to_owned())
}

impl ServerClient {
    /// A client for `socket`; the tokens of its roles lie beside the store at `db`.
    #[must_use]
    pub fn new(socket: &Path, db: &Path, deadline: Duration) -> Self {
        Self {
            socket: socket.to_owned(),
            db: db.to_owned(),
            deadline,
            idle: Mutex::default(),
        }
    }

    /// Whether somebody listens. The connection is kept for the first request.
    ///
    /// # Errors
    /// [`LinkError::Absent`] where nobody does.
    pub fn connect(&self) -> Result<(), LinkError> {
        let stream = self.fresh()?;
        self.keep(stream);
        Ok(())
    }

    /// Asks for a verdict.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn check(&self, role: Role, event: &Event, shadow: bool) -> Result<Verdict, LinkError> {
        let body = serde_json::to_vec(event).map_err(|error| self.no_answer(error))?;
        let path = match shadow {
            true => "/v1/check?shadow=true",
            false => "/v1/check",
        };
        let answer = self.request(role, "POST", path, &body)?;
        self.read(&answer)
    }

    /// The JSON of a good answer.
    ///
    /// # Errors
    /// Returns an error if the answer is not good: its problem says why.
    pub fn read<T: for<'a> Deserialize<'a>>(&self, answer: &ServerAnswer) -> Result<T, LinkError> {
        if (200..300).contains(&answer.status) {
            return serde_json::from_slice(&answer.body).map_err(|error| self.no_answer(error));
        }
        let Problem { kind, detail } = problem(&answer.body);
        if answer.status >= 500 {
            let status = answer.status;
            let why = format!("status {status}: {detail}");
            return Err(match status {
                503 => self.passing(why),
                _ => self.no_answer(why),
            });
        }
        if kind.as_deref() == Some(NOT_OWNER) {
            return Err(LinkError::Foreign(detail));
        }
        Err(LinkError::Refused {
            status: answer.status,
            detail,
        })
    }

    /// Sends a request in a role and reads its answer.
    ///
    /// # Errors
    /// Returns an error if nobody listens, or what comes back is not an answer.
    pub fn request(
        &self,
        role: Role,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<ServerAnswer, LinkError> {
        let token = self.token(role);
        let answer = self.send(token.as_deref(), method, path, body)?;
        // At its very first start a server makes its tokens after its socket: who was early had none to show.
        match self.token(role).filter(|_| token.is_none()) {
            Some(token) if matches!(answer.status, 401 | 403) => {
                self.send(Some(&token), method, path, body)
            }
            _ => Ok(answer),
        }
    }

    fn send(
        &self,
        token: Option<&str>,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<ServerAnswer, LinkError> {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n",
            body.len()
        );
        if !body.is_empty() {
            head.push_str("content-type: application/json\r\n");
        }
        if let Some(token) = token {
            head.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        head.push_str("\r\n");
        let mut message = head.into_bytes();
        message.extend_from_slice(body);

        while let Some(stream) = self.kept() {
            match self.exchange(stream, &message) {
                Err(Broken::Stale) => {}
                Err(Broken::Error(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
        match self.exchange(self.fresh()?, &message) {
            Ok(answer) => Ok(answer),
            Err(Broken::Error(error)) => Err(error),
            Err(Broken::Stale) => Err(self.passing("it closed the connection")),
        }
    }

    fn exchange(&self, mut stream: Stream, message: &[u8]) -> Result<ServerAnswer, Broken> {
        if let Err(error) = stream.write_all(message) {
            return Err(match error.kind() {
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Broken::Stale,
                _ => Broken::Error(self.no_answer(error)),
            });
        }
        let (answer, reusable) = self.receive(&mut stream)?;
        if reusable {
            self.keep(stream);
        }
        Ok(answer)
    }

    fn receive(&self, stream: &mut Stream) -> Result<(ServerAnswer, bool), Broken> {
        let mut bytes = Vec::with_capacity(1024);
        let mut chunk = [0_u8; 8 * 1024];
        loop {
            let read = match stream.read(&mut chunk) {
                Ok(0) if bytes.is_empty() => return Err(Broken::Stale),
                Ok(0) => return Err(self.broken("it ended in the middle of its answer")),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if bytes.is_empty() && error.kind() == ErrorKind::ConnectionReset => {
                    return Err(Broken::Stale);
                }
                Err(error) if is_late(&error) => return Err(Broken::Error(self.late())),
                Err(error) => return Err(self.broken(error)),
            };
            bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
            if let Some(done) = parse(&mut bytes).map_err(|why| self.broken(why))? {
                return Ok(done);
            }
        }
    }

    /// The token of a role, where it has one that lies beside the store.
    fn token(&self, role: Role) -> Option<String> {
        let file = match role {
            Role::Agent | Role::Viewer => return None,
            Role::Hook => hook_token_file(&self.db),
            Role::Relay | Role::Operator => self.db.with_file_name("operator.token"),
        };
        let token = read_token(&file).ok()?;
        let plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        plain.then_some(token)
    }

    #[cfg(unix)]
    fn fresh(&self) -> Result<Stream, LinkError> {
        let stream = UnixStream::connect(&self.socket).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => LinkError::Absent {
                socket: self.socket.clone(),
            },
            _ => self.no_answer(error),
        })?;
        let patient = stream
            .set_read_timeout(Some(self.deadline))
            .and_then(|()| stream.set_write_timeout(Some(self.deadline)));
        patient.map_err(|error| self.no_answer(error))?;
        Ok(stream)
    }

    #[cfg(not(unix))]
    fn fresh(&self) -> Result<Stream, LinkError> {
        Err(LinkError::Absent {
            socket: self.socket.clone(),
        })
    }

    fn kept(&self) -> Option<Stream> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn keep(&self, stream: Stream) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(stream);
        }
    }

    fn broken(&self, why: impl ToString) -> Broken {
        Broken::Error(self.no_answer(why))
    }

    fn late(&self) -> LinkError {
        LinkError::Late {
            socket: self.socket.clone(),
            deadline_ms: self.deadline.as_millis(),
        }
    }

    fn no_answer(&self, why: impl ToString) -> LinkError {
        LinkError::NoAnswer {
            socket: self.socket.clone(),
            why: why.to_string(),
            is_passing: false,
        }
    }

    /// No answer of a server that is just starting or ending.
    fn passing(&self, why: impl ToString) -> LinkError {
        LinkError::NoAnswer {
            socket: self.socket.clone(),
            why: why.to_string(),
            is_passing: true,
        }
    }
}

/// The answer, when all of it is there, and whether the connection can be used again.
fn parse(bytes: &mut Vec<u8>) -> Result<Option<(ServerAnswer, bool)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).map_err(|error| error.to_string())?;
    let httparse::Status::Complete(head) = parsed else {
        let too_long = bytes.len() > MAX_HEAD;
        return if too_long {
            Err("its answer has no end of headers".to_owned())
        } else {
            Ok(None)
        };
    };
    let status = response.code.unwrap_or_default();
    let header = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let length: usize = match header("content-length") {
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| "its answer has no length")?,
        None if status == 204 => 0,
        None => return Err("its answer has no length".to_owned()),
    };
    if length > MAX_ANSWER {
        return Err(format!(
            "its answer has {length} bytes, more than {MAX_ANSWER}"
        ));
    }
    let reusable = !header("connection").is_some_and(|text| text.eq_ignore_ascii_case("close"));
    let total = head.saturating_add(length);
    if bytes.len() < total {
        return Ok(None);
    }
    // Bytes after the answer belong to nothing that was asked.
    let reusable = reusable && bytes.len() == total;
    let body = bytes.drain(..).skip(head).take(length).collect();
    Ok(Some((ServerAnswer { status, body }, reusable)))
}

/// What a problem document says, or the text as it is.
struct Problem {
    kind: Option<String>,
    detail: String,
}

fn problem(body: &[u8]) -> Problem {
    #[derive(Default, Deserialize)]
    struct Document {
        #[serde(rename = "type")]
        kind: Option<String>,
        detail: Option<String>,
        title: Option<String>,
    }
    let parsed: Document = serde_json::from_slice(body).unwrap_or_default();
    let text = || String::from_utf8_lossy(body).chars().take(200).collect();
    Problem {
        kind: parsed.kind,
        detail: parsed.detail.or(parsed.title).unwrap_or_else(text),
    }
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<(u16, String, bool)>, String> {
        let mut bytes = text.as_bytes().to_vec();
        let parsed = parse(&mut bytes)?;
        Ok(parsed.map(|(answer, reusable)| {
            let body = String::from_utf8(answer.body).unwrap();
            (answer.status, body, reusable)
        }))
    }

    #[test]
    fn an_answer_is_taken_when_all_of_it_is_there() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        for cut in 0..whole.len() {
            assert_eq!(read(whole.get(..cut).unwrap()), Ok(None), "{cut}");
        }
        assert_eq!(read(whole), Ok(Some((200, "hello".into(), true))));
    }

    #[test]
    fn a_connection_is_kept_only_when_it_is_clean() {
        let closed = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx";
        assert_eq!(read(closed), Ok(Some((200, "x".into(), false))));
        let more = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxy";
        assert_eq!(read(more), Ok(Some((200, "x".into(), false))));
        let empty = "HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(read(empty), Ok(Some((204, String::new(), true))));
    }

    #[test]
    fn what_is_no_answer_is_told() {
        assert_eq!(
            read("HTTP/1.1 200 OK\r\n\r\n"),
            Err("its answer has no length".into())
        );
        assert_eq!(
            read("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n"),
            Err("its answer has 99999999999 bytes, more than 16777216".into())
        );
        assert_eq!(
            read("\u{1}\u{2}garbage"),
            Err("invalid HTTP version".into())
        );
        let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(MAX_HEAD));
        assert_eq!(
            read(&endless),
            Err("its answer has no end of headers".into())
        );
    }

    #[test]
    fn a_problem_is_told_in_its_own_words() {
        assert_eq!(problem(br#"{"title":"t","detail":"d"}"#).detail, "d");
        assert_eq!(problem(br#"{"title":"t"}"#).detail, "t");
        assert_eq!(problem(b"plain").detail, "plain");
    }
}
