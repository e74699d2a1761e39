//! What a client does for a hook: the command line that it runs, or the address that it posts to.
//!
//! The program may be gone one day: a moved checkout, `cargo clean`, a package removed before its hooks.
//! Some clients take a command that fails for a refusal, and one does not even start. So a command runs
//! the program only if it is there, and a hook at the start of a session says that it is not.

use crate::client::Client;
use sprag::FailMode;

/// How our commands begin, and what stands between the two places of the program in them.
const GUARD: &str = "[ -x ";
const RUN: &str = " ] && exec ";
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

/// How hooks are run.
#[derive(Debug, Clone)]
pub struct HookCommand {
    /// The path of the program.
    pub binary: String,
    /// Whether the hooks are a project's. They yield to hooks in the user's own settings.
    pub project: bool,
    /// Judge and log, but let everything happen.
    pub shadow: bool,
    /// What to do if there is no verdict.
    pub fail: FailMode,
    /// The server that hooks are posted to, if the client can: then nothing is run.
    pub server: Option<HookServer>,
}

impl HookCommand {
    /// The arguments after the program; without an event for a client that reports it otherwise.
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
        if self.project {
            words.push("--project".to_owned());
        }
        words
    }

    /// The events that are hooked. A server can't be posted to at the start of a session.
    pub(super) fn events(&self, client: Client) -> impl Iterator<Item = &'static str> {
        let posted = self.server.is_some();
        let all = super::events(client).iter().copied();
        all.filter(move |event| !(posted && is_start(event)))
    }

    /// The whole line for a shell, or the address.
    pub(super) fn command(&self, client: Client, event: &str) -> String {
        if let Some(server) = &self.server {
            let shadow = if self.shadow { "&shadow=true" } else { "" };
            return format!("{}{ADDRESS_SIGN}{client}?event={event}{shadow}", server.url);
        }
        let words = self.words(client, Some(event)).join(" ");
        let binary = quoted(&self.binary);
        let gone = match is_start(event) {
            true => format!(" echo {};", quoted(&self.gone(client).to_string())),
            false => String::new(),
        };
        format!("{GUARD}{binary}{RUN}{binary} {words};{gone} exit 0")
    }

    /// The same for a `PowerShell`.
    pub(super) fn powershell(&self, client: Client, event: &str) -> String {
        let words = self.words(client, Some(event)).join(" ");
        let binary = self.binary.replace('\'', "''");
        format!("if (Test-Path '{binary}') {{ & '{binary}' {words} }}; exit 0")
    }

    /// What a session starts with if the program is gone.
    fn gone(&self, client: Client) -> serde_json::Value {
        let text = format!(
            "sprag is not at {} any more: nothing is checked. Install it again and run `sprag install \
             {client}`, or remove its hooks with `sprag uninstall {client}`.",
            self.binary
        );
        match client {
            Client::Copilot => {
                serde_json::json!({"additionalContext": format!("{text} Tell the user.")})
            }
            Client::Cursor => serde_json::json!({"additional_context": text}),
            _ => serde_json::json!({"systemMessage": text}),
        }
    }
}

/// Whether `event` is the start of a session.
fn is_start(event: &str) -> bool {
    event.eq_ignore_ascii_case("SessionStart")
}

/// Whether a command is ours, wherever the program is.
pub(super) fn is_ours(command: &str) -> bool {
    command.contains(SIGN) || is_address(command)
}

/// Whether one of our commands is an address.
fn is_address(command: &str) -> bool {
    command.starts_with("http") && command.contains(ADDRESS_SIGN)
}

/// The program of one of our commands; the server, if it is an address.
pub(super) fn program(command: &str) -> String {
    if is_address(command) {
        let server = command.split(ADDRESS_SIGN).next();
        return server.unwrap_or(command).to_owned();
    }
    let guarded = command
        .strip_prefix(GUARD)
        .and_then(|rest| rest.split_once(RUN));
    let program = match guarded {
        Some((program, _)) => program,
        None => command.split(SIGN).next().unwrap_or(command),
    };
    match program
        .strip_prefix('\'')
        .and_then(|word| word.strip_suffix('\''))
    {
        Some(quoted) => quoted.replace(r"'\''", "'"),
        None => program.to_owned(),
    }
}

/// The arguments of one of our commands, from `hook` on; none if it is an address.
pub(super) fn arguments(command: &str) -> Option<Vec<String>> {
    let (_, words) = command.split_once(SIGN)?;
    let words = words.split(';').next().unwrap_or(words);
    let words = words.split_whitespace().map(str::to_owned);
    let start = SIGN.split_whitespace().map(str::to_owned);
    Some(start.chain(words).collect())
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
        let line = HookCommand {
            binary: "/opt/a b/o'sprag".to_owned(),
            project: true,
            shadow: true,
            fail: FailMode::Closed,
            server: None,
        };
        let command = line.command(Client::Claude, "PreToolUse");
        assert_eq!(
            command,
            r"[ -x '/opt/a b/o'\''sprag' ] && exec '/opt/a b/o'\''sprag' hook --client claude --event PreToolUse --fail closed --shadow --project; exit 0"
        );
        assert!(is_ours(&command));
        assert_eq!(program(&command), "/opt/a b/o'sprag");
        let words = arguments(&command).unwrap().join(" ");
        assert_eq!(
            words,
            "hook --client claude --event PreToolUse --fail closed --shadow --project"
        );
        assert_eq!(
            program("/usr/bin/sprag hook --client claude"),
            "/usr/bin/sprag"
        );
        assert!(!is_ours("prettier --write"));
    }

    #[test]
    fn an_address_is_known_again_and_names_its_server() {
        let line = HookCommand {
            binary: "sprag".to_owned(),
            project: false,
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
