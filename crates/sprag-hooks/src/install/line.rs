//! The command line that a client runs for a hook.

use crate::answer::Fail;
use crate::client::Client;

/// What every hook command of ours has in it.
const SIGN: &str = " hook --client ";

/// How hooks shall be run.
#[derive(Debug, Clone)]
pub struct HookLine {
    /// The program, as a path or a word that the shell finds.
    pub binary: String,
    /// Judge and log, but let everything happen.
    pub shadow: bool,
    /// What to do where there is no verdict.
    pub fail: Fail,
}

impl HookLine {
    /// The words after the program; without an event for a client that has its own way of telling.
    #[must_use]
    pub fn words(&self, client: Client, event: Option<&str>) -> Vec<String> {
        let mut words: Vec<String> = ["hook", "--client", client.as_str()]
            .map(str::to_owned)
            .into();
        if let Some(event) = event {
            words.extend(["--event".to_owned(), event.to_owned()]);
        }
        if self.fail == Fail::Closed {
            words.extend(["--fail", "closed"].map(str::to_owned));
        }
        if self.shadow {
            words.push("--shadow".to_owned());
        }
        words
    }

    /// The whole line for a shell.
    pub(super) fn command(&self, client: Client, event: &str) -> String {
        let words = self.words(client, Some(event));
        format!("{} {}", quoted(&self.binary), words.join(" "))
    }
}

/// Whether a command is ours, wherever the program is.
pub(super) fn is_ours(command: &str) -> bool {
    command.contains(SIGN)
}

/// The program of one of our commands.
pub(super) fn program(command: &str) -> &str {
    let program = command.split(SIGN).next().unwrap_or(command);
    program.trim_matches('\'')
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@~\\".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_again_wherever_its_program_is() {
        let line = HookLine {
            binary: "/opt/a b/sprag".to_owned(),
            shadow: true,
            fail: Fail::Closed,
        };
        let command = line.command(Client::Claude, "PreToolUse");
        assert_eq!(
            command,
            "'/opt/a b/sprag' hook --client claude --event PreToolUse --fail closed --shadow"
        );
        assert!(is_ours(&command));
        assert_eq!(program(&command), "/opt/a b/sprag");
        assert!(!is_ours("prettier --write"));
    }
}
