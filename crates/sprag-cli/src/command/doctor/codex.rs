//! What Codex itself thinks of its hooks.
//!
//! Codex keeps a hash for every hook that its user trusted and skips all others without a word, also
//! those that were changed since. How it makes the hash is its own affair, so it is asked: its app server
//! lists the hooks with their state.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::process;

/// How long Codex may take to answer.
const DEADLINE: Duration = Duration::from_secs(15);

/// A hook as Codex lists it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedHook {
    pub(super) command: Option<String>,
    pub(super) enabled: bool,
    /// `trusted`, `untrusted`, `modified` or `managed`.
    pub(super) trust_status: String,
}

#[derive(Deserialize)]
struct Folder {
    hooks: Vec<ListedHook>,
}

#[derive(Deserialize)]
struct Listing {
    data: Vec<Folder>,
}

#[derive(Deserialize)]
struct CodexReply {
    id: u64,
    result: Listing,
}

/// The hooks that Codex knows for sessions in `project`; none if it can't be asked.
pub(super) fn hooks(program: &Path, project: &Path) -> Option<Vec<ListedHook>> {
    let version = env!("CARGO_PKG_VERSION");
    let client = json!({"name": "sprag-doctor", "title": null, "version": version});
    let requests = [
        json!({"id": 0, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": 1, "method": "hooks/list", "params": {"cwds": [project]}}),
    ];
    let input: String = requests.iter().map(|line| format!("{line}\n")).collect();
    let mut command = Command::new(program);
    command.arg("app-server").current_dir(project);
    let lines = process::lines(command, &input, DEADLINE, Some(is_answer))?;
    let answer = lines.last().filter(|line| is_answer(line))?;
    let answer: CodexReply = serde_json::from_str(answer).ok()?;
    Some(
        answer
            .result
            .data
            .into_iter()
            .flat_map(|folder| folder.hooks)
            .collect(),
    )
}

fn is_answer(line: &str) -> bool {
    serde_json::from_str::<CodexReply>(line).is_ok_and(|answer| answer.id == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_real_app_server_is_understood() {
        let line = r#"{"id":1,"result":{"data":[{"cwd":"/p","hooks":[{"key":"/h/.codex/hooks.json:pre_tool_use:0:0","eventName":"preToolUse","handlerType":"command","command":"sprag hook --client codex","matcher":"*","timeoutSec":10,"sourcePath":"/h/.codex/hooks.json","source":"user","enabled":true,"isManaged":false,"currentHash":"sha256:20da","trustStatus":"untrusted"}],"warnings":[],"errors":[]}]}}"#;
        assert!(is_answer(line));
        assert!(!is_answer(r#"{"id":0,"result":{"userAgent":"x"}}"#));
        let answer: CodexReply = serde_json::from_str(line).unwrap();
        let hook = &answer.result.data[0].hooks[0];
        assert_eq!(
            (hook.trust_status.as_str(), hook.enabled),
            ("untrusted", true)
        );
    }
}
