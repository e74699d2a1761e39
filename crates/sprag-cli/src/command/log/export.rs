//! `sprag log export`: the log for other programs, as CloudEvents.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use sprag::{LogQuery, cloud_event};

use super::scope;
use crate::args::ExportArgs;
use crate::db::Db;
use crate::failure::Run;
use crate::settings::Settings;

/// Prints the records.
pub(crate) fn run(args: &ExportArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let mut query = LogQuery {
        scope: scope(args.session.as_deref())?,
        after: args.after,
        ..LogQuery::default()
    };
    let mut out = BufWriter::new(out);
    loop {
        let page = store.records(&query)?;
        for record in &page.items {
            writeln!(out, "{}", cloud_event(record, &args.source))?;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
