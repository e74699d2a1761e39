//! `sprag test`: does a policy do what its author thinks?

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;
use sprag::PolicyFile;
use sprag_review::scenario::{self, Scenario, ScenarioOutcome};

use crate::args::TestArgs;
use crate::failure::{FAILED, Failure, Run, UNUSABLE};
use crate::json;
use crate::policy_file::load_document;
use crate::report;
use crate::style::{BAD, CAREFUL, GOOD, paint};

/// Runs the files.
pub(crate) fn run(args: &TestArgs, out: &mut dyn Write) -> Run {
    let base = match &args.policy {
        Some(path) => load_document(&PolicyFile::required(path))?.1,
        None => Value::Null,
    };
    let mut report = TestReport::default();
    for path in &args.files {
        match read(path, &base) {
            Ok(scenarios) => report.run(path, &scenarios, args.filter.as_deref()),
            Err(errors) => report.errors.extend(errors),
        }
    }
    if args.json {
        json::print(out, &report)?;
    } else {
        report.print(out)?;
    }
    report.tell(&mut anstream::stderr(), args.filter.as_deref())?;
    Ok(ExitCode::from(report.exit_code()))
}

/// What came of all files.
#[derive(Debug, Default, Serialize)]
struct TestReport {
    passed: usize,
    failed: usize,
    scenarios: Vec<TestedFile>,
    errors: Vec<FileError>,
    #[serde(skip)]
    left_out: usize,
}

#[derive(Debug, Serialize)]
struct TestedFile {
    file: String,
    #[serde(flatten)]
    outcome: ScenarioOutcome,
}

#[derive(Debug, Serialize)]
struct FileError {
    file: String,
    message: String,
}

fn read(path: &Path, base: &Value) -> Result<Vec<Scenario>, Vec<FileError>> {
    let error = |message: String| FileError {
        file: path.display().to_string(),
        message,
    };
    let bytes = std::fs::read(path).map_err(|problem| vec![error(unreadable(&problem))])?;
    scenario::parse_over(base, &bytes).map_err(|errors| {
        errors
            .iter()
            .map(|found| error(found.to_string()))
            .collect()
    })
}

fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "this is a directory; name the files in it".to_owned(),
        _ => format!("can't read it: {}", Failure::reason(error)),
    }
}

impl TestReport {
    fn run(&mut self, path: &Path, scenarios: &[Scenario], filter: Option<&str>) {
        let filter = filter.map(str::to_lowercase);
        for scenario in scenarios {
            let name = scenario.name.to_lowercase();
            if filter.as_ref().is_some_and(|text| !name.contains(text)) {
                self.left_out += 1;
                continue;
            }
            let outcome = scenario::run(scenario);
            if outcome.passed {
                self.passed += 1;
            } else {
                self.failed += 1;
            }
            self.scenarios.push(TestedFile {
                file: path.display().to_string(),
                outcome,
            });
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        for entry in self.scenarios.iter().filter(|entry| !entry.outcome.passed) {
            report::failure(out, &entry.file, &entry.outcome)?;
        }
        let (good, bad) = (
            format!("{} passed", self.passed),
            format!("{} failed", self.failed),
        );
        let good = paint(
            if self.passed > 0 {
                GOOD
            } else {
                anstyle::Style::new()
            },
            good,
        );
        let bad = paint(
            if self.failed > 0 {
                BAD
            } else {
                anstyle::Style::new()
            },
            bad,
        );
        writeln!(out, "{good}, {bad}")
    }

    /// What the person should know besides. A filter that leaves out everything is more likely a
    /// slip than a wish.
    fn tell(&self, err: &mut dyn Write, filter: Option<&str>) -> std::io::Result<()> {
        for FileError { file, message } in &self.errors {
            writeln!(err, "{} {file}: {message}", paint(BAD, "error:"))?;
        }
        if let Some(text) = filter
            && self.scenarios.is_empty()
            && self.left_out > 0
        {
            let next = paint(CAREFUL, "next:");
            let count = self.left_out;
            writeln!(
                err,
                "{next} none of {count} names contains \"{text}\"; try a shorter text"
            )?;
        }
        Ok(())
    }

    fn exit_code(&self) -> u8 {
        match (self.errors.is_empty(), self.failed) {
            (false, _) => UNUSABLE,
            (true, 0) => 0,
            (true, _) => FAILED,
        }
    }
}
