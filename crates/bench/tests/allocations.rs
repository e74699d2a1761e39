//! A call that is allowed must not touch the heap: the guard sits on every call of every agent.

use sprag_bench::{call, id, session_cells};
use sprag_core::{Decision, Policy, fold};

#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

#[test]
fn an_allowed_call_on_a_hot_session_allocates_nothing() {
    let policy = Policy::default();
    let session = id("hot");
    let mut cells = session_cells();
    for n in 0..1000 {
        fold(&policy, &call(&session, n, n * 1000), &mut cells).unwrap();
    }
    let events: Vec<_> = (1000..1500).map(|n| call(&session, n, n * 1000)).collect();
    let _heap = dhat::Profiler::builder().testing().build();
    let mut least = u64::MAX;
    // The test's own harness may use the heap meanwhile, on another thread; the guard would do so every time.
    for hundred in events.chunks(100) {
        let before = dhat::HeapStats::get().total_blocks;
        for event in hundred {
            let verdict = fold(&policy, event, &mut cells).unwrap();
            assert_eq!(verdict.decision, Decision::Allow);
        }
        least = least.min(dhat::HeapStats::get().total_blocks - before);
    }
    assert_eq!(least, 0, "blocks allocated over 100 allowed calls");
}
