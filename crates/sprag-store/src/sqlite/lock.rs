//! Who may write: one owner for long, or everyone in turn.
//!
//! Two small files next to the database carry locks of the system, which end with their process however
//! it ends. `.lock` is the queue: whoever writes holds it for one transaction, so SQLite itself never
//! meets two writers and never says "database is locked". `.owner` is held by the owner as long
//! as it lives; the others look at it while they hold the queue.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;

/// The locks of one database.
#[derive(Debug)]
pub(super) struct Locks {
    path: PathBuf,
    queue: File,
    owner: File,
    wait: Duration,
}

/// Whoever holds this may write.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    owner: &'a File,
    _queue: QueueLock<'a>,
}

/// Whoever holds this is at the head of the queue.
#[derive(Debug)]
struct QueueLock<'a>(&'a File);

/// The path of a file that stands beside the database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens a file that only its user may read, and makes it where it is missing.
pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
        .open(path)
        .map_err(|source| StoreError::io(path, "opening it", source))
}

impl Locks {
    pub(super) fn open(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_path_buf(),
            queue: open_private(&beside(path, ".lock"))?,
            owner: open_private(&beside(path, ".owner"))?,
            wait,
        })
    }

    /// Waits for its turn to write, beside no owner.
    pub(super) fn turn(&self) -> Result<Turn<'_>, StoreError> {
        let queue = self.queue()?;
        let shared = self.owner.try_lock_shared();
        shared.map_err(|error| self.refused(error))?;
        Ok(Turn {
            owner: &self.owner,
            _queue: queue,
        })
    }

    /// Takes the file for as long as these locks live.
    pub(super) fn own(&self) -> Result<(), StoreError> {
        let _queue = self.queue()?;
        self.owner.try_lock().map_err(|error| self.refused(error))
    }

    fn refused(&self, error: TryLockError) -> StoreError {
        match error {
            TryLockError::WouldBlock => StoreError::Owned {
                path: self.path.clone(),
            },
            TryLockError::Error(source) => StoreError::io(&self.path, "locking it", source),
        }
    }

    fn queue(&self) -> Result<QueueLock<'_>, StoreError> {
        let mut waited = Duration::ZERO;
        let mut jitter = u64::from(std::process::id()) | 1;
        loop {
            match self.queue.try_lock() {
                Ok(()) => return Ok(QueueLock(&self.queue)),
                Err(TryLockError::WouldBlock) if waited < self.wait => {
                    waited += pause(&mut jitter, waited);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Busy {
                        path: self.path.clone(),
                        waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
                    });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(StoreError::io(&self.path, "locking it", source));
                }
            }
        }
    }
}

/// Waits for half a millisecond to four, a little different each time and in each process, so that
/// many who wait don't all come back at once. Who has waited for long comes back more often than
/// who just came, so nobody waits for ever while others take turn after turn.
fn pause(jitter: &mut u64, waited: Duration) -> Duration {
    *jitter ^= *jitter << 13;
    *jitter ^= *jitter >> 7;
    *jitter ^= *jitter << 17;
    let haste = 1 + u64::try_from(waited.as_millis() / 50)
        .unwrap_or(u64::MAX)
        .min(40);
    let pause = Duration::from_micros((500 + *jitter % 3_500) / haste);
    #[expect(
        clippy::disallowed_methods,
        reason = "waits for another process, whose time nobody injects"
    )]
    std::thread::sleep(pause);
    pause
}

// A lock that can't be given back goes with its file at the latest.

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.owner.unlock();
    }
}

impl Drop for QueueLock<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
