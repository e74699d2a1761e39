//! What a scan found, in numbers and one by one.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use sprag_core::{Decision, Timestamp};
use sprag_hooks::Client;
use sprag_review::tune::History;

use crate::file::{FileRead, Skipped};
use crate::found_loop::Loop;
use crate::sweeping::SweepingCommand;
use crate::transcript_source::TranscriptSource;

/// How many loops are told with all their calls.
const MAX_IN_FULL: usize = 100;
/// How many loops are told at all.
const MAX_LOOPS: usize = 5_000;
/// How many sweeping commands are told.
const MAX_SWEEPING: usize = 1_000;
/// How many skipped files and lines are told.
const MAX_SKIPPED: usize = 1_000;
/// How many observations are kept for advice on limits: as many as can be asked about within seconds.
const MAX_OBSERVED: usize = 20_000;

/// What a scan found.
#[derive(Debug, Default, Serialize)]
pub struct ScanReport {
    /// Everything together.
    pub total: Totals,
    /// The same for each source that was found.
    pub sources: Vec<SourceTotals>,
    /// The loops, the worst first; those that a guard would only have warned of come last.
    pub loops: Vec<Loop>,
    /// Commands that took a whole place where data lives at once, the latest first.
    pub sweeping: Vec<SweepingCommand>,
    /// Files and lines that were passed over.
    pub skipped: Vec<Skipped>,
    /// Files in named folders that are something else.
    pub other_files: usize,
    /// Lines for a policy that fit this history.
    pub policy: Vec<String>,
    /// What to type next.
    pub next: Vec<String>,
}

/// The numbers of one source.
#[derive(Debug, Serialize)]
pub struct SourceTotals {
    /// Who wrote the transcripts.
    pub client: TranscriptSource,
    /// The numbers.
    #[serde(flatten)]
    pub numbers: Totals,
}

/// What was read and what was found in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Transcripts.
    pub files: usize,
    /// Their length.
    pub bytes: u64,
    /// Sessions.
    pub sessions: usize,
    /// Those among them that Sprag guarded: it refused calls in them.
    pub guarded: usize,
    /// Calls of tools.
    pub calls: usize,
    /// Tokens that went through the model, where transcripts say so.
    pub tokens: u64,
    /// Loops that a guard would have stopped.
    pub loops: usize,
    /// The calls in them.
    pub loop_calls: usize,
    /// The time that they took, where transcripts say so.
    pub loop_seconds: u64,
    /// The tokens that they took.
    pub loop_tokens: u64,
    /// Some of these tokens are estimated.
    pub estimated: bool,
    /// The calls that a guard would have saved.
    pub saved_calls: usize,
    /// The time that it would have saved.
    pub saved_seconds: u64,
    /// The tokens that it would have saved.
    pub saved_tokens: u64,
    /// The stops among them that may have been wrong: the agent went on with other things and finished.
    pub perhaps_wrong: usize,
    /// Shorter ones, of which it would only have warned.
    pub warned: usize,
    /// Commands that took a whole place where data lives at once.
    pub sweeping: usize,
}

impl Totals {
    fn add(&mut self, found: &Loop) {
        if found.verdict <= Decision::Warn {
            self.warned += 1;
            return;
        }
        self.loops += 1;
        self.perhaps_wrong += usize::from(found.perhaps_wrong);
        self.loop_calls += found.calls;
        self.loop_seconds = self.loop_seconds.saturating_add(found.seconds.unwrap_or(0));
        self.loop_tokens = self.loop_tokens.saturating_add(found.tokens.total);
        self.estimated |= found.tokens.estimated;
        self.saved_calls += found.saved.calls;
        self.saved_seconds = self.saved_seconds.saturating_add(found.saved.seconds);
        self.saved_tokens = self.saved_tokens.saturating_add(found.saved.tokens);
    }
}

/// A report while files come in.
#[derive(Default)]
pub(crate) struct ReportBuilder {
    report: ScanReport,
    history: History,
    observed: usize,
    /// A session that was resumed or forked is told in several files: its loops count once.
    known: HashSet<(Timestamp, usize, String)>,
}

impl ReportBuilder {
    /// Takes what came of a file of `bytes`; sessions that ended before `since` are left out.
    pub(crate) fn take(&mut self, read: FileRead, bytes: u64, since: Option<Timestamp>) {
        self.report.other_files += usize::from(read.is_foreign);
        if let Some(skipped) = read.skipped
            && self.report.skipped.len() < MAX_SKIPPED
        {
            self.report.skipped.push(skipped);
        }
        let Some(source) = read.source else {
            return;
        };
        let is_old = |at: Option<Timestamp>| at.zip(since).is_some_and(|(at, since)| at < since);
        let mut numbers = Totals {
            files: 1,
            bytes,
            ..Totals::default()
        };
        for ended in read.ended {
            if is_old(ended.last_at) {
                continue;
            }
            numbers.sessions += 1;
            numbers.guarded += usize::from(ended.refused > 0);
            numbers.calls += ended.calls;
            numbers.tokens = numbers.tokens.saturating_add(ended.tokens.total());
            for found in ended.loops {
                let end = found.began.zip(found.seconds);
                let end = end.map(|(began, seconds)| {
                    Timestamp(began.0.saturating_add(seconds.saturating_mul(1_000)))
                });
                if is_old(end) || !self.is_new(&found) {
                    continue;
                }
                numbers.add(&found);
                self.keep(found);
            }
            for command in ended.sweeping {
                let key = command
                    .at
                    .map(|at| (at, command.call, command.what.clone()));
                if !is_old(command.at) && key.is_none_or(|key| self.known.insert(key)) {
                    numbers.sweeping += 1;
                    self.sweep(command);
                }
            }
            if self.observed + ended.observations.len() <= MAX_OBSERVED && ended.calls > 1 {
                self.observed += ended.observations.len();
                self.history
                    .add(&ended.name, ended.finished, ended.observations);
            }
        }
        self.count(source, &numbers);
    }

    fn is_new(&mut self, found: &Loop) -> bool {
        match found.began {
            Some(began) => self.known.insert((began, found.calls, found.what.clone())),
            None => true,
        }
    }

    fn keep(&mut self, found: Loop) {
        self.report.loops.push(found);
        if self.report.loops.len() >= 2 * MAX_LOOPS {
            self.sort();
        }
    }

    fn sweep(&mut self, command: SweepingCommand) {
        let all = &mut self.report.sweeping;
        all.push(command);
        if all.len() >= 2 * MAX_SWEEPING {
            sort_sweeping(all);
        }
    }

    /// The worst first; what is too much is dropped.
    fn sort(&mut self) {
        let loops = &mut self.report.loops;
        loops.sort_by(|a, b| {
            b.weight()
                .cmp(&a.weight())
                .then_with(|| a.session.cmp(&b.session))
        });
        loops.truncate(MAX_LOOPS);
        for found in loops.iter_mut().skip(MAX_IN_FULL) {
            found.left_out += found.steps.len();
            found.steps = Vec::new();
            found.ticks = Vec::new();
        }
    }

    fn count(&mut self, source: TranscriptSource, numbers: &Totals) {
        let known = self
            .report
            .sources
            .iter()
            .position(|one| one.client == source);
        let place = known.unwrap_or_else(|| {
            self.report.sources.push(SourceTotals {
                client: source,
                numbers: Totals::default(),
            });
            self.report.sources.len() - 1
        });
        if let Some(one) = self.report.sources.get_mut(place) {
            one.numbers.join(numbers);
        }
        self.report.total.join(numbers);
    }

    /// The report, and the history that limits can be tried on.
    pub(crate) fn end(mut self) -> (ScanReport, History) {
        self.sort();
        sort_sweeping(&mut self.report.sweeping);
        self.report.sources.sort_by_key(|one| one.client.as_str());
        self.report.skipped.sort_by(|a, b| a.file.cmp(&b.file));
        (self.report, self.history)
    }
}

/// The latest first; what is too much is dropped.
fn sort_sweeping(all: &mut Vec<SweepingCommand>) {
    all.sort_by(|a, b| {
        b.at.cmp(&a.at)
            .then_with(|| (&a.session, a.call).cmp(&(&b.session, b.call)))
    });
    all.truncate(MAX_SWEEPING);
}

impl ScanReport {
    /// Writes `~` for the home of the user, so that the report can be shown around.
    pub fn hide_home(&mut self, home: &Path) {
        let hide = |text: &mut String| {
            if let Ok(below) = Path::new(text.as_str()).strip_prefix(home) {
                *text = Path::new("~").join(below).display().to_string();
            }
        };
        for found in &mut self.loops {
            found.project.iter_mut().for_each(hide);
            hide(&mut found.file);
        }
        for command in &mut self.sweeping {
            command.project.iter_mut().for_each(hide);
            hide(&mut command.file);
        }
        self.skipped
            .iter_mut()
            .for_each(|skipped| hide(&mut skipped.file));
    }

    /// The agent CLIs whose transcripts were found.
    pub fn clients(&self) -> impl Iterator<Item = Client> {
        self.sources.iter().filter_map(|one| match one.client {
            TranscriptSource::Client(client) if one.numbers.sessions > 0 => Some(client),
            _ => None,
        })
    }
}

impl Totals {
    fn join(&mut self, more: &Self) {
        self.files += more.files;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.sessions += more.sessions;
        self.guarded += more.guarded;
        self.calls += more.calls;
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.loops += more.loops;
        self.loop_calls += more.loop_calls;
        self.loop_seconds = self.loop_seconds.saturating_add(more.loop_seconds);
        self.loop_tokens = self.loop_tokens.saturating_add(more.loop_tokens);
        self.estimated |= more.estimated;
        self.saved_calls += more.saved_calls;
        self.saved_seconds = self.saved_seconds.saturating_add(more.saved_seconds);
        self.saved_tokens = self.saved_tokens.saturating_add(more.saved_tokens);
        self.perhaps_wrong += more.perhaps_wrong;
        self.warned += more.warned;
        self.sweeping += more.sweeping;
    }
}
