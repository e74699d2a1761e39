//! What the store in Redis costs:
//! `cargo run --release -p sprag-bench --features redis --bin redis_figures -- redis://127.0.0.1:6379`.
//!
//! It empties the database that it is pointed at. Times are told twice: as decisions a second, which a busy
//! machine makes smaller, and as processor time on both sides, which it hardly changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis::cmd;
use sprag_bench::{approach, bare_call, bare_step, digest, outcome};
use sprag_core::{
    Approach, Call, Field, Id, Observation, Observed, Order, Outcome, Policy, Step, Timestamp,
    ToolKind,
};
use sprag_store::{ActivePolicy, Draft, RedisOptions, RedisStore, Store};

type Failed = Box<dyn std::error::Error + Send + Sync>;

const START: u64 = 1_700_000_000_000;

#[expect(clippy::disallowed_methods, reason = "this measures")]
fn now() -> Instant {
    Instant::now()
}

fn read(number: u64) -> Result<Approach, Failed> {
    Ok(Approach {
        server: Some(Id::new("catalog")?),
        tool: Some(Id::new("read")?),
        kind: ToolKind::Run,
        fields: vec![Field {
            name: "asset_id".into(),
            digest: digest(number),
            text: None,
        }],
        ..approach(number)
    })
}

fn call(at: u64, session: &str, what: u64) -> Result<Observation, Failed> {
    let call = Call {
        agent: Some(Id::new("coder")?),
        id: Some(Id::new(&format!("t{what}"))?),
        approach: read(what)?,
        ..bare_call(Id::new(session)?, what)
    };
    Ok(Observation::new(Timestamp(at), Observed::Call(call)))
}

fn step(at: u64, session: &str, what: u64) -> Result<Observation, Failed> {
    let step = Step {
        id: Some(Id::new(&format!("t{what}"))?),
        outcome: Outcome {
            shape: 1,
            ..outcome(what + 7)
        },
        ..bare_step(Id::new(session)?, what + 7)
    };
    Ok(Observation::new(Timestamp(at), Observed::Step(step)))
}

/// Runs `work` on `threads` for `span`; how often a second.
fn rate(
    threads: u64,
    span: Duration,
    work: impl Fn(u64, u64) -> Result<(), Failed> + Sync,
) -> Result<f64, Failed> {
    let done = AtomicU64::new(0);
    let started = now();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let (work, done) = (&work, &done);
                scope.spawn(move || {
                    let mut n = 0;
                    while started.elapsed() < span {
                        work(thread, n)?;
                        n += 1;
                    }
                    done.fetch_add(n, Ordering::Relaxed);
                    Ok::<(), Failed>(())
                })
            })
            .collect();
        for one in running {
            one.join().map_err(|_| "a thread died")??;
        }
        Ok::<(), Failed>(())
    })?;
    let count = u32::try_from(done.into_inner())?;
    Ok(f64::from(count) / started.elapsed().as_secs_f64())
}

struct Bench {
    url: String,
    options: RedisOptions,
    connection: redis::Connection,
    policy: Arc<ActivePolicy>,
}

fn main() -> Result<(), Failed> {
    let url = std::env::args().nth(1);
    let url = url.ok_or("name a Redis: redis://127.0.0.1:6379")?;
    let mut options = RedisOptions::new(url.as_str());
    options.deadline = Duration::from_secs(5);
    let mut bench = Bench {
        connection: redis::Client::open(url.as_str())?.get_connection()?,
        policy: Arc::new(ActivePolicy::new(Policy::default())),
        options,
        url,
    };
    bench.speed()?;
    bench.size()?;
    bench.kills()
}

impl Bench {
    fn draft(&self, observation: Observation) -> Draft {
        Draft {
            observation,
            policy: Arc::clone(&self.policy),
            captured: None,
        }
    }

    /// An empty namespace.
    fn fresh(&mut self) -> Result<RedisStore, Failed> {
        cmd("FLUSHDB").exec(&mut self.connection)?;
        Ok(RedisStore::open(self.options.clone())?)
    }

    fn memory(&mut self, key: &str) -> Result<u64, Failed> {
        let used: Option<u64> = cmd("MEMORY")
            .arg("USAGE")
            .arg(key)
            .arg("SAMPLES")
            .arg(0)
            .query(&mut self.connection)?;
        Ok(used.unwrap_or(0))
    }

    /// Processor time so far, in microseconds: of this process, and of Redis.
    fn spent(&mut self) -> Result<[f64; 2], Failed> {
        // The 14th and 15th word are ticks of 10 ms; the second one is a name in brackets.
        let stat = std::fs::read_to_string("/proc/self/stat")?;
        let words = stat.rsplit(')').next().ok_or("no /proc")?;
        let ticks = words.split(' ').skip(12).take(2);
        let ours = ticks
            .map(|word| word.parse::<f64>().unwrap_or(0.0))
            .sum::<f64>()
            * 10_000.0;
        let info: String = cmd("INFO").arg("cpu").query(&mut self.connection)?;
        let theirs = info
            .lines()
            .filter_map(|line| line.strip_prefix("used_cpu_")?.split_once(':'))
            .filter(|(what, _)| matches!(*what, "sys" | "user"))
            .map(|(_, seconds)| seconds.trim().parse::<f64>().unwrap_or(0.0))
            .sum::<f64>();
        Ok([ours, theirs * 1_000_000.0])
    }

    /// How often `work` can be done; tells what each time cost.
    #[expect(clippy::print_stdout, reason = "an example that prints figures")]
    fn measure(
        &mut self,
        what: &str,
        threads: u64,
        work: impl Fn(u64, u64) -> Result<(), Failed> + Sync,
    ) -> Result<f64, Failed> {
        let before = self.spent()?;
        let started = now();
        let rate = rate(threads, Duration::from_secs(3), work)?;
        let times = rate * started.elapsed().as_secs_f64();
        let after = self.spent()?;
        let [ours, theirs] = [0, 1].map(|side: usize| {
            let of = |spent: &[f64; 2]| spent.get(side).copied().unwrap_or(0.0);
            (of(&after) - of(&before)) / times
        });
        println!(
            "{threads} threads, {what}: {rate:.0}/s; processor {ours:.0} µs here, {theirs:.0} µs in Redis"
        );
        Ok(rate)
    }

    #[expect(clippy::print_stdout, reason = "an example that prints figures")]
    fn speed(&mut self) -> Result<(), Failed> {
        let store = self.fresh()?;
        let empty: String = cmd("SCRIPT")
            .arg("LOAD")
            .arg("return 1")
            .query(&mut self.connection)?;
        let policy = Arc::clone(&self.policy);
        let decide = |session: &str, n: u64| -> Result<(), Failed> {
            store.decide(Draft {
                observation: call(START + n * 1_000, session, n)?,
                policy: Arc::clone(&policy),
                captured: None,
            })?;
            Ok(())
        };
        for threads in [1, 4, 8, 64] {
            let client = redis::Client::open(self.url.as_str())?;
            let connections: Vec<_> = (0..threads)
                .map(|_| Ok(Mutex::new(client.get_connection()?)))
                .collect::<Result<_, Failed>>()?;
            let nothing = self.measure("empty EVALSHA", threads, |thread, _| {
                let connection = connections.get(usize::try_from(thread)?);
                let connection = connection.ok_or("no connection")?;
                let mut connection = connection.lock().map_err(|_| "poisoned")?;
                cmd("EVALSHA").arg(&empty).arg(0).exec(&mut *connection)?;
                Ok(())
            })?;
            let before = store.counts();
            let young = self.measure("young sessions", threads, |thread, n| {
                decide(&format!("young-{threads}-{thread}-{}", n / 20), n)
            })?;
            let busy = self.measure("one busy session each", threads, |thread, n| {
                decide(&format!("busy-{threads}-{thread}"), n)
            })?;
            let after = store.counts();
            println!(
                "  {:.0} % and {:.0} % of empty; {} round trips for {} decisions, {} alone",
                100.0 * young / nothing,
                100.0 * busy / nothing,
                after.round_trips - before.round_trips,
                after.decisions - before.decisions,
                after.offline - before.offline,
            );
            println!("figure redis.rate_{threads} {young:.0}");
            if threads == 1 {
                println!("figure redis.percent {:.1}", 100.0 * young / nothing);
            }
        }
        Ok(())
    }

    #[expect(clippy::print_stdout, reason = "an example that prints figures")]
    fn size(&mut self) -> Result<(), Failed> {
        let sessions: u64 = 2_000;
        let store = self.fresh()?;
        for n in 0..sessions {
            let session = format!("session-{n:08}");
            store.decide(self.draft(call(START, &session, n)?))?;
        }
        let listed = self.memory("{sprag}:sessions")? / sessions;
        let record = self.memory("{sprag}:log")? / sessions;
        let session = "session-00000001";
        let mut part = |kind: &str| self.memory(&format!("{{sprag}}:{kind}:{session}"));
        let (hot, memory) = (part("0")?, part("m")?);
        println!(
            "a fresh session: {hot} + {memory} bytes, {listed} in the listing; a record {record}"
        );
        for n in 0..600 {
            let at = START + n * 5_000;
            store.decide(self.draft(call(at, session, n)?))?;
            store.decide(self.draft(step(at + 1, session, n)?))?;
        }
        for n in 600..700 {
            store.decide(self.draft(call(START + n * 5_000, session, n)?))?;
        }
        let mut part = |kind: &str| self.memory(&format!("{{sprag}}:{kind}:{session}"));
        let (hot, memory) = (part("0")?, part("m")?);
        println!("a full session: {hot} + {memory} bytes");
        Ok(())
    }

    #[expect(clippy::print_stdout, reason = "an example that prints figures")]
    fn kills(&mut self) -> Result<(), Failed> {
        let one = self.fresh()?;
        let other = RedisStore::open(self.options.clone())?;
        let mut took = Vec::new();
        for n in 0..2_000 {
            let session = format!("session-{n:08}");
            other.decide(self.draft(call(START, &session, n)?))?;
            let started = now();
            let kill = Observed::Kill(Order {
                session: Id::new(&session)?,
                by: None,
                why: None,
            });
            one.decide(self.draft(Observation::new(Timestamp(START), kill)))?;
            other.decide(self.draft(call(START, &session, n)?))?;
            took.push(started.elapsed());
        }
        took.sort_unstable();
        let at = |share: usize| took.get(took.len() * share / 100).copied();
        println!(
            "from the order to kill to the refusal on another pod: p50 {:?}, p99 {:?}",
            at(50).unwrap_or_default(),
            at(99).unwrap_or_default()
        );
        for n in 0..2_000_u64 {
            let pod = if n % 2 == 0 { &one } else { &other };
            pod.decide(self.draft(call(START + n * 1_000, "round robin", n)?))?;
        }
        let trips = one.counts().round_trips + other.counts().round_trips;
        let decisions = one.counts().decisions + other.counts().decisions;
        println!("kills and round robin together: {trips} round trips for {decisions} decisions");
        Ok(())
    }
}
