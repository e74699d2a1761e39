//! One real hook through the command that a client has in its settings, followed into the store.
//!
//! Settings that look right prove nothing: the program may be another one, the command may fail in the
//! client's shell, the store may not be the one that everybody else uses. So the command is run as the
//! client would run it, with a call of a session of our own, and that session must be in the store
//! afterwards.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use sprag_hooks::Client;
use sprag_hooks::install::InstalledHook;

use super::guard::GuardLocation;
use super::process;
use crate::clock;

/// How the sessions of probes begin.
pub(super) const SESSION: &str = "sprag-doctor-";
/// How long a hook may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// The event before a call, in the client's own name.
pub(super) const fn event(client: Client) -> &'static str {
    match client {
        Client::Claude | Client::Codex => "PreToolUse",
        Client::Gemini => "BeforeTool",
        Client::Copilot | Client::Cursor => "preToolUse",
        Client::Opencode => "plugin",
    }
}

/// What came of a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Probed {
    /// The hook reached the store.
    Arrived,
    /// It did not; this is what it printed.
    Lost(String),
}

/// Sends a call through `hook`.
pub(super) fn send(client: Client, hook: &InstalledHook, guard: &GuardLocation) -> Probed {
    let session = format!("{SESSION}{}", clock::now().0);
    let payload = payload(client, &session).to_string();
    let said = match &hook.authorization {
        Some(authorization) => post(&hook.command, authorization, &payload),
        None => {
            let lines = process::lines(command(client, hook), &payload, DEADLINE, None);
            lines.unwrap_or_default().join(" ")
        }
    };
    match guard.knows(&session) {
        true => Probed::Arrived,
        false => Probed::Lost(said.chars().take(200).collect()),
    }
}

/// The command as the client runs it: a plugin starts the program, the others ask a shell.
fn command(client: Client, hook: &InstalledHook) -> Command {
    if client == Client::Opencode {
        let mut command = Command::new(&hook.program);
        command.args(hook.arguments.iter().flatten());
        return command;
    }
    let mut command = Command::new("sh");
    command.args(["-c", &hook.command]);
    command
}

fn payload(client: Client, session: &str) -> Value {
    const TOOL: &str = "sprag_doctor";
    match client {
        Client::Claude | Client::Codex => json!({
            "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "",
            "tool_name": TOOL, "tool_input": {},
        }),
        Client::Gemini => json!({
            "hook_event_name": "BeforeTool", "session_id": session, "timestamp": "",
            "tool_name": TOOL, "tool_input": {},
        }),
        Client::Copilot => json!({
            "sessionId": session, "timestamp": 0, "toolName": TOOL, "toolArgs": {},
        }),
        Client::Cursor => json!({
            "hook_event_name": "preToolUse", "conversation_id": session,
            "tool_name": TOOL, "tool_input": {},
        }),
        Client::Opencode => json!({
            "event": "tool.execute.before", "root": session, "tool": TOOL, "args": {},
        }),
    }
}

/// Posts a hook as Claude Code does; returns the beginning of the answer or what went wrong.
fn post(url: &str, authorization: &str, payload: &str) -> String {
    let Some((host, path)) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
    else {
        return "only addresses with http:// can be tried here".to_owned();
    };
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {authorization}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{payload}",
        payload.len()
    );
    let answer = || {
        let address = host.to_socket_addrs()?.next();
        let address = address.ok_or(std::io::ErrorKind::AddrNotAvailable)?;
        let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.take(64 * 1024).read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    match answer() {
        Ok(answer) => answer.lines().next().unwrap_or_default().to_owned(),
        Err(error) => error.to_string(),
    }
}
