//! Whether a client would run our hooks: some ask their user first, and all can be switched off.

use std::path::Path;

use serde_json::Value;
use sprag_hooks::Client;
use sprag_hooks::install::{Homes, Scope, events};

use super::Look;

pub(super) fn look(
    client: Client,
    scope: Scope,
    path: &Path,
    text: &str,
    homes: &Homes,
) -> Option<Look> {
    match client {
        Client::Codex => codex(path, homes),
        Client::Copilot if scope == Scope::Project => copilot(homes),
        Client::Claude | Client::Gemini => switched_off(client, path, text),
        _ => None,
    }
}

/// Codex keeps a hash for every hook that its user trusted, under a key that starts with the file.
fn codex(path: &Path, homes: &Homes) -> Option<Look> {
    let own = homes.home.join(".codex");
    let folder = homes.codex.as_ref().unwrap_or(&own);
    let config = std::fs::read_to_string(folder.join("config.toml")).unwrap_or_default();
    let config: toml::Table = config.parse().unwrap_or_default();
    let state = config
        .get("hooks")
        .and_then(|hooks| hooks.get("state"))
        .and_then(toml::Value::as_table);
    let is_trusted = |event: &&&str| {
        let key = format!("{}:{}:", path.display(), snake(event));
        state.is_some_and(|state| {
            state
                .iter()
                .any(|(held, value)| held.starts_with(&key) && value.get("trusted_hash").is_some())
        })
    };
    let wanted = events(Client::Codex);
    let trusted = wanted.iter().filter(is_trusted).count();
    if trusted == wanted.len() {
        return None;
    }
    let title = Client::Codex.title();
    Some(Look::wrong(
        title,
        format!(
            "{trusted} of {} hooks are trusted; Codex skips the others without a word",
            wanted.len()
        ),
        "start codex, type /hooks, and trust those of sprag",
    ))
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Copilot runs the hooks of folders that its user trusted.
fn copilot(homes: &Homes) -> Option<Look> {
    let own = homes.home.join(".copilot");
    let folder = homes.copilot.as_ref().unwrap_or(&own);
    let text = std::fs::read_to_string(folder.join("config.json")).unwrap_or_default();
    let config = jsonc_value(&text);
    let trusted = config.get("trustedFolders").and_then(Value::as_array);
    let here = trusted.is_some_and(|folders| {
        let mut folders = folders.iter().filter_map(Value::as_str);
        folders.any(|folder| homes.project.starts_with(folder))
    });
    let fix = "start copilot here and trust the folder, or `sprag install copilot --user`";
    (!here).then(|| {
        let state = format!(
            "{} is not trusted, so its hooks are skipped",
            homes.project.display()
        );
        Look::wrong(Client::Copilot.title(), state, fix)
    })
}

fn switched_off(client: Client, path: &Path, text: &str) -> Option<Look> {
    let settings = jsonc_value(text);
    let key = match client {
        Client::Claude if settings.get("disableAllHooks") == Some(&Value::Bool(true)) => {
            "disableAllHooks"
        }
        Client::Gemini if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) => {
            "hooksConfig.enabled"
        }
        _ => return None,
    };
    Some(Look::wrong(
        client.title(),
        format!("`{key}` in {} switches all hooks off", path.display()),
        format!("remove `{key}`"),
    ))
}

/// JSON with comments; null where it is none.
fn jsonc_value(text: &str) -> Value {
    sprag_hooks::install::value(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codex_names_events_in_snake_case() {
        assert_eq!(snake("PreToolUse"), "pre_tool_use");
        assert_eq!(snake("SubagentStop"), "subagent_stop");
    }
}
