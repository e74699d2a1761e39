//! Cells and sessions as rows.

use rusqlite::{Connection, Row};
use sprag_core::{CellKey, Id, Timestamp};

use crate::cell_source::CellSource;
use crate::error::StoreError;
use crate::eviction::{Room, kept};
use crate::note::{Eviction, Pool};
use crate::pack::{Packed, unpack_cell};
use crate::query::{SessionSummary, Tally};
use crate::store_state::StoreState;

/// A number as SQLite holds it; what is beyond that is as large as can be.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as it was.
pub(super) fn loaded(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A column's bytes, not copied.
pub(super) fn blob<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a [u8], StoreError> {
    Ok(row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from)?)
}

fn damaged(place: String, what: &str) -> StoreError {
    StoreError::Damaged {
        place,
        what: what.to_owned(),
    }
}

/// Cells in a database, one by one.
#[derive(Debug)]
pub(super) struct CellRows<'a>(pub(super) &'a Connection);

impl CellSource for CellRows<'_> {
    fn fetch(&self, key: &CellKey, state: &mut StoreState) -> Result<bool, StoreError> {
        let CellKey::Session(id) = key else {
            let sql = "SELECT cell FROM cell WHERE kind = ?1 AND name = ?2";
            let mut statement = self.0.prepare_cached(sql)?;
            let mut rows = statement.query((key.kind(), key.name()))?;
            let Some(row) = rows.next()? else {
                return Ok(false);
            };
            unpack_cell(&mut state.cells, key.clone(), blob(row, 0)?)?;
            return Ok(true);
        };
        let sql = "SELECT cell, last_rule, events, refused FROM session WHERE id = ?1";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query([id.as_str()])?;
        let Some(row) = rows.next()? else {
            return Ok(false);
        };
        unpack_cell(&mut state.cells, key.clone(), blob(row, 0)?)?;
        state.tallies.insert(id.clone(), tally(row, 1)?);
        Ok(true)
    }
}

/// The counts in three columns from `at` on.
pub(super) fn tally(row: &Row<'_>, at: usize) -> Result<Tally, StoreError> {
    let rule: Option<String> = row.get(at)?;
    Ok(Tally {
        // A rule that this build doesn't know is shown as none.
        last_rule: rule.and_then(|rule| rule.parse().ok()),
        events: loaded(row.get(at + 1)?),
        refused: loaded(row.get(at + 2)?),
    })
}

/// Puts the cell of the row that is looked at into `state`.
type Fetch<'a> = &'a dyn Fn(CellKey, &mut StoreState) -> Result<(), StoreError>;

/// Shows every cell, until told to stop.
pub(super) fn scan_cells(
    conn: &Connection,
    visit: &mut dyn FnMut(CellKey, Fetch<'_>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare("SELECT kind, name, cell FROM cell")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(1)?;
        let key = CellKey::parse(row.get(0)?, &name)
            .ok_or_else(|| damaged(format!("cell {name}"), "it has no known kind"))?;
        let fetch = |key, state: &mut StoreState| unpack_cell(&mut state.cells, key, blob(row, 2)?);
        if !visit(key, &fetch)? {
            return Ok(());
        }
    }
    let mut statement = conn.prepare("SELECT cell, last_rule, events, refused, id FROM session")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = session_id(row, 4)?;
        let fetch = |key: CellKey, state: &mut StoreState| {
            unpack_cell(&mut state.cells, key, blob(row, 0)?)?;
            state.tallies.insert(id.clone(), tally(row, 1)?);
            Ok(())
        };
        if !visit(CellKey::Session(id.clone()), &fetch)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Every cell of a database.
pub(super) fn load_all(conn: &Connection) -> Result<StoreState, StoreError> {
    let mut state = StoreState::default();
    scan_cells(conn, &mut |key, fetch| {
        fetch(key, &mut state)?;
        Ok(true)
    })?;
    Ok(state)
}

pub(super) fn session_id(row: &Row<'_>, at: usize) -> Result<Id, StoreError> {
    let text: String = row.get(at)?;
    Id::new(&text).map_err(|error| damaged(format!("session {text}"), &error.to_string()))
}

/// A cell with all that its row holds.
#[derive(Debug)]
pub(super) struct CellRow {
    key: CellKey,
    /// None: it was forgotten.
    cell: Option<(Packed, Option<SessionSummary>)>,
}

impl CellRow {
    /// The row of `key` as it is in `state`.
    pub(super) fn of(key: CellKey, state: &StoreState) -> Result<Self, StoreError> {
        let summary = match &key {
            CellKey::Session(id) => state.session_summary(id),
            _ => None,
        };
        let cell = Packed::of(&state.cells, &key).map(|packed| (packed, summary));
        Ok(Self { key, cell })
    }

    /// Writes it.
    pub(super) fn save(&self, conn: &Connection) -> Result<(), StoreError> {
        match (&self.key, &self.cell) {
            (CellKey::Session(_), Some((packed, Some(summary)))) => {
                save_session(conn, packed, summary)
            }
            (CellKey::Session(id), _) => {
                let sql = "DELETE FROM session WHERE id = ?1";
                conn.prepare_cached(sql)?.execute([id.as_str()])?;
                Ok(())
            }
            (key, Some((packed, _))) => {
                let sql = "INSERT INTO cell VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET \
                           touched = excluded.touched, cell = excluded.cell";
                let touched = stored(packed.touched.0);
                conn.prepare_cached(sql)?.execute((
                    key.kind(),
                    key.name(),
                    touched,
                    &packed.bytes,
                ))?;
                Ok(())
            }
            (key, None) => {
                let sql = "DELETE FROM cell WHERE kind = ?1 AND name = ?2";
                conn.prepare_cached(sql)?
                    .execute((key.kind(), key.name()))?;
                Ok(())
            }
        }
    }
}

fn save_session(
    conn: &Connection,
    packed: &Packed,
    summary: &SessionSummary,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT DO UPDATE SET touched = excluded.touched, \
               generation = excluded.generation, state = excluded.state, agent = excluded.agent, \
               last_rule = excluded.last_rule, events = excluded.events, \
               refused = excluded.refused, cell = excluded.cell";
    conn.prepare_cached(sql)?.execute((
        summary.id.as_str(),
        stored(packed.touched.0),
        summary.generation,
        stored(summary.state.rank()),
        summary.agent.as_ref().map(Id::as_str),
        summary.tally.last_rule.map(|rule| rule.as_str()),
        stored(summary.tally.events),
        stored(summary.tally.refused),
        &packed.bytes,
    ))?;
    Ok(())
}

/// Which cells of a pool go: the longest idle ones. `state` holds those of `room.own`.
pub(super) fn to_evict(
    conn: &Connection,
    pool: Pool,
    room: Room<'_>,
    state: &StoreState,
) -> Result<Option<Eviction>, StoreError> {
    let sql = match pool {
        Pool::Sessions => {
            "SELECT touched, 0, id FROM session WHERE state = 0 AND touched <= ?1 \
             ORDER BY touched, id LIMIT ?2"
        }
        Pool::Marks => {
            "SELECT touched, 0, id FROM session WHERE state > 0 AND touched <= ?1 \
             ORDER BY touched, id LIMIT ?2"
        }
        Pool::Others => {
            "SELECT touched, kind, name FROM cell WHERE touched <= ?1 \
             ORDER BY touched, kind, name LIMIT ?2"
        }
    };
    let most = room.excess.saturating_add(room.own.len());
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query((
        stored(room.until.0),
        i64::try_from(most).unwrap_or(i64::MAX),
    ))?;
    let mut last = None;
    let mut cells = 0;
    while let Some(row) = rows.next()?
        && cells < room.excess
    {
        let name: String = row.get(2)?;
        let key = CellKey::parse(row.get(1)?, &name)
            .ok_or_else(|| damaged(format!("cell {name}"), "it has no known kind"))?;
        if !room.own.contains(&key) {
            last = Some((Timestamp(loaded(row.get(0)?)), key));
            cells += 1;
        }
    }
    let Some((touched, last)) = last else {
        return Ok(None);
    };
    Ok(Some(Eviction {
        pool,
        kept: kept(room.own, (touched, &last), |key| state.cells.touched(key)),
        touched,
        last,
        cells: u64::try_from(cells).unwrap_or(u64::MAX),
    }))
}

/// Forgets what an eviction names.
pub(super) fn evict(conn: &Connection, eviction: &Eviction) -> Result<(), StoreError> {
    let touched = stored(eviction.touched.0);
    let name = eviction.last.name();
    // What stays is put aside: there are at most a handful.
    let kept = |kind: u8| {
        let kept = eviction.kept.iter().filter(move |key| key.kind() == kind);
        serde_json::Value::from_iter(kept.map(CellKey::name)).to_string()
    };
    match eviction.pool {
        Pool::Sessions => conn.execute(
            "DELETE FROM session WHERE state = 0 AND (touched, id) <= (?1, ?2) \
             AND id NOT IN (SELECT value FROM json_each(?3))",
            (touched, name, kept(eviction.last.kind())),
        )?,
        Pool::Marks => conn.execute(
            "DELETE FROM session WHERE state > 0 AND (touched, id) <= (?1, ?2) \
             AND id NOT IN (SELECT value FROM json_each(?3))",
            (touched, name, kept(eviction.last.kind())),
        )?,
        Pool::Others => {
            let kept = eviction.kept.iter();
            let kept = kept.map(|key| serde_json::json!([key.kind(), key.name()]));
            let kept = serde_json::Value::from_iter(kept).to_string();
            conn.execute(
                "DELETE FROM cell WHERE (touched, kind, name) <= (?1, ?2, ?3) \
                 AND (kind, name) NOT IN \
                 (SELECT value ->> 0, value ->> 1 FROM json_each(?4))",
                (touched, eviction.last.kind(), name, kept),
            )?
        }
    };
    Ok(())
}
