//! What every store must do alike: give the engine's own verdicts on the same events.

use std::ops::ControlFlow;
use std::sync::Arc;

use sprag_core::{CellMap, EngineError, Observation, Observed, Policy, Verdict, resolve};
use sprag_store::{
    ActivePolicy, Hash, LogQuery, LogScope, Record, RecordKind, SessionQuery, SessionState,
    SessionSummary, Store, StoreError,
};

use crate::observations::{answer, draft, id};
use crate::stream::Stream;

/// The flow that a store drew for a message from outside is taken over: the model can't guess it.
fn with_drawn_flow(mut observation: Observation, record: &Record) -> Observation {
    // And so is whether its clock had gone back: the engine has none.
    let resolved = record.observation();
    observation.clock_back = resolved.is_some_and(|resolved| resolved.clock_back);
    if let (Observed::Message(open), Some(Observed::Message(resolved))) = (
        &mut observation.what,
        record.observation().map(|resolved| &resolved.what),
    ) && open.from.is_none()
        && open.flow.is_none()
    {
        open.flow.clone_from(&resolved.flow);
    }
    observation
}

/// The engine's own verdict on an event. It draws no flow ids.
pub(crate) fn check(
    cells: &mut CellMap,
    policy: &Policy,
    mut observation: Observation,
) -> Result<Verdict, EngineError> {
    resolve(&mut observation, cells, || None)?;
    Ok(cells.fold(policy, &observation)?.0)
}

/// Feeds the same events to a store and to the engine; every answer must be equal.
pub(crate) fn agrees_with_the_engine(
    store: &dyn Store,
    policy: &Arc<ActivePolicy>,
    seed: u64,
    events: u32,
) {
    let mut stream = Stream::new(seed);
    let mut cells = CellMap::default();
    let mut answers = Vec::new();
    let mut reply = None;
    for number in 0..events {
        let observation = reply.take().unwrap_or_else(|| stream.observation());
        match store.decide(draft(observation.clone(), policy)) {
            Ok(record) => {
                let expected = check(
                    &mut cells,
                    &policy.policy,
                    with_drawn_flow(observation, &record),
                );
                assert_eq!(
                    Ok(&record.verdict),
                    expected.as_ref(),
                    "event {number} of seed {seed}"
                );
                let judged = record.observation().unwrap();
                reply = answer(judged, &record.verdict, number);
                answers.push(record);
            }
            Err(StoreError::Engine(error)) => {
                let EngineError::FutureGeneration { .. } = &error else {
                    panic!("{error}")
                };
                assert_eq!(
                    Err(error),
                    check(&mut cells, &policy.policy, observation),
                    "event {number} of seed {seed}"
                );
            }
            Err(other) => panic!("{other}"),
        }
    }
    store.sync().unwrap();
    let mut told = all_records(store, LogScope::All);
    told.retain(|record| record.observation().is_some());
    answers.drain(..answers.len() - told.len());
    assert_eq!(told, answers);
}

/// The log reads back whole and in order, its chain holds, and the listing tells what cells say.
pub(crate) fn tells_one_story(store: &dyn Store) {
    let mut prev = store.base().unwrap().hash;
    let mut last = 0;
    let records = all_records(store, LogScope::All);
    let mut listed = records.iter();
    let view = store.view().unwrap();
    let scanned = view.scan(0, &mut |row| {
        assert_eq!(view.link(&prev, row.seq, row.body), row.hash);
        let record = listed.next().unwrap();
        assert_eq!(
            (record.seq, record.prev, record.hash),
            (row.seq, prev, row.hash)
        );
        prev = row.hash;
        last = row.seq;
        ControlFlow::Continue(())
    });
    scanned.unwrap();
    drop(view);
    assert!(listed.next().is_none());
    let status = store.status();
    assert_eq!((status.last_seq, status.last_hash), (last, prev));
    assert_ne!(prev, Hash::GENESIS);
    let count = |state| store.count_in(state).unwrap();
    let census = store.census().unwrap();
    assert_eq!(census.active, count(SessionState::Active));
    assert_eq!(census.blocked, count(SessionState::Blocked));
    assert_eq!(census.killed, count(SessionState::Killed));
    let mut after = None;
    let mut seen = Vec::new();
    loop {
        let page = store
            .sessions(&SessionQuery {
                after,
                limit: 3,
                ..SessionQuery::default()
            })
            .unwrap();
        for summary in page.items {
            let session = store.session(&summary.id).unwrap().unwrap();
            assert_eq!(session.summary, summary);
            seen.push(summary);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len() as u64, status.sessions);
    check_jumps(store, &seen);
}

/// A page in the middle is the same as those before it left out; a count is the length of all pages.
fn check_jumps(store: &dyn Store, all: &[SessionSummary]) {
    for skip in [0, 1, all.len() / 2, all.len(), all.len() + 1] {
        let query = SessionQuery {
            skip,
            limit: 2,
            ..SessionQuery::default()
        };
        let wanted: Vec<_> = all.iter().skip(skip).take(2).cloned().collect();
        assert_eq!(store.sessions(&query).unwrap().items, wanted);
        assert_eq!(store.count_sessions(&query).unwrap(), all.len() as u64);
    }
    for rule in all.iter().filter_map(|session| session.tally.last_rule) {
        let query = SessionQuery {
            rule: Some(rule),
            ..SessionQuery::default()
        };
        let fired = |session: &&SessionSummary| session.tally.last_rule == Some(rule);
        let wanted: Vec<_> = all.iter().filter(fired).cloned().collect();
        assert_eq!(store.sessions(&query).unwrap().items, wanted);
        assert_eq!(store.count_sessions(&query).unwrap(), wanted.len() as u64);
    }
}

pub(crate) fn all_records(store: &dyn Store, scope: LogScope) -> Vec<Record> {
    let mut query = LogQuery {
        scope,
        limit: 100,
        ..LogQuery::default()
    };
    let mut all = Vec::new();
    loop {
        let page = store.records(&query).unwrap();
        all.extend(page.items);
        query.after = page.next;
        if page.next.is_none() {
            return all;
        }
    }
}

/// Folding only what shares a cell with a session gives its verdicts again.
pub(crate) fn replays_a_session(store: &dyn Store, policy: &Arc<ActivePolicy>, session: &str) {
    for scope in [LogScope::Sharing, LogScope::Recorded] {
        replays_from(store, policy, session, scope(id(session)));
    }
}

fn replays_from(store: &dyn Store, policy: &Arc<ActivePolicy>, session: &str, scope: LogScope) {
    let mut cells = store.base().unwrap().cells;
    for record in all_records(store, scope) {
        let observation = match &record.kind {
            RecordKind::Event { observation, .. } => observation,
            RecordKind::Note(note) => {
                note.apply(&mut cells);
                continue;
            }
        };
        let (verdict, _): (Verdict, _) = cells.fold(&policy.policy, observation).unwrap();
        assert_eq!(
            verdict, record.verdict,
            "record {} of {session}",
            record.seq
        );
    }
    let held = store.session(&id(session)).unwrap().unwrap();
    assert_eq!(cells.session(session), Some(&*held.cell));
}
