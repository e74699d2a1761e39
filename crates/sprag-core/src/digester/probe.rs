//! Whether a call does nothing but talk to itself.
//!
//! A model that has lost its way may try out whether its tools still work: `echo s1`, `echo s2`, and so on
//! for hours. Each answer is new, so by its answers that looks like work. Such a command is known by what it
//! runs, all of it, and a tool that only says what it was told by its answer: the two are compared by short
//! keyed hashes.

use super::command::{CommandParts, Quotes, words_of_part};
use super::json::JsonValue;
use super::words::WordList;
use crate::digest::{DigestKey, Fingerprint};

/// Programs that print what they are given or what everybody knows, and change nothing.
const IDLERS: WordList = WordList::new("echo printf true : pwd date");

/// How much of a command is read; a longer one is not a probe.
const MAX_BYTES: usize = 1024;
/// Longer texts are not compared.
const MAX_TEXT_BYTES: usize = 4096;

/// Whether `command` is made of idle programs only, without a redirection and without another command in it.
pub(super) fn probes(command: &str) -> bool {
    if command.len() > MAX_BYTES || has_more(command) {
        return false;
    }
    let mut programs = CommandParts(command).filter_map(|part| words_of_part(part).next());
    let mut any = false;
    let all = programs.all(|program| {
        any = true;
        IDLERS.has(program.rsplit('/').next().unwrap_or(program))
    });
    any && all
}

/// A redirection, a substitution or a group: more than its words.
fn has_more(command: &str) -> bool {
    let mut quotes = Quotes::default();
    let mut before = ' ';
    command.chars().any(|character| {
        let is_quoted = quotes.hold(character);
        // Inside double quotes a substitution still runs.
        let runs = character == '`' || before == '$' && character == '(';
        before = character;
        runs && !quotes.is_literal() || !is_quoted && matches!(character, '>' | '<' | '(' | '{')
    })
}

/// A text by which an answer is compared with an argument; 0 if there is nothing to compare.
pub(super) fn short_text(key: &DigestKey, text: &str) -> u32 {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_TEXT_BYTES {
        return 0;
    }
    key.fingerprint_32(Fingerprint::Said, text.as_bytes())
}

/// The longest text among the arguments.
pub(super) fn longest_text<'a>(args: &'a JsonValue<'_>) -> Option<&'a str> {
    let JsonValue::Object(entries) = args else {
        return None;
    };
    let texts = entries.iter().filter_map(|(_, value)| match value {
        JsonValue::Text(text) => Some(&**text),
        _ => None,
    });
    texts.max_by_key(|text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_talk_are_probes() {
        for command in [
            "echo s1",
            "echo 'a > b; rm -rf /'",
            "printf '%s\\n' hello && date",
            "true",
            ":",
            "pwd; date; echo done",
            "X=1 echo $X",
            "/bin/echo hi",
        ] {
            assert!(probes(command), "{command}");
        }
    }

    #[test]
    fn commands_that_do_something_else_too_are_not() {
        for command in [
            "",
            "echo hi > a.txt",
            "echo \"$(git status)\"",
            "echo `ls`",
            "echo x | base64 -d",
            "echo start && make test",
            "sleep 300 && date",
            "cat <<EOF\nhi\nEOF",
            "python print_args.py s1",
            "[ -f a ] && echo yes",
            "echo a; { make; }",
        ] {
            assert!(!probes(command), "{command}");
        }
    }
}
