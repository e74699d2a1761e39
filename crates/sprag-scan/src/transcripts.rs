//! Where transcripts are: the folders that each client writes to, and what a person names.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sprag_core::Timestamp;
use sprag_hooks::Client;

use crate::error::ScanError;

/// How deep folders are looked into.
const MAX_DEPTH: usize = 12;

/// The folders of one user.
#[derive(Debug, Clone)]
pub struct KnownFolders {
    /// The home.
    pub home: PathBuf,
    /// Claude Code's folder, where it is not `~/.claude`.
    pub claude: Option<PathBuf>,
    /// Codex's, where it is not `~/.codex`.
    pub codex: Option<PathBuf>,
    /// Copilot's, where it is not `~/.copilot`.
    pub copilot: Option<PathBuf>,
    /// The XDG folder for data, where it is not `~/.local/share`.
    pub data: Option<PathBuf>,
}

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The file; for older versions of opencode the folder `storage`.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// When it was written last.
    pub modified: Option<Timestamp>,
    /// A person named it: that it is no transcript is worth a word.
    pub is_named: bool,
}

impl KnownFolders {
    fn roots(&self, client: Client) -> Vec<PathBuf> {
        let below = |own: &Option<PathBuf>, usual: &str| {
            own.clone().unwrap_or_else(|| self.home.join(usual))
        };
        match client {
            Client::Claude => {
                let own = below(&self.claude, ".claude");
                vec![
                    own.join("projects"),
                    self.home.join(".config/claude/projects"),
                ]
            }
            Client::Codex => {
                let own = below(&self.codex, ".codex");
                vec![own.join("sessions"), own.join("archived_sessions")]
            }
            Client::Gemini => vec![self.home.join(".gemini/tmp")],
            Client::Copilot => vec![below(&self.copilot, ".copilot").join("session-state")],
            Client::Opencode => vec![below(&self.data, ".local/share").join("opencode")],
            // It keeps its sessions where no other program can read them.
            Client::Cursor => Vec::new(),
        }
    }

    /// The transcripts of `clients` that are there.
    #[must_use]
    pub fn find(&self, clients: &[Client]) -> Vec<Transcript> {
        let mut found = Vec::new();
        for client in clients {
            for root in self.roots(*client) {
                walk(&root, MAX_DEPTH, &mut found, &|path| is_of(*client, path));
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        found
    }
}

/// Whether a file below a client's folder is a transcript.
fn is_of(client: Client, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    match client {
        Client::Claude => name.ends_with(".jsonl"),
        Client::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        Client::Gemini => {
            let in_chats = path.components().any(|part| part.as_os_str() == "chats");
            in_chats
                && (name.ends_with(".jsonl")
                    || name.starts_with("session-") && name.ends_with(".json"))
        }
        Client::Copilot => {
            name == "events.jsonl" || folder == "session-state" && name.ends_with(".jsonl")
        }
        Client::Opencode => name == "opencode.db",
        Client::Cursor => false,
    }
}

/// The transcripts that `paths` (files and folders) name.
///
/// # Errors
/// Returns an error if a path is not there or can't be read.
pub fn named(paths: &[PathBuf]) -> Result<Vec<Transcript>, ScanError> {
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |source: io::Error| ScanError::Unreadable {
            path: path.clone(),
            source,
        };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            fs::read_dir(path).map_err(unreadable)?;
            walk(path, MAX_DEPTH, &mut found, &may_be_one);
        } else {
            found.push(Transcript {
                is_named: true,
                ..transcript(path.clone(), &metadata)
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok(found)
}

fn may_be_one(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends = [".jsonl", ".json", ".jsonl.gz", "opencode.db"];
    ends.iter().any(|end| name.ends_with(end)) && name != "labels.jsonl"
}

/// Adds the files below `folder` that are wanted. Links are not followed, and what can't be read is passed by.
fn walk(folder: &Path, depth: usize, found: &mut Vec<Transcript>, wanted: &dyn Fn(&Path) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        if metadata.is_dir() {
            if is_storage(&path) {
                found.push(transcript(path, &metadata));
            } else if depth > 0 {
                walk(&path, depth - 1, found, wanted);
            }
        } else if metadata.is_file() && wanted(&path) {
            found.push(transcript(path, &metadata));
        }
    }
}

/// The folder in which older versions of opencode keep every message in a file of its own.
pub(crate) fn is_storage(path: &Path) -> bool {
    path.ends_with("storage") && path.join("message").is_dir() && path.join("part").is_dir()
}

fn transcript(path: PathBuf, metadata: &Metadata) -> Transcript {
    let modified = metadata.modified().ok().and_then(|time| {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok().map(Timestamp)
    });
    // A database that is in use keeps what is new beside itself.
    let beside = path.with_extension("db-wal");
    let waiting = fs::metadata(beside)
        .ok()
        .filter(|_| path.extension().is_some_and(|end| end == "db"));
    Transcript {
        bytes: metadata
            .len()
            .saturating_add(waiting.map_or(0, |wal| wal.len())),
        modified: modified.filter(|_| metadata.is_file()),
        path,
        is_named: false,
    }
}
