//! `sprag verify`: does the log say what happened?

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;
use sprag::{Verification, read_policy};
use sprag_store::verify;

use crate::args::VerifyArgs;
use crate::db::Db;
use crate::failure::{FAILED, Run};
use crate::json;
use crate::plural::plural;
use crate::settings::Settings;
use crate::style::{BAD, CAREFUL, GOOD, paint};

/// Proves the log.
pub(crate) fn run(args: &VerifyArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let found = verify(&*store.view()?, &read_policy)?;
    if args.json {
        json::print(out, &document(&found))?;
    } else {
        print(out, &found)?;
    }
    Ok(if found.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED)
    })
}

fn print(out: &mut dyn Write, found: &Verification) -> std::io::Result<()> {
    match &found.bad {
        Some(bad) => {
            writeln!(out, "{} {bad}", paint(BAD, "broken:"))?;
            writeln!(out, "records {} to {} are sound", found.first, found.last)?;
        }
        None if found.last < found.first => {
            writeln!(out, "{} the log is empty", paint(GOOD, "sound:"))?
        }
        None => writeln!(
            out,
            "{} records {} to {}: {} came out the same again, {}",
            paint(GOOD, "sound:"),
            found.first,
            found.last,
            plural(found.recomputed, "verdict"),
            plural(found.notes, "note")
        )?,
    }
    for (version, events) in &found.not_recomputed {
        let careful = paint(CAREFUL, "not recomputed:");
        writeln!(
            out,
            "{careful} {events} events under rules version {version}; their chain holds"
        )?;
    }
    Ok(())
}

fn document(found: &Verification) -> serde_json::Value {
    let bad = found
        .bad
        .as_ref()
        .map(|bad| json!({ "seq": bad.seq, "problem": bad.problem.to_string() }));
    json!({
        "sound": found.is_sound(),
        "first": found.first,
        "last": found.last,
        "recomputed": found.recomputed,
        "notes": found.notes,
        "not_recomputed": found.not_recomputed,
        "checkpoint": found.checkpoint,
        "bad": bad,
    })
}
