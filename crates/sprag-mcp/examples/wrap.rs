//! A wrapper of one's own: a guard in memory, or over a file, before any MCP server on standard input.
//!
//! `cargo run -p sprag-mcp --example wrap -- [--db FILE] [--policy FILE] [--session ID] -- SERVER ARGUMENTS…`

use std::ffi::OsString;
use std::io::{Write as _, stdin, stdout};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;

use sprag::{FailMode, Guard, Id, PolicyFile};
use sprag_mcp::stdio::{self, ServerCommand};
use sprag_mcp::{Gate, GateOptions, OnKill};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, group] = args.as_slice()
        && word == "reap"
    {
        stdio::reap(stdin().lock(), group.parse()?);
        return Ok(ExitCode::SUCCESS);
    }
    let at = args
        .iter()
        .position(|arg| arg == "--")
        .ok_or("no server after --")?;
    let (options, server) = args.split_at(at);
    let option = |name: &str| {
        let at = options.iter().position(|arg| arg == name)?;
        options.get(at + 1)
    };
    let mut guard = Guard::builder();
    if let Some(db) = option("--db") {
        guard = guard.file(db);
    }
    if let Some(policy) = option("--policy") {
        guard = guard.policy_file(PolicyFile::required(policy));
    }
    let guard = guard.build()?;
    let gate = GateOptions {
        session: Id::new(option("--session").map_or("wrapped", String::as_str))?,
        shared: false,
        agent: None,
        server: None,
        unnamed: Id::new("server")?,
        mark: std::process::id().to_string(),
        fail: FailMode::Closed,
        on_kill: OnKill::Refuse,
    };
    let tell = |what: std::fmt::Arguments<'_>| {
        let _ = writeln!(std::io::stderr(), "wrap: {what}");
    };
    let mut server = server.iter().skip(1).map(OsString::from);
    let command = ServerCommand {
        program: server.next().ok_or("no server after --")?,
        args: server.collect(),
        reaper: Some((std::env::current_exe()?.into(), vec!["reap".into()])),
    };
    let gate = Arc::new(Gate::new(gate, Box::new(guard), Box::new(tell)));
    let from = std::fs::File::from(stdin().as_fd().try_clone_to_owned()?);
    let to = std::fs::File::from(stdout().as_fd().try_clone_to_owned()?);
    Ok(ExitCode::from(stdio::run(&gate, &command, from, to)?))
}
