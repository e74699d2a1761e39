//! A scenario that failed, as a person wants to read it: what was expected, what came, and why.

use std::io::{Result, Write};

use serde_json::Value;
use sprag_review::scenario::{EventFailure, EventResult, ScenarioOutcome};

use crate::style::{BAD, FAINT, HEAD, paint};

/// How many events of one scenario are told in full.
const SHOWN: usize = 5;

/// Prints what failed in a scenario.
pub(crate) fn failure(out: &mut dyn Write, file: &str, outcome: &ScenarioOutcome) -> Result<()> {
    let name = paint(HEAD, &outcome.name);
    writeln!(
        out,
        "{} {name} {}",
        paint(BAD, "FAIL"),
        paint(FAINT, format_args!("({file})"))
    )?;
    for failure in outcome.failures.iter().take(SHOWN) {
        event(out, outcome.events, failure)?;
    }
    match outcome.failures.len().saturating_sub(SHOWN) {
        0 => {}
        more => writeln!(out, "  and {more} more events; --json lists them all")?,
    }
    for unmet in &outcome.overall {
        writeln!(out, "  overall: {}", unmet.demand)?;
        if let Some(came) = &unmet.came {
            told(out, came)?;
        }
    }
    writeln!(out)
}

fn event(out: &mut dyn Write, events: usize, failure: &EventFailure) -> Result<()> {
    let text = paint(FAINT, &failure.event);
    writeln!(out, "  event {} of {events}: {text}", failure.number)?;
    for mismatch in &failure.mismatches {
        let got = mismatch.got.as_ref().unwrap_or(&Value::Null);
        writeln!(
            out,
            "    {}: expected {}, got {}",
            mismatch.path,
            mismatch.expected,
            paint(BAD, got)
        )?;
    }
    told(out, &failure.came)
}

fn told(out: &mut dyn Write, came: &EventResult) -> Result<()> {
    let verdict = match came {
        EventResult::Verdict(verdict) => verdict,
        EventResult::Error(message) => {
            return writeln!(out, "    came: no verdict, but: {message}");
        }
    };
    write!(out, "    came: {}", verdict.decision)?;
    if let Some(rule) = verdict.rule {
        write!(out, " by {rule}")?;
    }
    if let Some(message) = &verdict.message {
        write!(out, ": {message}")?;
    }
    writeln!(out)?;
    if let Some(evidence) = &verdict.evidence {
        let evidence = Value::Object(evidence.clone());
        writeln!(out, "    evidence: {evidence}")?;
    }
    if let Some(would) = &verdict.would {
        let (verdict, rule) = (would.decision, would.rule);
        writeln!(out, "    in shadow: {verdict} by {rule}: {}", would.message)?;
    }
    Ok(())
}
