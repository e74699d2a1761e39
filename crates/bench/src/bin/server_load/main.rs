//! What the server costs, against a bare handler that parses the same JSON and answers.
//!
//! `cargo run --release -p sprag-bench --features adapters --bin server_load [SECONDS] [CONNECTIONS]` starts
//! both servers as processes of their own, asks each in turn over loopback with the same client, and
//! tells requests a second and CPU time a request of the server's process. `… server_load ready
//! [SESSIONS]` tells how soon a server with so many sessions in its store answers. `… server_load rough`
//! tells what idle connections, slow clients and garbage do to honest ones.

mod client;
mod hostile_clients;
mod server_process;
mod startup;

use std::io::Write as _;
use std::time::Duration;

use client::LoadResult;
use server_process::{ServerKind, ServerProcess};

/// Both servers have what the `sprag` binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
enum LoadError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Server(#[from] sprag_server::ServerError),
    #[error(transparent)]
    Guard(#[from] sprag::GuardError),
    #[error("{0}")]
    Other(String),
}

fn main() -> Result<(), LoadError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = args.first().map(String::as_str);
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok());
    match word {
        Some("bare") => server_process::bare(),
        Some("sprag") => server_process::sprag(),
        Some("ready") => startup::run(number(1).unwrap_or(100_000)),
        Some("rough") => hostile_clients::run(),
        _ => load(number(0).unwrap_or(5), number(1).unwrap_or(32)),
    }
}

fn load(seconds: u64, connections: u64) -> Result<(), LoadError> {
    let mut out = std::io::stdout();
    let rounds = 3;
    let mut sums = [LoadResult::default(), LoadResult::default()];
    let servers = [
        ServerProcess::start(ServerKind::Bare)?,
        ServerProcess::start(ServerKind::Sprag)?,
    ];
    for server in &servers {
        client::ask(server, Duration::from_secs(1), connections)?;
    }
    for round in 1..=rounds {
        for (server, sum) in servers.iter().zip(&mut sums) {
            let result = client::ask(server, Duration::from_secs(seconds), connections)?;
            writeln!(out, "round {round} {:5} {result}", server.kind.word())?;
            sum.add(&result);
        }
    }
    let [bare, sprag] = &sums;
    writeln!(out, "bare  {bare}\nsprag {sprag}")?;
    writeln!(
        out,
        "sprag / bare: {:.0} % of the requests a second, {:.2} times the CPU a request",
        100.0 * sprag.rate() / bare.rate(),
        sprag.cpu_each() / bare.cpu_each()
    )?;
    writeln!(
        out,
        "figure server.rate_percent {:.1}\nfigure server.cpu_ratio {:.3}",
        100.0 * sprag.rate() / bare.rate(),
        sprag.cpu_each() / bare.cpu_each()
    )?;
    let soak: Option<u64> = std::env::args().nth(3).and_then(|text| text.parse().ok());
    if let (Some(minutes), [_, server]) = (soak, &servers) {
        client::soak(server, minutes, sprag.rate() / 2.0, connections)?;
    }
    Ok(())
}
