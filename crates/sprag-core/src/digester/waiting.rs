//! Whether a call waits, and whether it asks about something that moves by itself.
//!
//! Both are hints. A guard that knew waiting by its words alone would stop every tool that it has
//! never heard of, so the rules judge waiting by the time between looks; these words only make the
//! rules a little more patient, or tell that a command took long because it slept.

use super::command::first_words;
use super::json::JsonValue;
use super::words::WordList;
use crate::snake_name::SnakeName;

/// Programs and tools that do nothing but let time pass.
const SLEEPERS: WordList = WordList::new("sleep wait timeout await delay pause");

/// What moves while nobody touches it.
const MOVERS: WordList = WordList::new(
    "ci run runs build builds deploy deploys deployment deployments dpl rollout release releases \
     pipeline pipelines workflow workflows job jobs queue queues llen pod pods container \
     containers stack stacks health healthz healthcheck live livez ready readyz readiness status \
     state log logs nohup process processes ps pgrep pid service services systemctl journalctl \
     docker podman kubectl helm squeue sacct task tasks check checks instance instances cluster \
     machine machines vm node nodes migration migrations sync backup import export training \
     train epoch upload download transfer progress poll watch monitor heartbeat ping nvidia \
     building pending activity active",
);

/// Longer names of tools are cut.
const NAME_BYTES: usize = 64;
/// How many words of a command are looked at.
const COMMAND_WORDS: usize = 24;

/// Whether a call of `tool` with `command` waits before it answers.
pub(super) fn waits(tool: &str, command: Option<&str>) -> bool {
    let sleeps = |command| first_words(command).any(|word| SLEEPERS.has(word));
    command.is_some_and(sleeps) || words_of(tool, |word| SLEEPERS.has(word))
}

/// Whether a call of `tool` with `args`, one of which is `command`, asks about something that moves.
pub(super) fn moves(tool: &str, args: &JsonValue<'_>, command: Option<&str>) -> bool {
    let action = ["action", "op", "operation", "method"]
        .iter()
        .find_map(|name| match args.get(name) {
            Some(JsonValue::Text(text)) => Some(&**text),
            _ => None,
        });
    let of_text = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(COMMAND_WORDS)
            .any(|word| MOVERS.has(&word.to_ascii_lowercase()))
    };
    words_of(tool, |word| MOVERS.has(word))
        || action.is_some_and(of_text)
        || command.is_some_and(of_text)
}

fn words_of(tool: &str, wanted: impl Fn(&str) -> bool) -> bool {
    SnakeName::<NAME_BYTES>::new(tool)
        .as_str()
        .split(|c: char| !c.is_alphanumeric())
        .any(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(tool: &str, args: &str) -> bool {
        let args = JsonValue::parse(args).unwrap();
        let command = match args.get("command") {
            Some(JsonValue::Text(text)) => Some(&**text),
            _ => None,
        };
        moves(tool, &args, command)
    }

    #[test]
    fn a_command_waits_only_if_it_runs_something_that_sleeps() {
        assert!(waits("Bash", Some("sleep 30 && cat log")));
        assert!(waits("Bash", Some("make & wait")));
        assert!(waits("wait_for_build", None));
        assert!(!waits("Bash", Some("grep sleep src/*.c")));
        assert!(!waits("Bash", Some("echo 'sleep 3'")));
    }

    #[test]
    fn words_of_tool_action_and_command_say_that_something_moves() {
        assert!(moving("Bash", r#"{"command":"gh run view 7"}"#));
        assert!(moving("get_build", "{}"));
        assert!(moving("cloud", r#"{"action":"describe-stacks"}"#));
        assert!(!moving("Read", r#"{"path":"a.txt"}"#));
        assert!(!moving("Bash", r#"{"command":"cat notes.txt"}"#));
    }
}
