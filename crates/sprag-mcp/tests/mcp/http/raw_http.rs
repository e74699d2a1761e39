//! HTTP by hand, so that a test can say and break every byte: a server that does as it is told, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request or an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpMessage {
    /// The first line.
    pub(crate) start: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpMessage {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        self.start.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Reads the head of a message; none where the other side closed.
pub(crate) fn read_head(from: &mut impl BufRead) -> Option<HttpMessage> {
    let mut message = HttpMessage::default();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        match line.split_once(": ") {
            _ if message.start.is_empty() => line.clone_into(&mut message.start),
            Some((name, value)) => message.headers.push((name.to_owned(), value.to_owned())),
            None if line.is_empty() => return Some(message),
            None => panic!("no header: {line}"),
        }
    }
}

/// Reads a whole message; none where the other side closed before its end.
pub(crate) fn read(from: &mut impl BufRead) -> Option<HttpMessage> {
    let mut message = read_head(from)?;
    if message.header("transfer-encoding") == Some("chunked") {
        while let Some(chunk) = read_chunk(from)? {
            message.body.extend_from_slice(&chunk);
        }
    } else if let Some(length) = message.header("content-length") {
        message.body = vec![0; length.parse().unwrap()];
        from.read_exact(&mut message.body).ok()?;
    }
    Some(message)
}

/// The next chunk of a body; none at its end, and nothing at all where the other side closed before.
#[expect(clippy::option_option, reason = "an end and a break are two things")]
pub(crate) fn read_chunk(from: &mut impl BufRead) -> Option<Option<Vec<u8>>> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let length = usize::from_str_radix(line.trim_end(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    from.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    Some((length > 0).then_some(chunk))
}

/// A connection to a client, for a server that does as it is told.
pub(crate) struct ServerConnection {
    pub(crate) to: TcpStream,
    pub(crate) from: BufReader<TcpStream>,
}

impl ServerConnection {
    /// Says a whole answer.
    pub(crate) fn answer(&mut self, status: &str, headers: &str, body: &[u8]) {
        let head = format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        self.say(&[head.as_bytes(), body].concat());
    }

    pub(crate) fn json(&mut self, body: &[u8]) {
        self.answer("200 OK", "content-type: application/json\r\n", body);
    }

    /// Starts a stream of events.
    pub(crate) fn events(&mut self, headers: &str) {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{headers}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        self.say(head.as_bytes());
    }

    /// Says the next part of a stream.
    pub(crate) fn part(&mut self, bytes: &[u8]) {
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.say(&chunk);
    }

    pub(crate) fn end(&mut self) {
        self.part(b"");
    }

    /// Says bytes; who does not listen any more does not hear them.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let _ = self.to.write_all(bytes);
    }

    /// Waits until the other side closes.
    pub(crate) fn until_closed(&mut self) {
        let mut rest = Vec::new();
        let _ = self.from.read_to_end(&mut rest);
    }
}

/// A server that does as it is told, and what it was asked.
pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<Mutex<Vec<HttpMessage>>>,
}

impl ScriptedServer {
    /// Serves each request of each connection with `serve`, on a thread for each connection.
    pub(crate) fn start(
        serve: impl Fn(&HttpMessage, &mut ServerConnection) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (serve, heard) = (Arc::new(serve), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (serve, heard) = (Arc::clone(&serve), Arc::clone(&heard));
                let _ = stream.set_nodelay(true);
                std::thread::spawn(move || {
                    let from = BufReader::new(stream.try_clone().unwrap());
                    let mut peer = ServerConnection { to: stream, from };
                    while let Some(message) = read(&mut peer.from) {
                        if heard.lock().unwrap().len() < 10_000 {
                            heard.lock().unwrap().push(message.clone());
                        }
                        serve(&message, &mut peer);
                    }
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<HttpMessage> {
        self.asked.lock().unwrap().clone()
    }
}

/// A client with one connection.
pub(crate) struct HttpClient {
    pub(crate) to: TcpStream,
    pub(crate) from: BufReader<TcpStream>,
    host: String,
}

impl HttpClient {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let to = TcpStream::connect(address).unwrap();
        to.set_nodelay(true).unwrap();
        Self {
            from: BufReader::new(to.try_clone().unwrap()),
            to,
            host: address.to_string(),
        }
    }

    pub(crate) fn send(&mut self, start: &str, headers: &str, body: &[u8]) {
        let host = if headers.to_lowercase().contains("host: ") {
            String::new()
        } else {
            format!("host: {}\r\n", self.host)
        };
        let head = format!(
            "{start} HTTP/1.1\r\n{host}{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        self.to
            .write_all(&[head.as_bytes(), body].concat())
            .unwrap();
    }

    pub(crate) fn ask(&mut self, start: &str, headers: &str, body: &[u8]) -> HttpMessage {
        self.send(start, headers, body);
        self.receive()
    }

    pub(crate) fn receive(&mut self) -> HttpMessage {
        read(&mut self.from).expect("an answer")
    }

    /// Posts a message to the usual place.
    pub(crate) fn post(&mut self, headers: &str, body: &str) -> HttpMessage {
        let kind =
            "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        self.ask("POST /mcp", &format!("{kind}{headers}"), body.as_bytes())
    }
}
