//! One codec for each client: its payload in, events; a reply, its words out.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod snake;

use sprag_core::MAX_EVENT_BYTES;

use crate::answer::HookAnswer;
use crate::client::Client;
use crate::reading::{Dialect, Moment, ReadError, Reading};
use crate::reply::Reply;

/// What a payload of `client` says; `event` is what its hook was registered for.
pub(crate) fn read(
    client: Client,
    payload: &[u8],
    event: Option<&str>,
) -> Result<Reading, ReadError> {
    if payload.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    if payload.len() > MAX_EVENT_BYTES {
        let max = MAX_EVENT_BYTES;
        return Err(ReadError::TooLong { max });
    }
    match client {
        Client::Claude => claude::read(payload, event),
        Client::Codex => codex::read(payload, event),
        Client::Gemini => gemini::read(payload, event),
        Client::Copilot => copilot::read(payload, event),
        Client::Cursor => cursor::read(payload, event),
        Client::Opencode => opencode::read(payload, event),
    }
}

/// `reply` in the words that `reading` came in.
pub(crate) fn write(reading: &Reading, reply: &Reply) -> HookAnswer {
    let (moment, event) = (reading.moment, reading.event_name.as_str());
    let words = match reading.dialect {
        Dialect::Claude => claude::write(moment, event, reply),
        Dialect::Codex => codex::write(moment, event, reply),
        Dialect::Gemini => gemini::write(moment, event, reply),
        Dialect::Copilot => copilot::write(moment, reply),
        Dialect::CopilotNested => copilot::write_nested(moment, event, reply),
        Dialect::Cursor => cursor::write(moment, reply),
        Dialect::Opencode => opencode::write(moment, reply),
    };
    // An empty answer with exit code 0 is "no opinion" everywhere, also where a crash is a refusal.
    HookAnswer {
        stdout: words.map(|words| words.to_string()).unwrap_or_default(),
        exit_code: 0,
    }
}

/// Whether Claude Code wrote this prompt itself, though it looks like a person's.
#[must_use]
pub fn is_own_prompt(text: &str) -> bool {
    claude::OWN_PROMPTS.iter().any(|own| text.starts_with(own))
}

/// Where a hook of `client` stands that was registered for `event`.
pub(crate) fn moment(client: Client, event: &str) -> Moment {
    match client {
        Client::Claude | Client::Codex => snake::moment(event),
        Client::Gemini => gemini::moment(event),
        Client::Copilot => copilot::moment(event),
        Client::Cursor => cursor::moment(event),
        Client::Opencode => opencode::moment(event),
    }
}

/// The words that `client` itself speaks.
pub(crate) const fn dialect(client: Client) -> Dialect {
    match client {
        Client::Claude => Dialect::Claude,
        Client::Codex => Dialect::Codex,
        Client::Gemini => Dialect::Gemini,
        Client::Copilot => Dialect::Copilot,
        Client::Cursor => Dialect::Cursor,
        Client::Opencode => Dialect::Opencode,
    }
}
