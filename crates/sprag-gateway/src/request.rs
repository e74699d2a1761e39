//! What a request to a model says, whatever its API: the part that is new, and what tells one
//! conversation from another.

use sprag_core::Payload;

/// A request as far as the guard is concerned.
#[derive(Debug, Default)]
pub(crate) struct ModelRequest {
    pub(crate) model: Option<String>,
    pub(crate) stream: bool,
    /// Without tools it is a side request (a title, a summary): it acts on nothing.
    pub(crate) has_tools: bool,
    /// The system text and the first words of a user: what a conversation keeps from start to end.
    pub(crate) opening: Vec<u8>,
    /// Results of tools since the model last spoke.
    pub(crate) results: Vec<ToolResult>,
    /// What a user wrote since then, without what clients insert.
    pub(crate) words: Option<String>,
    /// The session that the body names.
    pub(crate) session: Option<String>,
    /// The answer that the provider keeps and this request follows.
    pub(crate) previous: Option<String>,
    /// The client wants usage at the end of a stream.
    pub(crate) include_usage: bool,
}

/// The result of one tool call.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) use_id: String,
    /// How much of the conversation stands before it.
    pub(crate) position: usize,
    pub(crate) content: Payload,
    pub(crate) is_error: bool,
}

impl ToolResult {
    /// What this result is known by. Some servers number the calls of each answer anew, so a short id
    /// means something only at its place.
    pub(crate) fn key(&self) -> String {
        match global(&self.use_id) {
            Some(id) => id.to_owned(),
            None => format!("{}#{}", self.use_id, self.position),
        }
    }
}

/// The id of a tool use, if no other use can have it: hooks and MCP proxies see the same.
pub(crate) fn global(use_id: &str) -> Option<&str> {
    (use_id.len() >= 9).then_some(use_id)
}

/// One tool call of an answer.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) use_id: String,
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) args: Payload,
    /// Its result has a type of its own in some APIs.
    pub(crate) is_custom: bool,
}

impl ToolCall {
    /// This call, with `text` in its place.
    pub(crate) fn removed(&self, text: &str) -> RemovedCall {
        RemovedCall {
            use_id: self.use_id.clone(),
            text: text.to_owned(),
            is_custom: self.is_custom,
        }
    }
}

/// A call that was taken out of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemovedCall {
    pub(crate) use_id: String,
    /// The text in its place.
    pub(crate) text: String,
    pub(crate) is_custom: bool,
}

/// How a request is changed on its way.
#[derive(Debug, Default)]
pub(crate) struct RequestChanges {
    /// Texts next to the results of these tool uses.
    pub(crate) warnings: Vec<(String, String)>,
    /// Results of calls that the provider keeps and the client never saw.
    pub(crate) answered: Vec<RemovedCall>,
}

/// Tokens that one answer cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// Whether a client wrote this text itself though it stands where a user's words stand.
pub(crate) fn is_inserted(text: &str) -> bool {
    const BEGINNINGS: [&str; 10] = [
        "<system-reminder>",
        "<environment_context>",
        "<user_instructions>",
        "<permissions",
        "<command-name>",
        "<hook_context>",
        "<session_context>",
        "# AGENTS.md instructions",
        "This session is being continued from a previous conversation",
        "[Request interrupted",
    ];
    let text = text.trim_start();
    text.is_empty()
        || BEGINNINGS.iter().any(|own| text.starts_with(own))
        || sprag_hooks::is_own_prompt(text)
}

/// Whether these words alone make a client's "go on", which nobody typed.
pub(crate) fn is_automatic(words: &str) -> bool {
    let words = words.trim().trim_end_matches('.').to_lowercase();
    matches!(words.as_str(), "continue" | "go on" | "please continue")
}
