//! What went wrong in hooks, kept for `sprag doctor`.
//!
//! A hook that fails open must not be noticed by the agent, and the person notices it only in passing. So
//! each leaves a line in a small file beside the store. The file is bounded: when it is full it takes the
//! place of the one before. `sprag doctor` lists it once.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sprag::Timestamp;

/// How long the file may get.
const MAX_BYTES: u64 = 64 * 1024;
/// How long one line may get.
const MAX_CHARS: usize = 500;
/// For how long a problem is not reported to the person again.
const HUSH_MS: u64 = 60_000;

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookProblem {
    pub(crate) at: Timestamp,
    pub(crate) what: String,
}

/// The file of the store at `db`.
pub(crate) fn place(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".trouble");
    db.with_file_name(name)
}

/// Leaves a line. If that fails too there is nothing more to do.
pub(crate) fn leave(db: &Path, at: Timestamp, what: &str) {
    let path = place(db);
    if fs::metadata(&path).is_ok_and(|held| held.len() > MAX_BYTES) {
        let _ = fs::rename(&path, path.with_extension("trouble.old"));
    }
    let what = what.chars().take(MAX_CHARS).collect();
    let Ok(mut line) = serde_json::to_string(&HookProblem { at, what }) else {
        return;
    };
    line.push('\n');
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Whether somebody was told within the last minute.
pub(crate) fn is_fresh(db: &Path, now: Timestamp) -> bool {
    let modified = fs::metadata(place(db)).and_then(|held| held.modified());
    let since = modified
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.is_some_and(|since| {
        let written = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        written.saturating_add(HUSH_MS) > now.0
    })
}

/// Everything that was left is known now; the file stays as the one before.
pub(crate) fn forget(db: &Path) {
    let path = place(db);
    // What can't be moved is listed again, which is no harm.
    let _ = fs::rename(&path, path.with_extension("trouble.old"));
}

/// The latest of what was left, oldest first.
pub(crate) fn latest(db: &Path, most: usize) -> Vec<HookProblem> {
    let text = fs::read_to_string(place(db)).unwrap_or_default();
    let all: Vec<HookProblem> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let skipped = all.len().saturating_sub(most);
    all.into_iter().skip(skipped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_kept_in_order_and_in_bounds() {
        let home = tempfile::tempdir().unwrap();
        let db = home.path().join("sprag.db");
        assert_eq!(latest(&db, 5), []);
        for at in 0..1000 {
            leave(&db, Timestamp(at), &"x".repeat(600));
        }
        let last = latest(&db, 2);
        assert_eq!(last.len(), 2);
        assert_eq!(last[1].at, Timestamp(999));
        assert_eq!(last[1].what.len(), MAX_CHARS);
        let used: u64 = fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        assert!(used < 3 * MAX_BYTES, "{used}");
    }
}
