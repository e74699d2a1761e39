//! What the effects of a shell command cost, beside the whole observation of the same event.
//!
//! Each command is timed alone and many times over, so that the median and the 99th percentile mean one
//! event. Aims: 40 µs and 200 µs for 200 bytes.

#![expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sprag_core::{DigestKey, Digester, Event, Policy, Timestamp};
use sprag_effects::{CommandReader, of_command};

const PLACE: &str = "/home/user/app";
const RUNS: usize = 20_000;

/// Commands as agents write them, each of about 200 bytes.
const COMMANDS: [(&str, &str); 4] = [
    (
        "a build",
        "cd /home/user/app && rm -rf build dist && mkdir -p build && cd build && cmake -DCMAKE_BUILD_TYPE=Release .. && make -j8 2>&1 | tail -40 && ctest --output-on-failure | grep -E 'passed|failed' | head -20",
    ),
    (
        "a commit",
        "git add -A && git commit -m \"$(cat <<'EOF'\nfix: stop dropping tables on start\n\nIt ran rm -rf on the folder of the cache.\nEOF\n)\" && git push origin HEAD 2>&1 | tail -5 && git log --oneline -3 | head -n 3",
    ),
    (
        "SQL",
        "PGPASSWORD=secret psql -h db.example.com -U app -d shop -c \"BEGIN; DELETE FROM order_items WHERE order_id IN (SELECT id FROM orders WHERE created_at < now() - interval '90 days'); COMMIT;\"",
    ),
    (
        "loops and functions",
        "clean() { rm -rf \"$1\"/{dist,build}; }; for d in packages/a packages/b packages/c; do if [ -d \"$d\" ]; then clean \"$d\" && (cd \"$d\" && npm ci && npm run build) || exit 1; fi; done; echo done",
    ),
];

/// The median and the 99th percentile of single runs, in microseconds.
fn percentiles(mut work: impl FnMut()) -> (f64, f64) {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        work();
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let at = |place: usize| times.get(place).copied().unwrap_or(f64::NAN);
    (at(RUNS / 2), at(RUNS * 99 / 100))
}

fn main() {
    let policy = Policy::default();
    let plain = Digester::new(DigestKey::fixed());
    let whole = Digester::new(DigestKey::fixed()).with_effects(Arc::new(CommandReader));
    println!("effects, observation with them, observation without: median and p99 in µs");
    for (name, command) in COMMANDS {
        let event = serde_json::json!({
            "type": "call", "session": "s1", "tool": "Bash", "cwd": PLACE, "args": {"command": command},
        });
        let Ok(event) = Event::from_value(&event) else {
            println!("{name}: not an event");
            continue;
        };
        let effects = percentiles(|| {
            black_box(of_command(black_box(command), Some(PLACE), Some(PLACE)));
        });
        let observe = |digester: &Digester| {
            percentiles(|| {
                let _ = black_box(digester.observe(black_box(&event), Timestamp(0), &policy));
            })
        };
        let (with, without) = (observe(&whole), observe(&plain));
        println!(
            "{name} ({} bytes): {:.1} and {:.1}, {:.1} and {:.1}, {:.1} and {:.1}",
            command.len(),
            effects.0,
            effects.1,
            with.0,
            with.1,
            without.0,
            without.1
        );
    }
    for (name, text) in [
        ("60 KB of parentheses", "(".repeat(60_000)),
        ("60 KB of short commands", "a b;".repeat(15_000)),
        (
            "variables that double",
            format!("a=xy;{} rm -rf $a", "a=$a$a;".repeat(2_000)),
        ),
        (
            "60 KB of SQL",
            format!("psql -c \"{}\"", "DELETE FROM t WHERE a = 1;".repeat(2_300)),
        ),
    ] {
        let start = Instant::now();
        for _ in 0..20 {
            black_box(of_command(black_box(&text), None, None));
        }
        println!(
            "{name}: {:.2} ms",
            start.elapsed().as_secs_f64() * 1e3 / 20.0
        );
    }
}
