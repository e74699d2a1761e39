//! `sprag sessions`: who is there, who is stopped, and orders for them.

mod list;
mod show;

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;
use sprag::Guard;

use super::log::session_id;
use crate::args::{OrderArgs, SessionsCommand};
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::settings::Settings;

/// Runs one of the commands.
pub(crate) fn run(command: &SessionsCommand, settings: &Settings, out: &mut dyn Write) -> Run {
    match command {
        SessionsCommand::List(args) => list::run(args, settings, out),
        SessionsCommand::Show(args) => show::run(args, settings, out),
        SessionsCommand::Kill(args) => kill(args, settings, out),
        SessionsCommand::Reset(args) => reset(args, settings, out),
    }
}

fn ordered(args: &OrderArgs, settings: &Settings) -> Result<(Guard, String), Failure> {
    session_id(&args.session)?;
    if args.why.trim().is_empty() {
        return Err(Failure::new("--why is empty").next("say in a few words why; the log keeps it"));
    }
    let db = Db::find(settings, &args.db)?;
    let guard = db.guard(
        settings,
        args.policy.policy.as_deref(),
        sprag::Capture::Digest,
    )?;
    let by = args.by.clone().unwrap_or_else(|| settings.user());
    Ok((guard, by))
}

fn kill(args: &OrderArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (guard, by) = ordered(args, settings)?;
    let session = &args.session;
    let known = guard.session(session)?.is_some();
    let verdict = guard.kill(session, &by, &args.why)?;
    if args.json {
        let generation = verdict.generation;
        json::print(
            out,
            &json!({ "session": session, "state": "killed", "known": known, "generation": generation }),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "killed {session}: everything in it and in its sub-agents is refused"
    )?;
    if !known {
        writeln!(
            out,
            "it was not known before; the kill holds should it appear"
        )?;
    }
    writeln!(
        out,
        "`sprag sessions reset {session} --why …` lets it start again"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn reset(args: &OrderArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (guard, by) = ordered(args, settings)?;
    let session = &args.session;
    if guard.session(session)?.is_none() {
        return Err(Failure::new(format!("there is no session {session}"))
            .next("`sprag sessions list` shows those there are"));
    }
    let generation = guard.reset(session, &by, &args.why)?.generation;
    if args.json {
        json::print(
            out,
            &json!({ "session": session, "state": "active", "generation": generation }),
        )?;
    } else {
        writeln!(
            out,
            "reset {session}: generation {generation} starts with nothing held against it"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
