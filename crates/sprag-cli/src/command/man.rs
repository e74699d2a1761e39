//! `sprag man`: the manual pages, one for each command, made from the same text as `--help`.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::failure::{Failure, Run};

/// Writes the pages into `folder`.
pub(crate) fn run(folder: &Path) -> Run {
    let unwritable = |error: std::io::Error| Failure::unwritable(folder, &error);
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(unwritable)?;
    Ok(ExitCode::SUCCESS)
}
