//! How each client is pointed at the gateway: its variables and flags, and the upstream that it had
//! before. Nothing on disk is changed.

mod own_provider;

use std::fmt::Write as _;

use sprag_core::words;

words! {
    "client",
    /// A client that can be started behind the gateway.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum GatewayClient {
        /// Claude Code.
        Claude = "claude",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Copilot CLI.
        Copilot = "copilot",
        /// opencode.
        Opencode = "opencode",
        /// Any program that reads the variables of the official SDKs.
        Other = "other",
    }
}

/// What the surroundings of a client say about where it goes and how it is logged in.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `ANTHROPIC_BASE_URL`.
    pub anthropic_base: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub openai_base: Option<String>,
    /// `GOOGLE_GEMINI_BASE_URL`.
    pub gemini_base: Option<String>,
    /// How Gemini CLI is logged in, by its own name for it.
    pub gemini_login: Option<String>,
    /// `COPILOT_PROVIDER_BASE_URL`.
    pub copilot_base: Option<String>,
    /// `COPILOT_PROVIDER_TYPE`.
    pub copilot_type: Option<String>,
    /// opencode's settings, the project's over the user's, as one JSON text.
    pub opencode_config: Option<String>,
    /// The model that opencode is started with, as `provider/model`.
    pub opencode_model: Option<String>,
    /// A variable that sends Claude Code to a cloud's own API, if one is set.
    pub claude_cloud: Option<&'static str>,
    /// Codex's `config.toml`.
    pub codex_config: Option<String>,
    /// Codex is logged in with a ChatGPT account and not with a key.
    pub codex_chatgpt: bool,
}

/// How a client is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// Variables to set.
    pub variables: Vec<(&'static str, String)>,
    /// Arguments before the user's own.
    pub arguments: Vec<String>,
    /// Upstreams that take the place of the real ones, by mount.
    pub upstreams: Vec<(&'static str, String)>,
    /// The client does not name its sessions: all that it asks belongs together.
    pub is_nameless: bool,
}

/// Why the gateway can't stand in front of a client here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The requests go to a cloud's own API.
    #[error("{variable} sends Claude Code to a cloud's own API, which the gateway does not speak")]
    Cloud {
        /// The variable that does so.
        variable: &'static str,
    },
    /// The client's settings can't be read.
    #[error("the settings of {client} can't be read: {why}")]
    Config {
        /// The client.
        client: &'static str,
        /// What is wrong with them.
        why: String,
    },
    /// A provider that is not reached by an address.
    #[error("{client}'s model provider {name:?} names no base URL")]
    Provider {
        /// The client.
        client: &'static str,
        /// The provider.
        name: String,
    },
    /// A login that goes to an API which the gateway does not speak.
    #[error("the gateway can't stand in front of {client} with the login {login}; {instead}")]
    Login {
        /// The client.
        client: &'static str,
        /// How it is logged in.
        login: String,
        /// What to do.
        instead: &'static str,
    },
    /// The client is not logged in, so it is not known where it will go.
    #[error("{client} has no login here; {instead}")]
    NoLogin {
        /// The client.
        client: &'static str,
        /// What to do.
        instead: &'static str,
    },
}

const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

impl Launch {
    /// How `client` is started behind the gateway at `gateway`, as `http://127.0.0.1:7729`.
    ///
    /// # Errors
    /// Returns an error if the gateway can't stand in front of this client's login.
    pub fn of(
        client: GatewayClient,
        gateway: &str,
        around: &Surroundings,
    ) -> Result<Self, LaunchError> {
        match client {
            GatewayClient::Claude => Self::claude(gateway, around),
            GatewayClient::Codex => Self::codex(gateway, around),
            GatewayClient::Gemini => own_provider::gemini(gateway, around),
            GatewayClient::Copilot => own_provider::copilot(gateway, around),
            GatewayClient::Opencode => own_provider::opencode(gateway, around),
            GatewayClient::Other => Ok(Self::other(gateway, around)),
        }
    }

    fn claude(gateway: &str, around: &Surroundings) -> Result<Self, LaunchError> {
        if let Some(variable) = around.claude_cloud {
            return Err(LaunchError::Cloud { variable });
        }
        let base = around.anthropic_base.clone();
        Ok(Self {
            variables: vec![
                ("ANTHROPIC_BASE_URL", format!("{gateway}/anthropic")),
                // The client then says which requests follow words of its user.
                ("CLAUDE_CODE_GATEWAY_HINT_HEADERS", "1".to_owned()),
            ],
            upstreams: base.map(|base| ("anthropic", base)).into_iter().collect(),
            ..Self::default()
        })
    }

    fn codex(gateway: &str, around: &Surroundings) -> Result<Self, LaunchError> {
        let config = around.codex_config.as_deref().unwrap_or_default();
        let config: toml::Table = config.parse().map_err(|error: toml::de::Error| {
            let why = error.message().to_owned();
            LaunchError::Config {
                client: "Codex",
                why,
            }
        })?;
        let text = |name: &str| config.get(name).and_then(toml::Value::as_str);
        let provider = text("model_provider").filter(|name| *name != "openai");
        let (key, upstream, end) = match provider {
            Some(name) => {
                let table = config.get("model_providers").and_then(|all| all.get(name));
                let base = table.and_then(|table| table.get("base_url")?.as_str());
                let base = base.ok_or_else(|| LaunchError::Provider {
                    client: "Codex",
                    name: name.to_owned(),
                })?;
                (format!("model_providers.{name}.base_url"), Some(base), "")
            }
            None => {
                let base = text("openai_base_url").or(around.openai_base.as_deref());
                let login = around.codex_chatgpt.then_some(CHATGPT);
                let end = if base.or(login).is_some() { "" } else { "/v1" };
                ("openai_base_url".to_owned(), base.or(login), end)
            }
        };
        Ok(Self {
            arguments: vec!["-c".to_owned(), format!("{key}=\"{gateway}/openai{end}\"")],
            upstreams: upstream
                .map(|base| ("openai", base.to_owned()))
                .into_iter()
                .collect(),
            ..Self::default()
        })
    }

    fn other(gateway: &str, around: &Surroundings) -> Self {
        let openai = around.openai_base.clone();
        let end = if openai.is_some() { "" } else { "/v1" };
        let anthropic = around
            .anthropic_base
            .clone()
            .map(|base| ("anthropic", base));
        let openai = openai.map(|base| ("openai", base));
        let gemini = around.gemini_base.clone().map(|base| ("gemini", base));
        Self {
            variables: vec![
                ("ANTHROPIC_BASE_URL", format!("{gateway}/anthropic")),
                ("OPENAI_BASE_URL", format!("{gateway}/openai{end}")),
                ("GOOGLE_GEMINI_BASE_URL", format!("{gateway}/gemini")),
            ],
            upstreams: anthropic.into_iter().chain(openai).chain(gemini).collect(),
            ..Self::default()
        }
    }

    /// The settings as lines for a shell and a command line.
    #[must_use]
    pub fn shown(&self, program: &str) -> String {
        let mut text = String::new();
        for (name, value) in &self.variables {
            let _ = writeln!(text, "export {name}={}", quoted(value));
        }
        if !self.arguments.is_empty() {
            let words: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
            let _ = writeln!(text, "{program} {}", words.join(" "));
        }
        text
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    match word.contains(['"', ' ', '{', '$', '\'']) {
        true => format!("'{}'", word.replace('\'', r"'\''")),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: &str = "http://127.0.0.1:7729";

    fn codex(config: &str, chatgpt: bool) -> Result<Launch, LaunchError> {
        let around = Surroundings {
            codex_config: Some(config.to_owned()),
            codex_chatgpt: chatgpt,
            ..Surroundings::default()
        };
        Launch::of(GatewayClient::Codex, GATEWAY, &around)
    }

    #[test]
    fn claude_keeps_the_upstream_it_had() {
        let around = Surroundings {
            anthropic_base: Some("http://127.0.0.1:1/x".to_owned()),
            ..Surroundings::default()
        };
        let launch = Launch::of(GatewayClient::Claude, GATEWAY, &around).unwrap();
        assert_eq!(
            launch.upstreams,
            [("anthropic", "http://127.0.0.1:1/x".to_owned())]
        );
        assert_eq!(
            launch.shown("claude"),
            "export ANTHROPIC_BASE_URL=http://127.0.0.1:7729/anthropic\nexport CLAUDE_CODE_GATEWAY_HINT_HEADERS=1\n"
        );
    }

    #[test]
    fn a_login_that_the_gateway_can_not_stand_before_is_named() {
        let around = Surroundings {
            claude_cloud: Some("CLAUDE_CODE_USE_BEDROCK"),
            ..Surroundings::default()
        };
        let refused = Launch::of(GatewayClient::Claude, GATEWAY, &around).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "CLAUDE_CODE_USE_BEDROCK sends Claude Code to a cloud's own API, which the gateway does not speak"
        );
        let refused = codex("model_provider = \"mine\"", false).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Codex's model provider \"mine\" names no base URL"
        );
    }

    #[test]
    fn each_login_of_codex_has_its_own_upstream() {
        let launch = codex("", false).unwrap();
        assert_eq!(
            launch.arguments[1],
            "openai_base_url=\"http://127.0.0.1:7729/openai/v1\""
        );
        assert!(launch.upstreams.is_empty());
        let launch = codex("", true).unwrap();
        assert_eq!(
            launch.arguments[1],
            "openai_base_url=\"http://127.0.0.1:7729/openai\""
        );
        assert_eq!(launch.upstreams, [("openai", CHATGPT.to_owned())]);
        let launch = codex(
            "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"http://127.0.0.1:1/v1\"",
            true,
        );
        let launch = launch.unwrap();
        assert_eq!(
            launch.arguments[1],
            "model_providers.mine.base_url=\"http://127.0.0.1:7729/openai\""
        );
        assert_eq!(
            launch.upstreams,
            [("openai", "http://127.0.0.1:1/v1".to_owned())]
        );
        assert_eq!(
            launch.shown("codex"),
            "codex -c 'model_providers.mine.base_url=\"http://127.0.0.1:7729/openai\"'\n"
        );
    }
}
