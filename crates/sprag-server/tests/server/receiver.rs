//! An HTTP receiver on this machine: answers as it is told, and hands over what it got.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver as Heard, Sender, channel};
use std::time::Duration;

/// How long a test waits for something that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Receiver {
    port: u16,
    heard: Heard<Request>,
}

impl Receiver {
    /// Answers the first requests with `statuses`, one each, and the rest with 200.
    pub(crate) fn answering(statuses: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            let mut statuses = statuses.iter().copied();
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let status = statuses.next().unwrap_or("200 OK");
                if serve(stream, status, &tell).is_none() {
                    return;
                }
            }
        });
        Self { port, heard }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn next(&self) -> Request {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn has_more(&self) -> bool {
        self.heard.try_recv().is_ok()
    }
}

/// None where nobody listens any more.
fn serve(stream: TcpStream, status: &str, tell: &Sender<Request>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    reader.get_mut().write_all(answer.as_bytes()).ok()?;
    tell.send(Request {
        path,
        headers,
        body,
    })
    .ok()
}
