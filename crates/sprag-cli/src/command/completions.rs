//! `sprag completions`: so that a shell knows the commands.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Run;

/// Prints the script for `shell`.
pub(crate) fn run(shell: Shell, out: &mut dyn Write) -> Run {
    // The generator panics where it can't write; a vector can always be written to.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sprag", &mut script);
    out.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
