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
    /// What the client inserted since then: reminders, the ends of tasks.
    pub(crate) notices: Option<String>,
    /// Its model has a tool with which only sub-agents end their work.
    pub(crate) is_delegate: bool,
    /// The session that the body names.
    pub(crate) session: Option<String>,
    /// The answer that the provider keeps and this request follows.
    pub(crate) previous: Option<String>,
    /// The client wants usage at the end of a stream.
    pub(crate) include_usage: bool,
    /// A stream that is one list in JSON, and not events.
    pub(crate) as_list: bool,
    /// The model has not spoken in this conversation yet.
    pub(crate) is_opening: bool,
    /// How many entries the conversation has: where the answer will stand.
    pub(crate) length: usize,
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
    /// The server, if the API names it apart from the tool.
    pub(crate) server: Option<String>,
    /// The tool as its client named it, in which a server may be hidden.
    pub(crate) tool: String,
    pub(crate) args: Payload,
    /// Its result has a type of its own in some APIs.
    pub(crate) is_custom: bool,
}

impl ToolCall {
    /// A call by the name that the client gave its tool.
    pub(crate) fn new(use_id: &str, tool: &str, args: Payload) -> Self {
        Self {
            use_id: use_id.to_owned(),
            server: None,
            tool: tool.to_owned(),
            args,
            is_custom: false,
        }
    }

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

impl RequestChanges {
    /// The text next to the result of `use_id`.
    pub(crate) fn warning(&self, use_id: Option<&str>) -> Option<&str> {
        let mut warnings = self.warnings.iter();
        let found = warnings.find(|(id, _)| Some(id.as_str()) == use_id);
        found.map(|(_, text)| text.as_str())
    }
}

/// Tokens that one answer cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// The words of a user and what the client inserted, of the texts where a user's words stand.
pub(crate) fn told_apart(texts: Vec<String>) -> (Option<String>, Option<String>) {
    let typed = texts.into_iter().map(|text| without_time(&text).to_owned());
    let (notices, words): (Vec<_>, Vec<_>) = typed.partition(|text| is_inserted(text));
    let joined = |texts: Vec<String>| (!texts.is_empty()).then(|| texts.join("\n"));
    (joined(words), joined(notices))
}

/// The first of `texts` that a user wrote.
pub(crate) fn first_words(mut texts: impl Iterator<Item = String>) -> Option<String> {
    texts.find(|text| !is_inserted(text))
}

/// The text without the time that Copilot writes before what its user typed: the same words are the same again.
fn without_time(text: &str) -> &str {
    let rest = text.trim_start().strip_prefix("<current_datetime>");
    let rest = rest.and_then(|rest| rest.split_once("</current_datetime>"));
    rest.map_or(text, |(_, words)| words.trim_start())
}

/// Whether a client wrote this text itself though it stands where a user's words stand.
pub(crate) fn is_inserted(text: &str) -> bool {
    const BEGINNINGS: [&str; 15] = [
        "<system-reminder>",
        "<environment_context>",
        "<user_instructions>",
        "<permissions",
        "<command-name>",
        "<hook_context>",
        "<session_context>",
        "This is the Gemini CLI. We are setting up the context",
        "# AGENTS.md instructions",
        "This session is being continued from a previous conversation",
        "[Request interrupted",
        // What clients write when they shorten a conversation.
        "Please create a detailed summary of the conversation so far. The history is being compacted",
        "Your task is to create a detailed summary of the conversation so far",
        "You are performing a CONTEXT CHECKPOINT COMPACTION",
        "Another language model started to solve this problem",
    ];
    let text = text.trim_start();
    text.is_empty()
        || BEGINNINGS.iter().any(|own| text.starts_with(own))
        || sprag_hooks::is_own_prompt(text)
}

/// Whether these words alone make a client's "go on", which nobody typed.
pub(crate) fn is_automatic(words: &str) -> bool {
    let words = words.trim().trim_end_matches('.').to_lowercase();
    let words = words.strip_prefix("system: ").unwrap_or(&words);
    matches!(words, "continue" | "go on" | "please continue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_before_words_makes_them_no_others() {
        let said = |time: &str| {
            let text = format!("<current_datetime>{time}</current_datetime>\n\ncontinue");
            told_apart(vec![text])
        };
        assert_eq!(said("2026-11-18T20:58:04Z"), said("2026-11-18T20:59:00Z"));
        assert_eq!(said("now"), (Some("continue".to_owned()), None));
        let cut = vec!["<current_datetime>now".to_owned()];
        assert_eq!(told_apart(cut.clone()), (Some(cut.concat()), None));
    }

    #[test]
    fn what_clients_write_to_shorten_a_conversation_is_nobodys_word() {
        for text in [
            "Please create a detailed summary of the conversation so far. The history is being compacted so",
            "Your task is to create a detailed summary of the conversation so far, paying close attention",
            "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary",
            "Another language model started to solve this problem and produced a summary of its thinking",
        ] {
            assert!(is_inserted(text), "{text}");
        }
        for text in [
            "Please create a detailed summary of the conversation so far.",
            "Your task is to fix the tests",
        ] {
            assert!(!is_inserted(text), "{text}");
        }
    }
}
