//! `sprag log prune`: a log that does not grow for ever, and still proves itself.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;
use sprag::Retention;

use crate::args::PruneArgs;
use crate::db::Db;
use crate::failure::Run;
use crate::json;
use crate::plural::plural;
use crate::settings::Settings;

/// Removes what may go.
pub(crate) fn run(args: &PruneArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::find(settings, &args.db)?;
    let guard = db.guard_of_known(settings, args.policy.policy.as_deref())?;
    let pruned = guard.prune(Retention {
        max_age: args.max_age,
        max_bytes: args.max_bytes,
    })?;
    let (records, through) = (pruned.records, pruned.through);
    if args.json {
        json::print(out, &json!({ "records": records, "through": through }))?;
    } else if records == 0 {
        writeln!(
            out,
            "nothing to remove: every record is young enough and there is room"
        )?;
    } else {
        let start = through.saturating_add(1);
        writeln!(
            out,
            "{} removed; the log starts at record {start} and still verifies",
            plural(records, "record")
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
