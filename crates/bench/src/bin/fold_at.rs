//! Folds a number of calls and steps, then a measured thousand more: for instruction counts. Or reads and
//! observes one call a thousand times.
//!
//! Run under `valgrind --tool=callgrind --toggle-collect='*measured*'`; the arguments are how many
//! events come before the measured ones, which classifier judges steps (`plain` or `informed`), and what is
//! measured (`call`, `step`, `both` or `observe`).

use std::hint::black_box;

use sprag_bench::{CALL_LINE, call, id, session_cells, step};
use sprag_core::{Cells, DigestKey, Digester, Event, Observation, Policy, Timestamp, fold};

#[inline(never)]
fn measured(policy: &Policy, cells: &mut Cells, events: &[Observation]) {
    for event in events {
        let _ = black_box(fold(policy, black_box(event), cells));
    }
}

#[inline(never)]
fn measured_observations(policy: &Policy, digester: &Digester) {
    for _ in 0..1000 {
        if let Ok(event) = Event::parse(black_box(CALL_LINE.as_bytes())) {
            let _ = black_box(digester.observe(&event, Timestamp(1), policy));
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let before: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    let classifier = arguments.next().unwrap_or_else(|| "informed".to_owned());
    let what = arguments.next().unwrap_or_else(|| "both".to_owned());
    let text = format!(
        "[progress]\nclassifier = \"{classifier}\"\n[budget]\nactions = 1000000\n[rules]\n\"budget.*\" = \"off\"\n"
    );
    let policy = Policy::from_toml(&text).unwrap_or_default();
    if what == "observe" {
        return measured_observations(&policy, &Digester::new(DigestKey::fixed()));
    }
    let session = id("bench");
    let mut cells = session_cells();
    let make = |n: u64| match what.as_str() {
        "call" => call(&session, n, n * 40),
        "step" => step(&session, n, n * 40),
        _ if n.is_multiple_of(2) => call(&session, n, n * 40),
        _ => step(&session, n, n * 40),
    };
    for n in 0..before {
        let _ = fold(&policy, &make(n), &mut cells);
    }
    let events: Vec<Observation> = (before..before + 1000).map(make).collect();
    measured(&policy, &mut cells, &events);
}
