//! The fold of a call against a keyed check of governor, and the digester against serde_json: ratios
//! measured in one run, because the machine under them may be shared and noisy.

#![expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

use governor::{Quota, RateLimiter};
use sprag_bench::{CALL_LINE, call, id, session_cells};
use sprag_core::{DigestKey, Digester, Event, Observation, Policy, Timestamp, fold};

/// Many short rounds: each fits into one time slice, so other load delays few of them.
const ROUNDS: usize = 2001;
const PER_ROUND: u64 = 800;

/// Nanoseconds for each of `count` runs of `work`.
fn time(count: u64, mut work: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    for n in 0..count {
        work(n);
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Rounds of both in turn, so that what disturbs one disturbs the other; the median of the ratios.
fn compare(
    (figure, name): (&str, &str),
    limit: f64,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) {
    let (mut a, mut b, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (mine, other) = (ours(), theirs());
        a.push(mine);
        b.push(other);
        ratios.push(mine / other);
    }
    println!(
        "{name}: {:.0} ns against {:.0} ns, ratio {:.2} (limit {limit})",
        median(a),
        median(b),
        median(ratios.clone())
    );
    println!("figure engine.{figure} {:.3}", median(ratios));
}

fn fold_against_governor() {
    let policy = Policy::default();
    let session = id("hot-session-0042");
    let mut events: Vec<Observation> = (0..64).map(|n| call(&session, n * 977, 0)).collect();
    let limiter = RateLimiter::keyed(Quota::per_second(NonZeroU32::MAX));
    let keys: Vec<String> = (0..1).map(|n| format!("hot-session-{n:04}")).collect();
    compare(
        (
            "fold_ratio",
            "fold of a call on a hot session / governor keyed check",
        ),
        3.0,
        || {
            let mut cells = session_cells();
            let mut at = 0;
            let mut run = |count: u64| {
                time(count, |n| {
                    let slot = usize::try_from(n % 64).unwrap_or(0);
                    if let Some(event) = events.get_mut(slot) {
                        at += 500;
                        event.at = Timestamp(at);
                        let _ = black_box(fold(&policy, black_box(event), &mut cells));
                    }
                })
            };
            run(1000);
            run(PER_ROUND)
        },
        || {
            let key = keys.first();
            time(PER_ROUND, |_| {
                if let Some(key) = key {
                    let _ = black_box(limiter.check_key(black_box(key)));
                }
            })
        },
    );
}

fn digester_against_serde_json() {
    let digester = Digester::new(DigestKey::fixed());
    let policy = Policy::default();
    let line = CALL_LINE;
    compare(
        (
            "observe_ratio",
            "observation of 200 bytes of arguments from bytes / serde_json into Value",
        ),
        1.8,
        || {
            time(PER_ROUND / 8, |_| {
                if let Ok(event) = Event::parse(black_box(line.as_bytes())) {
                    let _ = black_box(digester.observe(&event, Timestamp(1), &policy));
                }
            })
        },
        || {
            time(PER_ROUND / 8, |_| {
                let _ = black_box(serde_json::from_slice::<serde_json::Value>(black_box(
                    line.as_bytes(),
                )));
            })
        },
    );
}

fn main() {
    fold_against_governor();
    digester_against_serde_json();
}
