//! What the environment and a client's files say about where it goes. Keys are not read.

use sprag_gateway::Surroundings;

use crate::settings::Settings;

/// Variables that send Claude Code to a cloud's own API.
const CLOUDS: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// What is set here.
pub(super) fn of(settings: &Settings) -> Surroundings {
    let is_on = |name: &&str| settings.text(name).is_some_and(|value| value != "0");
    let codex = settings.codex_folder();
    let read = |name: &str| std::fs::read_to_string(codex.as_ref()?.join(name)).ok();
    let login: Option<serde_json::Value> =
        read("auth.json").and_then(|login| serde_json::from_str(&login).ok());
    let has = |name: &str| login.as_ref().is_some_and(|login| !login[name].is_null());
    Surroundings {
        anthropic_base: settings.text("ANTHROPIC_BASE_URL"),
        openai_base: settings.text("OPENAI_BASE_URL"),
        claude_cloud: CLOUDS.iter().find(|name| is_on(name)).copied(),
        codex_config: read("config.toml"),
        codex_chatgpt: has("tokens") && !has("OPENAI_API_KEY"),
    }
}
