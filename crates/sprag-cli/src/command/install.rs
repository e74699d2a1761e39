//! `sprag install`: adds the guard's hooks to an agent CLI's settings.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sprag::FailMode;
use sprag::link::{hook_token_file, read_token};
use sprag_hooks::Client;
use sprag_hooks::install::{
    HookCommand, HookServer, InstallError, Scope, install, installed_hooks, settings_path,
};

use crate::args::{InstallArgs, PolicySetArgs};
use crate::budget::SpendBudget;
use crate::build_output;
use crate::failure::{Failure, Run};
use crate::settings::Settings;
use crate::settings_file::{Change, SettingsFile};

/// Adds the hooks.
pub(crate) fn run(args: &InstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let clients = match args.client {
        Some(client) => vec![client],
        None => found_clients(settings)?,
    };
    if clients.is_empty() {
        return Err(Failure::new("no agent CLI is found here")
            .next("name one: sprag install claude, codex, gemini, copilot, cursor or opencode"));
    }
    for client in &clients {
        install_one(*client, args, settings, out)?;
    }
    for budget in &args.budget {
        set_budget(budget, args.yes, settings, out)?;
    }
    if args.http.is_none() {
        build_output::warn(Path::new(&binary(args.binary.as_ref())?), out)?;
    }
    writeln!(
        out,
        "`sprag doctor` tries the hooks and reports what is wrong"
    )?;
    super::scan::in_short(&clients, settings, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a budget into the policy, as `sprag policy set` does.
fn set_budget(
    budget: &SpendBudget,
    yes: bool,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let yes = yes.then_some("--yes");
    let words = [budget.key, budget.value.as_str()].into_iter().chain(yes);
    let set = PolicySetArgs::of(words.map(Into::into))?;
    super::policy::set::run(&set, settings, out)?;
    Ok(())
}

/// The clients whose program is on the path, or who have settings here.
fn found_clients(settings: &Settings) -> Result<Vec<Client>, Failure> {
    let mut found = Vec::new();
    for client in Client::ALL {
        let file = settings_file(client, Scope::User, settings)?;
        let has_folder = match client {
            // Its hooks have a folder of their own, below its settings.
            Client::Copilot | Client::Opencode => file.path.ancestors().nth(2),
            _ => file.path.parent(),
        };
        let has_settings = has_folder.is_some_and(|folder| folder.is_dir());
        if settings.program(client.program()).is_some() || has_settings {
            found.push(client);
        }
    }
    Ok(found)
}

fn install_one(
    client: Client,
    args: &InstallArgs,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let scope = args.scope.scope();
    let server = server(client, args, settings)?;
    let secret = server.as_ref().map(|server| server.token.clone());
    let file = settings_file(client, scope, settings)?.with_secret(secret);
    let line = HookCommand {
        binary: binary(args.binary.as_ref())?,
        project: scope == Scope::Project,
        shadow: args.shadow,
        fail: args.fail,
        server,
    };
    let wanted =
        install(client, file.text.as_deref(), &line).map_err(|error| unusable(&file, &error))?;
    // What has our hooks in it already is not what was there before.
    let keep = file
        .text
        .as_deref()
        .is_some_and(|text| installed_hooks(client, text).is_ok_and(|found| found.is_empty()));
    let title = client.title();
    let path = file.path.display();
    match file.change(Some(&wanted), keep, args.yes, out)? {
        Change::None => writeln!(out, "{title}: the hooks are there already, in {path}")?,
        Change::Declined => writeln!(out, "nothing was changed")?,
        Change::Done(kept) => {
            let mode = if args.shadow { ", in shadow" } else { "" };
            writeln!(out, "{title} is guarded{mode}: {path}")?;
            if let Some(kept) = kept {
                writeln!(out, "the file as it was: {}", kept.display())?;
            }
            if let Some(advice) = advice(client, scope) {
                writeln!(out, "{advice}")?;
            }
        }
    }
    Ok(())
}

/// The server that hooks are posted to, if that is asked for.
fn server(
    client: Client,
    args: &InstallArgs,
    settings: &Settings,
) -> Result<Option<HookServer>, Failure> {
    let Some(url) = &args.http else {
        return Ok(None);
    };
    if client != Client::Claude {
        return Err(Failure::new("only Claude Code posts its hooks").next("leave out --http"));
    }
    if args.fail == FailMode::Closed {
        return Err(Failure::new(
            "Claude Code goes on if a hook can't be posted: --http never fails closed",
        )
        .next("leave out --http, or --fail closed"));
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(
            Failure::new(format!("--http={url} is not the address of a server"))
                .next("say --http=http://127.0.0.1:7727"),
        );
    }
    let db = settings
        .db_place(None)
        .ok_or_else(|| Failure::new("there is no home: $HOME is not set"))?;
    let file = hook_token_file(&db);
    let token = read_token(&file).map_err(|error| {
        Failure::new(format!(
            "can't read the hooks' token {}: {}",
            file.display(),
            Failure::reason(&error)
        ))
        .next("start `sprag serve` once, which makes it")
    })?;
    Ok(Some(HookServer {
        url: url.trim_end_matches('/').to_owned(),
        token,
    }))
}

/// What the person must still do, since no program can.
fn advice(client: Client, scope: Scope) -> Option<&'static str> {
    match (client, scope) {
        (Client::Codex, _) => Some(
            "Codex skips hooks that you have not trusted, without a word: start codex, type /hooks, \
             and trust those of sprag; again after each change of them",
        ),
        (Client::Copilot, Scope::Project) => {
            Some("Copilot runs hooks of a project only if you trusted its folder")
        }
        (Client::Claude, Scope::Project) => {
            Some("Copilot runs the hooks of this file too, unless it has its own")
        }
        (Client::Cursor, _) => {
            Some("Cursor's hooks were written from its documentation, not tried")
        }
        _ => None,
    }
}

/// The settings of `client` as they are.
pub(crate) fn settings_file(
    client: Client,
    scope: Scope,
    settings: &Settings,
) -> Result<SettingsFile, Failure> {
    let homes = settings.homes_here()?;
    SettingsFile::read(settings_path(client, scope, &homes), settings.backups())
}

/// A settings file that can't be changed.
pub(crate) fn unusable(file: &SettingsFile, error: &InstallError) -> Failure {
    Failure::new(format!("can't use {}: {error}", file.path.display()))
        .next("fix it by hand, then try again")
}

/// The program that hooks start: it must be found from any folder.
fn binary(named: Option<&PathBuf>) -> Result<String, Failure> {
    let path = match named {
        Some(named) => std::path::absolute(named),
        None => std::env::current_exe(),
    };
    let path = path.map_err(|error| {
        Failure::new(format!(
            "can't find the path of this program: {}",
            Failure::reason(&error)
        ))
        .next("name it with --binary FILE")
    })?;
    Ok(path.display().to_string())
}
