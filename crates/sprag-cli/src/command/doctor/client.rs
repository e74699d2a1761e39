//! One agent CLI: is it here, are our hooks in its settings, would it run them, do they reach the store.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Parser as _;
use sprag_hooks::Client;
use sprag_hooks::install::{
    ConfigDirs, InstalledHook, Scope, events, installed_hooks, settings_path,
};

use super::guard::GuardLocation;
use super::probe::{self, Probed};
use super::{Check, process, trust};
use crate::args::Cli;
use crate::settings::Settings;

/// How long a client may take to print its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// What there is to say; nothing about a client that is not here.
pub(super) fn look(
    client: Client,
    homes: &ConfigDirs,
    settings: &Settings,
    guard: &GuardLocation,
) -> Vec<Check> {
    let title = client.title();
    let mut checks = Vec::new();
    let mut looked = Vec::new();
    let mut installed = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        let path = settings_path(client, scope, homes);
        // In the home itself both are one file.
        if looked.contains(&path) {
            continue;
        }
        looked.push(path.clone());
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        match installed_hooks(client, &text) {
            Ok(hooks) if hooks.is_empty() => {}
            Ok(hooks) => {
                checks.extend(judge(client, scope, &path, &hooks));
                checks.extend(trust::look(client, scope, &path, &text, homes));
                installed.push((scope, hooks));
            }
            Err(error) => checks.push(Check::wrong(
                title,
                format!("{}: {error}", path.display()),
                "fix the file by hand",
            )),
        }
    }
    let program = settings.program(client.program());
    if installed.is_empty() {
        let is_found = program.is_some();
        let fix = format!("sprag install {client}");
        checks.extend(is_found.then(|| Check::wrong(title, "found here, and not guarded", fix)));
        return checks;
    }
    if client == Client::Codex {
        checks.extend(trust::codex(program.as_deref(), &looked, homes));
    }
    checks.extend(trust::managed(client));
    // A project's hooks yield to the user's, so the first ones are those that report.
    if let Some((scope, hooks)) = installed.first() {
        checks.extend(reach(client, *scope, hooks, guard));
    }
    checks.push(used(client, guard));
    checks.extend(program.and_then(|program| newer(client, &program)));
    checks
}

fn install_again(client: Client, scope: Scope) -> String {
    match scope {
        Scope::Project => format!("sprag install {client} --project"),
        Scope::User => format!("sprag install {client}"),
    }
}

/// Whether all hooks are there, and start this program.
fn judge(client: Client, scope: Scope, path: &Path, hooks: &[InstalledHook]) -> Vec<Check> {
    let title = client.title();
    let again = install_again(client, scope);
    let posted = hooks.iter().any(|hook| hook.authorization.is_some());
    let is_wanted = |event: &&str| !(posted && *event == "SessionStart");
    let missing: Vec<&str> = events(client)
        .iter()
        .copied()
        .filter(is_wanted)
        .filter(|event| !hooks.iter().any(|hook| hook.event == *event))
        .collect();
    let narrowed = hooks
        .iter()
        .find_map(|hook| Some((&hook.event, hook.matcher.as_ref()?)));
    let shown = path.display();
    let mut checks = Vec::new();
    if !missing.is_empty() {
        let state = format!("{shown} has no hook for {}", missing.join(", "));
        checks.push(Check::wrong(title, state, again.clone()));
    } else if let Some((event, matcher)) = narrowed {
        let state = format!("{shown} has a hook for {event} that sees only `{matcher}`");
        checks.push(Check::wrong(title, state, again.clone()));
    } else {
        let in_shadow = |hook: &InstalledHook| {
            hook.command.contains(" --shadow") || hook.command.contains("&shadow=true")
        };
        let mode = match hooks.iter().any(in_shadow) {
            true => "hooks in shadow: they stop nothing,",
            false => "hooks",
        };
        checks.push(Check::fine(title, format!("{mode} in {shown}")));
    }
    checks.extend(program(client, hooks, &again));
    checks
}

/// Whether the hooks start a program that is there and understands them.
fn program(client: Client, hooks: &[InstalledHook], again: &str) -> Option<Check> {
    let hook = hooks.first().filter(|hook| hook.authorization.is_none())?;
    let program = Path::new(&hook.program);
    if program.is_absolute() && !program.is_file() {
        let state = format!("its hooks start {}, which does not exist", hook.program);
        return Some(Check::wrong(client.title(), state, again));
    }
    let this = std::env::current_exe().ok()?;
    let same = |path: &Path| path.canonicalize().ok();
    if program.is_absolute() && same(program) != same(&this) {
        let state = format!("its hooks start {}, not this program", hook.program);
        return Some(Check::wrong(client.title(), state, again));
    }
    let words = hook.arguments.as_deref()?.iter().map(String::as_str);
    match Cli::try_parse_from(std::iter::once("sprag").chain(words)) {
        Ok(_) => None,
        Err(_) => {
            let state = format!(
                "this version does not understand its hooks: {}",
                hook.command
            );
            Some(Check::wrong(client.title(), state, again))
        }
    }
}

/// Whether a hook that is sent now reaches the store.
fn reach(
    client: Client,
    scope: Scope,
    hooks: &[InstalledHook],
    guard: &GuardLocation,
) -> Option<Check> {
    let title = client.title();
    let event = probe::event(client);
    let hook = hooks.iter().find(|hook| hook.event == event)?;
    if hook.authorization.is_some()
        && hook.authorization != guard.hook_token().map(|token| format!("Bearer {token}"))
    {
        let state = "its hooks have another token than the server, which refuses them";
        return Some(Check::wrong(
            title,
            state,
            format!("sprag install {client} --http"),
        ));
    }
    match probe::send(client, hook, guard) {
        Probed::Arrived => Some(Check::fine(
            title,
            "a hook that was sent now reached the store",
        )),
        Probed::Lost(said) => {
            let said = match said.is_empty() {
                true => "it printed nothing".to_owned(),
                false => format!("it printed: {said}"),
            };
            let fix = match hook.authorization {
                Some(_) => "sprag serve".to_owned(),
                None => format!(
                    "see what is wrong below, else {}",
                    install_again(client, scope)
                ),
            };
            let state = format!("a hook that was sent now did not reach the store; {said}");
            Some(Check::wrong(title, state, fix))
        }
    }
}

/// When the client itself last used its hooks.
fn used(client: Client, guard: &GuardLocation) -> Check {
    let state = match guard.last_event(client) {
        Some(when) => format!("last used {when} UTC"),
        None => format!(
            "not used yet: start {} and let it run a tool",
            client.program()
        ),
    };
    Check::fine(client.title(), state)
}

/// A client that is newer than the one that the hooks were tried with.
fn newer(client: Client, program: &Path) -> Option<Check> {
    let tried = client.tried_version()?;
    let mut command = Command::new(program);
    command.arg("--version");
    let lines = process::lines(command, "", VERSION_DEADLINE, None)?;
    let found = lines.iter().find_map(|line| version(line))?;
    (found > version(tried)?).then(|| {
        let [major, minor, patch] = found;
        Check::fine(
            client.title(),
            format!("version {major}.{minor}.{patch}; the hooks were tried with {tried}"),
        )
    })
}

/// The first version in a text.
fn version(text: &str) -> Option<[u32; 3]> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.into_iter().find_map(|word| {
        let mut parts = word.split('.').map(str::parse);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some([major, minor, patch]),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_clients_print() {
        assert_eq!(version("2.1.325 (Claude Code)"), Some([2, 1, 325]));
        assert_eq!(version("codex-cli 0.166.0"), Some([0, 166, 0]));
        assert_eq!(version("no version"), None);
        assert!(version("0.167.0") > version("0.166.12"));
    }
}
