//! `sprag tune`: which limits fit, by what really happened?

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use sprag::Store;
use sprag::replay::LogRecording;
use sprag_core::Policy;
use sprag_review::tune::{Advice, History, JudgedLog, KNOBS, Tuned, tune};

use super::eval::{failed, read, skipped};
use crate::args::TuneArgs;
use crate::bar::Bar;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::layout::{TextTable, counted, paragraph};
use crate::policy_file::load_with_document;
use crate::settings::Settings;
use crate::style::{HEAD, paint};

/// How many records of a store are tried, the latest: every setting folds all of them.
const MAX_RECORDS: u64 = 50_000;
/// How much of a file is looked at to know what it is.
const START_BYTES: u64 = 64 * 1024;

/// Replays the history under each setting and reports what fits.
pub(crate) fn run(args: &TuneArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (policy, document) = load_with_document(settings, args.policy.policy.as_deref())?;
    let history = history(args, settings, &policy)?;
    let tuned = {
        let bar = Bar::new("settings", questions(&policy));
        tune(&history, &document, &|| bar.advance()).map_err(failed)?
    };
    let report = TuneReport::new(&history, tuned);
    if args.json {
        json::print(out, &report)?;
    } else {
        report.print(out)?;
        skipped(out, &history.flaws)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The log of the store, or what the named files hold.
fn history(args: &TuneArgs, settings: &Settings, policy: &Policy) -> Result<History, Failure> {
    let (mut logs, mut traces) = (Vec::new(), Vec::new());
    for path in &args.history {
        match TuneKind::of(path)? {
            TuneKind::Store => logs.push(of_store(&*Db::named(path).read()?)?),
            TuneKind::Export => logs.push(of_export(path)?),
            TuneKind::Trace => traces.push(path.clone()),
        }
    }
    if args.history.is_empty() {
        logs.push(of_store(&*Db::find(settings, &args.db)?.read()?)?);
    }
    let mut history = History::default();
    if !traces.is_empty() {
        let (files, labels) = read(&traces)?;
        history = History::read(&files, &labels, policy).map_err(failed)?;
    }
    for log in logs {
        history.add_log(log);
    }
    Ok(history)
}

/// What a file is.
enum TuneKind {
    Store,
    Export,
    Trace,
}

impl TuneKind {
    fn of(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Ok(Self::Trace);
        }
        let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        let mut start = Vec::new();
        let read = file.take(START_BYTES).read_to_end(&mut start);
        read.map_err(|error| Failure::unreadable(path, &error))?;
        let line = start
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        Ok(match start.starts_with(b"SQLite format 3\0") {
            true => Self::Store,
            false if line.contains("\"specversion\"") && line.contains("dev.sprag.") => {
                Self::Export
            }
            false => Self::Trace,
        })
    }
}

fn of_store(store: &dyn Store) -> Result<JudgedLog, Failure> {
    let from = store.status().last_seq.saturating_sub(MAX_RECORDS);
    let mut log = JudgedLog::default();
    for item in LogRecording::after(store, from) {
        log.add(item?);
    }
    Ok(log)
}

fn of_export(path: &Path) -> Result<JudgedLog, Failure> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let mut log = JudgedLog::default();
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    for (number, line) in (1_u64..).zip(file.lines()) {
        let line = line.map_err(unreadable)?;
        log.add_export(&line).map_err(|error| {
            Failure::new(format!("{}:{number}: {error}", path.display()))
                .next("`sprag log export` writes one record on each line")
        })?;
    }
    Ok(log)
}

pub(super) fn questions(policy: &Policy) -> usize {
    KNOBS
        .iter()
        .map(|knob| knob.settings(policy.base()).len())
        .sum()
}

#[derive(Debug, Serialize)]
struct TuneReport {
    sessions: usize,
    finished: usize,
    /// Sessions whose stop a person marked as wrong; they count as finished.
    wrong_stops: usize,
    skipped_lines: usize,
    limits: Vec<Tuned>,
    /// The lines that fit, as TOML.
    policy: String,
}

impl TuneReport {
    fn new(history: &History, limits: Vec<Tuned>) -> Self {
        let (sessions, finished) = history.size();
        let mut lines: Vec<&str> = limits
            .iter()
            .filter_map(|tuned| tuned.line.as_deref())
            .collect();
        lines.dedup();
        Self {
            sessions,
            finished,
            wrong_stops: history.wrong_stops(),
            skipped_lines: history.flaws.len(),
            policy: lines.iter().map(|line| format!("{line}\n")).collect(),
            limits,
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let sessions = counted(self.sessions, "session");
        writeln!(out, "{sessions}, {} of them finished", self.finished)?;
        if self.wrong_stops > 0 {
            let wrong = counted(self.wrong_stops, "wrong stop");
            writeln!(out, "{wrong}: marked by a person, counted as finished")?;
        }
        writeln!(out)?;
        self.table().print(out)?;
        let quiet: Vec<&str> = self
            .limits
            .iter()
            .filter(|tuned| !tuned.fired())
            .map(|tuned| tuned.key)
            .collect();
        if !quiet.is_empty() {
            writeln!(out)?;
            paragraph(out, "Never reached at any setting: ", &quiet.join(", "))?;
        }
        if self.finished == 0 {
            return writeln!(
                out,
                "\nNothing finished here, so there is nothing to fit limits to."
            );
        }
        if self.policy.is_empty() {
            return writeln!(out, "\nThe limits in force fit.");
        }
        writeln!(
            out,
            "\n{}",
            paint(HEAD, "# What fits this history, for the top of a policy:")
        )?;
        write!(out, "{}", self.policy)
    }

    fn table(&self) -> TextTable<6> {
        let mut table = TextTable::new([
            "KEY",
            "SETTING",
            "STOPPED",
            "WARNED",
            "NOTE",
            "FOR INSTANCE",
        ]);
        for tuned in self.limits.iter().filter(|tuned| tuned.fired()) {
            for (number, row) in tuned.rows.iter().enumerate() {
                let fits = tuned.advice == Advice::Set(row.setting);
                let note = match (fits, row.setting == tuned.current) {
                    (true, true) => "fits, in force",
                    (true, false) => "fits",
                    (false, true) => "in force",
                    (false, false) => "",
                };
                let key = if number == 0 { tuned.key } else { "" };
                table.row([
                    key.to_owned(),
                    row.setting.to_string(),
                    count(row.stopped, row.stopped_finished),
                    count(row.warned, row.warned_finished),
                    note.to_owned(),
                    row.on.first().cloned().unwrap_or_default(),
                ]);
            }
        }
        table
    }
}

/// `12, 3 finished`.
fn count(all: usize, finished: usize) -> String {
    match (all, finished) {
        (0, _) => "-".to_owned(),
        (all, 0) => all.to_string(),
        (all, finished) => format!("{all}, {finished} finished"),
    }
}
