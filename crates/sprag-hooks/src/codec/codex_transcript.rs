//! What Codex writes into its transcript and reports to no hook: that a command failed, and some results.
//!
//! `PostToolUse` fires for commands that ran and MCP calls that succeeded. A patch that does not apply, an
//! MCP call that fails and a call of a tool that does not exist end without it. Before the next call
//! runs, all three stand in the transcript, as lines of JSON:
//!
//! - `response_item` with a `function_call` or `custom_tool_call` for each call of one answer of the model;
//! - `event_msg` with `item_completed` for each call that ran, whose id is that of the call;
//! - `response_item` with a `…_output` for each result.
//!
//! Bounded by: the end of the transcript that the caller reads, and at most [`MAX_RESULTS`].
//! Odd cases: a call that a hook refused has a result too; its step counts nothing.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most results that are reported at once.
const MAX_RESULTS: usize = 16;

/// The result of a call that no hook reported.
#[derive(Debug)]
pub(super) struct UnreportedResult {
    pub(super) call_id: String,
    /// The tool, with its server as `mcp__server__tool`.
    pub(super) tool: String,
    /// The arguments, as JSON or as text.
    pub(super) args: Option<Box<RawValue>>,
    pub(super) output: String,
}

#[derive(Deserialize)]
struct RolloutLine {
    payload: RolloutEntry,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RolloutEntry {
    #[serde(alias = "custom_tool_call")]
    FunctionCall(RecordedCall),
    #[serde(alias = "custom_tool_call_output")]
    FunctionCallOutput(CallOutput),
    ItemCompleted {
        item: CodexItem,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct RecordedCall {
    call_id: String,
    name: String,
    namespace: Option<String>,
    #[serde(alias = "input")]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct CallOutput {
    call_id: String,
    output: Value,
}

#[derive(Deserialize)]
struct CodexItem {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    status: Option<String>,
}

/// The results of the model's last answer but one that no hook reported, in the end of a transcript. The
/// last answer is the one whose call is about to run.
pub(super) fn unreported_results(transcript: &str) -> Vec<UnreportedResult> {
    let mut outputs = Vec::new();
    let mut reported = Vec::new();
    let mut calls = HashMap::new();
    for line in transcript.lines().rev() {
        // The first line may be cut off, and new kinds of lines come with new versions.
        let Ok(RolloutLine { payload }) = serde_json::from_str(line) else {
            continue;
        };
        match payload {
            // Results of the answer before: everything that is wanted was found.
            RolloutEntry::FunctionCallOutput(_) if !calls.is_empty() => break,
            RolloutEntry::FunctionCallOutput(output) => outputs.push(output),
            // Calls of the last answer have no results yet.
            RolloutEntry::FunctionCall(_) if outputs.is_empty() => {}
            RolloutEntry::FunctionCall(call) => {
                calls.insert(call.call_id.clone(), call);
            }
            RolloutEntry::ItemCompleted { item } if item.is_reported() => reported.extend(item.id),
            RolloutEntry::ItemCompleted { .. } | RolloutEntry::Other => {}
        }
    }
    let unreported = outputs
        .into_iter()
        .rev()
        .filter(|output| !reported.contains(&output.call_id));
    let results = unreported.filter_map(|output| {
        let call = calls.remove(&output.call_id)?;
        Some(UnreportedResult {
            tool: call.tool(),
            args: call.arguments.as_deref().map(arguments),
            call_id: output.call_id,
            output: text(&output.output),
        })
    });
    results.take(MAX_RESULTS).collect()
}

/// Whether the call with this id ran and failed. `PostToolUse` has no exit code; the transcript has it when
/// that fires.
pub(super) fn has_failed(transcript: &str, call_id: &str) -> bool {
    let items = transcript.lines().rev().filter_map(|line| {
        match serde_json::from_str::<RolloutLine>(line).ok()?.payload {
            RolloutEntry::ItemCompleted { item } => Some(item),
            _ => None,
        }
    });
    let mut ours = items.filter(|item| item.id.as_deref() == Some(call_id));
    ours.next()
        .is_some_and(|item| item.status.as_deref() == Some("failed"))
}

impl CodexItem {
    /// Whether `PostToolUse` fired for it.
    fn is_reported(&self) -> bool {
        self.kind != "McpToolCall" || self.status.as_deref() != Some("failed")
    }
}

impl RecordedCall {
    fn tool(&self) -> String {
        match &self.namespace {
            Some(server) => format!("{server}__{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Arguments as JSON; those of a custom tool are a text.
fn arguments(text: &str) -> Box<RawValue> {
    let json = serde_json::from_str::<Box<RawValue>>(text).ok();
    let quoted = || serde_json::value::to_raw_value(text).ok();
    json.or_else(quoted)
        .unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// The text of a result, which may come in blocks.
fn text(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a transcript of Codex CLI 0.166.0, shortened: a patch that does not apply, a tool that
    /// does not exist, a command that fails, an MCP call that fails, each in an answer of its own.
    const LINES: [&str; 12] = [
        r#"{"ordinal":9,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"apply_patch\"}","call_id":"call_1"}}"#,
        r#"{"ordinal":11,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"apply_patch verification failed: Failed to find expected lines in a.txt"}}"#,
        r#"{"ordinal":13,"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"call_2"}}"#,
        r#"{"ordinal":15,"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_2","output":"unsupported call: apply_patch"}}"#,
        r#"{"ordinal":17,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"exit 3\"}","call_id":"call_3"}}"#,
        r#"{"ordinal":18,"type":"token_usage_record","payload":{"thread_id":"t"}}"#,
        r#"{"ordinal":19,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_3","status":"failed"}}}"#,
        r#"{"ordinal":20,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_3","output":"Process exited with code 3"}}"#,
        r#"{"ordinal":22,"type":"response_item","payload":{"type":"function_call","name":"delete_asset","namespace":"mcp__catalog","arguments":"{\"fail\":true}","call_id":"call_4"}}"#,
        r#"{"ordinal":24,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"McpToolCall","id":"call_4","status":"failed"}}}"#,
        r#"{"ordinal":25,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_4","output":[{"type":"input_text","text":"Wall time: 0.0030 seconds\nOutput:"},{"type":"input_text","text":"still exists"}]}}"#,
        r#"{"ordinal":27,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"call_5"}}"#,
    ];

    fn found(lines: usize) -> Vec<(String, String)> {
        let results = unreported_results(&LINES.get(..lines).unwrap().join("\n"));
        let pair = |result: UnreportedResult| (result.tool, result.output);
        results.into_iter().map(pair).collect()
    }

    fn one(tool: &str, output: &str) -> Vec<(String, String)> {
        vec![(tool.to_owned(), output.to_owned())]
    }

    #[test]
    fn only_the_last_results_that_no_hook_reported_are_found() {
        assert_eq!(found(1), []);
        let failed = "apply_patch verification failed: Failed to find expected lines in a.txt";
        assert_eq!(found(3), one("exec_command", failed));
        assert_eq!(
            found(5),
            one("apply_patch", "unsupported call: apply_patch")
        );
        assert_eq!(found(9), [], "PostToolUse fired for the command");
        let output = "Wall time: 0.0030 seconds\nOutput:\nstill exists";
        assert_eq!(found(12), one("mcp__catalog__delete_asset", output));
    }

    #[test]
    fn a_command_that_failed_is_known_by_its_item() {
        let transcript = LINES.join("\n");
        assert!(has_failed(&transcript, "call_3"));
        assert!(!has_failed(&transcript, "call_1"));
        let passed = LINES[6].replace("failed", "completed");
        assert!(!has_failed(&passed, "call_3"));
    }

    #[test]
    fn a_transcript_of_another_kind_is_no_harm() {
        for text in ["", "garbage\n{\"payload\":{\"type\":\"new\"}}\n[1]"] {
            assert!(unreported_results(text).is_empty());
        }
    }
}
