//! `sprag policy`: the limits, seen and changed.

mod check;
mod import;
mod record;
pub(super) mod set;
mod show;

use std::io::Write;
use std::process::ExitCode;

use crate::args::PolicyCommand;
use crate::failure::Run;
use crate::json;
use crate::settings::Settings;

/// Runs the command below `sprag policy`.
pub(crate) fn run(command: &PolicyCommand, settings: &Settings, out: &mut dyn Write) -> Run {
    match command {
        PolicyCommand::Check(args) => check::run(args, settings, out),
        PolicyCommand::Show(args) => show::run(args, settings, out),
        PolicyCommand::Import(args) => import::run(args, out),
        PolicyCommand::Set(args) => set::run(args, settings, out),
        PolicyCommand::Schema => {
            json::print(out, &sprag_core::policy_schema())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
