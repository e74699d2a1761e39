//! Which messages are being worked on: the dispatch context of every session that the relay passes messages to.
//!
//! While a session works on a message, what it sends belongs to the same flow. The guard keeps that as a set of
//! running flows for each session; here it is counted, because two messages of one flow may be in work in one
//! session at once, and the flow ends there with the last of them. An upstream that says 202 works on after
//! its answer: its dispatch lingers until the session is said to be idle, or until the flow's time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sprag::{Event, Guard, GuardError, Id, Role};
use sprag_core::DispatchEvent;
use tokio::task::AbortHandle;

/// A flow in a session.
type Place = (Id, Id);

/// What is in work for one flow in one session.
#[derive(Default)]
struct Work {
    answering: usize,
    lingering: HashMap<u64, AbortHandle>,
}

#[derive(Default)]
struct Board {
    places: HashMap<Place, Work>,
    last: u64,
}

/// Everything that is in work.
pub(super) struct Dispatches {
    guard: Guard,
    board: Mutex<Board>,
}

impl Dispatches {
    pub(super) fn new(guard: Guard) -> Self {
        Self {
            guard,
            board: Mutex::default(),
        }
    }

    /// `session` starts to work on a message of `flow`.
    pub(super) fn start(self: &Arc<Self>, session: &Id, flow: &Id) -> Result<Running, GuardError> {
        let place = (session.clone(), flow.clone());
        // Held while the guard is told, so that its log has starts and ends in the order of the counts.
        let mut board = self.board();
        let event = Event::DispatchStart(event(&place));
        self.guard.check_soon(Role::Relay, event)?;
        board.places.entry(place.clone()).or_default().answering += 1;
        Ok(Running {
            of: Arc::clone(self),
            place,
        })
    }

    /// `session` works on nothing any more; or on nothing of `flow`. What is still being answered goes on.
    pub(super) fn idle(&self, session: &Id, flow: Option<&Id>) -> Result<(), GuardError> {
        let mut board = self.board();
        // The guard is asked, not the board: what lingers may have started before this server did.
        let Some(state) = self.guard.state(session.as_str())? else {
            return Ok(());
        };
        for running in state.dispatches {
            if flow.is_some_and(|flow| *flow != running) {
                continue;
            }
            let place = (session.clone(), running);
            if let Some(work) = board.places.get_mut(&place) {
                for (_, timer) in work.lingering.drain() {
                    timer.abort();
                }
            }
            self.settle(&mut board, place)?;
        }
        Ok(())
    }

    /// Ends the dispatch of a place where nothing is in work.
    fn settle(&self, board: &mut Board, place: Place) -> Result<(), GuardError> {
        let work = board.places.get(&place);
        if work.is_some_and(|work| work.answering > 0 || !work.lingering.is_empty()) {
            return Ok(());
        }
        board.places.remove(&place);
        let event = Event::DispatchEnd(event(&place));
        self.guard.check_soon(Role::Relay, event)?;
        Ok(())
    }

    fn over(&self, board: &mut Board, place: Place) {
        if let Err(error) = self.settle(board, place) {
            // The store is gone; the session's context ends with its next idle or reset.
            tracing::error!("the end of a dispatch could not be recorded: {error}");
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn event((session, flow): &Place) -> DispatchEvent {
    let mut event = DispatchEvent::new(session.clone());
    event.flow = Some(flow.clone());
    event
}

/// A message that is being worked on; when this is dropped, it is not any more.
pub(super) struct Running {
    of: Arc<Dispatches>,
    place: Place,
}

impl Running {
    /// It is worked on beyond the answer, for `longest` at most.
    pub(super) fn linger(self, longest: Duration) {
        let (of, place) = (Arc::clone(&self.of), self.place.clone());
        let mut board = self.of.board();
        board.last = board.last.wrapping_add(1);
        let number = board.last;
        let timer = tokio::spawn(async move {
            tokio::time::sleep(longest).await;
            let mut board = of.board();
            if let Some(work) = board.places.get_mut(&place) {
                work.lingering.remove(&number);
            }
            of.over(&mut board, place);
        });
        let work = board.places.entry(self.place.clone()).or_default();
        work.lingering.insert(number, timer.abort_handle());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut board = self.of.board();
        if let Some(work) = board.places.get_mut(&self.place) {
            work.answering = work.answering.saturating_sub(1);
        }
        self.of.over(&mut board, self.place.clone());
    }
}
