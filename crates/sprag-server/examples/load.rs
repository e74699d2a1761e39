//! What the server costs, against a bare handler that parses the same JSON and answers.
//!
//! `cargo run --release -p sprag-server --example load [SECONDS] [CONNECTIONS]` starts both servers as processes of
//! their own, asks each in turn over loopback with the same client, and tells requests a second and CPU time a
//! request of the server's process. `… load ready [SESSIONS]` tells how soon a server with so many sessions
//! in its store answers. `… load rough` tells what idle connections, slow clients and garbage do to honest ones.

#[path = "load/asking.rs"]
mod asking;
#[path = "load/ready.rs"]
mod ready;
#[path = "load/rough.rs"]
mod rough;
#[path = "load/served.rs"]
mod served;

use std::io::Write as _;
use std::time::Duration;

use asking::Asked;
use served::{Kind, Served};

/// Both servers have what the `sprag` binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Server(#[from] sprag_server::ServerError),
    #[error(transparent)]
    Guard(#[from] sprag::GuardError),
    #[error("{0}")]
    Told(String),
}

fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = args.first().map(String::as_str);
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok());
    match word {
        Some("bare") => served::bare(),
        Some("sprag") => served::sprag(),
        Some("ready") => ready::run(number(1).unwrap_or(100_000)),
        Some("rough") => rough::run(),
        _ => load(number(0).unwrap_or(5), number(1).unwrap_or(32)),
    }
}

fn load(seconds: u64, connections: u64) -> Result<(), Failed> {
    let mut out = std::io::stdout();
    let rounds = 3;
    let mut sums = [Asked::default(), Asked::default()];
    let servers = [Served::start(Kind::Bare)?, Served::start(Kind::Sprag)?];
    for server in &servers {
        asking::ask(server, Duration::from_secs(1), connections)?;
    }
    for round in 1..=rounds {
        for (server, sum) in servers.iter().zip(&mut sums) {
            let asked = asking::ask(server, Duration::from_secs(seconds), connections)?;
            writeln!(out, "round {round} {:5} {asked}", server.kind.word())?;
            sum.add(&asked);
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
    let soak: Option<u64> = std::env::args().nth(3).and_then(|text| text.parse().ok());
    if let (Some(minutes), [_, server]) = (soak, &servers) {
        asking::soak(server, minutes, sprag.rate() / 2.0, connections)?;
    }
    Ok(())
}
