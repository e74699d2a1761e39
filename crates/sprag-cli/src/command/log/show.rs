//! `sprag log show`: one record with everything it holds.

use std::io::Write;
use std::process::ExitCode;

use sprag::{LogQuery, Record, RecordKind, record_json};

use crate::args::ShowArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::record_line;
use crate::settings::Settings;
use crate::style::{HEAD, paint};

/// Prints a record.
pub(crate) fn run(args: &ShowArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let query = LogQuery {
        after: args.seq.checked_sub(1),
        limit: 1,
        ..LogQuery::default()
    };
    let found = store.records(&query)?.items.pop();
    let Some(record) = found.filter(|record| record.seq == args.seq) else {
        let last = store.status().last_seq;
        let first = store.base()?.after.saturating_add(1);
        let failure = Failure::new(format!("there is no record {}", args.seq));
        return Err(failure.next(format!("the log holds records {first} to {last}")));
    };
    if args.json {
        json::print(out, &record_json(&record))?;
    } else {
        print(out, &record)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut dyn Write, record: &Record) -> std::io::Result<()> {
    let title = format!("record {}", record.seq);
    writeln!(
        out,
        "{}  {}",
        paint(HEAD, title),
        record_line::time(record.at)
    )?;
    match &record.kind {
        RecordKind::Event {
            observation,
            captured,
        } => {
            document(out, "event", &observation.what)?;
            if let Some(sender) = &observation.sender {
                writeln!(out, "sender    {sender}")?;
            }
            if let Some(captured) = captured {
                writeln!(out, "captured  {}", captured.as_str())?;
            }
            writeln!(out, "verdict   {}", record_line::verdict(&record.verdict))?;
            if let Some(evidence) = &record.verdict.evidence {
                document(out, "evidence", evidence)?;
            }
        }
        RecordKind::Note(noted) => document(out, "note", noted)?,
    }
    writeln!(out, "policy    {}", record.policy)?;
    writeln!(out, "rules     version {}", record.rules_version)?;
    writeln!(out, "before    {}", record.prev)?;
    writeln!(out, "hash      {}", record.hash)
}

fn document(out: &mut dyn Write, name: &str, value: &impl serde::Serialize) -> std::io::Result<()> {
    writeln!(out, "{name:<8}  {}", serde_json::to_string(value)?)
}
