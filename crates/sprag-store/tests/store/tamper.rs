//! Logs that someone changed: every change is found, and its place is named.

use std::ops::ControlFlow;

use rusqlite::Connection;
use sprag_core::CellMap;
use sprag_store::{
    Base, Checkpoint, Hash, LogProblem, LogView, RawRecord, Store, StoreError, Verification,
    WrittenCells, chain, read_policy, verify,
};

use crate::model::agrees_with_the_engine;
use crate::observations::{call, draft, kill, policy};
use crate::place::Place;
use crate::processes::times;
use crate::sqlite::{shared, verified};
use crate::stream::Stream;

/// A log in the hands of whoever wants to change it.
#[derive(Clone)]
struct Loose {
    rows: Vec<(u64, Vec<u8>, Hash)>,
    checkpoints: Vec<Checkpoint>,
    cells: CellMap,
    text: String,
}

impl Loose {
    fn of(store: &dyn Store) -> Self {
        let view = store.view().unwrap();
        let mut rows = Vec::new();
        view.scan(0, &mut |row| {
            rows.push((row.seq, row.body.to_vec(), row.hash));
            ControlFlow::Continue(())
        })
        .unwrap();
        let (seq, _, hash) = *rows.last().unwrap();
        Self {
            rows,
            checkpoints: vec![Checkpoint { seq, hash }],
            cells: view.cells().unwrap(),
            text: policy().text.clone(),
        }
    }

    fn verify(&self) -> Verification {
        verify(self, &read_policy).unwrap()
    }
}

impl LogView for Loose {
    fn base(&self) -> Result<Base, StoreError> {
        Ok(Base::default())
    }

    fn scan(
        &self,
        after: u64,
        visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for (seq, body, hash) in self.rows.iter().skip(usize::try_from(after).unwrap()) {
            let row = RawRecord {
                seq: *seq,
                body,
                hash: *hash,
            };
            if visit(row).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn policy_text(&self, _digest: &str) -> Result<Option<String>, StoreError> {
        Ok(Some(self.text.clone()))
    }

    fn written_cells(&self, _after: u64) -> Result<Option<WrittenCells>, StoreError> {
        Ok(None)
    }

    fn cells(&self) -> Result<CellMap, StoreError> {
        Ok(self.cells.clone())
    }

    fn checkpoints(&self) -> Result<Option<Vec<Checkpoint>>, StoreError> {
        Ok(Some(self.checkpoints.clone()))
    }
}

fn loose() -> Loose {
    let place = Place::new();
    let store = shared(&place);
    agrees_with_the_engine(&store, &policy(), 21, 120);
    Loose::of(&store)
}

fn flip(bytes: &mut [u8], chance: &mut Stream) {
    let bit = chance.below(u64::try_from(bytes.len() * 8).unwrap());
    bytes[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
}

/// Changes something and tells the first record that is not as it was.
fn mutate(log: &mut Loose, chance: &mut Stream) -> u64 {
    let count = u64::try_from(log.rows.len()).unwrap();
    let mut any = || usize::try_from(chance.below(count)).unwrap();
    let (at, other) = (any(), any());
    let place = u64::try_from(at).unwrap() + 1;
    match chance.below(7) {
        0 => flip(&mut log.rows[at].1, chance),
        1 => {
            let mut bytes = *log.rows[at].2.as_bytes();
            flip(&mut bytes, chance);
            log.rows[at].2 = Hash::from_bytes(bytes);
        }
        2 => log.rows[at].0 ^= 1 << chance.below(20),
        3 => {
            log.rows.remove(at);
        }
        4 if at != other => {
            log.rows.swap(at, other);
            return place.min(u64::try_from(other).unwrap() + 1);
        }
        4 | 5 => {
            let row = log.rows[at].clone();
            log.rows.insert(at, row);
            return place + 1;
        }
        _ => log.rows.truncate(at),
    }
    place
}

#[test]
fn every_random_change_is_found_at_its_place() {
    let whole = loose();
    assert!(whole.verify().is_sound());
    let mut chance = Stream::new(times("SPRAG_SEED", 3));
    for number in 0..times("SPRAG_MUTATIONS", 1_000) {
        let mut log = whole.clone();
        let place = mutate(&mut log, &mut chance);
        let bad = log.verify().bad;
        assert_eq!(
            bad.as_ref().map(|bad| bad.seq),
            Some(place),
            "change {number}: {bad:?}"
        );
    }
}

#[test]
fn a_chain_forged_anew_fails_at_its_checkpoint_or_its_verdicts() {
    let whole = loose();
    let mut chance = Stream::new(8);
    for _ in 0..50 {
        let mut log = whole.clone();
        let at = usize::try_from(chance.below(u64::try_from(log.rows.len()).unwrap())).unwrap();
        flip(&mut log.rows[at].1, &mut chance);
        let mut prev = Hash::GENESIS;
        for (seq, body, hash) in &mut log.rows {
            *hash = chain(&prev, *seq, body);
            prev = *hash;
        }
        assert!(!log.verify().is_sound());
    }
}

#[test]
fn what_is_changed_in_the_file_is_named() {
    let change = |sql: &str| {
        let place = Place::new();
        let store = shared(&place);
        for at in 0..30 {
            store.decide(draft(call(at, "a", at), &policy())).unwrap();
        }
        store.decide(draft(kill(31, "a"), &policy())).unwrap();
        Connection::open(place.db())
            .unwrap()
            .execute(sql, [])
            .unwrap();
        let bad = verified(&store).bad.unwrap();
        (bad.seq, bad.problem.to_string())
    };
    let hash = "its hash does not fit: it, its number or the record before was changed";
    let cut = "it is missing: the log was cut, its last checkpoint is at record 31";
    let policy = policy().digest.clone();
    for (sql, seq, text) in [
        ("UPDATE log SET body = x'00' WHERE seq = 9", 9, hash),
        (
            "DELETE FROM log WHERE seq = 4",
            4,
            "it is missing: record 5 stands in its place",
        ),
        ("DELETE FROM log WHERE seq > 20", 21, cut),
        (
            "UPDATE policy SET text = '[flow]\nmax_depth = 9'",
            1,
            &format!("its policy {policy} is missing or can't be read"),
        ),
        (
            "DELETE FROM session",
            31,
            "in the store Session(\"a\") is not what the log makes of it",
        ),
    ] {
        assert_eq!(change(sql), (seq, text.to_owned()), "{sql}");
    }
}

#[test]
fn a_long_log_without_checkpoints_is_not_trusted() {
    let mut log = loose();
    log.checkpoints.clear();
    assert!(log.verify().is_sound());
    let place = Place::new();
    let store = crate::sqlite::owned(&place);
    for at in 0..1_100 {
        store
            .decide(draft(call(at, &format!("s{}", at % 50), at), &policy()))
            .unwrap();
    }
    store.sync().unwrap();
    assert!(verified(&store).checkpoint.is_some());
    std::fs::remove_file(place.db().with_extension("db.checkpoints")).unwrap();
    assert_eq!(
        verified(&store).bad.unwrap().problem,
        LogProblem::NoCheckpoints
    );
}

/// Makes the log of a file one of older rules: the third byte of a record is their version.
fn age(place: &Place) {
    let conn = Connection::open(place.db()).unwrap();
    let rows: Vec<(i64, Vec<u8>)> = conn
        .prepare("SELECT seq, body FROM log ORDER BY seq")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut prev = Hash::GENESIS;
    let mut lines = String::new();
    for (seq, mut body) in rows {
        body[2] = 0;
        let number = u64::try_from(seq).unwrap();
        prev = chain(&prev, number, &body);
        conn.execute(
            "UPDATE log SET body = ?2, hash = ?3 WHERE seq = ?1",
            (seq, body, prev.as_bytes()),
        )
        .unwrap();
        lines = format!("{number} {prev}\n");
    }
    conn.execute(
        "UPDATE head SET hash = ?1, rules_version = 0",
        [prev.as_bytes()],
    )
    .unwrap();
    std::fs::write(place.db().with_extension("db.checkpoints"), lines).unwrap();
}

#[test]
fn after_a_change_of_rules_verify_says_what_it_could_not_recompute() {
    for owner in [false, true] {
        let place = Place::new();
        let store = shared(&place);
        for at in 0..20 {
            store.decide(draft(call(at, "a", at), &policy())).unwrap();
        }
        store.decide(draft(kill(30, "a"), &policy())).unwrap();
        drop(store);
        age(&place);
        let store: Box<dyn Store> = if owner {
            Box::new(crate::sqlite::owned(&place))
        } else {
            Box::new(shared(&place))
        };
        for at in 40..50 {
            store.decide(draft(call(at, "a", at), &policy())).unwrap();
        }
        let found = verified(&*store);
        assert!(found.is_sound(), "{found:?}");
        assert_eq!(found.not_recomputed, [(0, 21)].into());
        assert_eq!(found.recomputed, 10);
        Connection::open(place.db())
            .unwrap()
            .execute("DELETE FROM snapshot_cell", [])
            .unwrap();
        let bad = verified(&*store).bad.unwrap();
        assert_eq!(
            (bad.seq, bad.problem),
            (22, LogProblem::Snapshot { after: 21 })
        );
    }
}

#[test]
fn bytes_that_are_no_record_are_refused_without_a_panic() {
    let whole = loose();
    let mut chance = Stream::new(5);
    for (seq, body, hash) in &whole.rows {
        let read = |body: &[u8]| {
            let row = RawRecord {
                seq: *seq,
                body,
                hash: *hash,
            };
            row.read(Hash::GENESIS)
        };
        assert!(read(body).is_ok());
        for end in 0..body.len() {
            assert!(read(&body[..end]).is_err(), "cut at {end}");
        }
        for _ in 0..50 {
            let mut body = body.clone();
            flip(&mut body, &mut chance);
            flip(&mut body, &mut chance);
            let _ = read(&body);
        }
    }
}
