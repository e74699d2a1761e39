//! The `sprag` binary: arguments and wiring, nothing else.
//!
//! A command reads its arguments, finds the policy, calls the library and prints. What can be
//! tested without a process is below, in `sprag` and `sprag-core`.

mod answer_lines;
mod args;
mod bar;
mod bounded_lines;
mod budget;
mod build_output;
mod clock;
mod command;
mod confirm;
mod db;
mod examples;
mod failure;
mod json;
mod layout;
mod limit_text;
mod plural;
mod policy_file;
mod problem_log;
mod record_line;
mod report;
mod running_server;
mod settings;
mod settings_file;
mod style;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, HookCli, SpragCommand};
use failure::Run;
use settings::Settings;

/// A record is made on one thread and freed on another, which the system's allocator does slowly.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let settings = Settings::from_environment();
    let tell = |failure: failure::Failure| failure.tell(&mut anstream::stderr());
    if let Some(args) = plain_hook() {
        return command::hook::run(&args, &settings).unwrap_or_else(tell);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && is_hook() => {
            return command::hook::misunderstood(&error, &settings);
        }
        Err(error) => error.exit(),
    };
    run(&cli.command, &settings).unwrap_or_else(tell)
}

/// The arguments of a hook. None if it is another command, or one that the parser of all must explain.
fn plain_hook() -> Option<args::HookArgs> {
    let words = || std::env::args_os().skip(1);
    let parsed = is_hook().then(|| HookCli::try_parse_from(words()))?;
    parsed.ok().map(|cli| cli.args)
}

/// Whether an agent CLI asks: it must get no exit code that it takes for a refusal.
fn is_hook() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "hook")
}

fn run(command: &SpragCommand, settings: &Settings) -> Run {
    let out = &mut anstream::stdout();
    match command {
        SpragCommand::Decide(args) => command::decide::run(args, settings),
        SpragCommand::Check(args) => command::check::run(args, settings),
        SpragCommand::Test(args) => command::test::run(args, out),
        SpragCommand::Eval(args) => command::eval::run(args, settings, out),
        SpragCommand::Scan(args) => command::scan::run(args, settings, out),
        SpragCommand::Tune(args) => command::tune::run(args, settings, out),
        SpragCommand::Policy(command) => command::policy::run(command, settings, out),
        SpragCommand::Rules(args) => command::rules::run(args, settings, out),
        SpragCommand::Effects(args) => command::effects::run(args, settings, out),
        SpragCommand::Explain(args) => command::explain::run(args, settings, out),
        SpragCommand::Sessions(command) => command::sessions::run(command, settings, out),
        SpragCommand::Approvals(args) => command::approvals::list(args, settings, out),
        SpragCommand::Approve(args) => command::approvals::approve(args, settings, out),
        SpragCommand::Decline(args) => command::approvals::decline(args, settings, out),
        SpragCommand::Log(command) => command::log::run(command, settings, out),
        #[cfg(unix)]
        SpragCommand::Mcp(args) => command::mcp::run(args, settings, out),
        #[cfg(unix)]
        SpragCommand::Run(args) => command::gateway::run_client(args, settings),
        #[cfg(unix)]
        SpragCommand::Gateway(args) => command::gateway::run(args, settings, out),
        SpragCommand::Replay(args) => command::replay::run(args, settings, out),
        SpragCommand::Verify(args) => command::verify::run(args, settings, out),
        SpragCommand::Pause(args) => command::pause::pause(args, settings, out),
        SpragCommand::Resume(args) => command::pause::resume(args, settings, out),
        SpragCommand::Panic(args) => command::panic::panic(args, settings, out),
        SpragCommand::Calm(args) => command::panic::calm(args, settings, out),
        SpragCommand::Serve(args) => command::serve::run(args, settings, out),
        SpragCommand::Open(args) => command::open::run(args, settings, out),
        SpragCommand::Health(args) => command::health::run(args, settings, out),
        SpragCommand::AgentTools(args) => command::agent_tools::run(args, settings),
        SpragCommand::Token(command) => command::token::run(command, settings, out),
        SpragCommand::Install(args) => command::install::run(args, settings, out),
        SpragCommand::Uninstall(args) => command::uninstall::run(args, settings, out),
        SpragCommand::Doctor(args) => command::doctor::run(args, settings, out),
        SpragCommand::Hook(args) => command::hook::run(args, settings),
        SpragCommand::Completions { shell } => command::completions::run(*shell, out),
        SpragCommand::Man { folder } => command::man::run(folder),
    }
}
