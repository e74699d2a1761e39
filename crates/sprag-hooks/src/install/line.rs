//! What a client does for a hook: the command line that it runs, or the address that it posts to.

use crate::client::Client;
use sprag::FailMode;

/// What every hook command of ours has in it.
const SIGN: &str = " hook --client ";
/// What every address of ours has in it.
const ADDRESS_SIGN: &str = "/v1/hooks/";

/// A server that hooks are posted to.
#[derive(Clone)]
pub struct HookServer {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The hooks' token.
    pub token: String,
}

impl std::fmt::Debug for HookServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookServer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl HookServer {
    /// What proves to the server that a hook posts.
    pub(super) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

/// How hooks shall be run.
#[derive(Debug, Clone)]
pub struct HookLine {
    /// The program, as a path or a word that the shell finds.
    pub binary: String,
    /// Judge and log, but let everything happen.
    pub shadow: bool,
    /// What to do where there is no verdict.
    pub fail: FailMode,
    /// Where hooks are posted to, for a client that can: then nothing is run.
    pub server: Option<HookServer>,
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
        if self.fail == FailMode::Closed {
            words.extend(["--fail", "closed"].map(str::to_owned));
        }
        if self.shadow {
            words.push("--shadow".to_owned());
        }
        words
    }

    /// The whole line for a shell, or the address.
    pub(super) fn command(&self, client: Client, event: &str) -> String {
        if let Some(server) = &self.server {
            let shadow = if self.shadow { "&shadow=true" } else { "" };
            return format!("{}{ADDRESS_SIGN}{client}?event={event}{shadow}", server.url);
        }
        let words = self.words(client, Some(event));
        format!("{} {}", quoted(&self.binary), words.join(" "))
    }
}

/// Whether a command is ours, wherever the program is.
pub(super) fn is_ours(command: &str) -> bool {
    command.contains(SIGN) || is_address(command)
}

/// Whether one of our commands is an address.
fn is_address(command: &str) -> bool {
    command.starts_with("http") && command.contains(ADDRESS_SIGN)
}

/// The program of one of our commands; the server, where it is an address.
pub(super) fn program(command: &str) -> &str {
    if is_address(command) {
        return command.split(ADDRESS_SIGN).next().unwrap_or(command);
    }
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
            fail: FailMode::Closed,
            server: None,
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

    #[test]
    fn an_address_is_known_again_and_names_its_server() {
        let line = HookLine {
            binary: "sprag".to_owned(),
            shadow: true,
            fail: FailMode::Open,
            server: Some(HookServer {
                url: "http://127.0.0.1:7727".to_owned(),
                token: "secret".to_owned(),
            }),
        };
        let address = line.command(Client::Claude, "PreToolUse");
        assert_eq!(
            address,
            "http://127.0.0.1:7727/v1/hooks/claude?event=PreToolUse&shadow=true"
        );
        assert!(is_ours(&address));
        assert_eq!(program(&address), "http://127.0.0.1:7727");
        assert!(!is_ours("https://example.com/hooks/claude"));
        assert!(!format!("{line:?}").contains("secret"));
    }
}
