//! Asks a server for its tools once, to show people which of them count as destructive.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use sprag::SECRET_VARIABLES;

use crate::envelope::{Envelope, member};
use crate::install::ServerLaunch;
use crate::tools::{Tool, listed};

/// How many pages of tools are asked for.
const MAX_PAGES: u32 = 100;

/// Why a server's tools could not be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The server can't be started.
    #[error("it does not start: {0}")]
    Start(#[source] std::io::Error),
    /// The server closed its pipes.
    #[error("it closed without an answer")]
    Closed,
    /// The server did not answer in time.
    #[error("no answer in {0:?}")]
    Late(Duration),
    /// The server answered with an error.
    #[error("it answers with an error: {0}")]
    Refused(String),
}

/// Starts the server, asks for its tools and ends it. `deadline` applies to each response.
///
/// # Errors
/// Returns an error if the server does not list its tools.
pub fn tools(launch: &ServerLaunch, deadline: Duration) -> Result<Vec<Tool>, InspectError> {
    let (program, args) = launch.inner();
    let mut command = Command::new(program);
    for secret in SECRET_VARIABLES {
        command.env_remove(secret);
    }
    let mut child = command
        .args(args)
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(InspectError::Start)?;
    let tools = InspectClient::new(&mut child, deadline).and_then(|mut client| client.tools());
    // The server is ended whatever it answered. One that has exited already can't be killed.
    let _ = child.kill();
    let _ = child.wait();
    tools
}

struct InspectClient {
    to: ChildStdin,
    lines: Receiver<String>,
    deadline: Duration,
    count: u64,
}

impl InspectClient {
    fn new(child: &mut Child, deadline: Duration) -> Result<Self, InspectError> {
        let to = child.stdin.take().ok_or(InspectError::Closed)?;
        let from = child.stdout.take().ok_or(InspectError::Closed)?;
        let (send, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(from).lines().map_while(Result::ok);
            for line in lines {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            to,
            lines,
            deadline,
            count: 0,
        })
    }

    fn tools(&mut self) -> Result<Vec<Tool>, InspectError> {
        let client = json!({"name": "sprag", "version": env!("CARGO_PKG_VERSION")});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.request("initialize", &hello)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let result = self.request("tools/list", &params)?;
            tools.extend(listed(&result));
            match member(&result, "nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(tools)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Box<RawValue>, InspectError> {
        self.count += 1;
        let id = self.count;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let id = id.to_string();
        loop {
            let line = self.lines.recv_timeout(self.deadline);
            let line = line.map_err(|error| match error {
                RecvTimeoutError::Timeout => InspectError::Late(self.deadline),
                RecvTimeoutError::Disconnected => InspectError::Closed,
            })?;
            let Some(message) = Envelope::read(line.as_bytes()) else {
                continue;
            };
            if message.method.is_some() || message.id.map(RawValue::get) != Some(&id) {
                continue;
            }
            return match message.result {
                Some(result) => Ok(result.to_owned()),
                None => {
                    let said = message.error.and_then(|error| member(error, "message"));
                    let said = said.unwrap_or("no reason given".into());
                    Err(InspectError::Refused(said.into_owned()))
                }
            };
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), InspectError> {
        let line = format!("{message}\n");
        self.to
            .write_all(line.as_bytes())
            .map_err(|_| InspectError::Closed)
    }
}
