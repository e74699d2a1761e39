//! `sprag replay --case`: would the policy still stop what a person called a wrong stop?

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use sprag::PolicyFile;
use sprag::case::{Case, CaseFolder, CaseFolderError, CaseOutcome};

use crate::args::ReplayArgs;
use crate::db::Db;
use crate::failure::{FAILED, Failure, Run};
use crate::json;
use crate::layout::counted;
use crate::policy_file;
use crate::record_line::time;
use crate::settings::Settings;

/// Judges one case, or all of them.
pub(super) fn run(name: &str, args: &ReplayArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let folder = CaseFolder::beside(Db::file(settings, &args.db.file)?.path());
    let policy = match &args.policy {
        Some(path) => PolicyFile::required(path).load()?,
        None => policy_file::load(settings, None)?,
    };
    let names = match name {
        "all" => folder.list()?.into_iter().map(|head| head.case).collect(),
        name => vec![name.to_owned()],
    };
    let (mut judged, mut stopped) = (Vec::new(), 0_usize);
    for name in &names {
        let case = folder.load(name)?;
        let outcome = case.judge(&policy)?;
        stopped += usize::from(outcome != CaseOutcome::Passes);
        if args.json {
            judged.push(as_json(&case, &outcome));
        } else {
            print(out, &case, &outcome)?;
        }
    }
    if args.json {
        json::print(out, &judged)?;
    } else if name == "all" {
        let cases = counted(names.len(), "case");
        writeln!(out, "{cases}, {stopped} of them would still be stopped")?;
    }
    Ok(ExitCode::from(if stopped > 0 { FAILED } else { 0 }))
}

fn print(out: &mut dyn Write, case: &Case, outcome: &CaseOutcome) -> std::io::Result<()> {
    let head = &case.head;
    let records = counted(case.len(), "record");
    writeln!(
        out,
        "{}: {} was stopped by {} at {}, {records}",
        head.case,
        head.session,
        head.rule,
        time(head.at)
    )?;
    writeln!(out, "  wrong, says {}: {}", head.by, head.why)?;
    match outcome {
        CaseOutcome::Passes => writeln!(out, "  now: it passes")?,
        CaseOutcome::Stopped { seq, verdict } => {
            let rule = verdict
                .rule
                .map_or_else(String::new, |rule| rule.to_string());
            let message = verdict.message.as_deref().unwrap_or_default();
            let decision = verdict.decision;
            writeln!(
                out,
                "  now: {decision} by {rule} at record {seq}: {message}"
            )?;
        }
    }
    if head.cut {
        writeln!(
            out,
            "  older records were left out, so this may differ from what happened then"
        )?;
    }
    Ok(())
}

fn as_json(case: &Case, outcome: &CaseOutcome) -> Value {
    let (seq, verdict) = match outcome {
        CaseOutcome::Passes => (None, None),
        CaseOutcome::Stopped { seq, verdict } => (Some(*seq), Some(verdict)),
    };
    json!({
        "case": case.head,
        "records": case.len(),
        "passes": *outcome == CaseOutcome::Passes,
        "seq": seq,
        "verdict": verdict,
    })
}

impl From<CaseFolderError> for Failure {
    fn from(error: CaseFolderError) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            CaseFolderError::Unknown(_) => failure.next("`sprag replay --case all` judges those there are; the dashboard makes one with \"This stop was wrong\""),
            _ => failure,
        }
    }
}
