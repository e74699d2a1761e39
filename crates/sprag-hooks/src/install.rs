//! Hooks in a client's settings: added, found again, removed.
//!
//! Settings belong to people. They have comments, an order and other hooks in them, so nothing here
//! parses a file and writes it back: our entries are inserted into the text and cut out of it, and every
//! other byte stays. If a client gives each program a file of its own, that whole file is ours.
//!
//! All of it is text in, text out; the command does the reading, asking and writing.

mod edit;
mod hook_command;
mod settings_format;
mod settings_path;

use jsonc_parser::errors::ParseError;
use jsonc_parser::{ParseOptions, parse_to_serde_value};

use crate::client::Client;

pub use hook_command::{HookCommand, HookServer};
pub use settings_format::InstalledHook;
pub use settings_path::{ConfigDirs, Scope, settings_path};

/// Why settings can't be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// They are not JSON, not even with comments.
    #[error("it is not JSON: {0}")]
    NotJson(#[from] ParseError),
    /// Something in them is not what the client's documentation says.
    #[error("`{0}` in it is not what it should be; nothing was changed")]
    Unexpected(String),
    /// A file that should be ours belongs to somebody else.
    #[error("it was not written by sprag; nothing was changed")]
    Foreign,
}

/// What some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The settings with our hooks in them; `text` is what is there now.
///
/// # Errors
/// Returns an error if what is there can't be understood.
pub fn install(
    client: Client,
    text: Option<&str>,
    line: &HookCommand,
) -> Result<String, InstallError> {
    let (mark, text) = match text {
        Some(text) => {
            let (mark, text) = split_mark(text);
            (mark, Some(text))
        }
        None => ("", None),
    };
    let installed = settings_format::of(client).install(client, text, line)?;
    Ok(format!("{mark}{installed}"))
}

/// The settings without our hooks; none if the file has nothing else in it. `before` is what was there
/// before the hooks came, if that is known: what was empty then stays.
///
/// # Errors
/// Returns an error if what is there can't be understood.
pub fn uninstall(
    client: Client,
    text: &str,
    before: Option<&str>,
) -> Result<Option<String>, InstallError> {
    let (mark, text) = split_mark(text);
    let before = before.map(|before| split_mark(before).1);
    let rest = settings_format::of(client).uninstall(text, before)?;
    Ok(rest.map(|rest| format!("{mark}{rest}")))
}

fn split_mark(text: &str) -> (&str, &str) {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split_at(text.len() - rest.len())
}

/// Our hooks in the settings.
///
/// # Errors
/// Returns an error if what is there can't be understood.
pub fn installed_hooks(client: Client, text: &str) -> Result<Vec<InstalledHook>, InstallError> {
    settings_format::of(client).installed_hooks(split_mark(text).1)
}

/// The events that a client must call us for.
#[must_use]
pub const fn events(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &[
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "UserPromptSubmit",
            "SubagentStart",
            "SubagentStop",
            "Stop",
            "SessionStart",
        ],
        Client::Codex => &[
            "PreToolUse",
            "PostToolUse",
            "UserPromptSubmit",
            "SubagentStart",
            "SubagentStop",
            "Stop",
            "SessionStart",
        ],
        Client::Gemini => &[
            "BeforeTool",
            "AfterTool",
            "BeforeAgent",
            "AfterAgent",
            "SessionStart",
        ],
        Client::Copilot => &[
            "preToolUse",
            "postToolUse",
            "postToolUseFailure",
            "userPromptSubmitted",
            "subagentStart",
            "subagentStop",
            "agentStop",
            "sessionStart",
        ],
        Client::Cursor => &[
            "preToolUse",
            "postToolUse",
            "postToolUseFailure",
            "beforeSubmitPrompt",
            "subagentStart",
            "subagentStop",
            "sessionStart",
        ],
        Client::Opencode => &["plugin"],
    }
}

/// The value of JSON with comments.
///
/// # Errors
/// Returns an error if it is not.
pub fn value(text: &str) -> Result<serde_json::Value, InstallError> {
    let (_, text) = split_mark(text);
    Ok(parse_to_serde_value(text, &ParseOptions::default())?)
}
