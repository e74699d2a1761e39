//! All transcripts, on as many threads as there are cores.

use std::panic;
use std::sync::Mutex;
use std::thread;

use sprag_core::{Policy, Timestamp};
use sprag_hooks::Client;
use sprag_review::tune::History;

use crate::file::read_transcript;
use crate::report::{ReportBuilder, ScanReport};
use crate::transcripts::Transcript;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The limits to judge by. Rules in shadow are told as if they were enforced.
    pub policy: Policy,
    /// Only what went on after this.
    pub since: Option<Timestamp>,
    /// Only what these wrote; none is everything.
    pub clients: Vec<Client>,
    /// How many threads; none is one for each core.
    pub threads: Option<usize>,
}

/// Reads `transcripts` and tells the loops in them, with the history that limits can be tried on. `progress` hears of
/// every byte that was read.
#[must_use]
pub fn scan(
    transcripts: &[Transcript],
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> (ScanReport, History) {
    let is_wanted = |one: &&Transcript| {
        let at = one.modified.zip(options.since);
        at.is_none_or(|(modified, since)| modified >= since)
    };
    let mut wanted: Vec<&Transcript> = transcripts.iter().filter(is_wanted).collect();
    // What takes longest is begun first.
    wanted.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = options
        .threads
        .unwrap_or_else(cores)
        .clamp(1, wanted.len().max(1));
    let next = Mutex::new(wanted.into_iter());
    let gathering = Mutex::new(ReportBuilder::default());
    let worker = || {
        while let Some(one) = taken(&next) {
            let read = read_transcript(one, &options.policy, &options.clients, progress);
            if let Ok(mut gathering) = gathering.lock() {
                gathering.take(read, one.bytes, options.since);
            }
        }
    };
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for result in started.into_iter().map(thread::ScopedJoinHandle::join) {
            if let Err(cause) = result {
                panic::resume_unwind(cause);
            }
        }
    });
    let gathered = gathering.into_inner();
    gathered
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .end()
}

fn taken<'t>(next: &Mutex<std::vec::IntoIter<&'t Transcript>>) -> Option<&'t Transcript> {
    next.lock().ok()?.next()
}
