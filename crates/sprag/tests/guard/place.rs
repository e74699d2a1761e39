//! Guards over every kind of store, and a folder of their own for those that need one.

use std::sync::Arc;

use sprag::{Event, Guard, TestClock, Timestamp, Verdict};

/// When tests start.
pub(crate) const START: Timestamp = Timestamp(1_760_000_000_000);

/// A guard, its clock and its folder.
pub(crate) struct Place {
    pub(crate) guard: Guard,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    fn new(
        finish: impl FnOnce(sprag::GuardBuilder, &std::path::Path) -> sprag::GuardBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::at(START));
        let builder = Guard::builder().clock(Arc::clone(&clock));
        let guard = finish(builder, folder.path()).build().unwrap();
        Self {
            guard,
            clock,
            folder,
        }
    }

    pub(crate) fn memory() -> Self {
        Self::new(|builder, _| builder)
    }

    pub(crate) fn shared() -> Self {
        Self::new(|builder, folder| builder.file(folder.join("state/sprag.db")))
    }

    pub(crate) fn owned() -> Self {
        Self::new(|builder, folder| builder.owned_file(folder.join("sprag.db")))
    }

    pub(crate) fn every() -> [Self; 3] {
        [Self::memory(), Self::shared(), Self::owned()]
    }
}

pub(crate) fn event(text: &str) -> Event {
    Event::parse(text.as_bytes()).unwrap()
}

pub(crate) fn call(guard: &Guard, session: &str, tool: &str) -> Verdict {
    guard.check(Event::call(session, tool).unwrap()).unwrap()
}
