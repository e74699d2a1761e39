//! Opening a database file: ours, new, or refused.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use sprag_core::DigestKey;

use super::lock::{Locks, beside, open_private};
use super::schema::{APPLICATION_ID, migrate, newest, version};
use crate::error::StoreError;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Past this many pages of the write-ahead log a commit moves them into the database, where the process stays.
const CHECKPOINT_PAGES: i64 = 400;

/// Past this many bytes of it a process that goes again moves them. The next one to open the file reads all of it,
/// a millisecond for two megabytes; moving takes several times as long, so one in a hundred hooks does.
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// How long SQLite itself waits where a stranger holds the file: a shell, a backup.
const STRANGERS: Duration = Duration::from_secs(5);

/// Opens a database that is there.
pub(super) fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let flags = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(STRANGERS)?;
    // The last process of many to leave must not have to tidy up for all of them.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// For a process that stays: a commit moves the write-ahead log into the database now and then.
pub(super) fn checkpoint_by_itself(conn: &Connection) -> Result<(), StoreError> {
    Ok(conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?)
}

/// For a process that goes again: it must not do by halves what SQLite does by itself. That a checkpoint was made is
/// known only as long as somebody has the file open; who comes later reads the whole log as if it had not been,
/// and adds to it.
pub(super) fn checkpoint_by_hand(conn: &Connection) -> Result<(), StoreError> {
    Ok(conn.pragma_update(None, "wal_autocheckpoint", 0)?)
}

/// Moves the write-ahead log into the database and empties it, where it has grown long and nobody reads it.
pub(super) fn checkpoint_if_long(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal").metadata();
    if log.map_or(0, |log| log.len()) < CHECKPOINT_BYTES {
        return Ok(());
    }
    // Who reads is not waited for. What can't be moved stays where it counts all the same, and whoever
    // writes next tries again.
    conn.busy_timeout(Duration::ZERO)?;
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(conn.busy_timeout(STRANGERS)?)
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Empty,
    Ours(i64),
}

/// Tables first, then whose they are: another process may be making the file right now, and what
/// is seen of its tables is then also seen of its name.
fn inspect(conn: &Connection, path: &Path) -> Result<FileState, StoreError> {
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(FileState::Empty);
    }
    let id: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if id == APPLICATION_ID {
        return Ok(FileState::Ours(version(conn)?));
    }
    Err(StoreError::Foreign {
        path: path.to_path_buf(),
        why: "it is a database of another program".to_owned(),
    })
}

fn check_known(found: i64, path: &Path) -> Result<(), StoreError> {
    if found > newest() {
        return Err(StoreError::Newer {
            path: path.to_path_buf(),
            what: "schema",
            found,
            known: newest(),
        });
    }
    Ok(())
}

/// Opens a database for writing; makes it or brings it up to date where needed.
pub(super) fn open(path: &Path, locks: &Locks) -> Result<Connection, StoreError> {
    drop(open_private(path)?);
    let mut conn = connect(path, Access::Write)?;
    if let FileState::Ours(found) = inspect(&conn, path)? {
        check_known(found, path)?;
        if found == newest() {
            return Ok(conn);
        }
    }
    let _turn = locks.turn()?;
    // Someone else may have made it while this one waited.
    if let FileState::Ours(found) = inspect(&conn, path)? {
        check_known(found, path)?;
    }
    migrate(&mut conn)?;
    Ok(conn)
}

/// Opens a database for reading only; it must be there and ours.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let conn = connect(path, Access::Read)?;
    match inspect(&conn, path)? {
        FileState::Ours(found) => check_known(found, path)?,
        FileState::Empty => {
            return Err(StoreError::Foreign {
                path: path.to_path_buf(),
                why: "it is empty".to_owned(),
            });
        }
    }
    Ok(conn)
}

/// The secret under which this store digests.
pub(super) fn digest_key(conn: &Connection) -> Result<DigestKey, StoreError> {
    let sql = "SELECT value FROM meta WHERE name = 'digest_key'";
    let secret: [u8; 32] = conn.query_row(sql, [], |row| row.get(0))?;
    Ok(DigestKey::new(&secret))
}

/// Limits how large the file may grow.
pub(super) fn limit_size(conn: &Connection, max_bytes: Option<u64>) -> Result<(), StoreError> {
    if let Some(bytes) = max_bytes {
        let page: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}
