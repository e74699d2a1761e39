//! `sprag log export`: the log for other programs, as CloudEvents or CSV.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use sprag::{CSV_HEADER, LogQuery, cloud_event, csv_row};

use super::scope;
use crate::args::{ExportArgs, ExportWord};
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
    if args.format == ExportWord::Csv {
        writeln!(out, "{CSV_HEADER}")?;
    }
    loop {
        let page = store.records(&query)?;
        for record in &page.items {
            match args.format {
                ExportWord::Cloudevents => writeln!(out, "{}", cloud_event(record, &args.source))?,
                ExportWord::Csv => writeln!(out, "{}", csv_row(record))?,
            }
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
