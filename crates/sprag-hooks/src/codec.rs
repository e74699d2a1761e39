//! One codec for each client: its payload in, events; a reply, its format out.

mod claude;
mod codex;
mod codex_transcript;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod place;
mod salvage;
mod snake_payload;

use sprag::Event;
use sprag_core::{MAX_EVENT_BYTES, reduced_json};

use crate::answer::{HookOptions, HookResponse};
use crate::client::Client;
use crate::parsed_hook::{Dialect, HookPhase, ParsedHook, ReadError};
use crate::reply::Reply;

pub(crate) use salvage::salvage;

/// What a payload of `client` reports.
///
/// A payload that a strict parser refuses is reduced to the nearest one that it takes, as all payloads
/// of events are: half a surrogate pair in a name must not let a call through.
pub(crate) fn read(
    client: Client,
    payload: &[u8],
    options: &HookOptions<'_>,
) -> Result<ParsedHook, ReadError> {
    if payload.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    if payload.len() > MAX_EVENT_BYTES {
        let max = MAX_EVENT_BYTES;
        return Err(ReadError::TooLong { max });
    }
    let strict = read_strictly(client, payload, options);
    let Err(error) = strict else {
        return strict;
    };
    match reduced_json(&String::from_utf8_lossy(payload)) {
        Some(reduced) => read_strictly(client, reduced.as_bytes(), options),
        None => Err(error),
    }
}

fn read_strictly(
    client: Client,
    payload: &[u8],
    options: &HookOptions<'_>,
) -> Result<ParsedHook, ReadError> {
    let event = options.event;
    let mut hook = match client {
        Client::Claude => claude::read(payload, event),
        Client::Codex => codex::read(payload, options),
        Client::Gemini => gemini::read(payload, event),
        Client::Copilot => copilot::read(payload, event),
        Client::Cursor => cursor::read(payload, event),
        Client::Opencode => opencode::read(payload, event),
    }?;
    place::add(&mut hook.events, payload, options.project);
    for event in &mut hook.events {
        if let Event::Call(call) = event {
            call.dialog = hook.can_ask;
        }
    }
    Ok(hook)
}

/// `reply` in the format that `hook` came in.
pub(crate) fn write(hook: &ParsedHook, reply: &Reply) -> HookResponse {
    let (phase, event) = (hook.phase, hook.event_name.as_str());
    let refused;
    let reply = match reply {
        Reply::Ask(question) if !hook.can_ask => {
            refused = Reply::Refuse(question.refusal.clone());
            &refused
        }
        reply => reply,
    };
    let output = match hook.dialect {
        Dialect::Claude => claude::write(phase, event, reply),
        Dialect::Codex => codex::write(phase, event, reply),
        Dialect::Gemini => gemini::write(hook, reply),
        Dialect::Copilot => copilot::write(phase, reply),
        Dialect::CopilotNested => copilot::write_nested(phase, event, reply),
        Dialect::Cursor => cursor::write(phase, reply),
        Dialect::Opencode => opencode::write(phase, reply),
    };
    // An empty answer with exit code 0 is "no opinion" everywhere, also in clients that take a crash
    // for a refusal.
    HookResponse {
        stdout: output.map(|output| output.to_string()).unwrap_or_default(),
        exit_code: 0,
    }
}

/// Whether Claude Code wrote this prompt itself, though it looks like a person's.
#[must_use]
pub fn is_own_prompt(text: &str) -> bool {
    claude::OWN_PROMPTS.iter().any(|own| text.starts_with(own))
}

/// The phase of a hook of `client` that was registered for `event`.
#[must_use]
pub fn phase(client: Client, event: &str) -> HookPhase {
    match client {
        Client::Claude | Client::Codex => snake_payload::phase(event),
        Client::Gemini => gemini::phase(event),
        Client::Copilot => copilot::phase(event),
        Client::Cursor => cursor::phase(event),
        Client::Opencode => opencode::phase(event),
    }
}

/// The format that `client` itself uses.
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
