//! Who is told, and how.
//!
//! These settings are no part of the policy: the log names each policy by its digest, and a secret or a place of one
//! machine must not be in there.

use std::fmt;
use std::time::Duration;

use super::backoff::Backoff;

/// A secret that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(String);

impl WebhookSecret {
    /// Keeps `text` from being shown.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// An HTTP receiver.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where it listens.
    pub url: String,
    /// What the body is signed with; unsigned where there is none.
    pub secret: Option<WebhookSecret>,
}

impl fmt::Debug for Webhook {
    // The path of a webhook is often its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

/// Who is told.
#[derive(Debug, Clone)]
pub struct NotifySettings {
    /// The receiver, where there is one.
    pub webhook: Option<Webhook>,
    /// The program and its arguments; empty where there is none. No shell is involved.
    pub command: Vec<String>,
    /// Whether an operator's own kill is told too.
    pub operator_kills: bool,
    /// What a CloudEvent says of where it comes from.
    pub source: String,
    /// How often and how long delivery to the receiver is tried.
    pub backoff: Backoff,
    /// How long one try, or one run of the command, may take.
    pub timeout: Duration,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            webhook: None,
            command: Vec::new(),
            operator_kills: true,
            source: "sprag".to_owned(),
            backoff: Backoff::default(),
            timeout: Duration::from_secs(10),
        }
    }
}

/// Why nobody can be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotifyError {
    /// The address of the receiver is wrong.
    #[error("the webhook's address is not usable: {why}; it looks like https://host/path")]
    Url {
        /// What is wrong with it. Not the address itself: it may be a password.
        why: String,
    },
    /// The command can't be split into words.
    #[error("the notify command has an open quote: {0}")]
    OpenQuote(String),
    /// The command is empty.
    #[error("the notify command is empty; name a program, with its arguments after it")]
    NoCommand,
    /// The HTTP client can't be made.
    #[error("no HTTP client for the webhook: {0}")]
    Client(reqwest::Error),
    /// The thread that delivers can't be started.
    #[error("the thread that delivers notifications can't be started: {0}")]
    Thread(std::io::Error),
}

/// Splits a command line into words as a shell would, and runs nothing.
///
/// # Errors
/// Returns an error if a quote is left open, or there is no word.
pub fn split_command(line: &str) -> Result<Vec<String>, NotifyError> {
    let words = shlex::split(line).ok_or_else(|| NotifyError::OpenQuote(line.to_owned()))?;
    if words.is_empty() {
        return Err(NotifyError::NoCommand);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_and_never_run_by_a_shell() {
        let words = split_command(r#"notify-send -u critical "a session stopped" $HOME;ls"#);
        let expected = [
            "notify-send",
            "-u",
            "critical",
            "a session stopped",
            "$HOME;ls",
        ];
        assert_eq!(words.unwrap(), expected);
        let errors = ["  ", "say 'oh"].map(|line| split_command(line).unwrap_err().to_string());
        assert_eq!(
            errors,
            [
                "the notify command is empty; name a program, with its arguments after it",
                "the notify command has an open quote: say 'oh"
            ]
        );
    }

    #[test]
    fn neither_the_secret_nor_the_address_is_shown() {
        let webhook = Webhook {
            url: "https://hooks.example/T0/very-secret".to_owned(),
            secret: Some(WebhookSecret::new("hush")),
        };
        assert_eq!(
            format!("{webhook:?}"),
            "Webhook { secret: Some(WebhookSecret(…)), .. }"
        );
    }
}
