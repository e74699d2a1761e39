//! The cells that this pod has seen, each with the version under which Redis stored it.
//!
//! An event is judged on these copies, and Redis only compares versions. A copy that is outdated or
//! missing costs one more round trip, never a wrong verdict. Sessions with a kill or block mark are
//! never evicted: while Redis is down they are all that keeps a killed session dead.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sprag_core::{CellKey, Id, Mark};

use super::cell_value::{CellVersion, read_memory, read_session};
use crate::capacity::after_eviction;
use crate::cell_source::CellSource;
use crate::error::StoreError;
use crate::eviction::is_marked;
use crate::pack::unpack_cell;
use crate::query::SessionState;
use crate::store_state::StoreState;

/// Copies of cells in Redis.
#[derive(Debug)]
pub(super) struct CellCache {
    state: Mutex<CacheState>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct CacheState {
    store: StoreState,
    versions: HashMap<CellKey, CachedVersion>,
    /// Those that are killed or blocked. They don't count as room.
    marked: HashSet<Id>,
    /// Counts accesses: a clock for least recently used.
    uses: u64,
    /// Kills that were cached and that Redis does not have any more.
    lost_kills: HashMap<Id, LostKill>,
}

/// The versions under which a cell was cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CachedVersion {
    pub(super) version: CellVersion,
    /// For a session: the version of its step memory, which is a key of its own.
    pub(super) memory: CellVersion,
    used: u64,
}

/// A kill that Redis does not have any more.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LostKill {
    pub(super) session: Id,
    pub(super) generation: u32,
    pub(super) mark: Mark,
}

/// A value that was just read from Redis; none if the key does not exist.
#[derive(Debug)]
pub(super) enum FreshCell<'a> {
    /// A cell, or the small part of a session.
    Cell(&'a CellKey, Option<&'a [u8]>),
    /// The step memory of a session.
    Memory(&'a Id, Option<&'a [u8]>),
}

impl CellCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            capacity,
        }
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a cell into `store`. Returns the versions of the copy; none if the cell is not cached.
    pub(super) fn copy(&self, key: &CellKey, store: &mut StoreState) -> Option<CachedVersion> {
        let mut state = self.state();
        state.uses += 1;
        let uses = state.uses;
        let cached = state.versions.get_mut(key)?;
        cached.used = uses;
        let cached = *cached;
        state.store.cells.copy_one(key, &mut store.cells);
        if let CellKey::Session(id) = key {
            store.tallies.insert(id.clone(), state.store.tally(id));
        }
        Some(cached)
    }

    /// Whether the step memory of a session in `store` equals the cached one, and need not be written.
    pub(super) fn has_memory(&self, id: &Id, store: &StoreState) -> bool {
        let state = self.state();
        match (
            state.store.cells.sessions.get(id),
            store.cells.sessions.get(id),
        ) {
            (Some(known), Some(cell)) => known.has_memory_of(cell),
            (None, Some(cell)) => cell.clone().take_memory().is_empty(),
            _ => true,
        }
    }

    /// Whether a cell in `store` equals the cached one, and need not be written.
    pub(super) fn has_same(&self, key: &CellKey, store: &StoreState) -> bool {
        self.state().store.cells.same_one(&store.cells, key)
    }

    /// Caches the cells of `store` that a commit has just written under `version`.
    pub(super) fn keep(
        &self,
        mut store: StoreState,
        written: &[(CellKey, bool)],
        version: CellVersion,
    ) {
        let mut state = self.state();
        state.uses += 1;
        let uses = state.uses;
        for (key, memory) in written {
            store.cells.move_one(key, &mut state.store.cells);
            if let CellKey::Session(id) = key {
                state.store.tallies.insert(id.clone(), store.tally(id));
                state.drop_found_kill(id);
                state.note_mark(id);
            }
            let cached = state.versions.entry(key.clone()).or_default();
            cached.version = version;
            cached.used = uses;
            // A memory that was not written keeps its older version in Redis.
            if *memory {
                cached.memory = version;
            }
        }
        state.make_room(self.capacity);
    }

    /// Replaces a copy by what Redis holds, and notices a kill that Redis lost.
    pub(super) fn refresh(&self, fresh: &FreshCell<'_>) -> Result<(), StoreError> {
        let mut state = self.state();
        match fresh {
            FreshCell::Cell(key, value) => state.refresh_cell(key, *value),
            FreshCell::Memory(id, value) => state.refresh_memory(id, *value),
        }
    }

    /// The kills that Redis lost and that were not restored yet.
    pub(super) fn lost_kills(&self) -> Vec<LostKill> {
        let state = self.state();
        state.lost_kills.values().cloned().collect()
    }

    /// The cached state of a session; one that is not cached counts as new.
    pub(super) fn state_of(&self, id: &Id) -> SessionState {
        let state = self.state();
        let cell = state.store.cells.session(id.as_str());
        cell.map_or(SessionState::Active, SessionState::of)
    }

    /// Whether a session is cached.
    pub(super) fn knows(&self, id: &Id) -> bool {
        self.state().store.cells.session(id.as_str()).is_some()
    }

    /// Whether a session is killed as far as the cache knows.
    pub(super) fn is_killed(&self, id: &Id) -> bool {
        let state = self.state();
        let cell = state.store.cells.session(id.as_str());
        cell.is_some_and(|cell| cell.killed().is_some())
    }

    /// Whether the copy of a session is from before record `seq`, or missing.
    pub(super) fn is_older(&self, id: &Id, seq: u64) -> bool {
        let state = self.state();
        let cached = state.versions.get(&CellKey::Session(id.clone()));
        cached.is_none_or(|cached| cached.version.seq() < seq)
    }

    /// All cached sessions that are killed.
    pub(super) fn killed(&self) -> Vec<Id> {
        let state = self.state();
        let sessions = state.store.cells.sessions.iter();
        let killed = sessions.filter(|(_, cell)| cell.killed().is_some());
        killed.map(|(id, _)| id.clone()).collect()
    }
}

impl CacheState {
    fn refresh_cell(&mut self, key: &CellKey, value: Option<&[u8]>) -> Result<(), StoreError> {
        let fresh = value.and_then(CellVersion::split);
        let CellKey::Session(id) = key else {
            self.store.cells.remove(key);
            match fresh {
                Some((version, bytes)) => {
                    unpack_cell(&mut self.store.cells, key.clone(), bytes)?;
                    self.versions.entry(key.clone()).or_default().version = version;
                }
                None => {
                    self.versions.remove(key);
                }
            }
            return Ok(());
        };
        let known = self.store.cells.sessions.remove(id);
        // A kill must not disappear with its copy: note it as lost until the fresh cell proves that it
        // is still there or was reset.
        if let Some(cell) = &known
            && let Some(mark) = cell.killed()
        {
            let lost = LostKill {
                session: id.clone(),
                generation: cell.generation(),
                mark: mark.clone(),
            };
            self.lost_kills.insert(id.clone(), lost);
        }
        match fresh {
            Some((version, bytes)) => {
                read_session(id, bytes, &mut self.store)?;
                self.versions.entry(key.clone()).or_default().version = version;
            }
            None => {
                self.store.tallies.remove(id);
                self.versions.remove(key);
            }
        }
        // The memory is a key with a version of its own. If it changed too, the same reply brings it.
        if let (Some(mut known), Some(cell)) = (known, self.store.cells.sessions.get_mut(id)) {
            cell.put_memory(known.take_memory());
        }
        self.drop_found_kill(id);
        self.note_mark(id);
        Ok(())
    }

    /// Takes note of whether a session is killed or blocked now.
    fn note_mark(&mut self, id: &Id) {
        let cell = self.store.cells.session(id.as_str());
        if cell.is_some_and(is_marked) {
            self.marked.insert(id.clone());
        } else {
            self.marked.remove(id);
        }
    }

    /// Forgets a lost kill if the session is killed after all, or if a reset lifted the kill: a reset
    /// starts the next generation.
    fn drop_found_kill(&mut self, id: &Id) {
        let Some(lost) = self.lost_kills.get(id) else {
            return;
        };
        let cell = self.store.cells.session(id.as_str());
        if cell.is_some_and(|cell| cell.killed().is_some() || cell.generation() > lost.generation) {
            self.lost_kills.remove(id);
        }
    }

    fn refresh_memory(&mut self, id: &Id, value: Option<&[u8]>) -> Result<(), StoreError> {
        let read = value.and_then(CellVersion::split);
        let memory = read.map(|(_, bytes)| read_memory(id, bytes)).transpose()?;
        if let Some(cell) = self.store.cells.sessions.get_mut(id) {
            cell.put_memory(memory.unwrap_or_default());
            let cached = self
                .versions
                .entry(CellKey::Session(id.clone()))
                .or_default();
            cached.memory = read.map_or_else(CellVersion::default, |(version, _)| version);
        }
        Ok(())
    }

    /// Evicts the least recently used cells. A mark stays: it is what makes a kill hold offline.
    fn make_room(&mut self, capacity: usize) {
        let unmarked = self.versions.len().saturating_sub(self.marked.len());
        if unmarked <= capacity {
            return;
        }
        let may_go = |key: &CellKey| match key {
            CellKey::Session(id) => !self.marked.contains(id),
            _ => true,
        };
        let mut idle: Vec<_> = self
            .versions
            .iter()
            .filter(|(key, _)| may_go(key))
            .map(|(key, cached)| (cached.used, key.clone()))
            .collect();
        idle.sort_unstable();
        for (_, key) in idle.into_iter().take(unmarked - after_eviction(capacity)) {
            self.store.cells.remove(&key);
            if let CellKey::Session(id) = &key {
                self.store.tallies.remove(id);
            }
            self.versions.remove(&key);
        }
    }
}

/// The cells that one decision read, with their versions. These are what the commit compares. A cell
/// that is not cached is read as new, with the version of a key that does not exist.
#[derive(Debug)]
pub(super) struct ReadSet<'a> {
    cache: &'a CellCache,
    versions: RefCell<Vec<(CellKey, CachedVersion)>>,
}

impl<'a> ReadSet<'a> {
    pub(super) fn over(cache: &'a CellCache) -> Self {
        Self {
            cache,
            versions: RefCell::default(),
        }
    }

    pub(super) fn versions(self) -> Vec<(CellKey, CachedVersion)> {
        self.versions.into_inner()
    }
}

impl CellSource for ReadSet<'_> {
    fn fetch(&self, key: &CellKey, store: &mut StoreState) -> Result<bool, StoreError> {
        let cached = self.cache.copy(key, store);
        let mut versions = self.versions.borrow_mut();
        versions.push((key.clone(), cached.unwrap_or_default()));
        Ok(cached.is_some())
    }
}
