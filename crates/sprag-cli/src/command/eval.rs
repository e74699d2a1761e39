//! `sprag eval`: how good is a policy on runs that really happened?

mod text;

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};
use sprag::PolicyFile;
use sprag_review::eval::{
    self, EvalError, EvalPolicy, EvalReport, Flaw, JudgedRun, Label, Replayed, StopLine, TraceFile,
    merge,
};

use crate::args::EvalArgs;
use crate::bar::Bar;
use crate::failure::{Failure, Run};
use crate::json;
use crate::policy_file::{load_document, load_with_document};
use crate::settings::Settings;

pub(super) use text::skipped;

/// Replays the runs and tells.
pub(crate) fn run(args: &EvalArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let mut names = vec!["policy".to_owned()];
    let (_, base) = load_with_document(settings, args.policy.policy.as_deref())?;
    let mut policies = vec![EvalPolicy::new(&base).map_err(failed)?];
    if let Some(other) = &args.compare {
        names.push(other.clone());
        policies.push(EvalPolicy::new(&compared(&base, other)?).map_err(failed)?);
    }
    let (files, labels) = read(&args.traces)?;
    let (replayed, flaws) = {
        let bar = Bar::new("runs", labels.len());
        eval::replay(&files, &labels, &policies, args.pace, &|| bar.advance()).map_err(failed)?
    };
    let reports = names.into_iter().enumerate();
    let reports: Vec<Named> = reports
        .filter_map(|(number, name)| {
            Some(Named {
                name,
                report: EvalReport::of(&replayed, number)?,
            })
        })
        .collect();
    if let Some(path) = &args.stops {
        write_stops(path, &replayed)?;
    }
    let listed = args
        .list
        .map(|metric| EvalReport::behind(&replayed, 0, metric));
    if args.json {
        json::print(out, &Document::new(&reports, &flaws, listed))?;
    } else {
        text::print(out, args, &reports, &flaws, listed.as_deref())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A report and the policy that it is about.
struct Named {
    name: String,
    report: EvalReport,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: Option<&'a EvalReport>,
    compare: Option<&'a EvalReport>,
    skipped: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<JudgedRun>>,
}

impl<'a> Document<'a> {
    fn new(reports: &'a [Named], flaws: &[Flaw], list: Option<Vec<JudgedRun>>) -> Self {
        let skipped = flaws.iter().map(|flaw| {
            let file = flaw.path.display().to_string();
            json!({ "file": file, "line": flaw.line, "message": flaw.why })
        });
        Self {
            report: reports.first().map(|named| &named.report),
            compare: reports.get(1).map(|named| &named.report),
            skipped: skipped.collect(),
            list,
        }
    }
}

/// The policy to set beside `base`: the same with another classifier, or another file.
fn compared(base: &Value, other: &str) -> Result<Value, Failure> {
    if !matches!(other, "plain" | "informed") {
        return Ok(load_document(&PolicyFile::required(other))?.1);
    }
    let mut document = base.clone();
    merge(
        &mut document,
        &json!({ "progress": { "classifier": other } }),
    );
    Ok(document)
}

/// The files to replay and what is known of the runs in them.
pub(super) fn read(paths: &[PathBuf]) -> Result<(Vec<TraceFile>, HashMap<String, Label>), Failure> {
    let (files, beside) = eval::trace_files(paths).map_err(failed)?;
    let mut labels = HashMap::new();
    for path in beside {
        labels.extend(eval::read_labels(&path).map_err(failed)?);
    }
    Ok((files, labels))
}

fn write_stops(path: &Path, replayed: &[Replayed]) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::unwritable(path, &error);
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(unwritable)?);
    for run in replayed.iter().filter_map(|one| one.runs.first()) {
        let line = serde_json::to_string(&StopLine::from(run)).map_err(std::io::Error::from)?;
        writeln!(file, "{line}").map_err(unwritable)?;
    }
    file.flush().map_err(unwritable)
}

/// What keeps an evaluation from starting, for a person.
pub(super) fn failed(error: EvalError) -> Failure {
    match error {
        EvalError::Unreadable { path, source } => Failure::unreadable(&path, &source),
        other @ EvalError::NoTraces { .. } => Failure::new(other.to_string())
            .next("name a folder of traces, or files; `sprag eval --help` describes the format"),
        other => Failure::new(other.to_string()),
    }
}
