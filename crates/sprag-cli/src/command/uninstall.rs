//! `sprag uninstall`: removes the guard's hooks from an agent CLI's settings.
//!
//! Nothing stays behind that was not there before: neither a file that was made for the hooks, nor its
//! folders. With `--all` the wrappers before MCP servers go too; the log and the policy are the user's, so
//! they stay and the command that removes them is printed.

use std::io::Write;
use std::process::ExitCode;

use sprag_hooks::Client;
use sprag_hooks::install::{Scope, installed_hooks, uninstall, value};

use super::install::{settings_file, unusable};
use crate::args::UninstallArgs;
use crate::failure::{Failure, Run};
use crate::settings::Settings;
use crate::settings_file::{Change, SettingsFile};

/// Removes the hooks.
pub(crate) fn run(args: &UninstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    if let Some(client) = args.client {
        let file = settings_file(client, args.scope.scope(), settings)?;
        uninstall_one(client, &file, args, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let scopes = match args.scope.named() {
        Some(scope) => vec![scope],
        None => vec![Scope::User, Scope::Project],
    };
    let mut any = false;
    for scope in scopes {
        for client in Client::ALL {
            let file = settings_file(client, scope, settings)?;
            let has_hooks =
                |text: &str| installed_hooks(client, text).is_ok_and(|all| !all.is_empty());
            if file.text.as_deref().is_some_and(has_hooks) {
                any = true;
                uninstall_one(client, &file, args, out)?;
            }
        }
    }
    #[cfg(unix)]
    if super::mcp::uninstall_all(args.yes, settings, out)? {
        any = true;
    }
    if !any {
        writeln!(out, "no settings here have anything of sprag in them")?;
    }
    what_stays(settings, out)?;
    Ok(ExitCode::SUCCESS)
}

/// The user's own data, and how to remove it.
fn what_stays(settings: &Settings, out: &mut dyn Write) -> std::io::Result<()> {
    let folders = [settings.state_folder(), settings.policy_folder()];
    let there: Vec<String> = folders
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_dir())
        .map(|folder| format!("'{}'", folder.display()))
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "your log and policy stay; to remove them too: rm -r {}",
        there.join(" ")
    )
}

fn uninstall_one(
    client: Client,
    file: &SettingsFile,
    args: &UninstallArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (title, path) = (client.title(), file.path.display());
    let before = file.before();
    let mut wanted = match file.text.as_deref() {
        Some(text) => {
            uninstall(client, text, before.as_deref()).map_err(|error| unusable(file, &error))?
        }
        None => None,
    };
    let changed = wanted.as_deref() != file.text.as_deref();
    if changed && file.was_absent() && wanted.as_deref().is_some_and(is_bare) {
        wanted = None;
    }
    match file.change(wanted.as_deref(), false, args.yes, out)? {
        Change::None => writeln!(out, "{title}: there are no hooks of sprag in {path}")?,
        Change::Declined => writeln!(out, "nothing was changed")?,
        Change::Done(_) => {
            file.forget(wanted.as_deref());
            writeln!(out, "{title} is no longer guarded: {path}")?;
        }
    }
    Ok(())
}

/// Whether settings hold nothing but what `sprag install` puts into an empty file.
fn is_bare(text: &str) -> bool {
    let value = value(text).unwrap_or_default();
    value
        .as_object()
        .is_some_and(|fields| fields.keys().all(|key| key == "version"))
}
