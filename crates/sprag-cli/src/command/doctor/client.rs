//! One agent CLI: is it here, are our hooks in its settings, would it run them, did it.

use std::path::Path;

use clap::Parser as _;
use sprag_hooks::Client;
use sprag_hooks::install::{Found, Homes, Scope, events, found, place};

use super::guard::Place;
use super::{Look, trust};
use crate::args::Cli;
use crate::settings::Settings;

/// What there is to say; nothing about a client that is not here.
pub(super) fn look(client: Client, homes: &Homes, settings: &Settings, guard: &Place) -> Vec<Look> {
    let title = client.title();
    let mut looks = Vec::new();
    let mut installed = false;
    let mut looked = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        let path = place(client, scope, homes);
        // In the home itself both are one file.
        if looked.contains(&path) {
            continue;
        }
        looked.push(path.clone());
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        match found(client, &text) {
            Ok(hooks) if hooks.is_empty() => {}
            Ok(hooks) => {
                installed = true;
                looks.extend(judge(client, scope, &path, &text, &hooks, homes));
                looks.extend(posted(client, &hooks, guard));
            }
            Err(error) => looks.push(Look::wrong(
                title,
                format!("{}: {error}", path.display()),
                "mend the file by hand",
            )),
        }
    }
    if installed {
        looks.push(fired(client, guard));
    } else if settings.program(client.program()).is_some() {
        looks.push(Look::wrong(
            title,
            "found here, and not guarded",
            format!("sprag install {client}"),
        ));
    }
    looks
}

fn judge(
    client: Client,
    scope: Scope,
    path: &Path,
    text: &str,
    hooks: &[Found],
    homes: &Homes,
) -> Vec<Look> {
    let title = client.title();
    let flag = match scope {
        Scope::Project => " --project",
        Scope::User => "",
    };
    let again = format!("sprag install {client}{flag}");
    let mut looks = Vec::new();
    let missing: Vec<&str> = events(client)
        .iter()
        .copied()
        .filter(|event| !hooks.iter().any(|hook| hook.event == *event))
        .collect();
    let shown = path.display();
    if missing.is_empty() {
        let in_shadow = |hook: &Found| {
            hook.command.contains(" --shadow") || hook.command.contains("&shadow=true")
        };
        let mode = match hooks.iter().any(in_shadow) {
            true => "hooks in shadow",
            false => "hooks",
        };
        looks.push(Look::fine(title, format!("{mode} in {shown}")));
    } else {
        looks.push(Look::wrong(
            title,
            format!("{shown} has no hook for {}", missing.join(", ")),
            again.clone(),
        ));
    }
    looks.extend(program(client, hooks, &again));
    looks.extend(trust::look(client, scope, path, text, homes));
    looks
}

/// Whether the hooks start a program that is there and understands them.
fn program(client: Client, hooks: &[Found], again: &str) -> Option<Look> {
    let hook = hooks.first().filter(|hook| hook.authorization.is_none())?;
    let program = Path::new(&hook.program);
    if program.is_absolute() && !program.is_file() {
        return Some(Look::wrong(
            client.title(),
            format!("its hooks start {}, which is not there", hook.program),
            again,
        ));
    }
    let this = std::env::current_exe().ok()?;
    let same = |path: &Path| path.canonicalize().ok();
    if program.is_absolute() && same(program) != same(&this) {
        return Some(Look::wrong(
            client.title(),
            format!("its hooks start {}, not this program", hook.program),
            again,
        ));
    }
    // Paths with spaces are one quoted word, which is cut off with the program.
    let words = hook.command.rsplit_once(" hook --client ")?.1;
    let words = ["sprag", "hook", "--client"]
        .into_iter()
        .chain(words.split(' '));
    match Cli::try_parse_from(words) {
        Ok(_) => None,
        Err(_) => Some(Look::wrong(
            client.title(),
            format!(
                "its hooks say what this version does not understand: {}",
                hook.command
            ),
            again,
        )),
    }
}

/// Whether hooks that are posted find a server that believes them.
fn posted(client: Client, hooks: &[Found], guard: &Place) -> Option<Look> {
    let hook = hooks.iter().find(|hook| hook.authorization.is_some())?;
    let (title, again) = (client.title(), format!("sprag install {client} --http"));
    if hook.authorization != guard.hook_token().map(|token| format!("Bearer {token}")) {
        let state = "its hooks have another token than the server, which refuses them";
        return Some(Look::wrong(title, state, again));
    }
    if !guard.serves() {
        return Some(Look::wrong(
            title,
            format!(
                "its hooks are posted to {}, and no server runs",
                hook.program
            ),
            "sprag serve",
        ));
    }
    None
}

/// Whether the hooks really fire.
fn fired(client: Client, guard: &Place) -> Look {
    match guard.last_event(client) {
        Some(when) => Look::fine(client.title(), format!("last event {when} UTC")),
        None => Look::wrong(
            client.title(),
            "no event was ever seen",
            format!(
                "start {} and let it run one tool; then look again",
                client.program()
            ),
        ),
    }
}
