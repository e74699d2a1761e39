//! `sprag log`: what happened, for people and for other programs.

mod archive;
mod export;
mod prune;
mod show;
mod tail;

use std::io::Write;

use sprag::{Id, LogScope};

use crate::args::LogCommand;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Runs one of the commands.
pub(crate) fn run(command: &LogCommand, settings: &Settings, out: &mut dyn Write) -> Run {
    match command {
        LogCommand::Tail(args) => tail::run(args, settings, out),
        LogCommand::Show(args) => show::run(args, settings, out),
        LogCommand::Verify(args) => super::verify::run(args, settings, out),
        LogCommand::Export(args) => export::run(args, settings, out),
        LogCommand::Archive(args) => archive::run(args, settings, out),
        LogCommand::Prune(args) => prune::run(args, settings, out),
    }
}

/// All records, or those of one session.
fn scope(session: Option<&str>) -> Result<LogScope, Failure> {
    Ok(match session {
        Some(session) => LogScope::Session(session_id(session)?),
        None => LogScope::All,
    })
}

/// A session as it was typed.
pub(crate) fn session_id(text: &str) -> Result<Id, Failure> {
    Id::new(text).map_err(|error| Failure::new(format!("{text:?} is not a session: {error}")))
}
