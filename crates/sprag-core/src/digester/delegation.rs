//! Whether a call starts a sub-agent.
//!
//! Each client has a tool of its own for it. Its name alone would not do: a `task` may be an entry of a list. So
//! the call must also bring instructions. A tool of an MCP server is not the client's own. Nothing depends on
//! the guess alone: a call that has its result does not count any more.

use super::json::JsonValue;
use crate::id::Id;
use crate::snake_name::SnakeName;

/// The clients' own tools: Claude Code, Codex, opencode, Copilot, VS Code, Gemini CLI and frameworks.
const TOOLS: [&str; 12] = [
    "agent",
    "task",
    "spawn_agent",
    "delegate_to_agent",
    "invoke_agent",
    "run_subagent",
    "run_sub_agent",
    "subagent",
    "sub_agent",
    "dispatch_agent",
    "codebase_investigator",
    "generalist",
];

/// Under which names the instructions stand.
const INSTRUCTIONS: [&str; 8] = [
    "prompt",
    "message",
    "task",
    "instructions",
    "objective",
    "request",
    "query",
    "items",
];

/// Longer names of tools are cut.
const NAME_BYTES: usize = 32;

pub(super) fn delegates(server: Option<&Id>, tool: &Id, args: &JsonValue<'_>) -> bool {
    if server.is_some() {
        return false;
    }
    let name = SnakeName::<NAME_BYTES>::new(tool.as_str());
    let instructs = |name: &&str| {
        matches!(
            args.get(name),
            Some(JsonValue::Text(_) | JsonValue::Array(_))
        )
    };
    TOOLS.contains(&name.as_str()) && INSTRUCTIONS.iter().any(instructs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(server: Option<&str>, tool: &str, args: &str) -> bool {
        let id = |name: &str| Id::new(name).unwrap();
        let args = JsonValue::parse(args).unwrap();
        delegates(server.map(id).as_ref(), &id(tool), &args)
    }

    #[test]
    fn the_clients_own_tools_with_instructions_start_a_sub_agent() {
        for (tool, args) in [
            (
                "Task",
                r#"{"description":"d","prompt":"p","subagent_type":"x"}"#,
            ),
            ("Agent", r#"{"prompt":"p"}"#),
            ("spawn_agent", r#"{"message":"m"}"#),
            ("spawn_agent", r#"{"items":[{"type":"text","text":"m"}]}"#),
            ("runSubagent", r#"{"prompt":"p"}"#),
            ("codebase_investigator", r#"{"objective":"o"}"#),
        ] {
            assert!(starts(None, tool, args), "{tool}");
        }
    }

    #[test]
    fn a_task_of_a_list_or_of_a_server_starts_nothing() {
        assert!(!starts(None, "task", r#"{"title":"t","done":true}"#));
        assert!(!starts(Some("todo"), "task", r#"{"prompt":"p"}"#));
        assert!(!starts(None, "task_output", r#"{"task":"t"}"#));
        assert!(!starts(None, "Bash", r#"{"prompt":"p"}"#));
    }
}
