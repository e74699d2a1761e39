//! `sprag install`: the guard's hooks into an agent CLI's settings.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use sprag::FailMode;
use sprag::link::{hook_token_file, read_token};
use sprag_hooks::Client;
use sprag_hooks::install::{HookLine, HookServer, InstallError, Scope, found, install, place};

use crate::args::InstallArgs;
use crate::failure::{Failure, Run};
use crate::settings::Settings;
use crate::settings_file::{Change, SettingsFile};

/// Puts the hooks in.
pub(crate) fn run(args: &InstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let client = Client::from(args.client);
    let scope = args.scope.scope();
    let file = settings_file(client, scope, settings)?;
    let line = HookLine {
        binary: binary(args.binary.as_ref())?,
        shadow: args.shadow,
        fail: args.fail.into(),
        server: server(args, settings)?,
    };
    let wanted =
        install(client, file.text.as_deref(), &line).map_err(|error| unusable(&file, &error))?;
    // What has our hooks in it already is not what was there before.
    let keep = file
        .text
        .as_deref()
        .is_some_and(|text| found(client, text).is_ok_and(|found| found.is_empty()));
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
            writeln!(out, "`sprag doctor` tells whether the hooks fire")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The server that hooks are posted to, where that is asked for.
fn server(args: &InstallArgs, settings: &Settings) -> Result<Option<HookServer>, Failure> {
    let Some(url) = &args.http else {
        return Ok(None);
    };
    if Client::from(args.client) != Client::Claude {
        return Err(Failure::new("only Claude Code posts its hooks").next("leave out --http"));
    }
    if FailMode::from(args.fail) == FailMode::Closed {
        return Err(Failure::new(
            "Claude Code goes on where a hook can't be posted: --http never fails closed",
        )
        .next("leave out --http, or --fail closed"));
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(
            Failure::new(format!("--http={url} is no address of a server"))
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
            "Codex does not run hooks that you have not trusted, and says nothing: start codex, type /hooks, \
             and trust those of sprag; again after each change of them",
        ),
        (Client::Copilot, Scope::Project) => {
            Some("Copilot runs hooks of a project only where you trusted its folder")
        }
        (Client::Claude, Scope::Project) => {
            Some("Copilot runs the hooks of this file too, where it has none of its own")
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
    let here = std::env::current_dir().map_err(|error| {
        Failure::new(format!(
            "can't tell where this is: {}",
            Failure::reason(&error)
        ))
    })?;
    let homes = settings
        .homes(here)
        .ok_or_else(|| Failure::new("there is no home: $HOME is not set"))?;
    SettingsFile::read(place(client, scope, &homes))
}

/// A settings file that can't be changed.
pub(crate) fn unusable(file: &SettingsFile, error: &InstallError) -> Failure {
    Failure::new(format!("can't use {}: {error}", file.path.display()))
        .next("mend it by hand, then try again")
}

/// The program that hooks start: it must be found from any folder.
fn binary(named: Option<&PathBuf>) -> Result<String, Failure> {
    let path = match named {
        Some(named) => std::path::absolute(named),
        None => std::env::current_exe(),
    };
    let path = path.map_err(|error| {
        Failure::new(format!(
            "can't tell where this program is: {}",
            Failure::reason(&error)
        ))
        .next("name it with --binary FILE")
    })?;
    Ok(path.display().to_string())
}
