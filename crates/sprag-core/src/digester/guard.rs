//! Whether a call is meant for the guard itself: an order to it, or a change of its store or its hooks.
//!
//! What counts is what runs, not what is said: only the program in command position is looked at, so a
//! search for `sprag approve`, a commit message or an `echo` about it are what they are. Text that a
//! shell is told to run (`sh -c`, `$(…)`, backquotes) is looked into, a few levels deep.

use super::command::{CommandParts, words_of_part};
use super::json::JsonValue;
use super::words::WordList;
use crate::observation::ToolKind;

/// Orders to the guard by their first word.
const ORDERS: WordList =
    WordList::new("approve decline reset calm pause uninstall token open panic");
/// Orders by their second word, after `sessions` or `policy`.
const SESSION_ORDERS: WordList = WordList::new("reset kill");
const POLICY_ORDERS: WordList = WordList::new("set import edit unset allow");

/// Programs that run the command that follows them.
const RUNNERS: WordList = WordList::new("xargs timeout nice stdbuf setsid npx bunx pnpx uvx");
/// Programs that run a text.
const SHELLS: WordList = WordList::new("sh bash zsh dash ksh fish eval");
/// Programs that change the files that they name.
const WRITERS: WordList =
    WordList::new("rm mv tee truncate dd ln chmod chown shred sqlite3 unlink");
/// Programs that change the last file that they name.
const COPIERS: WordList = WordList::new("cp install rsync");

/// The files by which clients find their hooks.
const HOOK_FILES: [&str; 10] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".copilot/hooks.json",
    ".github/hooks/sprag.json",
    "opencode/plugins/sprag.js",
    "opencode/plugin/sprag.js",
];
/// The folders that are the guard's own.
const OWN_FOLDERS: [&str; 3] = [
    ".local/state/sprag",
    "XDG_STATE_HOME/sprag",
    ".config/sprag",
];

/// Under which names a file stands that a tool writes.
const FILE_NAMES: [&str; 6] = [
    "file_path",
    "path",
    "filename",
    "filePath",
    "target_file",
    "file",
];
/// Under which names stands the part of a file that an edit replaces, and by what.
const PART_NAMES: [&str; 6] = [
    "old_string",
    "new_string",
    "oldString",
    "newString",
    "old_str",
    "new_str",
];

/// How deep a text inside a text is looked into.
const MAX_DEPTH: u32 = 4;
/// How much of a command is read.
const MAX_BYTES: usize = 16 * 1024;

/// Whether a call with these arguments is meant for the guard.
pub(super) fn touches_guard(args: &JsonValue<'_>, command: Option<&str>, kind: ToolKind) -> bool {
    if let Some(command) = command {
        let end = command.floor_char_boundary(MAX_BYTES);
        return runs_order(command.get(..end).unwrap_or(command), MAX_DEPTH);
    }
    kind == ToolKind::Change && writes_guard(args)
}

fn writes_guard(args: &JsonValue<'_>) -> bool {
    let text = |name: &&str| match args.get(name) {
        Some(JsonValue::Text(text)) => Some(&**text),
        _ => None,
    };
    let mut files = FILE_NAMES.iter().filter_map(text);
    if !files.any(is_guarded) {
        return false;
    }
    // An edit of another part of a client's settings is honest work.
    let parts: Vec<&str> = PART_NAMES.iter().filter_map(text).collect();
    let elsewhere = |part: &&str| !part.contains("sprag") && !part.to_lowercase().contains("hooks");
    parts.is_empty() || !parts.iter().all(elsewhere)
}

/// Whether a path is the guard's, or where a client finds its hooks.
fn is_guarded(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']).replace('\\', "/");
    let path = path.replace(['{', '}'], "");
    let ends = |file: &&str| {
        path.strip_suffix(file)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    HOOK_FILES.iter().any(ends) || OWN_FOLDERS.iter().any(|own| path.contains(own))
}

/// Whether a command orders the guard about, or writes what is the guard's.
fn runs_order(command: &str, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    CommandParts(command).any(|part| part_orders(part, depth))
        || inner_commands(command).any(|inner| runs_order(inner, depth))
}

fn part_orders(part: &str, depth: u32) -> bool {
    let part = part.trim_start_matches(['(', '{', '!', ' ', '\t']);
    let mut words = words_of_part(part);
    let Some(first) = words.next() else {
        return false;
    };
    let name = bare(first);
    if name == "sprag" || name == "sprag.exe" {
        return is_order(words);
    }
    if RUNNERS.has(name) {
        let rest = words.skip_while(|word| bare(word) != "sprag");
        return is_order(rest.skip(1)) || writes(part);
    }
    if SHELLS.has(name) {
        let text = words.clone().find(|word| word.starts_with(['"', '\'']));
        let start = text.map(|text| text.as_ptr().addr() - part.as_ptr().addr());
        let quoted = start
            .and_then(|start| part.get(start..))
            .unwrap_or_default();
        let inner = quoted.trim_matches(['"', '\'', ' ', ')']);
        let plain = name == "eval" && quoted.is_empty();
        let rest = part.get(first.len()..).unwrap_or_default();
        return runs_order(if plain { rest } else { inner }, depth);
    }
    writes(part)
}

fn bare(word: &str) -> &str {
    let word = word.trim_matches(['"', '\'', '(', ')', '`']);
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether the words after `sprag` are an order. A word after an option may be its value.
fn is_order<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    let mut after_option = false;
    let mut words = words.map(|word| word.trim_matches(['"', '\'', ')', '`', '}']));
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            after_option = !word.contains('=');
            continue;
        }
        let mut second = |orders: &WordList| {
            words
                .find(|word| !word.starts_with('-'))
                .is_some_and(|word| orders.has(word))
        };
        match word {
            "sessions" => return second(&SESSION_ORDERS),
            "policy" => return second(&POLICY_ORDERS),
            word if ORDERS.has(word) => return true,
            _ if after_option => after_option = false,
            _ => return false,
        }
    }
    false
}

/// Whether a part changes a file that is guarded.
fn writes(part: &str) -> bool {
    let mut words = words_of_part(part);
    let name = words.next().map(bare).unwrap_or_default();
    let into = |word: &str| {
        word.trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with('>')
    };
    let mut redirected = part.match_indices('>').filter_map(|(at, _)| {
        let target = part.get(at + 1..)?.trim_start_matches(['>', '|', '&', ' ']);
        target.split_whitespace().next()
    });
    if redirected.any(is_guarded) {
        return true;
    }
    let mut files = words.clone().filter(|word| !into(word));
    if COPIERS.has(name) {
        return files.last().is_some_and(is_guarded);
    }
    let in_place = matches!(name, "sed" | "perl") && part.contains(" -i");
    (WRITERS.has(name) || in_place) && files.any(is_guarded)
}

/// The texts in `$(…)` and backquotes, which run wherever they stand but in single quotes.
fn inner_commands(command: &str) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    let mut single = false;
    let mut rest = command;
    while let Some(at) = rest.find(['\'', '`', '$', '\\']) {
        let tail = rest.get(at..).unwrap_or_default();
        let mut skip = 1;
        if tail.starts_with('\'') {
            single = !single;
        } else if !single && tail.starts_with('\\') {
            skip = 2;
        } else if !single && tail.starts_with("$(") {
            let inner = tail.get(2..).unwrap_or_default();
            let end = inner.rfind(')').unwrap_or(inner.len());
            found.extend(inner.get(..end));
        } else if !single && tail.starts_with('`') {
            let inner = tail.get(1..).unwrap_or_default();
            let end = inner.find('`').unwrap_or(inner.len());
            found.extend(inner.get(..end));
            skip = end + 2;
        }
        let next = tail
            .char_indices()
            .nth(skip)
            .map_or(tail.len(), |(next, _)| next);
        rest = tail.get(next..).unwrap_or_default();
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> bool {
        touches_guard(&JsonValue::parse("{}").unwrap(), Some(text), ToolKind::Run)
    }

    #[test]
    fn an_order_to_the_guard_is_seen_wherever_it_runs() {
        for text in [
            "sprag approve k7f3",
            "cd /srv && /usr/local/bin/sprag approve k7f3 --why ok",
            "SPRAG_DB=x sudo sprag sessions reset s1 --yes",
            "sprag --db /tmp/x.db decline k7f3",
            "sprag policy set destructive.max_calls 4000",
            "sprag pause --for 1h",
            "sprag uninstall",
            "sprag token create --role operator",
            "echo yes | sprag approve k7f3",
            "bash -c 'sprag approve k7f3'",
            "sh -c \"cd x; sprag reset s1\"",
            "echo \"$(sprag approve k7f3)\"",
            "echo `sprag approve k7f3`",
            "(sprag approve k7f3)",
            "echo k7f3 | xargs sprag approve",
            "timeout 5 sprag approve k7f3",
            "eval sprag approve k7f3",
            "rm -rf ~/.local/state/sprag",
            "echo '{}' > .claude/settings.json",
            "sed -i s/sprag/true/ ~/.claude/settings.json",
            "cp /tmp/empty.json $HOME/.cursor/hooks.json",
            "sqlite3 ~/.local/state/sprag/sprag.db 'delete from records'",
        ] {
            assert!(command(text), "{text}");
        }
    }

    #[test]
    fn words_about_the_guard_are_no_order() {
        for text in [
            "grep -rn \"sprag approve\" docs",
            "rg 'sprag sessions reset' .",
            "git commit -m 'document sprag approve'",
            "git commit -m \"sprag: pause before reset\"",
            "echo 'run sprag approve k7f3'",
            "echo run sprag approve k7f3",
            "cat docs/approvals.md | grep 'sprag decline'",
            "cat > notes.md <<EOF\nsprag approve k7f3\nEOF",
            "sprag policy show access",
            "sprag log show --session s1",
            "sprag explain destructive.volume",
            "sprag sessions list",
            "sprag approvals",
            "cat ~/.claude/settings.json",
            "git add .claude/settings.json",
            "cp .claude/settings.json /tmp/backup.json",
            "cargo test -p sprag-core approve",
            "cd ~/sprag && make reset",
            "man sprag",
        ] {
            assert!(!command(text), "{text}");
        }
    }

    #[test]
    fn a_file_tool_that_writes_hooks_is_seen_and_one_that_edits_other_settings_is_not() {
        let file =
            |json: &str| touches_guard(&JsonValue::parse(json).unwrap(), None, ToolKind::Change);
        assert!(file(
            r#"{"file_path":"/home/user/.claude/settings.json","content":"{}"}"#
        ));
        assert!(file(
            r#"{"file_path":".claude/settings.json","old_string":"\"hooks\"","new_string":"\"x\""}"#
        ));
        assert!(file(
            r#"{"path":"/home/user/.local/state/sprag/operator.token","content":"x"}"#
        ));
        assert!(!file(
            r#"{"file_path":".claude/settings.json","old_string":"\"model\": \"a\"","new_string":"\"model\": \"b\""}"#
        ));
        assert!(!file(
            r#"{"file_path":"docs/sprag.md","content":"sprag approve"}"#
        ));
        let read = JsonValue::parse(r#"{"file_path":".claude/settings.json"}"#).unwrap();
        assert!(!touches_guard(&read, None, ToolKind::Read));
    }
}
