//! How fast a log is verified: every hash, every verdict, every cell.
//!
//! `cargo run --release -p sprag-bench --bin replay_speed [EVENTS]` writes a log of a few
//! hundred busy sessions into a file, then verifies it whole and tells events a second of one core.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sprag_bench::{approach, bare_call, bare_step, digest};
use sprag_core::{
    Approach, Call, CellMap, Id, Identity, Message, MessageKind, Observation, Observed, Policy,
    Priced, Source, Step, Timestamp, ToolKind, Usage,
};
use sprag_store::{
    ActivePolicy, Draft, LogQuery, LogScope, OwnedSqlite, SqliteOptions, Store, StoreError,
    read_policy, verify,
};

/// What the `sprag` binary has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Id(#[from] sprag_core::IdError),
    #[error(transparent)]
    Engine(#[from] sprag_core::EngineError),
    #[error("{0}")]
    Unsound(sprag_store::BadRecord),
    #[error("{0} verdicts of the small session came out the same, not 21")]
    Small(u64),
}

fn ids(turn: u64) -> Result<(Id, Id), sprag_core::IdError> {
    let session = Id::new(&format!("session-{}", turn % 300))?;
    Ok((session, Id::new(&format!("t{turn}"))?))
}

fn made(session: Id, call: Id, turn: u64) -> Call {
    let approach = Approach {
        kind: ToolKind::Run,
        ..approach(turn)
    };
    Call {
        id: Some(call),
        approach,
        ..bare_call(session, turn)
    }
}

/// Sessions that read, change and test things, and now and then write to each other.
fn event(number: u64) -> Result<Observation, sprag_core::IdError> {
    let turn = number / 2;
    let (session, call) = ids(turn)?;
    let what = if turn % 16 == 15 {
        Observed::Message(message(session, turn)?)
    } else if turn % 64 == 7 {
        Observed::Usage(usage(session)?)
    } else if number.is_multiple_of(2) {
        Observed::Call(made(session, call, turn))
    } else {
        Observed::Step(Step {
            id: Some(call),
            ..bare_step(session, number)
        })
    };
    Ok(Observation::new(
        Timestamp(1_700_000_000_000 + number * 40),
        what,
    ))
}

/// What a session of the agent `coder` spent, as nearly all sessions of a log are.
fn usage(session: Id) -> Result<Usage, sprag_core::IdError> {
    Ok(Usage {
        session,
        agent: Some(Id::new("coder")?),
        flow: None,
        model: None,
        tokens: 900,
        output_tokens: 100,
        cache_write_tokens: 0,
        cache_read_tokens: 0,
        cost_micros: 50,
        prices: Priced::Reported,
        pending: false,
        id: None,
        generation: None,
        identity: Identity::Exact,
    })
}

/// The events of a small session of the same agent, that talks to nobody.
fn small(at: u64) -> Result<Vec<Observation>, sprag_core::IdError> {
    let session = Id::new("small")?;
    let call = |n| {
        Ok(Observed::Call(made(
            session.clone(),
            Id::new(&format!("s{n}"))?,
            n,
        )))
    };
    let calls = (0..20).map(call);
    let all = calls.chain([usage(session.clone()).map(Observed::Usage)]);
    all.map(|what| Ok(Observation::new(Timestamp(at), what?)))
        .collect()
}

/// How long it takes to prove the small session alone, by the clock: it is over before the system has counted it.
fn prove_small(store: &dyn Store, policy: &Policy, clock: Instant) -> Result<Duration, Failed> {
    let started = clock.elapsed();
    let (mut cells, mut folded) = (CellMap::default(), 0);
    let mut query = LogQuery {
        scope: LogScope::Recorded(Id::new("small")?),
        ..LogQuery::default()
    };
    loop {
        let page = store.records(&query)?;
        for record in &page.items {
            if let Some(observation) = record.observation() {
                let (verdict, _) = cells.fold(policy, observation)?;
                folded += u64::from(verdict == record.verdict);
            }
        }
        query.after = page.next;
        if page.next.is_none() {
            break;
        }
    }
    match folded {
        21 => Ok(clock.elapsed() - started),
        _ => Err(Failed::Small(folded)),
    }
}

fn message(from: Id, turn: u64) -> Result<Message, sprag_core::IdError> {
    Ok(Message {
        from: Some(from),
        to: Id::new(&format!("session-{}", (turn + 1) % 300))?,
        source: Source::User,
        flow: Some(Id::new(&format!("flow-{}", turn / 64))?),
        conversation: None,
        agent: None,
        to_agent: None,
        content: Some(digest(turn)),
        kind: MessageKind::Say,
        unblock: false,
        generation: None,
        identity: Identity::Exact,
        use_id: None,
        task: None,
        family: None,
        wording: None,
    })
}

/// The time that this thread has had on a core where the system tells it, else the time of the clock.
fn now(clock: Instant) -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or_else(|| clock.elapsed(), Duration::from_nanos)
}

/// Many busy sessions, then the small one.
fn write_log(store: &dyn Store, policy: &Arc<ActivePolicy>, events: u64) -> Result<(), Failed> {
    let decide = |observation| {
        store.decide(Draft {
            observation,
            policy: Arc::clone(policy),
            captured: None,
        })
    };
    for number in 0..events {
        decide(event(number)?)?;
    }
    for observation in small(1_700_000_000_000 + events * 40)? {
        decide(observation)?;
    }
    Ok(())
}

fn main() -> Result<(), Failed> {
    let events: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let folder = std::env::temp_dir().join(format!("sprag-replay-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let store = OwnedSqlite::open(&folder.join("sprag.db"), &SqliteOptions::default())?;
    let policy = Arc::new(ActivePolicy::new(Policy::default()));
    let mut out = std::io::stdout().lock();
    #[expect(clippy::disallowed_methods, reason = "this is what measures")]
    let clock = Instant::now();
    let started = now(clock);
    write_log(&store, &policy, events)?;
    store.sync()?;
    let wrote = now(clock) - started;
    let resolved = (0..events).map(event).collect::<Result<Vec<_>, _>>()?;
    let mut cells = CellMap::default();
    let started = now(clock);
    for observation in &resolved {
        cells.fold(&policy.policy, observation)?;
    }
    let folded = now(clock) - started;
    let started = now(clock);
    let found = verify(&*store.view()?, &read_policy)?;
    let read = now(clock) - started;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = |elapsed: Duration| events as f64 / elapsed.as_secs_f64();
    writeln!(
        out,
        "folded   {:>10.0} events/s ({folded:.2?}), the engine alone",
        rate(folded)
    )?;
    writeln!(out, "decided  {:>10.0} events/s ({wrote:.2?})", rate(wrote))?;
    writeln!(
        out,
        "verified {:>10.0} events/s ({read:.2?}), {} recomputed",
        rate(read),
        found.recomputed
    )?;
    let small = prove_small(&store, &policy.policy, clock)?.as_secs_f64() * 1e3;
    writeln!(
        out,
        "one small session proved in {small:.1} ms\nfigure replay.session_ms {small:.2}\n\
         figure replay.verified {:.0}\nfigure replay.folded {:.0}\nfigure replay.decided {:.0}",
        rate(read),
        rate(folded),
        rate(wrote)
    )?;
    drop(store);
    std::fs::remove_dir_all(&folder)?;
    found.bad.map_or(Ok(()), |bad| Err(Failed::Unsound(bad)))
}
