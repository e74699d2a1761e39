//! How each client is pointed at the gateway: its variables and flags, and the upstream that it had
//! before. Nothing on disk is changed.

use std::fmt::Write as _;

/// A client that can be started behind the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayClient {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Any program that reads the variables of the official SDKs.
    Other,
}

/// What the surroundings of a client say about where it goes and how it is logged in.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `ANTHROPIC_BASE_URL`.
    pub anthropic_base: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub openai_base: Option<String>,
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
    /// Codex's settings can't be read.
    #[error("Codex's config.toml can't be read: {why}")]
    Config {
        /// What is wrong with it.
        why: String,
    },
    /// A provider of Codex that does not speak the Responses API over HTTP.
    #[error("Codex's model provider {name:?} names no base_url")]
    Provider {
        /// The provider.
        name: String,
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
            arguments: Vec::new(),
            upstreams: base.map(|base| ("anthropic", base)).into_iter().collect(),
        })
    }

    fn codex(gateway: &str, around: &Surroundings) -> Result<Self, LaunchError> {
        let config = around.codex_config.as_deref().unwrap_or_default();
        let config: toml::Table = config.parse().map_err(|error: toml::de::Error| {
            let why = error.message().to_owned();
            LaunchError::Config { why }
        })?;
        let text = |name: &str| config.get(name).and_then(toml::Value::as_str);
        let provider = text("model_provider").filter(|name| *name != "openai");
        let (key, upstream, end) = match provider {
            Some(name) => {
                let table = config.get("model_providers").and_then(|all| all.get(name));
                let base = table.and_then(|table| table.get("base_url")?.as_str());
                let base = base.ok_or_else(|| LaunchError::Provider {
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
            variables: Vec::new(),
            arguments: vec!["-c".to_owned(), format!("{key}=\"{gateway}/openai{end}\"")],
            upstreams: upstream
                .map(|base| ("openai", base.to_owned()))
                .into_iter()
                .collect(),
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
        Self {
            variables: vec![
                ("ANTHROPIC_BASE_URL", format!("{gateway}/anthropic")),
                ("OPENAI_BASE_URL", format!("{gateway}/openai{end}")),
            ],
            arguments: Vec::new(),
            upstreams: anthropic.into_iter().chain(openai).collect(),
        }
    }

    /// The settings as lines for a shell and a command line.
    #[must_use]
    pub fn shown(&self, program: &str) -> String {
        let mut text = String::new();
        for (name, value) in &self.variables {
            let _ = writeln!(text, "export {name}={value}");
        }
        if !self.arguments.is_empty() {
            let quoted = self.arguments.iter().map(|word| match word.contains('"') {
                true => format!("'{word}'"),
                false => word.clone(),
            });
            let _ = writeln!(text, "{program} {}", quoted.collect::<Vec<_>>().join(" "));
        }
        text
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
            "Codex's model provider \"mine\" names no base_url"
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
