//! What was tried, as two digests and the scalars by name.
//!
//! Server, tool and canonical arguments stand in one text, each a JSON value and a comma between
//! them, so that no two calls share one. If nothing in it is noise, the two digests are the same, and
//! the second costs nothing.

use crate::digest::DigestKey;
use crate::event::{EventError, Payload};
use crate::id::Id;
use crate::observation::{Approach, Hints};
use crate::policy::DestructiveLimits;

use super::canonical::{self, write_text};
use super::delegation::delegates;
use super::fields::fields;
use super::json::JsonValue;
use super::kind::{guess, is_shell};
use super::label::label;
use super::normal::{self, PayloadKind};
use super::payload::{self, MAX_CANONICAL_BYTES};
use super::probe::{longest_text, probes, short_text};
use super::waiting::{moves, waits};

/// Under which names a command is looked for.
const COMMAND_NAMES: [&str; 4] = ["command", "cmd", "code", "script"];

/// Under which names a question stands that can be put in other words.
const QUESTION_NAMES: [&str; 8] = [
    "query",
    "q",
    "pattern",
    "prompt",
    "question",
    "search",
    "keywords",
    "search_query",
];

/// Under which names stands what a call is about: another one is another question.
const SUBJECT_NAMES: [&str; 9] = [
    "path",
    "file_path",
    "file",
    "url",
    "uri",
    "id",
    "name",
    "directory",
    "glob",
];

/// What only statements have.
const STATEMENT: [char; 6] = ['{', '}', '(', ')', '=', ';'];

/// A tool with its arguments.
pub(super) struct CalledTool<'e> {
    pub(super) server: Option<&'e Id>,
    pub(super) tool: &'e Id,
    pub(super) args: Option<&'e Payload>,
    pub(super) hints: Hints,
}

/// The approach of a tool call.
pub(super) fn of_tool(
    key: &DigestKey,
    tool: &CalledTool<'_>,
    limits: &DestructiveLimits,
) -> Result<Approach, EventError> {
    let raw = tool.args.map_or("{}", Payload::as_json);
    let raw = if raw == "null" { "{}" } else { raw };
    let mut form = String::with_capacity(raw.len().min(MAX_CANONICAL_BYTES) + 64);
    match tool.server {
        Some(server) => write_text(server.as_str(), &mut form),
        None => form.push_str("null"),
    }
    form.push(',');
    write_text(tool.tool.as_str(), &mut form);
    form.push(',');

    let mut approach = blank(tool, raw);
    if approach.oversized {
        approach.exact = key.digest(&[b"call raw\n", form.as_bytes(), raw.as_bytes()]);
        approach.normal = approach.exact;
        approach.kind = guess(tool.tool.as_str(), None);
        return Ok(approach);
    }
    let args = JsonValue::parse(raw).map_err(|error| payload::error("args", error))?;
    let head = form.len();
    let noisy = normal::write(&args, PayloadKind::Approach, &mut form);
    approach.normal = key.digest(&[b"call\n", form.as_bytes()]);
    approach.exact = approach.normal;
    if noisy {
        form.truncate(head);
        canonical::write(&args, &mut form);
        approach.exact = key.digest(&[b"call\n", form.as_bytes()]);
    }
    let (name, command) = (tool.tool.as_str(), command(&args));
    approach.kind = guess(name, command);
    approach.waits = waits(name, command);
    approach.moves = moves(name, &args, command);
    approach.delegates = delegates(tool.server, tool.tool, &args);
    approach.probes = command.is_some_and(|command| is_shell(name) && probes(command));
    let text = longest_text(&args).unwrap_or_default();
    approach.argument = short_text(key, text);
    approach.aims = has_one_of(&args, &SUBJECT_NAMES);
    approach.asks = !approach.aims && asks(&args);
    approach.label = label(&args, command);
    approach.fields = fields(key, tool.tool.as_str(), tool.hints, &args, limits);
    Ok(approach)
}

/// An approach of which nothing is known but the tool.
fn blank(tool: &CalledTool<'_>, raw: &str) -> Approach {
    Approach {
        server: tool.server.cloned(),
        tool: Some(tool.tool.clone()),
        exact: Default::default(),
        normal: Default::default(),
        kind: Default::default(),
        waits: false,
        moves: false,
        asks: false,
        aims: false,
        delegates: false,
        probes: false,
        argument: 0,
        label: None,
        fields: Vec::new(),
        oversized: raw.len() > MAX_CANONICAL_BYTES,
    }
}

/// The approach of a compound action.
pub(super) fn of_program(key: &DigestKey, program: &Payload) -> Result<Approach, EventError> {
    let program = payload::program(key, program)?;
    Ok(Approach {
        server: None,
        tool: None,
        exact: program.exact,
        normal: program.normal,
        kind: guess("", Some(&program.text)),
        waits: waits("", Some(&program.text)),
        moves: false,
        asks: false,
        aims: false,
        delegates: false,
        probes: false,
        argument: 0,
        label: None,
        fields: Vec::new(),
        oversized: program.oversized,
    })
}

/// Whether a question stands among the arguments that can be put in other words. A statement of a query
/// language is not one: it names what it is about.
fn asks(args: &JsonValue<'_>) -> bool {
    QUESTION_NAMES.iter().any(|name| match args.get(name) {
        Some(JsonValue::Text(text)) => *name == "pattern" || !text.contains(STATEMENT),
        Some(JsonValue::Number(_)) => true,
        _ => false,
    })
}

fn has_one_of(args: &JsonValue<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| {
        matches!(
            args.get(name),
            Some(JsonValue::Text(_) | JsonValue::Number(_))
        )
    })
}

/// The command among the arguments, if there is one.
fn command<'j>(args: &'j JsonValue<'_>) -> Option<&'j str> {
    COMMAND_NAMES.iter().find_map(|name| match args.get(name) {
        Some(JsonValue::Text(text)) => Some(&**text),
        _ => None,
    })
}
