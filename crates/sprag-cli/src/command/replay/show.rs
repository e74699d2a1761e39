//! A replay as people and programs read it.

use std::io::{Result, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use sprag::replay::{RecordedEvent, RecordedItem, ReplayOutcome, ReplayTally};
use sprag::{Decision, RuleState, Verdict};

use crate::args::ReplayArgs;
use crate::plural::plural;
use crate::record_line;
use crate::style::{CAREFUL, FAINT, GOOD, paint};

/// What to show.
#[derive(Debug)]
pub(super) struct Show {
    json: bool,
    fired: bool,
    /// Events that would not have happened are counted.
    what_if: bool,
}

impl Show {
    pub(super) fn new(args: &ReplayArgs) -> Self {
        Self {
            json: args.json,
            fired: args.fired,
            what_if: args.policy.is_some(),
        }
    }

    pub(super) fn event(
        &self,
        out: &mut dyn Write,
        past: &RecordedItem,
        seen: &ReplayOutcome,
    ) -> Result<()> {
        let RecordedItem::Event(event) = past else {
            return self.other(out, past);
        };
        if self.fired
            && matches!(seen, ReplayOutcome::Judged { verdict, .. } if verdict.decision == Decision::Allow)
        {
            return Ok(());
        }
        if self.json {
            let mut line = start(event);
            line.insert("seen".to_owned(), seen_json(seen));
            if let Some(recorded) = differing(event, seen) {
                line.insert("recorded".to_owned(), json!(recorded));
            }
            return writeln!(out, "{}", Value::Object(line));
        }
        write!(out, "{}  {}", record_line::event(event), seen_text(seen))?;
        if let Some(recorded) = differing(event, seen) {
            let recorded = format!("  (the log says {})", short(recorded));
            write!(out, "{}", paint(CAREFUL, recorded))?;
        }
        writeln!(out, "{}", record_line::effects(event))?;
        match seen {
            ReplayOutcome::Judged {
                state: Some(state), ..
            } => self.state(out, state),
            _ => Ok(()),
        }
    }

    /// What is no event: notes, and lines that can't be read.
    fn other(&self, out: &mut dyn Write, past: &RecordedItem) -> Result<()> {
        match past {
            RecordedItem::Bad { number, why } if self.json => {
                writeln!(
                    out,
                    "{}",
                    json!({ "number": number, "seen": { "error": why } })
                )
            }
            RecordedItem::Note { .. } if self.fired || self.json => Ok(()),
            _ => writeln!(out, "{}", record_line::item(past)),
        }
    }

    fn state(&self, out: &mut dyn Write, state: &RuleState) -> Result<()> {
        let mut parts: Vec<String> = state
            .gauges
            .iter()
            .map(|gauge| format!("{} {}/{}", gauge.rule, gauge.used, gauge.limit))
            .collect();
        if !state.stack.is_empty() {
            let stack: Vec<&str> = state.stack.iter().map(|id| id.as_str()).collect();
            parts.push(format!("stack {}", stack.join(" > ")));
        }
        if parts.is_empty() {
            return Ok(());
        }
        writeln!(out, "        {}", paint(FAINT, parts.join(", ")))
    }

    pub(super) fn summary(&self, out: &mut dyn Write, tally: &ReplayTally) -> Result<()> {
        if self.json {
            return writeln!(out, "{}", json!({ "summary": tally }));
        }
        writeln!(out, "{}", counts(tally))?;
        if self.what_if {
            return writeln!(out, "{}", saved(tally));
        }
        match tally.different {
            0 => Ok(()),
            many => writeln!(
                out,
                "{} {many} verdicts are not those of the log",
                paint(CAREFUL, "differs:")
            ),
        }
    }

    pub(super) fn change(
        &self,
        out: &mut dyn Write,
        past: &RecordedItem,
        seen: &[ReplayOutcome; 2],
    ) -> Result<()> {
        let RecordedItem::Event(event) = past else {
            return Ok(());
        };
        let [one, other] = seen;
        if self.json {
            let mut line = start(event);
            line.insert("a".to_owned(), seen_json(one));
            line.insert("b".to_owned(), seen_json(other));
            return writeln!(out, "{}", Value::Object(line));
        }
        let effects = record_line::effects(event);
        writeln!(out, "{}{effects}", record_line::event(event).trim_end())?;
        writeln!(out, "        A  {}", seen_text(one))?;
        writeln!(out, "        B  {}", seen_text(other))
    }

    pub(super) fn changes(
        &self,
        out: &mut dyn Write,
        changes: u64,
        tallies: [(&Path, &ReplayTally); 2],
    ) -> Result<()> {
        let [(one, a), (other, b)] = tallies;
        if self.json {
            return writeln!(
                out,
                "{}",
                json!({ "summary": { "changes": changes, "a": a, "b": b } })
            );
        }
        match changes {
            0 => writeln!(
                out,
                "{} the two policies answer alike",
                paint(GOOD, "no change:")
            )?,
            1 => writeln!(out, "1 event is answered differently")?,
            many => writeln!(out, "{many} events are answered differently")?,
        }
        for (name, path, tally) in [("A", one, a), ("B", other, b)] {
            writeln!(
                out,
                "{name}  {}: {}; {}",
                path.display(),
                counts(tally),
                saved(tally)
            )?;
        }
        Ok(())
    }
}

fn start(event: &RecordedEvent) -> Map<String, Value> {
    let line = json!({
        "number": event.number,
        "at": event.at,
        "type": event.kind(),
        "session": event.session(),
        "object": event.object(),
    });
    let mut line = match line {
        Value::Object(line) => line,
        _ => Map::new(),
    };
    let effects = event.effects();
    if !effects.is_empty() {
        line.insert("effects".to_owned(), json!(effects));
    }
    line
}

/// The recorded verdict, where another one was seen.
fn differing<'a>(event: &'a RecordedEvent, seen: &ReplayOutcome) -> Option<&'a Verdict> {
    let recorded = event.recorded.as_ref()?;
    match seen {
        ReplayOutcome::Judged { verdict, .. } => (&**verdict != recorded).then_some(recorded),
        _ => None,
    }
}

fn short(verdict: &Verdict) -> String {
    match verdict.rule {
        Some(rule) => format!("{} by {rule}", verdict.decision),
        None => verdict.decision.to_string(),
    }
}

fn seen_text(seen: &ReplayOutcome) -> String {
    match seen {
        ReplayOutcome::Judged {
            verdict, unknown, ..
        } => {
            let unknown = if *unknown {
                "  its result is unknown"
            } else {
                ""
            };
            format!(
                "{}{}",
                record_line::verdict(verdict),
                paint(CAREFUL, unknown)
            )
        }
        ReplayOutcome::Saved => paint(GOOD, "saved: its session was stopped before"),
        ReplayOutcome::Skipped => {
            paint(FAINT, "skipped: it was refused, and its session is stopped")
        }
        ReplayOutcome::Unknown => {
            paint(CAREFUL, "unknown: the recorded result is that of a refusal")
        }
        ReplayOutcome::Error(error) => format!("error: {error}"),
        ReplayOutcome::Noted => String::new(),
    }
}

fn seen_json(seen: &ReplayOutcome) -> Value {
    match seen {
        ReplayOutcome::Judged {
            verdict,
            state,
            unknown,
        } => {
            let mut document = json!({ "verdict": verdict, "unknown": unknown });
            if let (Some(state), Some(fields)) = (state, document.as_object_mut()) {
                fields.insert(
                    "state".to_owned(),
                    serde_json::to_value(state).unwrap_or_default(),
                );
            }
            document
        }
        ReplayOutcome::Saved => json!("saved"),
        ReplayOutcome::Skipped => json!("skipped"),
        ReplayOutcome::Unknown => json!("unknown"),
        ReplayOutcome::Error(error) => json!({ "error": error }),
        ReplayOutcome::Noted => Value::Null,
    }
}

fn counts(tally: &ReplayTally) -> String {
    let words: Vec<String> = Decision::ALL
        .iter()
        .filter_map(|decision| {
            let count = tally.verdicts.get(decision.as_str())?;
            Some(format!("{count} {decision}"))
        })
        .collect();
    let mut text = plural(tally.events, "event");
    if !words.is_empty() {
        text.push_str(&format!(": {}", words.join(", ")));
    }
    if tally.errors > 0 {
        text.push_str(&format!("; {} could not be judged", tally.errors));
    }
    text
}

fn saved(tally: &ReplayTally) -> String {
    let sessions = u64::try_from(tally.stopped.len()).unwrap_or(u64::MAX);
    let mut text = format!(
        "{} saved, {} stopped",
        plural(tally.saved, "event"),
        plural(sessions, "session")
    );
    if tally.unknown > 0 {
        text.push_str(&format!(", {} with an unknown result", tally.unknown));
    }
    text
}
