//! Questions about sessions, answered from their rows.

use rusqlite::{Connection, Row, ToSql};
use sprag_core::{CellKey, Id, SessionCell, Timestamp};

use super::cell_rows::{CellRows, blob, loaded, session_id, stored, tally};
use crate::cell_source::CellSource as _;
use crate::census::Census;
use crate::error::StoreError;
use crate::listing::{SessionCursor, SessionQuery, SessionSort, SortValue};
use crate::pack::unpack_cell;
use crate::query::{Page, Session, SessionState, SessionSummary, page_size};
use crate::store_state::StoreState;

/// One session whole.
pub(super) fn session(conn: &Connection, id: &Id) -> Result<Option<Session>, StoreError> {
    let mut state = StoreState::default();
    CellRows(conn).fetch(&CellKey::Session(id.clone()), &mut state)?;
    Ok(state.session(id))
}

/// The marks of a session: its cell alone.
pub(super) fn session_cell(
    conn: &Connection,
    id: &str,
) -> Result<Option<Box<SessionCell>>, StoreError> {
    let Ok(id) = Id::new(id) else {
        return Ok(None);
    };
    Ok(session(conn, &id)?.map(|session| session.cell))
}

/// What a listing is sorted by, as rows have it.
const fn column(sort: SessionSort) -> &'static str {
    match sort {
        SessionSort::Touched => "touched",
        SessionSort::Events => "events",
        SessionSort::Refused => "refused",
        SessionSort::Id => "id",
        SessionSort::Agent => "coalesce(agent, '')",
        SessionSort::State => "state",
    }
}

/// A sorted value, as rows have it.
fn cursor_value(value: &SortValue) -> Box<dyn ToSql> {
    match value {
        SortValue::Number(number) => Box::new(stored(*number)),
        SortValue::Name(name) => Box::new(name.as_ref().map(Id::to_string).unwrap_or_default()),
    }
}

/// A page of sessions.
pub(super) fn sessions(
    conn: &Connection,
    query: &SessionQuery,
) -> Result<Page<SessionSummary, SessionCursor>, StoreError> {
    let mut sql = "SELECT touched, generation, state, agent, last_rule, events, refused, id, cell \
                   FROM session WHERE 1"
        .to_owned();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(state) = query.state {
        sql += " AND state = ?";
        values.push(Box::new(stored(state.rank())));
    }
    if let Some(agent) = &query.agent {
        sql += " AND agent = ?";
        values.push(Box::new(agent.to_string()));
    }
    if let Some(text) = &query.contains {
        sql += " AND (instr(id, ?) > 0 OR instr(coalesce(agent, ''), ?) > 0)";
        values.push(Box::new(text.clone()));
        values.push(Box::new(text.clone()));
    }
    if let Some(rule) = query.rule {
        sql += " AND last_rule = ?";
        values.push(Box::new(rule.as_str()));
    }
    if let Some(since) = query.since {
        sql += " AND touched >= ?";
        values.push(Box::new(stored(since.0)));
    }
    if let Some(until) = query.until {
        sql += " AND touched < ?";
        values.push(Box::new(stored(until.0)));
    }
    let by = column(query.sort);
    let (side, order) = if query.ascending {
        (">", "ASC")
    } else {
        ("<", "DESC")
    };
    if let Some(after) = &query.after {
        sql += &format!(" AND ({by} {side} ? OR ({by} = ? AND id > ?))");
        values.push(cursor_value(&after.value));
        values.push(cursor_value(&after.value));
        values.push(Box::new(after.id.to_string()));
    }
    sql += &format!(" ORDER BY {by} {order}, id LIMIT ? OFFSET ?");
    let one_more = page_size(query.limit).saturating_add(1);
    values.push(Box::new(i64::try_from(one_more).unwrap_or(i64::MAX)));
    values.push(Box::new(i64::try_from(query.skip).unwrap_or(i64::MAX)));
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(summary(row)?);
    }
    Ok(query.page(found))
}

/// How many sessions are in which state.
pub(super) fn census(conn: &Connection) -> Result<Census, StoreError> {
    let mut census = Census::default();
    let mut statement =
        conn.prepare_cached("SELECT state, count(*) FROM session GROUP BY state")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let count = loaded(row.get(1)?);
        match row.get(0)? {
            0 => census.active = count,
            1 => census.blocked = count,
            _ => census.killed = count,
        }
    }
    Ok(census)
}

fn summary(row: &Row<'_>) -> Result<SessionSummary, StoreError> {
    let agent: Option<String> = row.get(3)?;
    let id = session_id(row, 7)?;
    let mut state = StoreState::default();
    let key = CellKey::Session(id.clone());
    unpack_cell(&mut state.cells, key, blob(row, 8)?)?;
    let held = state.session(&id).map(|one| one.summary);
    let spent = held.as_ref().map(|one| (one.tokens, one.cost_micros));
    let (tokens, cost_micros) = spent.unwrap_or_default();
    Ok(SessionSummary {
        id,
        would: held.and_then(|one| one.would),
        tokens,
        cost_micros,
        touched: Timestamp(loaded(row.get(0)?)),
        generation: row.get(1)?,
        state: match row.get(2)? {
            0 => SessionState::Active,
            1 => SessionState::Blocked,
            _ => SessionState::Killed,
        },
        agent: agent.and_then(|agent| Id::new(&agent).ok()),
        tally: tally(row, 4)?,
    })
}
