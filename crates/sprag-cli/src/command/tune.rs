//! `sprag tune`: which limits fit, by what really happened?

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag::tune::{Advice, History, KNOBS, Tuned, tune};
use sprag_core::Policy;

use super::eval::{failed, read, skipped};
use crate::args::TuneArgs;
use crate::bar::Bar;
use crate::failure::Run;
use crate::json;
use crate::layout::{Table, counted, paragraph};
use crate::policy_file::load_with_document;
use crate::settings::Settings;
use crate::style::{HEAD, paint};

/// Replays the history under each setting and tells.
pub(crate) fn run(args: &TuneArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (policy, document) = load_with_document(settings, args.policy.policy.as_deref())?;
    let (files, labels) = read(&args.history)?;
    let history = History::read(&files, &labels, &policy).map_err(failed)?;
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
            skipped_lines: history.flaws.len(),
            policy: lines.iter().map(|line| format!("{line}\n")).collect(),
            limits,
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let sessions = counted(self.sessions, "session");
        writeln!(out, "{sessions}, {} of them finished", self.finished)?;
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
                "\nNothing finished here, so nothing tells which limits fit."
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

    fn table(&self) -> Table<6> {
        let mut table = Table::new([
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
