//! Taking cells in while decisions are made already.
//!
//! A file with a hundred thousand sessions takes half a second to read, and a server that starts must guard
//! before that. So an owner starts with nothing in memory: what an event needs is fetched first, the rest is read
//! by a thread of its own. Whatever is in memory is newer than what that thread finds, and is left alone.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use sprag_core::{CellKey, Id};

use super::cell_rows::{CellRows, scan_cells};
use super::connection::{Access, connect};
use super::writer::{OwnerState, WriteQueue};
use crate::cell_source::{CellSource as _, fetch_for};
use crate::draft::Draft;
use crate::error::StoreError;
use crate::store_state::StoreState;

/// How many cells are put into memory at once: nobody else decides meanwhile.
const AT_ONCE: usize = 1_000;

/// What is in memory already while the rest is read.
#[derive(Debug, Default)]
pub(super) struct Loading {
    known: HashSet<CellKey>,
    /// Why the rest can't be read; what is needed is still fetched one by one.
    pub(super) failed: Option<String>,
}

impl OwnerState {
    /// Fetches what `draft` needs, where it may still be missing.
    pub(super) fn fetch(&mut self, conn: &Connection, draft: &mut Draft) -> Result<(), StoreError> {
        let Self { store, loading, .. } = self;
        let Some(loading) = loading else {
            return Ok(());
        };
        fetch_for(draft, store, |key, state| loading.take(conn, key, state))
    }

    /// Fetches one session, where it may still be missing.
    pub(super) fn fetch_session(&mut self, conn: &Connection, id: &Id) -> Result<(), StoreError> {
        let Self { store, loading, .. } = self;
        match loading {
            Some(loading) => loading.take(conn, CellKey::Session(id.clone()), store),
            None => Ok(()),
        }
    }
}

impl Loading {
    fn take(
        &mut self,
        conn: &Connection,
        key: CellKey,
        state: &mut StoreState,
    ) -> Result<(), StoreError> {
        if self.known.contains(&key) {
            return Ok(());
        }
        CellRows(conn).fetch(&key, state)?;
        if let CellKey::Session(id) = &key {
            state.note_state(id);
        }
        self.known.insert(key);
        Ok(())
    }
}

/// Reads everything that is not in memory yet, until the store closes.
pub(super) fn load(queue: &Arc<WriteQueue>, path: &Path) {
    let read = || -> Result<(), StoreError> {
        let conn = connect(path, Access::Read)?;
        let mut part = StoreState::default();
        let mut count = 0;
        scan_cells(&conn, &mut |key, fetch| {
            fetch(key, &mut part)?;
            count += 1;
            if count < AT_ONCE {
                return Ok(true);
            }
            count = 0;
            Ok(take_in(queue, std::mem::take(&mut part)))
        })?;
        take_in(queue, part);
        Ok(())
    };
    let read = read();
    let mut state = queue.state();
    match read {
        Ok(()) if state.closing => {}
        Ok(()) => state.loading = None,
        Err(error) => {
            if let Some(loading) = &mut state.loading {
                loading.failed = Some(error.at(path).to_string());
            }
        }
    }
}

/// Puts cells into memory that are not there; tells whether to go on.
fn take_in(queue: &WriteQueue, part: StoreState) -> bool {
    let mut state = queue.state();
    let OwnerState {
        store,
        loading: Some(loading),
        closing: false,
        ..
    } = &mut *state
    else {
        return false;
    };
    store.take_in(part, |key| loading.known.insert(key));
    true
}
