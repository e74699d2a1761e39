//! The tables, and how an older file becomes a newer one.
//!
//! Every change of the schema is a step with a number; a new file runs through all of them, an older
//! one through those it lacks, all in one transaction. A file of a newer build is left alone.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::random::secret;

/// "SPRG": what makes a database ours.
pub(super) const APPLICATION_ID: i32 = 0x5350_5247;

/// One change of the schema.
struct Migration {
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "cells, sessions, policies and the log",
        sql: "
CREATE TABLE migration(version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE head(
    id INTEGER PRIMARY KEY CHECK (id = 0),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    rules_version INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    others INTEGER NOT NULL
) STRICT;
CREATE TABLE session(
    id TEXT NOT NULL UNIQUE,
    touched INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    state INTEGER NOT NULL,
    agent TEXT,
    last_rule TEXT,
    events INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    cell BLOB NOT NULL
) STRICT;
CREATE TABLE cell(
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    touched INTEGER NOT NULL,
    cell BLOB NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE policy(digest TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE log(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE log_cell(
    cell INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (cell, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot(
    after INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    is_base INTEGER NOT NULL
) STRICT;
CREATE TABLE snapshot_cell(
    after INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    cell BLOB NOT NULL,
    PRIMARY KEY (after, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO head VALUES (0, 0, zeroblob(32), 0, 0, 0);
",
    },
    Migration {
        name: "sessions by their last event",
        sql: "CREATE INDEX session_touched ON session(touched DESC, id);",
    },
    Migration {
        name: "marks counted apart",
        sql: "
ALTER TABLE head ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
UPDATE head SET marked = (SELECT count(*) FROM session WHERE state > 0);
",
    },
];

/// The schema of this build.
pub(super) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The schema of a file; 0 where it is empty.
pub(super) fn version(conn: &Connection) -> Result<i64, StoreError> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings an empty or older file up to this build.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    migrate_to(conn, MIGRATIONS.len())
}

fn migrate_to(conn: &mut Connection, steps: usize) -> Result<(), StoreError> {
    if version(conn)? == 0 {
        // Neither can be set once there are tables or a transaction.
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let have = usize::try_from(version(&tx)?).unwrap_or(0);
    for (number, step) in (1_i64..).zip(MIGRATIONS).take(steps).skip(have) {
        tx.execute_batch(step.sql)?;
        tx.execute("INSERT INTO migration VALUES (?1, ?2)", (number, step.name))?;
        tx.pragma_update(None, "user_version", number)?;
    }
    if have == 0 {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        let secret = secret()?;
        tx.execute("INSERT INTO meta VALUES ('digest_key', ?1)", [&secret[..]])?;
    }
    tx.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(conn: &Connection, sql: &str) -> i64 {
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_file_gets_the_steps_it_lacks_and_keeps_what_it_holds() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate_to(&mut conn, 1).unwrap();
        assert_eq!(version(&conn).unwrap(), 1);
        conn.execute("UPDATE head SET seq = 7", []).unwrap();
        migrate(&mut conn).unwrap();
        assert_eq!(version(&conn).unwrap(), newest());
        assert_eq!(number(&conn, "SELECT seq FROM head"), 7);
        assert_eq!(number(&conn, "SELECT count(*) FROM migration"), newest());
        assert_eq!(number(&conn, "SELECT count(*) FROM meta"), 1);
    }
}
