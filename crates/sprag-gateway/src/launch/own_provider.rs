//! Clients that are pointed at the gateway by the provider in their settings: Gemini CLI, Copilot CLI
//! and opencode.

use serde_json::{Map, Value, json};

use super::{Launch, LaunchError, Surroundings};

/// The login of Gemini CLI that goes to the API behind `/gemini`.
const GEMINI_KEY: &str = "gemini-api-key";

/// Providers that opencode knows by itself: their mount, and what follows it.
const BUILT_IN: [(&str, &str, &str); 3] = [
    ("anthropic", "anthropic", "/v1"),
    ("openai", "openai", "/v1"),
    ("google", "gemini", "/v1beta"),
];

pub(super) fn gemini(gateway: &str, around: &Surroundings) -> Result<Launch, LaunchError> {
    match around.gemini_login.as_deref() {
        Some(GEMINI_KEY) => {}
        Some(login) => {
            return Err(LaunchError::Login {
                client: "Gemini CLI",
                login: login.to_owned(),
                instead: "set $GEMINI_API_KEY and choose the login gemini-api-key",
            });
        }
        None => {
            return Err(LaunchError::NoLogin {
                client: "Gemini CLI",
                instead: "set $GEMINI_API_KEY",
            });
        }
    }
    let base = around.gemini_base.clone();
    Ok(Launch {
        variables: vec![("GOOGLE_GEMINI_BASE_URL", format!("{gateway}/gemini"))],
        arguments: Vec::new(),
        upstreams: base.map(|base| ("gemini", base)).into_iter().collect(),
        is_nameless: true,
    })
}

pub(super) fn copilot(gateway: &str, around: &Surroundings) -> Result<Launch, LaunchError> {
    let Some(base) = around.copilot_base.clone() else {
        return Err(LaunchError::Login {
            client: "Copilot CLI",
            login: "GitHub's own models".to_owned(),
            instead: "set a provider of your own ($COPILOT_PROVIDER_BASE_URL), or use its hooks: sprag install copilot",
        });
    };
    let mount = match around.copilot_type.as_deref() {
        Some("anthropic") => "anthropic",
        _ => "openai",
    };
    Ok(Launch {
        variables: vec![("COPILOT_PROVIDER_BASE_URL", format!("{gateway}/{mount}"))],
        arguments: Vec::new(),
        upstreams: vec![(mount, base)],
        is_nameless: true,
    })
}

pub(super) fn opencode(gateway: &str, around: &Surroundings) -> Result<Launch, LaunchError> {
    let config = around.opencode_config.as_deref().unwrap_or("{}");
    let config: Value = serde_json::from_str(config).map_err(|error| LaunchError::Config {
        client: "opencode",
        why: error.to_string(),
    })?;
    let model = around.opencode_model.as_deref();
    let model = model.or_else(|| config.get("model").and_then(Value::as_str));
    let provider = model
        .and_then(|model| model.split_once('/'))
        .map(|(provider, _)| provider);
    let mut launch = Launch {
        is_nameless: true,
        ..Launch::default()
    };
    let mut providers = Map::new();
    for (name, mount, end) in BUILT_IN {
        let own = base(&config, name);
        let end = if own.is_some() { "" } else { end };
        providers.insert(name.to_owned(), pointed(&format!("{gateway}/{mount}{end}")));
        launch
            .upstreams
            .extend(own.map(|own| (mount, own.to_owned())));
    }
    if let Some(name) = provider.filter(|name| !providers.contains_key(*name)) {
        let own = base(&config, name).ok_or_else(|| LaunchError::Provider {
            client: "opencode",
            name: name.to_owned(),
        })?;
        let package = config.pointer(&format!("/provider/{name}/npm"));
        let mount = match package.and_then(Value::as_str) {
            Some("@ai-sdk/anthropic") => "anthropic",
            Some("@ai-sdk/google") => "gemini",
            _ => "openai",
        };
        providers.insert(name.to_owned(), pointed(&format!("{gateway}/{mount}")));
        launch.upstreams.retain(|(taken, _)| *taken != mount);
        launch.upstreams.push((mount, own.to_owned()));
    }
    let content = json!({"provider": providers}).to_string();
    launch.variables.push(("OPENCODE_CONFIG_CONTENT", content));
    Ok(launch)
}

fn base<'c>(config: &'c Value, provider: &str) -> Option<&'c str> {
    let base = config.pointer(&format!("/provider/{provider}/options/baseURL"));
    base.and_then(Value::as_str)
}

fn pointed(base: &str) -> Value {
    json!({"options": {"baseURL": base}})
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: &str = "http://127.0.0.1:7729";

    #[test]
    fn gemini_starts_with_a_key_and_with_no_other_login() {
        let with = |login: Option<&str>| {
            let around = Surroundings {
                gemini_login: login.map(str::to_owned),
                gemini_base: Some("http://127.0.0.1:1".to_owned()),
                ..Surroundings::default()
            };
            gemini(GATEWAY, &around)
        };
        let launch = with(Some("gemini-api-key")).unwrap();
        assert_eq!(
            launch.shown("gemini"),
            "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:7729/gemini\n"
        );
        assert_eq!(
            launch.upstreams,
            [("gemini", "http://127.0.0.1:1".to_owned())]
        );
        assert_eq!(
            with(Some("oauth-personal")).unwrap_err().to_string(),
            "the gateway can't stand in front of Gemini CLI with the login oauth-personal; set $GEMINI_API_KEY and choose the login gemini-api-key"
        );
        assert_eq!(
            with(None).unwrap_err().to_string(),
            "Gemini CLI has no login here; set $GEMINI_API_KEY"
        );
    }

    #[test]
    fn copilot_needs_a_provider_of_its_own() {
        let with = |base: Option<&str>, kind: Option<&str>| {
            let around = Surroundings {
                copilot_base: base.map(str::to_owned),
                copilot_type: kind.map(str::to_owned),
                ..Surroundings::default()
            };
            copilot(GATEWAY, &around)
        };
        let launch = with(Some("http://127.0.0.1:1/v1"), None).unwrap();
        assert_eq!(launch.variables[0].1, "http://127.0.0.1:7729/openai");
        assert_eq!(
            launch.upstreams,
            [("openai", "http://127.0.0.1:1/v1".to_owned())]
        );
        let launch = with(Some("http://127.0.0.1:1"), Some("anthropic")).unwrap();
        assert_eq!(launch.variables[0].1, "http://127.0.0.1:7729/anthropic");
        assert!(with(None, None).is_err());
    }

    #[test]
    fn opencode_keeps_the_provider_that_its_model_names() {
        let with = |config: &str, model: Option<&str>| {
            let around = Surroundings {
                opencode_config: Some(config.to_owned()),
                opencode_model: model.map(str::to_owned),
                ..Surroundings::default()
            };
            opencode(GATEWAY, &around)
        };
        let config = r#"{"model":"mine/large","provider":{"mine":{"npm":"@ai-sdk/openai-compatible",
            "options":{"baseURL":"http://127.0.0.1:1/v1"}}}}"#;
        let launch = with(config, None).unwrap();
        assert_eq!(
            launch.upstreams,
            [("openai", "http://127.0.0.1:1/v1".to_owned())]
        );
        let content: Value = serde_json::from_str(&launch.variables[0].1).unwrap();
        assert_eq!(
            content.pointer("/provider/mine/options/baseURL"),
            Some(&json!("http://127.0.0.1:7729/openai"))
        );
        let launch = with("{}", Some("anthropic/claude-opus-4-1")).unwrap();
        assert!(launch.upstreams.is_empty());
        let refused = with("{}", Some("github-copilot/gpt-5")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "opencode's model provider \"github-copilot\" names no base URL"
        );
        assert!(with("{", None).is_err());
    }
}
