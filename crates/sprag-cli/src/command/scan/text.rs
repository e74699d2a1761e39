//! What a scan found, for people: a table, the worst loops, and what to do next.

use std::io::{Result, Write};

use sprag::rfc3339;
use sprag_core::{Decision, Timestamp};
use sprag_scan::amounts::{count, counted, rough, size, span, took};
use sprag_scan::{Ending, Loop, ScanReport, SweepingCommand, Totals};

use crate::args::ScanArgs;
use crate::layout::{TextTable, paragraph};
use crate::style::{BAD, CAREFUL, FAINT, GOOD, HEAD, paint};

/// How many loops are told.
const WORST: usize = 10;
/// How many skipped files are told.
const SKIPPED: usize = 5;

pub(super) fn print(out: &mut dyn Write, report: &ScanReport, args: &ScanArgs) -> Result<()> {
    if report.total.sessions == 0 {
        nothing(out, args)?;
        return skipped(out, report);
    }
    writeln!(
        out,
        "{} in {}, {}",
        super::sessions(report),
        size(report.total.bytes),
        counted(report.total.calls, "call")
    )?;
    writeln!(out)?;
    table(report).print(out)?;
    writeln!(out)?;
    summary(out, &report.total)?;
    let stopped = report.loops.iter().filter(|found| found.stopped.is_some());
    for (place, found) in (1..).zip(stopped.take(WORST)) {
        writeln!(out)?;
        one(out, place, found)?;
    }
    let more = report.total.loops.saturating_sub(WORST);
    if more > 0 {
        writeln!(
            out,
            "\nand {more} more; --html FILE and --json list them all"
        )?;
    }
    sweeping(out, report)?;
    skipped(out, report)?;
    next(out, report, args)
}

/// The same in one line.
pub(super) fn in_short(out: &mut dyn Write, report: &ScanReport) -> Result<()> {
    let total = &report.total;
    let sessions = super::sessions(report);
    if total.loops == 0 {
        return writeln!(
            out,
            "so far: {sessions}, no loops; `sprag scan` has the details"
        );
    }
    let loops = counted(total.loops, "loop");
    let calls = counted(total.saved_calls, "call");
    writeln!(
        out,
        "so far: {sessions}, {} in them; a guard would have saved {calls} and {} tokens; `sprag scan` shows them",
        paint(HEAD, loops),
        rough(total.saved_tokens)
    )
}

fn nothing(out: &mut dyn Write, args: &ScanArgs) -> Result<()> {
    if !args.paths.is_empty() || args.since.is_some() || !args.client.is_empty() {
        return writeln!(out, "No sessions were found there.");
    }
    let told = "No transcripts were found: not of Claude Code, Codex, Gemini CLI, Copilot CLI or opencode. Name files or \
                folders to look into: `sprag scan PATH…`";
    paragraph(out, "", told)
}

fn table(report: &ScanReport) -> TextTable<7> {
    let mut table = TextTable::new([
        "",
        "SESSIONS",
        "CALLS",
        "LOOPS",
        "CALLS IN THEM",
        "TIME",
        "TOKENS",
    ]);
    let mut row = |name: &str, numbers: &Totals| {
        let some = |text: String| {
            if numbers.loops == 0 {
                "-".to_owned()
            } else {
                text
            }
        };
        let about = if numbers.estimated { "about " } else { "" };
        table.row([
            name.to_owned(),
            number(numbers.sessions),
            number(numbers.calls),
            some(number(numbers.loops)),
            some(number(numbers.loop_calls)),
            some(span(numbers.loop_seconds)),
            some(format!("{about}{}", rough(numbers.loop_tokens))),
        ]);
    };
    for one in report.sources.iter().filter(|one| one.numbers.sessions > 0) {
        row(one.client.title(), &one.numbers);
    }
    if report.sources.len() > 1 {
        row("together", &report.total);
    }
    table
}

fn number(number: usize) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX))
}

fn summary(out: &mut dyn Write, total: &Totals) -> Result<()> {
    if total.loops == 0 {
        writeln!(
            out,
            "{} No session would have been stopped.",
            paint(GOOD, "No loops.")
        )?;
    } else {
        let saved = format!(
            "{}: a guard would have saved {}, {} and {} tokens.",
            counted(total.loops, "loop"),
            counted(total.saved_calls, "call"),
            span(total.saved_seconds),
            rough(total.saved_tokens)
        );
        writeln!(out, "{}", paint(HEAD, saved))?;
    }
    if total.perhaps_wrong > 0 {
        let stops = if total.perhaps_wrong == 1 {
            "stop"
        } else {
            "stops"
        };
        writeln!(
            out,
            "{} {} {stops} may have been wrong: the agent got out by itself, went on and finished.",
            paint(CAREFUL, "Careful:"),
            total.perhaps_wrong
        )?;
    }
    if total.guarded > 0 {
        let sessions = counted(total.guarded, "session");
        let verb = if total.guarded == 1 { "was" } else { "were" };
        writeln!(
            out,
            "{sessions} {verb} guarded by Sprag already; the calls that it refused are not counted."
        )?;
    }
    if total.warned > 0 {
        let shorter = counted(total.warned, "shorter one");
        writeln!(out, "Of {shorter} it would only have warned.")?;
    }
    Ok(())
}

/// Commands that take a whole place at once, the latest first.
fn sweeping(out: &mut dyn Write, report: &ScanReport) -> Result<()> {
    let total = report.total.sweeping;
    if total == 0 {
        return Ok(());
    }
    let head = format!(
        "{}: each takes a whole place where data lives at once.",
        counted(total, "sweeping command")
    );
    writeln!(out, "\n{}", paint(HEAD, head))?;
    for command in report.sweeping.iter().take(WORST) {
        let SweepingCommand {
            client, session, ..
        } = command;
        let answer = if command.verdict == Decision::Ask {
            "a guard would have asked"
        } else {
            "a guard would have refused"
        };
        let head = [
            command.at.map(minute),
            Some(client.title().to_owned()),
            command.project.clone(),
            Some(format!("session {session}")),
        ];
        let head: Vec<String> = head.into_iter().flatten().collect();
        writeln!(out, "    {}", paint(FAINT, head.join("  ")))?;
        writeln!(out, "    {}", paint(HEAD, &command.what))?;
        writeln!(out, "    {}: {answer}", command.effects.join(", "))?;
    }
    let more = total.saturating_sub(WORST);
    if more > 0 {
        writeln!(out, "and {more} more; --json lists them all")?;
    }
    Ok(())
}

/// `2026-02-03 04:05`.
fn minute(at: Timestamp) -> String {
    rfc3339(at).get(..16).unwrap_or_default().replace('T', " ")
}

fn one(out: &mut dyn Write, place: usize, found: &Loop) -> Result<()> {
    let when = found.began.map(minute);
    let head = [
        Some(found.client.title().to_owned()),
        found.project.clone(),
        when,
        Some(format!("session {}", found.session)),
    ];
    let head: Vec<String> = head.into_iter().flatten().collect();
    writeln!(
        out,
        "{} {}",
        paint(HEAD, format_args!("{place:>2}.")),
        paint(FAINT, head.join("  "))
    )?;
    writeln!(out, "    {}", paint(HEAD, &found.what))?;
    if !found.outcome.is_empty() {
        writeln!(out, "    → {}", found.outcome)?;
    }
    writeln!(out, "    {}", cost(found))?;
    writeln!(out, "    {}", reaction(found))?;
    if found.guarded {
        writeln!(
            out,
            "    guarded: Sprag refused further calls of this session"
        )?;
    }
    if found.unseen > 0 {
        let calls = counted(found.unseen, "call");
        let client = found.client.title();
        writeln!(
            out,
            "    {} the hooks of {client} don't report the results of {calls}, so a guard may stop later",
            paint(CAREFUL, "note:")
        )?;
    }
    if found.perhaps_wrong {
        let after = counted(found.calls_after, "other call");
        writeln!(
            out,
            "    {} it went on with {after} and finished",
            paint(CAREFUL, "perhaps wrong:")
        )?;
    }
    Ok(())
}

fn cost(found: &Loop) -> String {
    let mut parts = vec![counted(found.calls, "call")];
    parts.extend(found.seconds.map(took));
    let about = if found.tokens.estimated { "about " } else { "" };
    parts.push(format!("{about}{} tokens", rough(found.tokens.total)));
    if found.ending == Ending::Interrupted {
        parts.push("until the person stopped it".to_owned());
    }
    parts.join(", ")
}

fn reaction(found: &Loop) -> String {
    let warned = found
        .warned
        .as_ref()
        .map(|warned| format!("warned at call {}", warned.call));
    let stopped = found.stopped.as_ref().map(|stop| {
        let word = match stop.verdict {
            Decision::Ask => "asked about",
            Decision::Deny => "refused",
            Decision::Kill => "killed",
            _ => "blocked",
        };
        format!("{word} at call {}", stop.call)
    });
    let did: Vec<String> = warned.into_iter().chain(stopped).collect();
    let saved = match found.saved.calls {
        0 => String::new(),
        calls => format!(", {} saved", counted(calls, "call")),
    };
    format!("{}: {}{saved}", paint(BAD, found.rule), did.join(", "))
}

fn skipped(out: &mut dyn Write, report: &ScanReport) -> Result<()> {
    if report.skipped.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for one in report.skipped.iter().take(SKIPPED) {
        let place = one.line.map_or_else(String::new, |line| format!(":{line}"));
        let more = if one.count > 1 {
            format!(" (and {} more like it)", one.count - 1)
        } else {
            String::new()
        };
        writeln!(
            out,
            "{} {}{place}: {}{more}",
            paint(CAREFUL, "skipped"),
            one.file,
            one.why
        )?;
    }
    let more = report.skipped.len().saturating_sub(SKIPPED);
    if more > 0 {
        writeln!(out, "and {more} more; --json lists them all")?;
    }
    Ok(())
}

fn next(out: &mut dyn Write, report: &ScanReport, args: &ScanArgs) -> Result<()> {
    if !report.policy.is_empty() {
        writeln!(
            out,
            "\n{}",
            paint(
                HEAD,
                "# What fits this history, for the top of a policy; try it in shadow first:"
            )
        )?;
        for line in &report.policy {
            writeln!(out, "{line}")?;
        }
    }
    if let Some(path) = &args.html {
        writeln!(out, "\nThe page is in {}.", path.display())?;
    }
    if !report.next.is_empty() {
        let head = if report.total.loops == 0 {
            "Next, so that it stays like this:"
        } else {
            "Next, so that it does not happen again:"
        };
        writeln!(out, "\n{}", paint(HEAD, head))?;
        for command in &report.next {
            writeln!(out, "  {command}")?;
        }
    }
    Ok(())
}
