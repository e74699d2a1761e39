//! What sessions weigh: one that was fed a million unique events, and a million of ten steps each.

#![expect(clippy::print_stdout, reason = "a bench reports to the terminal")]

use sprag_bench::{call, id, session_cells, step};
use sprag_core::{Call, CellMap, Id, Observation, Observed, Policy, fold};

#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|text| text.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// A call with an id that is never completed, so that the list of pending calls fills up too.
fn pending_call(session: &Id, n: u64) -> Observation {
    let mut event = call(session, n, n * 40);
    if let Observed::Call(Call { id: slot, .. }) = &mut event.what {
        *slot = Some(id(&format!("call-{n}")));
    }
    event
}

fn one_full_session() {
    let policy = Policy::from_toml("[rules]\n\"budget.*\" = \"off\"\n").unwrap_or_default();
    let session = id("full");
    let profiler = dhat::Profiler::builder().testing().build();
    let before = dhat::HeapStats::get().curr_bytes;
    let mut cells = session_cells();
    for n in 0..500_000_u64 {
        let _ = fold(&policy, &pending_call(&session, 2 * n), &mut cells);
        let _ = fold(
            &policy,
            &step(&session, 2 * n + 1, (2 * n + 1) * 40),
            &mut cells,
        );
    }
    let bytes = dhat::HeapStats::get().curr_bytes - before;
    drop(profiler);
    println!("one session after 1,000,000 unique events: {bytes} bytes (limit 24,576)");
}

fn a_million_small_sessions() {
    let before = resident_bytes();
    let policy = Policy::default();
    let mut cells = CellMap::default();
    for s in 0..1_000_000_u64 {
        let session = id(&format!("session-{s}"));
        for n in 0..10 {
            let _ = cells.fold(&policy, &step(&session, s * 10 + n, n * 1000));
        }
    }
    let bytes = resident_bytes().saturating_sub(before);
    println!(
        "1,000,000 sessions of ten steps each: {} MiB resident, {} bytes each (limit 1,100)",
        bytes >> 20,
        bytes / 1_000_000
    );
    println!("figure memory.session_bytes {}", bytes / 1_000_000);
    assert_eq!(cells.sessions.len(), 1_000_000);
}

fn main() {
    one_full_session();
    a_million_small_sessions();
}
