//! The log as rows, and its head.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Row};
use sprag_core::{CellKey, CellKeys, Id, RULES_VERSION};

use super::cell_rows::{blob, loaded, stored};
use super::snapshot_rows::base_head;
use crate::cell_source::FoldResult;
use crate::draft::{ActivePolicy, read_policy};
use crate::encoded_record::{ChainHead, EncodedRecord};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::in_force::{PANIC, PAUSE, POLICY, StandingOrders};
use crate::log_index::{NOTES, places};
use crate::note::{Eviction, Pool};
use crate::query::{LogQuery, LogScope, Page, page_size};
use crate::record::Record;
use crate::sharing::sharing;
use crate::view::RawRecord;

/// The log's head, and what is counted along with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadRow {
    pub(super) head: ChainHead,
    pub(super) rules_version: u32,
    pub(super) sessions: u64,
    pub(super) others: u64,
    /// How many of the sessions are killed or blocked.
    pub(super) marked: u64,
}

impl HeadRow {
    pub(super) fn load(conn: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT seq, hash, rules_version, sessions, others, marked FROM head \
                   WHERE id = 0";
        let row = conn.prepare_cached(sql)?.query_row([], |row| {
            Ok(Self {
                head: ChainHead {
                    seq: loaded(row.get(0)?),
                    hash: Hash::from_bytes(row.get(1)?),
                },
                rules_version: row.get(2)?,
                sessions: loaded(row.get(3)?),
                others: loaded(row.get(4)?),
                marked: loaded(row.get(5)?),
            })
        })?;
        Ok(row)
    }

    /// Counts the cells of an event that was folded.
    pub(super) fn count(&mut self, folded: &FoldResult) {
        for key in CellKey::all(&folded.keys) {
            if !folded.was_there(&key) {
                match key {
                    CellKey::Session(_) => self.sessions += 1,
                    _ => self.others += 1,
                }
            }
        }
        self.marked = self.marked.saturating_add_signed(folded.marks_change);
    }

    /// Counts the cells that were forgotten.
    pub(super) fn uncount(&mut self, eviction: &Eviction) {
        match eviction.pool {
            Pool::Sessions => self.sessions = self.sessions.saturating_sub(eviction.cells),
            Pool::Marks => {
                self.sessions = self.sessions.saturating_sub(eviction.cells);
                self.marked = self.marked.saturating_sub(eviction.cells);
            }
            Pool::Others => self.others = self.others.saturating_sub(eviction.cells),
        }
    }

    /// Refuses to write where other rules than this build's are in force.
    pub(super) fn check_rules(&self, path: &Path) -> Result<(), StoreError> {
        if self.rules_version == RULES_VERSION {
            return Ok(());
        }
        Err(StoreError::Newer {
            path: path.to_path_buf(),
            what: "rules",
            found: i64::from(self.rules_version),
            known: i64::from(RULES_VERSION),
        })
    }

    pub(super) fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        let sql = "UPDATE head SET seq = ?1, hash = ?2, rules_version = ?3, sessions = ?4, \
                   others = ?5, marked = ?6 WHERE id = 0";
        conn.prepare_cached(sql)?.execute((
            stored(self.head.seq),
            self.head.hash.as_bytes(),
            self.rules_version,
            stored(self.sessions),
            stored(self.others),
            stored(self.marked),
        ))?;
        Ok(())
    }
}

/// A record on its way into the table.
#[derive(Debug)]
pub(super) struct LogRow {
    head: ChainHead,
    body: Vec<u8>,
    cells: Vec<u64>,
    in_force: Option<(&'static str, Vec<u8>)>,
}

impl LogRow {
    /// The row of a record, and the record.
    pub(super) fn of(encoded: EncodedRecord, keys: Option<&CellKeys>) -> (Self, Record) {
        let row = Self {
            head: encoded.head(),
            body: encoded.body,
            cells: places(keys),
            in_force: encoded.record.puts_in_force(),
        };
        (row, encoded.record)
    }

    pub(super) fn head(&self) -> ChainHead {
        self.head
    }

    pub(super) fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        Self::save_all(std::slice::from_ref(self), conn)
    }

    pub(super) fn save_all(rows: &[Self], conn: &Connection) -> Result<(), StoreError> {
        let mut log = conn.prepare_cached("INSERT INTO log VALUES (?1, ?2, ?3)")?;
        let mut index = conn.prepare_cached("INSERT OR IGNORE INTO log_cell VALUES (?1, ?2)")?;
        for row in rows {
            let seq = stored(row.head.seq);
            log.execute((seq, &row.body, row.head.hash.as_bytes()))?;
            for cell in &row.cells {
                index.execute((cell.cast_signed(), seq))?;
            }
            if let Some((name, value)) = &row.in_force {
                conn.prepare_cached("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?
                    .execute((name, value))?;
            }
        }
        Ok(())
    }
}

/// What is in force under `name`, as its record put it there.
fn in_force(conn: &Connection, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

/// The pause and the panic that were noted last.
pub(super) fn orders(conn: &Connection) -> Result<StandingOrders, StoreError> {
    let pause = in_force(conn, PAUSE)?.unwrap_or_default();
    let panic = in_force(conn, PANIC)?.unwrap_or_default();
    StandingOrders::from_bytes(&pause, &panic)
}

/// The digest of the policy that was noted last.
pub(super) fn noted_policy(conn: &Connection) -> Result<Option<String>, StoreError> {
    let digest = in_force(conn, POLICY)?;
    Ok(digest.and_then(|digest| String::from_utf8(digest).ok()))
}

/// Keeps a policy's text, once.
pub(super) fn learn(conn: &Connection, policy: &ActivePolicy) -> Result<(), StoreError> {
    conn.prepare_cached("INSERT OR IGNORE INTO policy VALUES (?1, ?2)")?
        .execute((&policy.digest, &policy.text))?;
    Ok(())
}

/// The text of a policy.
pub(super) fn policy_text(conn: &Connection, digest: &str) -> Result<Option<String>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT text FROM policy WHERE digest = ?1")?;
    Ok(statement.query_row([digest], |row| row.get(0)).optional()?)
}

fn damaged(seq: u64, what: impl ToString) -> StoreError {
    StoreError::Damaged {
        place: format!("record {seq}"),
        what: what.to_string(),
    }
}

fn hash(row: &Row<'_>, at: usize, seq: u64) -> Result<Hash, StoreError> {
    Hash::from_slice(blob(row, at)?).ok_or_else(|| damaged(seq, "its hash is not 32 bytes"))
}

/// Shows rows in order.
pub(super) fn scan(
    conn: &Connection,
    after: u64,
    visit: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let sql = "SELECT seq, body, hash FROM log WHERE seq > ?1 ORDER BY seq";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([stored(after)])?;
    while let Some(row) = rows.next()? {
        let seq = loaded(row.get(0)?);
        let record = RawRecord {
            seq,
            body: blob(row, 1)?,
            hash: hash(row, 2, seq)?,
        };
        if visit(record).is_break() {
            break;
        }
    }
    Ok(())
}

const RECORD: &str = "SELECT log.seq, log.body, log.hash, coalesce(prev.hash, \
                      (SELECT hash FROM snapshot WHERE is_base AND after = log.seq - 1), \
                      zeroblob(32)) FROM log LEFT JOIN log prev ON prev.seq = log.seq - 1";

fn record(row: &Row<'_>) -> Result<Record, StoreError> {
    let seq = loaded(row.get(0)?);
    let raw = RawRecord {
        seq,
        body: blob(row, 1)?,
        hash: hash(row, 2, seq)?,
    };
    raw.read(hash(row, 3, seq)?)
}

fn by_seq(conn: &Connection, seq: u64) -> Result<Record, StoreError> {
    let mut statement = conn.prepare_cached(&format!("{RECORD} WHERE log.seq = ?1"))?;
    let mut rows = statement.query([stored(seq)])?;
    match rows.next()? {
        Some(row) => record(row),
        None => Err(damaged(seq, "it is missing")),
    }
}

fn touching(conn: &Connection, cell: u64) -> Result<Vec<u64>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT seq FROM log_cell WHERE cell = ?1")?;
    let rows = statement.query_map([cell.cast_signed()], |row| row.get(0).map(loaded))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a policy counts over the sessions of an agent; one that can't be read may.
fn counts_agents(
    conn: &Connection,
    known: &mut HashMap<String, bool>,
    digest: &str,
) -> Result<bool, StoreError> {
    if let Some(counts) = known.get(digest) {
        return Ok(*counts);
    }
    let policy = policy_text(conn, digest)?.and_then(|text| read_policy(digest, &text));
    let counts = policy.is_none_or(|policy| policy.counts_agents());
    known.insert(digest.to_owned(), counts);
    Ok(counts)
}

/// What was found for the first page of a long answer, for its next pages: finding it means reading
/// every record that has to do with a session.
#[derive(Debug, Default)]
pub(super) struct SharingCache(Mutex<Option<(LogScope, Arc<BTreeSet<u64>>)>>);

impl SharingCache {
    /// The records that share a cell with the session of `scope`, as they were on the first page.
    fn sharing(
        &self,
        conn: &Connection,
        scope: &LogScope,
        session: &Id,
        is_first: bool,
    ) -> Result<Arc<BTreeSet<u64>>, StoreError> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, seqs)) = &*found
            && !is_first
            && known == scope
        {
            return Ok(Arc::clone(seqs));
        }
        let mut policies = HashMap::new();
        let seqs = Arc::new(sharing(
            session,
            |cell| touching(conn, cell),
            |seq| by_seq(conn, seq),
            |digest| match scope {
                LogScope::Recorded(_) => counts_agents(conn, &mut policies, digest),
                _ => Ok(true),
            },
        )?);
        *found = Some((scope.clone(), Arc::clone(&seqs)));
        Ok(seqs)
    }
}

/// A page of records.
pub(super) fn records(
    conn: &Connection,
    query: &LogQuery,
    cache: &SharingCache,
) -> Result<Page<Record, u64>, StoreError> {
    let size = page_size(query.limit);
    let mut items = match &query.scope {
        LogScope::All => in_order(conn, query, None, size + 1)?,
        LogScope::Notes => in_order(conn, query, Some(NOTES), size + 1)?,
        LogScope::Session(id) => {
            let cell = CellKey::Session(id.clone()).index();
            in_order(conn, query, Some(cell), size + 1)?
        }
        LogScope::Flow(id) => {
            let cell = CellKey::Flow(id.clone()).index();
            in_order(conn, query, Some(cell), size + 1)?
        }
        scope @ (LogScope::Sharing(id) | LogScope::Recorded(id)) => {
            let seqs = cache.sharing(conn, scope, id, query.after.is_none())?;
            // Some may have been pruned since the first page.
            let base = base_head(conn)?.seq;
            let is_left = |seq: &&u64| **seq > base;
            let chosen: Vec<u64> = if query.newest_first {
                let before = query.after.unwrap_or(u64::MAX);
                let left = seqs.range(..before).rev().filter(is_left);
                left.take(size + 1).copied().collect()
            } else {
                let from = query.after.map_or(0, |after| after.saturating_add(1));
                let left = seqs.range(from..).filter(is_left);
                left.take(size + 1).copied().collect()
            };
            let records = chosen.into_iter().map(|seq| by_seq(conn, seq));
            records.collect::<Result<_, _>>()?
        }
    };
    let more = items.len() > size;
    items.truncate(size);
    let next = items.last().filter(|_| more).map(|last| last.seq);
    Ok(Page { items, next })
}

fn in_order(
    conn: &Connection,
    query: &LogQuery,
    cell: Option<u64>,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let touched = match cell {
        Some(_) => "log.seq IN (SELECT seq FROM log_cell WHERE cell = ?1)",
        None => "?1 IS NULL",
    };
    let (side, start, order) = if query.newest_first {
        ("<", query.after.unwrap_or(u64::MAX), "DESC")
    } else {
        (">", query.after.unwrap_or(0), "ASC")
    };
    let sql =
        format!("{RECORD} WHERE {touched} AND log.seq {side} ?2 ORDER BY log.seq {order} LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((cell.map(u64::cast_signed), stored(start), limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(record(row)?);
    }
    Ok(found)
}
