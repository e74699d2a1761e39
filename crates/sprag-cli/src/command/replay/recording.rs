//! What is replayed: a log or a trace, told apart by how the file starts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sprag::Store;
use sprag::replay::{LogRecording, Recording, TraceRecording};

use super::super::log::session_id;
use crate::args::ReplayArgs;
use crate::db::Db;
use crate::failure::Failure;
use crate::settings::Settings;

/// How a store's file starts.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A log or a trace.
pub(super) enum ReplaySource {
    Log(Box<dyn Store>),
    Trace(PathBuf),
}

impl ReplaySource {
    pub(super) fn find(args: &ReplayArgs, settings: &Settings) -> Result<Self, Failure> {
        let store = |db: &Db| Ok(Self::Log(db.read()?));
        match &args.recording {
            None => store(&Db::find(settings, &args.db)?),
            Some(path) if is_store(path)? => store(&Db::named(path)),
            Some(_) if args.session.is_some() => {
                let failure =
                    Failure::new("--session needs a log: a trace has no index of its sessions");
                Err(failure.next("leave it out, or choose the lines of the trace before"))
            }
            Some(path) => Ok(Self::Trace(path.clone())),
        }
    }

    pub(super) fn recording(&self, args: &ReplayArgs) -> Result<Recording<'_>, Failure> {
        Ok(match (self, &args.session) {
            (Self::Trace(path), _) => Box::new(TraceRecording::open(path)?),
            (Self::Log(store), None) => Box::new(LogRecording::all(&**store)),
            (Self::Log(store), Some(session)) => {
                let (store, session) = (&**store, session_id(session)?);
                // Another policy may count what the recorded ones do not, and the state shows what an agent spent.
                let is_proof = args.policy.is_none() && args.diff.is_none() && !args.state;
                Box::new(if is_proof {
                    LogRecording::recorded(store, session)
                } else {
                    LogRecording::session(store, session)
                })
            }
        })
    }
}

fn is_store(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let most = u64::try_from(SQLITE.len()).unwrap_or(u64::MAX);
    file.take(most)
        .read_to_end(&mut start)
        .map_err(|error| Failure::unreadable(path, &error))?;
    Ok(start == SQLITE)
}
