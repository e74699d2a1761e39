//! Whether a client would run our hooks: some ask their user first, and all can be switched off.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sprag_hooks::Client;
use sprag_hooks::install::{ConfigDirs, Scope, events};

use super::Check;
use super::codex::{self, ListedHook};

/// What keeps a client from running the hooks in the settings at `path`.
pub(super) fn look(
    client: Client,
    scope: Scope,
    path: &Path,
    text: &str,
    homes: &ConfigDirs,
) -> Option<Check> {
    match client {
        Client::Copilot if scope == Scope::Project => copilot(homes),
        Client::Claude | Client::Gemini => switched_off(client, path, text),
        _ => None,
    }
}

/// Whether Codex runs our hooks: they may be switched off as a whole, and each must be trusted as it is.
pub(super) fn codex(
    program: Option<&Path>,
    files: &[PathBuf],
    homes: &ConfigDirs,
) -> Option<Check> {
    let title = Client::Codex.title();
    let own = homes.home.join(".codex");
    let folder = homes.codex.as_ref().unwrap_or(&own);
    let config = std::fs::read_to_string(folder.join("config.toml")).unwrap_or_default();
    let config: toml::Table = config.parse().unwrap_or_default();
    let feature = config
        .get("features")
        .and_then(|features| features.get("hooks"));
    if feature == Some(&toml::Value::Boolean(false)) {
        let state = "`[features] hooks = false` in its config.toml switches all hooks off";
        return Some(Check::wrong(title, state, "remove that line"));
    }
    let listed = program.and_then(|program| codex::hooks(program, &homes.project));
    let (trusted, wanted) = match listed {
        Some(listed) => {
            let is_ours = |hook: &&ListedHook| {
                let command = hook.command.as_deref().unwrap_or_default();
                command.contains(" hook --client codex ")
            };
            let ours: Vec<&ListedHook> = listed.iter().filter(is_ours).collect();
            let runs = |hook: &&&ListedHook| {
                hook.enabled && matches!(hook.trust_status.as_str(), "trusted" | "managed")
            };
            (ours.iter().filter(runs).count(), ours.len())
        }
        None => (trusted_events(&config, files), events(Client::Codex).len()),
    };
    if trusted >= wanted {
        return None;
    }
    let state = format!(
        "{trusted} of {wanted} hooks are trusted as they are now; Codex skips the others without a word"
    );
    let fix = "start codex, type /hooks, and trust those of sprag";
    Some(Check::wrong(title, state, fix))
}

/// Of how many events the hooks in one of `files` were trusted once, for a Codex that can't be asked. It
/// keeps a hash for every hook, under a key that starts with the file.
fn trusted_events(config: &toml::Table, files: &[PathBuf]) -> usize {
    let state = config
        .get("hooks")
        .and_then(|hooks| hooks.get("state"))
        .and_then(toml::Value::as_table);
    let is_trusted = |event: &&&str| {
        files.iter().any(|path| {
            let key = format!("{}:{}:", path.display(), snake(event));
            state.is_some_and(|state| {
                state.iter().any(|(held, value)| {
                    held.starts_with(&key) && value.get("trusted_hash").is_some()
                })
            })
        })
    };
    events(Client::Codex).iter().filter(is_trusted).count()
}

/// Settings of an administrator that forbid hooks.
pub(super) fn managed(client: Client) -> Option<Check> {
    let files: &[&str] = match client {
        Client::Claude => &[
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
        ],
        Client::Codex => &["/etc/codex/requirements.toml"],
        Client::Gemini => &[
            "/etc/gemini-cli/settings.json",
            "/Library/Application Support/GeminiCli/settings.json",
        ],
        _ => &[],
    };
    files.iter().find_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        let key = forbids(client, &text)?;
        let state = format!("`{key}` in {file} keeps your hooks from running");
        Some(Check::wrong(
            client.title(),
            state,
            "ask your administrator",
        ))
    })
}

/// The key of managed settings by which they forbid the hooks of users.
fn forbids(client: Client, text: &str) -> Option<&'static str> {
    let settings = match client {
        Client::Codex => serde_json::to_value(text.parse::<toml::Table>().ok()?).ok()?,
        _ => jsonc_value(text),
    };
    let is = |pointer: &str, value: bool| settings.pointer(pointer) == Some(&Value::Bool(value));
    match client {
        Client::Claude if is("/disableAllHooks", true) => Some("disableAllHooks"),
        Client::Claude if is("/allowManagedHooksOnly", true) => Some("allowManagedHooksOnly"),
        Client::Codex if is("/allow_managed_hooks_only", true) => Some("allow_managed_hooks_only"),
        Client::Gemini if is("/hooksConfig/enabled", false) => Some("hooksConfig.enabled"),
        _ => None,
    }
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
fn copilot(homes: &ConfigDirs) -> Option<Check> {
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
        Check::wrong(Client::Copilot.title(), state, fix)
    })
}

fn switched_off(client: Client, path: &Path, text: &str) -> Option<Check> {
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
    Some(Check::wrong(
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
    fn managed_settings_that_forbid_hooks_are_found() {
        for (client, text, key) in [
            (
                Client::Claude,
                "{\"disableAllHooks\": true}",
                Some("disableAllHooks"),
            ),
            (
                Client::Claude,
                "{\"allowManagedHooksOnly\": true}",
                Some("allowManagedHooksOnly"),
            ),
            (Client::Claude, "{\"allowManagedHooksOnly\": false}", None),
            (
                Client::Codex,
                "allow_managed_hooks_only = true",
                Some("allow_managed_hooks_only"),
            ),
            (
                Client::Gemini,
                "{\"hooksConfig\": {\"enabled\": false}}",
                Some("hooksConfig.enabled"),
            ),
            (Client::Cursor, "{\"disableAllHooks\": true}", None),
        ] {
            assert_eq!(forbids(client, text), key);
        }
    }

    #[test]
    fn codex_names_events_in_snake_case() {
        assert_eq!(snake("PreToolUse"), "pre_tool_use");
        assert_eq!(snake("SubagentStop"), "subagent_stop");
    }
}
