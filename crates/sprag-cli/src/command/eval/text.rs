//! An evaluation as a person wants to read it: the totals first, then where they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Result, Write};

use sprag_review::eval::{EvalReport, Figures, Flaw, JudgedRun, Metric, Score, Want};

use super::Named;
use crate::args::EvalArgs;
use crate::layout::{TextTable, counted};
use crate::style::{BAD, CAREFUL, FAINT, GOOD, HEAD, paint};

/// The metrics with a column of their own in the tables.
const COLUMNS: [Metric; 7] = [
    Metric::FalseStops,
    Metric::Loops,
    Metric::Runaways,
    Metric::Legit,
    Metric::WarnedSuccesses,
    Metric::Echo,
    Metric::NoEcho,
];

/// Prints everything that was asked for.
pub(super) fn print(
    out: &mut dyn Write,
    args: &EvalArgs,
    reports: &[Named],
    flaws: &[Flaw],
    listed: Option<&[JudgedRun]>,
) -> Result<()> {
    let Some(first) = reports.first() else {
        return Ok(());
    };
    totals(out, reports)?;
    groups(out, "SOURCE", reports, |report| &report.sources)?;
    groups(out, "FAMILY", reports, |report| &report.families)?;
    if args.leave_one_out {
        groups(out, "WITHOUT", reports, |report| &report.without)?;
    }
    if let (Some(metric), Some(listed)) = (args.list, listed) {
        writeln!(
            out,
            "\n{}",
            paint(HEAD, format_args!("{metric}: {}", metric.text()))
        )?;
        for run in listed {
            line(out, metric, run)?;
        }
    }
    if args.verbose {
        writeln!(out, "\n{}", paint(HEAD, "On the wrong side"))?;
        for wrong in &first.report.wrong {
            write!(out, "{} ", wrong.metric)?;
            line(out, wrong.metric, &wrong.run)?;
        }
    }
    skipped(out, flaws)
}

fn totals(out: &mut dyn Write, reports: &[Named]) -> Result<()> {
    let all: Vec<Option<&Figures>> = reports
        .iter()
        .map(|named| Some(&named.report.all))
        .collect();
    if let Some(Named { report, .. }) = reports.first() {
        let runs = counted(report.all.runs, "run");
        writeln!(
            out,
            "{runs} from {}",
            counted(report.sources.len(), "source")
        )?;
    }
    if let [_, other, ..] = reports {
        writeln!(out, "left the policy, right {}", other.name)?;
    }
    writeln!(out)?;
    let mut table = TextTable::new(["METRIC", "RUNS", "WHAT"]);
    for &metric in Metric::ALL {
        let text = joined(&all, |figures| score(&figures.score(metric)));
        table.row([metric.to_string(), text, metric.text().to_owned()]);
    }
    table.row([
        "delay".to_owned(),
        joined(&all, delay),
        "calls from where a loop's stop is due to the stop, median".to_owned(),
    ]);
    table.row([
        "saved".to_owned(),
        joined(&all, saved),
        "calls after a stop, in runs that are no success".to_owned(),
    ]);
    table.print(out)
}

fn groups(
    out: &mut dyn Write,
    heading: &str,
    reports: &[Named],
    of: impl Fn(&EvalReport) -> &BTreeMap<String, Figures>,
) -> Result<()> {
    writeln!(out)?;
    let mut table = TextTable::new([
        heading, "RUNS", "FALSE", "LOOPS", "RUNAWAYS", "LEGIT", "WARNED", "ECHO", "NO ECHO",
        "DELAY", "SAVED",
    ]);
    let all: Vec<&BTreeMap<String, Figures>> =
        reports.iter().map(|named| of(&named.report)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(|groups| groups.keys()).collect();
    for name in names {
        let figures: Vec<Option<&Figures>> = all.iter().map(|groups| groups.get(name)).collect();
        let runs = figures
            .iter()
            .flatten()
            .next()
            .map_or(0, |figures| figures.runs);
        let [a, b, c, d, e, f, g] =
            COLUMNS.map(|metric| joined(&figures, |figures| score(&figures.score(metric))));
        let (delay, saved) = (joined(&figures, delay), joined(&figures, saved));
        table.row([
            name.clone(),
            runs.to_string(),
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            delay,
            saved,
        ]);
    }
    table.print(out)
}

/// The same figure under each policy, side by side; a dash where there is none.
fn joined(all: &[Option<&Figures>], text: impl Fn(&Figures) -> String) -> String {
    let dash = || "-".to_owned();
    let texts: Vec<String> = all
        .iter()
        .map(|figures| figures.map_or_else(dash, &text))
        .collect();
    texts.join(" | ")
}

fn score(score: &Score) -> String {
    match score.of {
        0 => "-".to_owned(),
        of => format!("{}/{of}", score.hits),
    }
}

fn delay(figures: &Figures) -> String {
    let median = figures.delay.median;
    median.map_or("-".to_owned(), |median| median.to_string())
}

fn saved(figures: &Figures) -> String {
    match figures.saved.of {
        0 => "-".to_owned(),
        of => format!("{}/{of}", figures.saved.calls),
    }
}

fn line(out: &mut dyn Write, metric: Metric, run: &JudgedRun) -> Result<()> {
    let answer = if run.hit { "yes" } else { "no" };
    let answer = match (metric.want(), metric.is_wrong(run.hit)) {
        (Want::Either, _) => answer.to_owned(),
        (_, true) => paint(BAD, answer),
        (_, false) => paint(GOOD, answer),
    };
    write!(out, "{answer} {}: {} calls", run.trace, run.calls)?;
    if let Some(due) = run.stuck_seq {
        write!(out, ", stop due at {due}")?;
    }
    writeln!(out)?;
    for mark in [&run.warn, &run.stop].into_iter().flatten() {
        writeln!(
            out,
            "    {} at {} by {}: {}",
            mark.verdict, mark.seq, mark.rule, mark.message
        )?;
    }
    if let Some(reader) = &run.reader {
        writeln!(
            out,
            "    {}",
            paint(FAINT, format_args!("reader: {reader}"))
        )?;
    }
    Ok(())
}

/// Tells that lines were skipped, and which was the first.
pub(in crate::command) fn skipped(out: &mut dyn Write, flaws: &[Flaw]) -> Result<()> {
    let Some(flaw) = flaws.first() else {
        return Ok(());
    };
    let (file, line, why) = (flaw.path.display(), flaw.line, &flaw.why);
    let note = paint(CAREFUL, "note:");
    let count = match flaws.len() {
        1 => "1 line is not an event and was skipped".to_owned(),
        count => format!("{count} lines are not events and were skipped, the first"),
    };
    writeln!(out, "\n{note} {count}: {file}:{line}: {why}")
}
