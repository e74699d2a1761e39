//! What the environment and a client's files say about where it goes. Keys are not read.

use std::path::Path;

use serde_json::Value;
use sprag_gateway::Surroundings;

use crate::settings::Settings;

/// Variables that send Claude Code to a cloud's own API.
const CLOUDS: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// What is set here; `arguments` are those of the client.
pub(crate) fn of(settings: &Settings, arguments: &[String]) -> Surroundings {
    let is_on = |name: &&str| settings.text(name).is_some_and(|value| value != "0");
    let codex = settings.codex_folder();
    let read = |name: &str| std::fs::read_to_string(codex.as_ref()?.join(name)).ok();
    let login: Option<Value> =
        read("auth.json").and_then(|login| serde_json::from_str(&login).ok());
    let has = |name: &str| login.as_ref().is_some_and(|login| !login[name].is_null());
    Surroundings {
        anthropic_base: settings.text("ANTHROPIC_BASE_URL"),
        openai_base: settings.text("OPENAI_BASE_URL"),
        gemini_base: settings.text("GOOGLE_GEMINI_BASE_URL"),
        gemini_login: gemini_login(settings),
        copilot_base: settings.text("COPILOT_PROVIDER_BASE_URL"),
        copilot_type: settings.text("COPILOT_PROVIDER_TYPE"),
        opencode_config: opencode_config(settings),
        opencode_model: model(arguments),
        claude_cloud: CLOUDS.iter().find(|name| is_on(name)).copied(),
        codex_config: read("config.toml"),
        codex_chatgpt: has("tokens") && !has("OPENAI_API_KEY"),
    }
}

fn json(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(&text).ok()
}

/// The login that Gemini CLI was set to, the project's before the user's, else the one that its
/// variables lead to.
fn gemini_login(settings: &Settings) -> Option<String> {
    let home = settings
        .text("GEMINI_CLI_HOME")
        .or_else(|| settings.text("HOME"));
    let files = [Some(".".to_owned()), home];
    let chosen = files.into_iter().flatten().find_map(|folder| {
        let settings = json(&Path::new(&folder).join(".gemini/settings.json"))?;
        let chosen = settings.pointer("/security/auth/selectedType");
        Some(chosen?.as_str()?.to_owned())
    });
    let is_on = |name: &str| settings.text(name).is_some_and(|value| value == "true");
    chosen.or_else(|| match settings.text("GEMINI_API_KEY") {
        _ if is_on("GOOGLE_GENAI_USE_GCA") => Some("oauth-personal".to_owned()),
        _ if is_on("GOOGLE_GENAI_USE_VERTEXAI") => Some("vertex-ai".to_owned()),
        key => key.map(|_| "gemini-api-key".to_owned()),
    })
}

/// opencode's settings, the project's over the user's.
fn opencode_config(settings: &Settings) -> Option<String> {
    let base = settings.text("XDG_CONFIG_HOME");
    let base = base.or_else(|| Some(format!("{}/.config", settings.text("HOME")?)));
    let user = base.map(|base| format!("{base}/opencode/opencode.json"));
    let named = settings.text("OPENCODE_CONFIG");
    let files = [user, named, Some("opencode.json".to_owned())];
    let mut merged = Value::Null;
    for file in files.into_iter().flatten() {
        // One that can't be read is left to the launch, which names it.
        match std::fs::read_to_string(&file) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(config) => merge(&mut merged, config),
                Err(_) => return Some(text),
            },
            Err(_) => continue,
        }
    }
    (!merged.is_null()).then(|| merged.to_string())
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The model that a command line names.
fn model(arguments: &[String]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-m" | "--model") {
            return words.next().cloned();
        }
        if let Some(model) = word.strip_prefix("--model=") {
            return Some(model.to_owned());
        }
    }
    None
}
