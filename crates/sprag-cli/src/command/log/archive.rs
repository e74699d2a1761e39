//! `sprag log archive`: the log of a store, copied into a file that is a store of its own.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;
use sprag::{Store as _, read_policy};
use sprag_store::{SharedSqlite, SqliteOptions};

use crate::args::ArchiveArgs;
use crate::clock;
use crate::db::Db;
use crate::failure::Run;
use crate::json;
use crate::settings::Settings;

/// Copies what is new.
pub(crate) fn run(args: &ArchiveArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let options = SqliteOptions {
        at: clock::now(),
        ..SqliteOptions::default()
    };
    let archive = SharedSqlite::open(&args.file, &options)?;
    let copied = archive.archive(&*store.view()?, &read_policy)?;
    let last = archive.status().last_seq;
    if args.json {
        json::print(out, &json!({ "copied": copied, "last": last }))?;
    } else {
        let file = args.file.display();
        writeln!(out, "{copied} records copied; {file} ends at record {last}")?;
        writeln!(out, "`sprag verify --db {file}` proves it")?;
    }
    Ok(ExitCode::SUCCESS)
}
