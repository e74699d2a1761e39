//! The cells that this pod has at hand, each with the version that Redis gave it.
//!
//! A session that sticks to a pod is judged on what is here, and Redis only compares versions. What
//! is wrong or missing here costs one more round trip, never a wrong verdict. Sessions with a mark
//! are never put away: while Redis is gone they are all that keeps a killed session dead.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sprag_core::{Id, Mark};

use super::value::{Version, read_cell, read_memory, read_session};
use crate::capacity::after_eviction;
use crate::cell_key::CellKey;
use crate::error::StoreError;
use crate::gather::Cellar;
use crate::live::Live;
use crate::query::SessionState;

/// Cells at hand.
#[derive(Debug)]
pub(super) struct Shelf {
    held: Mutex<Held>,
    most: usize,
}

#[derive(Debug, Default)]
struct Held {
    live: Live,
    places: HashMap<CellKey, Spot>,
    uses: u64,
    /// Kills that were at hand and that Redis does not know any more.
    lost: HashMap<Id, LostKill>,
}

/// What is known of one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) version: Version,
    /// Of a session: the version of its memory.
    pub(super) memory: Version,
    used: u64,
}

/// A kill that Redis does not know any more.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LostKill {
    pub(super) session: Id,
    pub(super) generation: u32,
    pub(super) mark: Mark,
}

/// A fresh cell from Redis.
#[derive(Debug)]
pub(super) enum Fresh<'a> {
    /// A cell, or the small part of a session.
    Cell(&'a CellKey, Option<&'a [u8]>),
    /// The memory of a session.
    Memory(&'a Id, Option<&'a [u8]>),
}

impl Shelf {
    pub(super) fn new(most: usize) -> Self {
        Self {
            held: Mutex::default(),
            most,
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a cell into `live` and tells what is known of it.
    pub(super) fn copy(&self, key: &CellKey, live: &mut Live) -> Option<Spot> {
        let mut held = self.held();
        held.uses += 1;
        let uses = held.uses;
        let spot = held.places.get_mut(key)?;
        spot.used = uses;
        let spot = *spot;
        held.live.cells.copy_one(key, &mut live.cells);
        if let CellKey::Session(id) = key {
            live.tallies.insert(id.clone(), held.live.tally(id));
        }
        Some(spot)
    }

    /// Whether the memory of a session in `live` is the one at hand.
    pub(super) fn has_memory(&self, id: &Id, live: &Live) -> bool {
        let held = self.held();
        match (
            held.live.cells.sessions.get(id),
            live.cells.sessions.get(id),
        ) {
            (Some(known), Some(cell)) => known.has_memory_of(cell),
            (None, Some(cell)) => cell.clone().take_memory().is_empty(),
            _ => true,
        }
    }

    /// Whether a cell in `live` is the one at hand.
    pub(super) fn has_same(&self, key: &CellKey, live: &Live) -> bool {
        self.held().live.cells.same_one(&live.cells, key)
    }

    /// Keeps the cells of `live` that were written under `version`.
    pub(super) fn keep(&self, mut live: Live, written: &[(CellKey, bool)], version: Version) {
        let mut held = self.held();
        held.uses += 1;
        let uses = held.uses;
        for (key, memory) in written {
            live.cells.move_one(key, &mut held.live.cells);
            if let CellKey::Session(id) = key {
                held.live.tallies.insert(id.clone(), live.tally(id));
                held.find_again(id);
            }
            let spot = held.places.entry(key.clone()).or_default();
            spot.version = version;
            spot.used = uses;
            if *memory {
                spot.memory = version;
            }
        }
        held.make_room(self.most);
    }

    /// Takes in what Redis holds, and notices kills that it lost.
    pub(super) fn refresh(&self, fresh: &Fresh<'_>) -> Result<(), StoreError> {
        let mut held = self.held();
        match fresh {
            Fresh::Cell(key, value) => held.refresh_cell(key, *value),
            Fresh::Memory(id, value) => held.refresh_memory(id, *value),
        }
    }

    /// The kills that Redis lost and that nobody gave back to it yet.
    pub(super) fn lost(&self) -> Vec<LostKill> {
        let held = self.held();
        held.lost.values().cloned().collect()
    }

    /// What a session at hand may do; one that is not at hand is new.
    pub(super) fn state_of(&self, id: &Id) -> SessionState {
        let held = self.held();
        let cell = held.live.cells.session(id.as_str());
        cell.map_or(SessionState::Active, SessionState::of)
    }

    /// Whether a session at hand is killed.
    pub(super) fn is_killed(&self, id: &Id) -> bool {
        let held = self.held();
        let cell = held.live.cells.session(id.as_str());
        cell.is_some_and(|cell| cell.killed().is_some())
    }

    /// The sessions at hand that are killed.
    pub(super) fn killed(&self) -> Vec<Id> {
        let held = self.held();
        let sessions = held.live.cells.sessions();
        let killed = sessions.filter(|(_, cell)| cell.killed().is_some());
        killed.map(|(id, _)| id.clone()).collect()
    }

    /// The agent of a session, where it is at hand.
    pub(super) fn agent_of(&self, id: &Id) -> Option<Id> {
        let held = self.held();
        held.live.cells.session(id.as_str())?.agent().cloned()
    }
}

impl Held {
    fn refresh_cell(&mut self, key: &CellKey, value: Option<&[u8]>) -> Result<(), StoreError> {
        let fresh = value.and_then(Version::split);
        let CellKey::Session(id) = key else {
            self.live.cells.forget_one(key);
            match fresh {
                Some((version, bytes)) => {
                    read_cell(key.clone(), bytes, &mut self.live.cells)?;
                    self.places.entry(key.clone()).or_default().version = version;
                }
                None => {
                    self.places.remove(key);
                }
            }
            return Ok(());
        };
        let known = self.live.cells.sessions.remove(id);
        if let Some(cell) = &known
            && let Some(mark) = cell.killed()
        {
            let lost = LostKill {
                session: id.clone(),
                generation: cell.generation(),
                mark: mark.clone(),
            };
            self.lost.insert(id.clone(), lost);
        }
        match fresh {
            Some((version, bytes)) => {
                read_session(id, bytes, &mut self.live)?;
                self.places.entry(key.clone()).or_default().version = version;
            }
            None => {
                self.live.tallies.remove(id);
                self.places.remove(key);
            }
        }
        if let (Some(mut known), Some(cell)) = (known, self.live.cells.sessions.get_mut(id)) {
            cell.put_memory(known.take_memory());
        }
        self.find_again(id);
        Ok(())
    }

    /// A kill is not lost where it is there after all, or where a reset lifted it: that starts the
    /// next generation.
    fn find_again(&mut self, id: &Id) {
        let Some(lost) = self.lost.get(id) else {
            return;
        };
        let cell = self.live.cells.session(id.as_str());
        if cell.is_some_and(|cell| cell.killed().is_some() || cell.generation() > lost.generation) {
            self.lost.remove(id);
        }
    }

    fn refresh_memory(&mut self, id: &Id, value: Option<&[u8]>) -> Result<(), StoreError> {
        let read = value.and_then(Version::split);
        let memory = read.map(|(_, bytes)| read_memory(id, bytes)).transpose()?;
        if let Some(cell) = self.live.cells.sessions.get_mut(id) {
            cell.put_memory(memory.unwrap_or_default());
            let spot = self.places.entry(CellKey::Session(id.clone())).or_default();
            spot.memory = read.map_or_else(Version::default, |(version, _)| version);
        }
        Ok(())
    }

    fn make_room(&mut self, most: usize) {
        if self.places.len() <= most {
            return;
        }
        let may_go = |key: &CellKey| match key {
            CellKey::Session(id) => self
                .live
                .cells
                .session(id.as_str())
                .is_none_or(|cell| cell.killed().is_none() && cell.blocked().is_none()),
            _ => true,
        };
        let mut idle: Vec<_> = self
            .places
            .iter()
            .filter(|(key, _)| may_go(key))
            .map(|(key, spot)| (spot.used, key.clone()))
            .collect();
        let excess = self.places.len() - after_eviction(most);
        idle.sort_unstable();
        for (_, key) in idle.into_iter().take(excess) {
            self.live.cells.forget_one(&key);
            if let CellKey::Session(id) = &key {
                self.live.tallies.remove(id);
            }
            self.places.remove(&key);
        }
    }
}

/// The cells that one decision looked at, with what was known of each.
#[derive(Debug)]
pub(super) struct Looked<'a> {
    shelf: &'a Shelf,
    spots: RefCell<Vec<(CellKey, Spot)>>,
}

impl<'a> Looked<'a> {
    pub(super) fn at(shelf: &'a Shelf) -> Self {
        Self {
            shelf,
            spots: RefCell::default(),
        }
    }

    pub(super) fn spots(self) -> Vec<(CellKey, Spot)> {
        self.spots.into_inner()
    }
}

impl Cellar for Looked<'_> {
    fn fetch(&self, key: &CellKey, live: &mut Live) -> Result<bool, StoreError> {
        let spot = self.shelf.copy(key, live);
        let mut spots = self.spots.borrow_mut();
        spots.push((key.clone(), spot.unwrap_or_default()));
        Ok(spot.is_some())
    }
}
