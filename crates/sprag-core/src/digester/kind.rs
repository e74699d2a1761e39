//! What a call is for, guessed from the tool's name and the command it runs.
//!
//! Reading the same again, asking again whether a job is done, and making the same change again mean
//! different things, so the rules want to know which it was. The name of a tool mostly shows it: its words
//! are looked up one by one. If the tool is a shell, the command is read as far as its first words
//! go. What is not known is a run, the kind about which nothing is assumed; a policy may correct it
//! (`[[tool]] match = "job_status*", kind = "poll"`).
//!
//! Odd cases: what sends a key, a click or a line to a program is a run, since sending it again is
//! how one gets on; a command that waits is a poll whatever it looks at afterwards.

use super::command::shell_kind;
use super::words::WordList;
use crate::observation::ToolKind;
use crate::snake_name::SnakeName;

/// WordList that make a tool a shell.
const SHELLS: WordList = WordList::new("bash sh zsh shell command exec terminal");

const POLLS: WordList = WordList::new(
    "status poll wait sleep output progress health ping watch monitor ready await \
     heartbeat",
);

const CHANGES: WordList = WordList::new(
    "edit write create createfile insert append replace update upsert delete remove rm \
     mv cp mkdir touch chmod chown patch set add apply commit push save rename move copy \
     todo book cancel install drop truncate modify upload kill assign publish invite buy \
     purchase pay refund transfer reply notify launch provision",
);

const READS: WordList = WordList::new(
    "read get list ls cat find search grep glob open view show fetch head tail look \
     lookup query describe inspect page goto browse visit stat which diff log \
     logs disassemble decompile extract next previous load count",
);

/// What sends something to a program or a page.
const INPUTS: WordList =
    WordList::new("press click tap swipe scroll stdin keypress keystroke typewrite");

/// Longer names of tools are cut.
const NAME_BYTES: usize = 64;

/// The kind of a call of `tool` with `command`.
pub(crate) fn guess(tool: &str, command: Option<&str>) -> ToolKind {
    let name = SnakeName::<NAME_BYTES>::new(tool);
    let words = || {
        name.as_str()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    let polls = words().any(|word| POLLS.has(word));
    if let Some(command) = command {
        if tool.is_empty() || !polls && words().any(|word| SHELLS.has(word)) {
            return shell_kind(command);
        }
        let kind = own_line_kind(tool, command);
        if kind != ToolKind::Run {
            return kind;
        }
    }
    if polls {
        return ToolKind::Poll;
    }
    if words().any(|word| INPUTS.has(word)) {
        return ToolKind::Run;
    }
    words()
        .find_map(|word| {
            if CHANGES.has(word) {
                Some(ToolKind::Change)
            } else {
                READS.has(word).then_some(ToolKind::Read)
            }
        })
        .unwrap_or_default()
}

/// Whether a tool of this name runs commands.
pub(super) fn is_shell(tool: &str) -> bool {
    let name = SnakeName::<NAME_BYTES>::new(tool);
    let mut words = name.as_str().split(|c: char| !c.is_alphanumeric());
    words.any(|word| SHELLS.has(word))
}

/// The kind of a tool that is the first word of its own command line.
fn own_line_kind(tool: &str, command: &str) -> ToolKind {
    let line = command.trim_start().lines().next().unwrap_or_default();
    if line.starts_with(tool) {
        shell_kind(line)
    } else {
        ToolKind::Run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_tool_is_for() {
        for (tool, kind) in [
            ("read", ToolKind::Read),
            ("WebFetch", ToolKind::Read),
            ("get_reservation_details", ToolKind::Read),
            ("page_down", ToolKind::Read),
            ("job_status", ToolKind::Poll),
            ("getJobStatus", ToolKind::Poll),
            ("BashOutput", ToolKind::Poll),
            ("edit", ToolKind::Change),
            ("TodoWrite", ToolKind::Change),
            ("str_replace_editor", ToolKind::Change),
            ("test", ToolKind::Run),
            ("press_key", ToolKind::Run),
            ("write_stdin", ToolKind::Run),
            ("browser_scroll", ToolKind::Run),
            ("", ToolKind::Run),
        ] {
            assert_eq!(guess(tool, None), kind, "{tool}");
        }
    }

    #[test]
    fn a_shell_is_judged_by_its_command() {
        assert_eq!(guess("Bash", Some("ls")), ToolKind::Read);
        assert_eq!(guess("run_command", Some("make")), ToolKind::Run);
        assert_eq!(guess("", Some("mkdir a")), ToolKind::Change);
        assert_eq!(guess("BashOutput", Some("ls")), ToolKind::Poll);
    }

    #[test]
    fn a_tool_that_is_its_own_command_is_judged_by_both() {
        assert_eq!(
            guess("cat", Some("cat > a <<EOF\nx\nEOF")),
            ToolKind::Change
        );
        assert_eq!(
            guess("edit", Some("edit 1:1\nls\nend_of_edit")),
            ToolKind::Change
        );
        assert_eq!(guess("open", Some("open a.java 912")), ToolKind::Read);
    }
}
