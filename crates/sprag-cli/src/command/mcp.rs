//! `sprag mcp`: a guard before an MCP server, and before all servers of a client.

mod install;
mod listen;
mod raise;
mod servers_file;
mod wrap;

pub(crate) use install::uninstall_all;

pub(crate) use wrap::verdict_source;

use std::io::Write;
use std::process::ExitCode;

use crate::args::{McpArgs, McpCommand};
use crate::failure::Run;
use crate::settings::Settings;

/// Runs the part that was asked for.
pub(crate) fn run(args: &McpArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    match &args.command {
        None => match args.wrap.http.listen {
            Some(address) => listen::run(address, &args.wrap, settings, out),
            None => wrap::run(&args.wrap, settings),
        },
        Some(McpCommand::Install(args)) => install::install(args, settings, out),
        Some(McpCommand::Uninstall(args)) => install::uninstall(args, settings, out),
        Some(McpCommand::Reap { group }) => {
            sprag_mcp::stdio::reap(std::io::stdin().lock(), *group);
            Ok(ExitCode::SUCCESS)
        }
    }
}
