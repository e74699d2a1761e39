//! Whether a call waits, and whether it asks about something that moves by itself.
//!
//! Both are hints. A guard that knew waiting by its words alone would stop every tool that it has
//! never heard of, so the rules judge waiting by the time between looks; these words only make the
//! rules a little more patient, or tell that a command took long because it slept.

use super::command::command_words;
use super::json::JsonValue;
use super::words::WordList;
use crate::snake_name::SnakeName;

/// Programs and tools that do nothing but let time pass.
const SLEEPERS: WordList = WordList::new("sleep wait await delay pause start-sleep");

/// The verb of a program that waits for something: `kubectl wait`, `gh run watch`.
const WAITING_VERBS: WordList = WordList::new("wait watch");
/// A verb is one of so many words after the program.
const VERB_WORDS: usize = 2;

/// Programs that run the code they are given.
const INTERPRETERS: WordList = WordList::new(
    "sh bash zsh dash ksh fish pwsh powershell python python3 node deno bun ruby perl php lua ssh \
     timeout eval xargs",
);

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

/// At the beginning of a tool's name these say what it does, not what it asks about.
const DOERS: WordList = WordList::new(
    "run build deploy release check train import export upload download transfer sync backup",
);

/// Programs that build or run something.
const BUILDERS: WordList = WordList::new(
    "npm npx pnpm yarn cargo make cmake ninja go mvn gradle gradlew dotnet bazel pip pip3 uv poetry \
     tox pytest jest mix rake bundle composer stack cabal swift zig",
);

/// Longer names of tools are cut.
const NAME_BYTES: usize = 64;
/// How many words of a command are looked at.
const COMMAND_WORDS: usize = 24;

/// Whether a call of `tool` with `command` waits before it answers.
pub(super) fn waits(tool: &str, command: Option<&str>) -> bool {
    command.is_some_and(sleeps) || words_of(tool, |word| SLEEPERS.has(word))
}

fn sleeps(command: &str) -> bool {
    command_words(command).any(|mut words| {
        let Some(program) = words.next() else {
            return false;
        };
        if INTERPRETERS.has(program) {
            return words
                .flat_map(|word| word.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
                .any(|word| SLEEPERS.has(&word.to_ascii_lowercase()));
        }
        SLEEPERS.has(&program.to_ascii_lowercase())
            || words
                .enumerate()
                .any(|(at, word)| at < VERB_WORDS && WAITING_VERBS.has(word) || is_wait_flag(word))
    })
}

/// `--wait`, `--wait-time-seconds`: the program itself waits for what it is asked about.
fn is_wait_flag(word: &str) -> bool {
    word.strip_prefix("--")
        .is_some_and(|flag| flag.starts_with("wait"))
}

/// Whether a call of `tool` with `args`, one of which is `command`, asks about something that moves.
pub(super) fn moves(tool: &str, args: &JsonValue<'_>, command: Option<&str>) -> bool {
    let action = ["action", "op", "operation", "method"]
        .iter()
        .find_map(|name| match args.get(name) {
            Some(JsonValue::Text(text)) => Some(&**text),
            _ => None,
        });
    let mut first = true;
    let in_name = words_of(tool, |word| {
        let does = std::mem::take(&mut first) && DOERS.has(word);
        !does && MOVERS.has(word)
    });
    in_name || action.is_some_and(names_a_mover) || command.is_some_and(looks_at_a_mover)
}

fn names_a_mover(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .any(|word| MOVERS.has(&word.to_ascii_lowercase()))
}

/// Whether a part of `command` asks about something that moves. What builds or runs something moves it
/// itself, and so does a script, whatever it is called.
fn looks_at_a_mover(command: &str) -> bool {
    command_words(command).any(|words| {
        let mut words = words.take(COMMAND_WORDS);
        let Some(program) = words.next() else {
            return false;
        };
        if BUILDERS.has(program) {
            return false;
        }
        if INTERPRETERS.has(program) {
            words.next();
        }
        MOVERS.has(program) || words.any(names_a_mover)
    })
}

fn words_of(tool: &str, wanted: impl FnMut(&str) -> bool) -> bool {
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
        assert!(waits("Bash", Some("until nc -z db 5432; do sleep 1; done")));
        assert!(waits(
            "Bash",
            Some("kubectl wait --for=condition=Ready pod/a")
        ));
        assert!(waits("Bash", Some("aws ec2 wait instance-running")));
        assert!(waits("Bash", Some("bash -c 'sleep 45 && tail log'")));
        assert!(waits(
            "Bash",
            Some("python3 -c 'import time; time.sleep(30)'")
        ));
        assert!(waits(
            "PowerShell",
            Some("Start-Sleep -Seconds 30; Get-Job")
        ));
        assert!(!waits("Bash", Some("timeout 300 make test")));
        assert!(waits(
            "Bash",
            Some("aws sqs receive-message --wait-time-seconds 20")
        ));
        assert!(!waits("Bash", Some("az vm start --no-wait")));
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
        assert!(moving("Bash", r#"{"command":"tail -1 build.log"}"#));
        assert!(moving("build_status", "{}"));
        assert!(!moving("run_command", r#"{"command":"nc host 21"}"#));
        assert!(!moving("Bash", r#"{"command":"npm run build"}"#));
        assert!(!moving(
            "Bash",
            r#"{"command":"cd app && ./run.sh && python train.py"}"#
        ));
    }
}
