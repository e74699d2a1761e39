//! Hooks in a client's settings: put in, found again, taken out.
//!
//! Settings belong to people. They have comments, an order and other hooks in them, so nothing here parses a
//! file and writes it back: our entries are cut into the text and out of it, and every other byte stays. Where a
//! client gives each program a file of its own, that file is ours as a whole.
//!
//! All of it is text in, text out; reading, asking and writing is the command's part.

mod edit;
mod line;
mod place;
mod shape;

use jsonc_parser::errors::ParseError;
use jsonc_parser::{ParseOptions, parse_to_serde_value};

use crate::client::Client;

pub use line::{HookLine, HookServer};
pub use place::{Homes, Scope, place};
pub use shape::Found;

/// Why settings can't be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// They are no JSON, not even with comments.
    #[error("it is no JSON: {0}")]
    NotJson(#[from] ParseError),
    /// Something in them is not what the client's documentation says.
    #[error("`{0}` in it is not what it should be; nothing was changed")]
    Unexpected(String),
    /// A file that should be ours is somebody else's.
    #[error("it was not written by sprag; nothing was changed")]
    Foreign,
}

/// The settings with our hooks in them; `text` is what is there now.
///
/// # Errors
/// Where what is there can't be understood.
pub fn install(
    client: Client,
    text: Option<&str>,
    line: &HookLine,
) -> Result<String, InstallError> {
    shape::of(client).install(client, text, line)
}

/// The settings without our hooks; none where the file has nothing else in it.
///
/// # Errors
/// Where what is there can't be understood.
pub fn uninstall(client: Client, text: &str) -> Result<Option<String>, InstallError> {
    shape::of(client).uninstall(text)
}

/// Our hooks in the settings.
///
/// # Errors
/// Where what is there can't be understood.
pub fn found(client: Client, text: &str) -> Result<Vec<Found>, InstallError> {
    shape::of(client).found(text)
}

/// The events that a client must call us for.
#[must_use]
pub const fn events(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &[
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "SubagentStart",
            "SubagentStop",
        ],
        Client::Codex => &[
            "PreToolUse",
            "PostToolUse",
            "UserPromptSubmit",
            "SubagentStart",
            "SubagentStop",
        ],
        Client::Gemini => &["BeforeTool", "AfterTool", "BeforeAgent"],
        Client::Copilot => &[
            "preToolUse",
            "postToolUse",
            "postToolUseFailure",
            "userPromptSubmitted",
            "subagentStart",
            "subagentStop",
        ],
        Client::Cursor => &[
            "preToolUse",
            "postToolUse",
            "postToolUseFailure",
            "beforeSubmitPrompt",
            "subagentStart",
            "subagentStop",
        ],
        Client::Opencode => &["plugin"],
    }
}

/// The value of JSON with comments.
///
/// # Errors
/// Where it is none.
pub fn value(text: &str) -> Result<serde_json::Value, InstallError> {
    Ok(parse_to_serde_value(text, &ParseOptions::default())?)
}
