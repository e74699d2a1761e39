//! A panic: everything that agents do is refused, for everyone who shares the store.
//!
//! When agents run away on many machines at once, nobody has the time to find out which. A panic stops all of them in
//! one step, and what people say still passes. It is an order in the store, like a pause, so that every process that
//! shares the store keeps it; a pause does not lift it. A file called `panic` beside the store does the same, for
//! whoever has no terminal at hand: its first line is the reason.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use sprag_core::Panic;
use sprag_store::Noted;

use super::{Guard, GuardError, GuardState};

/// How much of the file is read.
const MAX_BYTES: u64 = 1024;
/// The most characters of a reason.
const MAX_CHARS: usize = 240;

impl Guard {
    /// Refuses everything that agents do, until [`calm`](Self::calm).
    ///
    /// # Errors
    /// Returns an error if the panic can't be written to the log; nothing is refused then.
    pub fn panic(&self, by: &str, why: &str) -> Result<Panic, GuardError> {
        let panic = Panic {
            by: Some(by.into()),
            why: Some(why.chars().take(MAX_CHARS).collect::<String>().into()),
        };
        let note = Noted::Panicked(panic.clone());
        self.inner.note(self.now(), note)?;
        Ok(panic)
    }

    /// Ends a panic. Returns the one that was in force. One that a file keeps in force ends with the file.
    ///
    /// # Errors
    /// Returns an error if the end can't be written to the log; the panic goes on then.
    pub fn calm(&self, by: &str, why: &str) -> Result<Option<Panic>, GuardError> {
        let panic = self.inner.store.orders()?.panic;
        if panic.is_some() {
            let (by, why) = (Some(by.to_owned()), Some(why.to_owned()));
            self.inner.note(self.now(), Noted::Calmed { by, why })?;
        }
        Ok(panic)
    }

    /// The panic that is in force now, by an order or by a file.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn panicked(&self) -> Result<Option<Panic>, GuardError> {
        let ordered = self.inner.store.orders()?.panic;
        Ok(ordered.or_else(|| self.inner.panic_by_file()))
    }

    /// The file that keeps a panic in force while it is there, if this guard looks for one.
    #[must_use]
    pub fn panic_file(&self) -> Option<&Path> {
        self.inner.panic_file.as_deref()
    }
}

impl GuardState {
    pub(super) fn panic_by_file(&self) -> Option<Panic> {
        panic_in(self.panic_file.as_deref()?)
    }
}

/// The file beside the store at `db` that keeps a panic in force while it is there.
#[must_use]
pub fn panic_file(db: &Path) -> PathBuf {
    db.with_file_name("panic")
}

/// The panic that the file at `path` means; none if there is no such file.
pub(crate) fn panic_in(path: &Path) -> Option<Panic> {
    // A file that can't be read is there all the same.
    std::fs::symlink_metadata(path).ok()?;
    let mut text = String::new();
    if let Ok(file) = std::fs::File::open(path) {
        // What is not text has no reason in it.
        let _ = file.take(MAX_BYTES).read_to_string(&mut text);
    }
    let why: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .chars()
        .take(MAX_CHARS)
        .collect();
    Some(Panic {
        by: Some("the file `panic` beside the store".into()),
        why: (!why.is_empty()).then(|| why.into()),
    })
}
