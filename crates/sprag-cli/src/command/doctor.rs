//! `sprag doctor`: is anything wrong, and what to do about it.
//!
//! A guard that is not asked looks like one with nothing to say. So each way in which hooks stay silent is looked
//! for by name: not there, not complete, not trusted, switched off, another program, never fired.

mod client;
mod guard;
mod trust;

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag_hooks::Client;

use crate::args::DoctorArgs;
use crate::failure::{FAILED, Failure, Run};
use crate::settings::Settings;
use crate::style::{BAD, FAINT, GOOD, paint};

/// Something that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Look {
    /// What: a client, the policy, the store.
    what: String,
    /// How it is, in a sentence.
    state: String,
    /// What to do, where something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Look {
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

/// Looks at everything.
pub(crate) fn run(args: &DoctorArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let here = std::env::current_dir().map_err(|error| {
        Failure::new(format!(
            "can't tell where this is: {}",
            Failure::reason(&error)
        ))
    })?;
    let homes = settings
        .homes(here)
        .ok_or_else(|| Failure::new("there is no home: $HOME is not set"))?;
    let guard = guard::Place::find(args, settings);
    let mut looks = Vec::new();
    for client in Client::ALL {
        looks.extend(client::look(client, &homes, settings, &guard));
    }
    if looks.is_empty() {
        looks.push(Look::wrong(
            "clients",
            "no agent CLI is found here",
            "put one on the PATH, then `sprag install CLIENT`",
        ));
    }
    looks.extend(guard.look());
    let problems = looks.iter().filter(|look| look.fix.is_some()).count();
    if args.json {
        let all = serde_json::json!({"problems": problems, "looks": looks});
        writeln!(out, "{all:#}")?;
    } else {
        print(&looks, problems, out)?;
    }
    Ok(match problems {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

fn print(looks: &[Look], problems: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let width = looks.iter().map(|look| look.what.len()).max().unwrap_or(0);
    for look in looks {
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
