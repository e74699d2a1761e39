//! What was tried, as two digests and the scalars by name.
//!
//! Server, tool and canonical arguments stand in one text, each a JSON value and a comma between
//! them, so that no two calls share one. If nothing in it is noise, the two digests are the same, and
//! the second costs nothing.

use std::borrow::Cow;

use crate::digest::DigestKey;
use crate::event::{EventError, Payload};
use crate::id::Id;
use crate::observation::{Approach, Hints, ToolKind};
use crate::policy::DestructiveLimits;

use super::canonical::{self, write_text};
use super::delegation::delegates;
use super::fields::fields;
use super::json::JsonValue;
use super::kind::{guess, is_shell};
use super::label::{file_argument, label};
use super::noise_names::is_remark;
use super::normal::{self, PayloadKind};
use super::payload::{self, MAX_CANONICAL_BYTES};
use super::probe::{longest_text, probes, short_text};
use super::subject::subject;
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

/// Of these, the names under which a statement of a query language may stand.
const MAY_BE_STATEMENTS: [&str; 3] = ["query", "q", "search"];

/// What only statements have.
const STATEMENT: [char; 5] = ['{', '}', '(', ')', '='];

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
    let command = command(&args);
    let bare = command.as_ref().and_then(|_| without_remarks(&args));
    let noisy = normal::write(
        bare.as_ref().unwrap_or(&args),
        PayloadKind::Approach,
        &mut form,
    ) || bare.is_some();
    approach.normal = key.digest(&[b"call\n", form.as_bytes()]);
    approach.exact = approach.normal;
    if noisy {
        form.truncate(head);
        canonical::write(&args, &mut form);
        approach.exact = key.digest(&[b"call\n", form.as_bytes()]);
    }
    let (name, command) = (tool.tool.as_str(), command.as_deref());
    approach.kind = guess(name, command);
    approach.waits = waits(name, command);
    approach.moves = moves(name, &args, command);
    approach.delegates = delegates(tool.server, tool.tool, &args);
    approach.probes = command.is_some_and(|command| is_shell(name) && probes(command));
    let text = longest_text(&args).unwrap_or_default();
    approach.argument = short_text(key, text);
    let file = file_argument(&args);
    approach.aims = file.is_some() || has_one_of(&args, &SUBJECT_NAMES);
    approach.asks = !approach.aims && asks(&args);
    let file = file.filter(|_| approach.kind == ToolKind::Change);
    approach.about = subject(key, (tool.server, tool.tool), &args, command, file);
    approach.label = label(&args, command);
    // What is done to a file is a change like any other.
    approach.about.controls &= approach.label.is_none();
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
        about: Default::default(),
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
        about: Default::default(),
        label: None,
        fields: Vec::new(),
        oversized: program.oversized,
    })
}

/// Whether a question stands among the arguments that can be put in other words. A statement of a query
/// language is not one: it names what it is about.
fn asks(args: &JsonValue<'_>) -> bool {
    QUESTION_NAMES.iter().any(|name| match args.get(name) {
        Some(JsonValue::Text(text)) => !MAY_BE_STATEMENTS.contains(name) || !is_statement(text),
        Some(JsonValue::Number(_)) => true,
        _ => false,
    })
}

fn is_statement(text: &str) -> bool {
    text.contains(STATEMENT) || text.trim_end().ends_with(';')
}

fn has_one_of(args: &JsonValue<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| {
        matches!(
            args.get(name),
            Some(JsonValue::Text(_) | JsonValue::Number(_))
        )
    })
}

/// The command among the arguments, if there is one: a text, or a program with its arguments.
fn command<'j>(args: &'j JsonValue<'_>) -> Option<Cow<'j, str>> {
    COMMAND_NAMES.iter().find_map(|name| match args.get(name) {
        Some(JsonValue::Text(text)) => Some(Cow::Borrowed(&**text)),
        Some(JsonValue::Array(items)) => joined(items),
        _ => None,
    })
}

/// `["bash", "-lc", "make test"]` is `make test`; without a shell before it, the words in a row.
fn joined<'j>(items: &'j [JsonValue<'_>]) -> Option<Cow<'j, str>> {
    let words: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            JsonValue::Text(text) => Some(&**text),
            _ => None,
        })
        .collect();
    match words?.as_slice() {
        [] => None,
        [shell, flag, script] if is_shell(shell) && is_script_flag(flag) => {
            Some(Cow::Borrowed(*script))
        }
        words => Some(Cow::Owned(words.join(" "))),
    }
}

fn is_script_flag(flag: &str) -> bool {
    flag.starts_with('-') && flag.ends_with('c') && flag.len() <= 4
}

pub(super) fn is_command_name(name: &str) -> bool {
    COMMAND_NAMES.contains(&name)
}

pub(super) fn is_question_name(name: &str) -> bool {
    QUESTION_NAMES.contains(&name)
}

/// The arguments without what the model remarks about a command; none if there are no remarks.
fn without_remarks<'j>(args: &JsonValue<'j>) -> Option<JsonValue<'j>> {
    let JsonValue::Object(entries) = args else {
        return None;
    };
    let is_kept = |(name, _): &&(Cow<'j, str>, JsonValue<'j>)| !is_remark(name);
    let kept: Vec<_> = entries.iter().filter(is_kept).cloned().collect();
    (kept.len() < entries.len()).then_some(JsonValue::Object(kept))
}
