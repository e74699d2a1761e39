//! A million agents in accelerated time: what the store of one server takes to guard them all.
//!
//! `cargo run --release -p sprag-bench --bin million_agents [AGENTS [SECONDS]]`
//!
//! Every agent does something once in five seconds, a call and its step in turn, and nothing that was done before.
//! The store is the one that `sprag serve` has, with room for all of the sessions: cells in memory, every record in
//! a file, in groups. Nobody waits for the time that is simulated, so what counts is how much CPU time a simulated
//! second takes: under one second, one core is enough.

#![expect(clippy::print_stdout, reason = "it reports to the terminal")]
#![expect(clippy::disallowed_methods, reason = "it reads the clock")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use sprag_bench::{call, id, step};
use sprag_core::Policy;
use sprag_store::{ActivePolicy, Capacity, Draft, OwnedSqlite, SqliteOptions, Store, StoreError};

/// Each agent does something so often.
const EVERY_MS: u64 = 5_000;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// CPU time of all threads in seconds, and resident memory in MiB.
fn spent() -> (f64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let field = |at: usize| after_name.split_whitespace().nth(at)?.parse::<u32>().ok();
    let ticks = f64::from(field(11).unwrap_or(0)) + f64::from(field(12).unwrap_or(0));
    (
        ticks / 100.0,
        u64::from(field(21).unwrap_or(0)) * 4096 / 1_048_576,
    )
}

/// A folder that is removed with everything in it.
struct StoreFolder(PathBuf);

impl Drop for StoreFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn main() -> Result<(), StoreError> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        let given = arguments.next().and_then(|text| text.parse().ok());
        given.unwrap_or(default)
    };
    let (agents, seconds) = (number(1_000_000), number(20));
    let home = std::env::temp_dir().join(format!("sprag-agents-{}", std::process::id()));
    let home = StoreFolder(home);
    let _ = std::fs::create_dir_all(&home.0);
    let options = SqliteOptions {
        capacity: Capacity {
            sessions: usize::try_from(agents).unwrap_or(usize::MAX),
            ..Capacity::default()
        },
        ..SqliteOptions::default()
    };
    let store = OwnedSqlite::open(&home.0.join("sprag.db"), &options)?;
    let policy = Arc::new(ActivePolicy::new(Policy::default()));
    let names: Vec<_> = (0..agents).map(|n| id(&format!("agent-{n}"))).collect();
    let turn = |turn: u64| -> Result<(), StoreError> {
        for (n, session) in (0_u64..).zip(&names) {
            // All agents are spread over the five seconds.
            let at = turn * EVERY_MS + n * EVERY_MS / agents.max(1);
            let what = turn * agents + n;
            let observation = match turn % 2 {
                0 => call(session, what, at),
                _ => step(session, what - agents, at),
            };
            store.decide(Draft {
                observation,
                policy: Arc::clone(&policy),
                captured: None,
            })?;
        }
        store.sync()
    };
    turn(0)?;
    let (before, _) = spent();
    let started = Instant::now();
    let turns = (seconds * 1_000).div_ceil(EVERY_MS).max(1);
    for number in 1..=turns {
        turn(number)?;
    }
    let (after, memory) = spent();
    let simulated = f64::from(u32::try_from(turns * EVERY_MS).unwrap_or(u32::MAX)) / 1_000.0;
    let (cpu, taken) = (after - before, started.elapsed().as_secs_f64());
    let share = 100.0 * cpu / simulated;
    println!(
        "{agents} agents for {simulated:.0} simulated seconds: {taken:.1} s on the clock, {cpu:.1} s of CPU, \
         {memory} MiB, {} sessions known",
        store.status().sessions
    );
    println!("figure agents.share {share:.1}\nfigure agents.memory_mib {memory}");
    Ok(())
}
