//! What it costs to watch: nanoseconds for each record, by part.
//!
//! `cargo run --release -p sprag-bench --features adapters --bin watch_cost`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sprag::{Event, FeedItem, Guard, GuardError, Record};
use sprag_server::log_lines::line;
use sprag_server::metrics::{Metrics, Readings};
use sprag_server::notify::{Notifier, NotifySettings};
use sprag_server::stats::Stats;
use sprag_server::telemetry::{Telemetry, TelemetrySettings};

const ROUNDS: u32 = 2_000;

/// What a busy guard decides: calls, most of them allowed, and some messages.
fn records(guard: &Guard) -> Result<Vec<Arc<Record>>, GuardError> {
    let heard = guard.subscribe();
    for n in 0..400 {
        let session = format!("s{}", n % 20);
        let call = Event::call(&session, "read")?.args(serde_json::json!({ "n": n % 7 }));
        guard.check(call)?;
        guard.check(Event::message("s1")?.from(&session)?.flow("f")?)?;
    }
    let told = std::iter::from_fn(|| heard.try_next());
    Ok(told
        .filter_map(|told| match told {
            FeedItem::Record(record) => Some(record),
            FeedItem::Missed(_) => None,
        })
        .collect())
}

#[expect(clippy::disallowed_methods, reason = "this measures")]
#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn measure(name: &str, records: &[Arc<Record>], mut part: impl FnMut(&Arc<Record>)) {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for record in records {
            part(record);
        }
    }
    let count = ROUNDS * u32::try_from(records.len()).unwrap_or(u32::MAX);
    let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(count);
    println!("{name:<28} {each:>8.1} ns");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guard = Guard::in_memory()?;
    let records = records(&guard)?;
    let metrics = Arc::new(Metrics::new());
    measure("metrics.observe", &records, |record| {
        metrics.observe(record)
    });
    measure("metrics.decided", &records, |_| {
        metrics.decided(Duration::from_micros(3));
    });
    let stats = Stats::new(0, guard.now());
    measure("stats.observe", &records, |record| stats.observe(record));
    measure("log line (made, not written)", &records, |record| {
        black_box(line(record));
    });
    let settings = NotifySettings {
        command: vec!["true".to_owned()],
        ..NotifySettings::default()
    };
    let clock = Arc::new(sprag::SystemClock);
    if let Some(notifier) = Notifier::start(settings, clock, Arc::clone(&metrics))? {
        measure("notifier.observe", &records, |record| {
            notifier.observe(record)
        });
    }
    let settings = TelemetrySettings {
        traces: Some("http://127.0.0.1:9/v1/traces".to_owned()),
        ..TelemetrySettings::default()
    };
    if let Some(telemetry) = Telemetry::start(&settings, Arc::clone(&metrics))? {
        measure("telemetry.decided", &records, |record| {
            telemetry.decided(record, Duration::ZERO, None);
        });
    }
    measure(
        "readings and encode",
        records.get(..1).unwrap_or_default(),
        |_| {
            black_box(metrics.encode(&Readings::of(&guard)));
        },
    );
    Ok(())
}
