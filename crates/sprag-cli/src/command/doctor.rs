//! `sprag doctor`: diagnoses problems and suggests fixes.
//!
//! A guard that is not asked looks like one with nothing to say. So one real hook is sent through the
//! command that each client has in its settings and followed into the store, and each way in which hooks
//! stay silent is looked for by name: missing, incomplete, narrowed, not trusted, switched off, another
//! program, in shadow, paused.

mod client;
mod codex;
mod gateway;
mod guard;
mod probe;
mod process;
mod trust;

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag_hooks::Client;

use crate::args::DoctorArgs;
use crate::failure::{FAILED, Run};
use crate::settings::Settings;
use crate::style::{BAD, FAINT, GOOD, paint};

/// Something that was checked.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// What: a client, the policy, the store.
    what: String,
    /// What was found, in a sentence.
    state: String,
    /// What to do, if something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    pub(super) fn fine(what: impl Into<String>, state: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            state: state.into(),
            fix: None,
        }
    }

    pub(super) fn wrong(
        what: impl Into<String>,
        state: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            fix: Some(fix.into()),
            ..Self::fine(what, state)
        }
    }
}

/// Checks everything.
pub(crate) fn run(args: &DoctorArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let homes = settings.homes_here()?;
    let guard = guard::GuardLocation::find(args, settings);
    let mut checks = Vec::new();
    for client in Client::ALL {
        checks.extend(client::look(client, &homes, settings, &guard));
    }
    if checks.is_empty() {
        checks.push(Check::wrong(
            "clients",
            "no agent CLI is found here",
            "put one on the PATH, then `sprag install CLIENT`",
        ));
    }
    checks.extend(gateway::look(settings));
    checks.extend(guard.look());
    let problems = checks.iter().filter(|look| look.fix.is_some()).count();
    if args.json {
        let all = serde_json::json!({"problems": problems, "checks": checks});
        writeln!(out, "{all:#}")?;
    } else {
        print(&checks, problems, out)?;
    }
    Ok(match problems {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

fn print(checks: &[Check], problems: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let width = checks.iter().map(|look| look.what.len()).max().unwrap_or(0);
    for look in checks {
        let mark = match look.fix {
            None => paint(GOOD, "ok "),
            Some(_) => paint(BAD, "bad"),
        };
        writeln!(out, "{mark} {:<width$}  {}", look.what, look.state)?;
        if let Some(fix) = &look.fix {
            writeln!(out, "    {:<width$}  {} {fix}", "", paint(FAINT, "fix:"))?;
        }
    }
    match problems {
        0 => writeln!(out, "nothing is wrong"),
        1 => writeln!(out, "1 problem"),
        many => writeln!(out, "{many} problems"),
    }
}
