//! Many short histories on each store that needs no server, against the engine.

use sprag_store::{MemoryStore, Store};

use crate::model::agrees_with_the_engine;
use crate::observations::{asking_policy, policy};
use crate::place::Place;
use crate::processes::times;
use crate::sqlite::{owned, shared, verified};

/// Holds a store in memory, a shared file and an owned one against the engine on one short history each.
fn short_history(seed: u64) {
    let policy = if seed.is_multiple_of(4) {
        asking_policy()
    } else {
        policy()
    };
    let places = [Place::new(), Place::new()];
    let stores: [Box<dyn Store>; 3] = [
        Box::new(MemoryStore::new().unwrap()),
        Box::new(shared(&places[0])),
        Box::new(owned(&places[1])),
    ];
    for store in stores {
        agrees_with_the_engine(&*store, &policy, seed, 30);
        let found = verified(&*store);
        assert!(found.is_sound(), "seed {seed}: {found:?}");
    }
}

#[test]
fn many_short_histories_get_the_engines_verdicts_in_memory_and_in_files() {
    let histories = times("SPRAG_STORE_HISTORIES", 40);
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || (first..histories).step_by(2).for_each(short_history));
        }
    });
}
