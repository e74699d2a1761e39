//! What the digester costs: reading and observing an event, measured against `serde_json` reading the
//! same bytes into a `Value`. Run with `cargo run --release -p sprag-bench --bin digester_speed`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::hint::black_box;
use std::time::Instant;

use sprag_core::{DigestKey, Digester, Event, EventError, Policy, Timestamp};

const ROUNDS: u32 = 200_000;

/// A call with about 200 bytes of arguments, as an agent would send it.
const CALL: &str = r#"{"type":"call","session":"s1","agent":"cleaner","flow":"abc123","id":"t1","server":"catalog","tool":"update_asset","args":{"asset_id":"fact_sales","schema":"public","owner":"data-platform","limit":250,"dry_run":false,"columns":["id","amount","region"],"filter":{"region":"emea","since":"2024-03","ratio":0.75},"note":"nightly refresh"}}"#;
const STEP: &str = r#"{"type":"step","session":"s1","id":"t1","result":"1 asset updated: fact_sales (3 columns, 250 rows). The nightly refresh runs at the usual hour; nothing else was changed in schema public.","is_error":false}"#;

fn main() -> Result<(), EventError> {
    let digester = Digester::new(DigestKey::fixed());
    let policy = Policy::default();
    for (name, text) in [("call", CALL), ("step", STEP)] {
        let observe = || {
            let event = Event::parse(black_box(text.as_bytes()))?;
            digester.observe(&event, Timestamp(0), &policy)
        };
        observe()?;
        let parse_only = nanos(|| drop(black_box(Event::parse(black_box(text.as_bytes())))));
        let digester_ns = nanos(|| drop(black_box(observe())));
        let value_ns = nanos(|| {
            let value = serde_json::from_slice::<serde_json::Value>(black_box(text.as_bytes()));
            drop(black_box(value));
        });
        println!(
            "{name}: {} bytes, event {parse_only:.0} ns, event and observation {digester_ns:.0} ns, \
             Value {value_ns:.0} ns, ratio {:.2}",
            text.len(),
            digester_ns / value_ns
        );
    }
    Ok(())
}

/// The time of one run, the best of five averages.
fn nanos(mut run: impl FnMut()) -> f64 {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                run();
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
        })
        .fold(f64::INFINITY, f64::min)
}
