//! `sprag log tail`: the end of the log, and what comes next.

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use sprag::replay::RecordedItem;
use sprag::{LogQuery, Record, Store, record_json};

use super::scope;
use crate::args::TailArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::record_line;
use crate::settings::Settings;

/// How often the log is looked at for more.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Prints the latest records.
pub(crate) fn run(args: &TailArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let scope = scope(args.session.as_deref())?;
    let mut items = store
        .records(&LogQuery {
            scope: scope.clone(),
            newest_first: true,
            limit: args.lines.max(1),
            ..LogQuery::default()
        })?
        .items;
    let after = items.first().map(|latest| latest.seq);
    items.truncate(args.lines);
    items.reverse();
    print(out, items, args.json)?;
    if args.follow {
        let query = LogQuery {
            scope,
            after,
            ..LogQuery::default()
        };
        follow(&*store, query, args.json, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what comes, until the output goes away.
fn follow(
    store: &dyn Store,
    mut query: LogQuery,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    // Nobody ever sends: waiting for it is waiting for time to pass.
    let (_nobody, never) = channel::<()>();
    loop {
        let items = store.records(&query)?.items;
        if let Some(last) = items.last() {
            query.after = Some(last.seq);
            print(out, items, json)?;
            out.flush()?;
        } else {
            let _ = never.recv_timeout(LOOK_EVERY);
        }
    }
}

fn print(out: &mut dyn Write, records: Vec<Record>, json: bool) -> std::io::Result<()> {
    for record in records {
        if json {
            writeln!(out, "{}", record_json(&record))?;
        } else {
            writeln!(out, "{}", record_line::item(&RecordedItem::from(record)))?;
        }
    }
    Ok(())
}
