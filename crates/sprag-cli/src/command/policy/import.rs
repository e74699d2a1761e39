//! `sprag policy import`: bring the limits that you have.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag::PolicyFile;
use sprag_core::import::{self, ImportScope};

use crate::args::PolicyImportArgs;
use crate::failure::{Failure, Run};
use crate::json;

/// Prints the policy that says the same as the file.
pub(crate) fn run(args: &PolicyImportArgs, out: &mut dyn Write) -> Run {
    // What is imported is not a policy yet, so a missing one is not to be created from the defaults.
    let text = PolicyFile::optional(&args.file).text()?;
    let text = text.ok_or_else(|| {
        Failure::new(format!("there is no file {}", args.file.display()))
            .next("check the path; it is relative to where you are")
    })?;
    let scope = match (&args.session, &args.agent) {
        (Some(session), _) => ImportScope::Session(session.clone()),
        (None, Some(agent)) => ImportScope::Agent(agent.clone()),
        (None, None) => ImportScope::Everyone,
    };
    let imported = import::from_json(&text, None, &scope)
        .map_err(|error| Failure::new(format!("{}: {error}", args.file.display())))?;
    let notes: Vec<String> = imported.notes.iter().map(ToString::to_string).collect();
    if args.json {
        let policy = &imported.toml;
        json::print(out, &ImportOutput { policy, notes })?;
        return Ok(ExitCode::SUCCESS);
    }
    out.write_all(imported.toml.as_bytes())?;
    out.flush()?;
    let mut err = anstream::stderr();
    for note in notes {
        writeln!(err, "{note}")?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Serialize)]
struct ImportOutput<'a> {
    /// As TOML.
    policy: &'a str,
    notes: Vec<String>,
}
