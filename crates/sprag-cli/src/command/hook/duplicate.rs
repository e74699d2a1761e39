//! Hooks that are called for the same event: only one of them may report it, or it counts twice.
//!
//! - A project's hooks yield to those in the user's own settings. Codex is an exception: it skips hooks
//!   that its user did not trust without a word, and its tool-use ids keep calls from counting twice. If a
//!   model server gives ids that are too short for that, they yield there too.
//! - Copilot CLI runs Claude's hooks too; those yield to Copilot's own.
//!
//! A repository brings its own settings, so what is in them must not silence anything unless it does the
//! same as the hook that yields: it must run this very program, with nothing but the usual arguments.

use std::path::Path;

use clap::Parser as _;
use sprag_hooks::install::{InstalledHook, Scope, events, installed_hooks, settings_path};
use sprag_hooks::{Client, has_loose_id};

use crate::args::{Cli, HookArgs, SpragCommand};
use crate::settings::Settings;

/// Whether another hook of ours reports the event of this one.
pub(super) fn is_reported_elsewhere(
    client: Client,
    payload: &[u8],
    args: &HookArgs,
    settings: &Settings,
) -> bool {
    match settings.copilot_project() {
        Some(project) if client == Client::Claude => {
            let scopes = [Scope::User, Scope::Project];
            scopes.into_iter().any(|scope| {
                let hooks = hooks_in(Client::Copilot, scope, project, settings);
                let mut wanted = events(Client::Copilot).iter();
                wanted.all(|event| {
                    let mut hooks = hooks.iter();
                    hooks.any(|hook| hook.event == *event && replaces(hook, args))
                })
            })
        }
        _ if args.project && (client != Client::Codex || has_loose_id(payload)) => {
            let hooks = hooks_in(client, Scope::User, Path::new(""), settings);
            let event = args.event.as_deref();
            // In the home itself the user's file is the project's too: its hooks don't yield to themselves.
            let is_users = |hook: &InstalledHook| {
                let words = hook.arguments.iter().flatten();
                Some(hook.event.as_str()) == event && words.clone().all(|word| word != "--project")
            };
            hooks
                .iter()
                .any(|hook| is_users(hook) && replaces(hook, args))
        }
        _ => false,
    }
}

fn hooks_in(
    client: Client,
    scope: Scope,
    project: &Path,
    settings: &Settings,
) -> Vec<InstalledHook> {
    let homes = settings.homes(project.to_owned());
    let text = homes.and_then(|homes| {
        let path = settings_path(client, scope, &homes);
        std::fs::read_to_string(path).ok()
    });
    let hooks = text.and_then(|text| installed_hooks(client, &text).ok());
    hooks.unwrap_or_default()
}

/// Whether `hook` does what this hook with `args` does: it runs this program, asks the same guard and
/// enforces what it says, for all tools.
fn replaces(hook: &InstalledHook, args: &HookArgs) -> bool {
    let same_file = |path: &Path| path.canonicalize().ok();
    let this = std::env::current_exe().ok();
    let is_this = this.is_some_and(|this| {
        let other = same_file(Path::new(&hook.program));
        other.is_some() && other == same_file(&this)
    });
    let Some(words) = hook.arguments.as_deref().filter(|_| is_this) else {
        return false;
    };
    let words = std::iter::once("sprag").chain(words.iter().map(String::as_str));
    let Ok(Cli {
        command: SpragCommand::Hook(other),
        ..
    }) = Cli::try_parse_from(words)
    else {
        return false;
    };
    let asks_elsewhere =
        other.db.db.is_some() || other.socket.socket.is_some() || other.policy.policy.is_some();
    let is_weaker = other.shadow && !args.shadow;
    hook.matcher.is_none() && !asks_elsewhere && !is_weaker
}
