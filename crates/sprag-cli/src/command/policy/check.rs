//! `sprag policy check`: everything that is wrong with a file, in one go.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;
use sprag::{PolicyFile, PolicyFileError};
use sprag_core::{Policy, PolicyErrors, RuleId};

use crate::args::PolicyCheckArgs;
use crate::failure::{FAILED, Failure, Run};
use crate::json;
use crate::settings::Settings;
use crate::style::{BAD, GOOD, paint};

/// Checks the file.
pub(crate) fn run(args: &PolicyCheckArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let flag = args.file.as_deref().or(args.policy.policy.as_deref());
    let (file, checked) = match settings.policy_file(flag) {
        Some(file) => check(&file)?,
        None => (None, Ok(Policy::default())),
    };
    let output = CheckOutput::new(file, &checked);
    if args.json {
        json::print(out, &output)?;
    } else {
        output.print(out, checked.as_ref().err())?;
    }
    Ok(ExitCode::from(if output.ok { 0 } else { FAILED }))
}

type ParsedFile = (Option<String>, Result<Policy, PolicyErrors>);

/// The name of the file, if it exists, and what is wrong with it.
fn check(file: &PolicyFile) -> Result<ParsedFile, Failure> {
    let text = file.text()?;
    let name = text.as_ref().map(|_| file.path().display().to_string());
    match file.parse(text.as_deref()) {
        Ok(policy) => Ok((name, Ok(policy))),
        Err(PolicyFileError::Wrong { errors, .. }) => Ok((name, Err(errors))),
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug, Serialize)]
struct CheckOutput {
    /// None where there is no file and the defaults hold.
    file: Option<String>,
    ok: bool,
    errors: Vec<Mistake>,
    differs: Vec<Difference>,
    /// The kinds that the policy gives to tools.
    tools: Vec<Value>,
    /// What it sets for some agents and sessions only.
    overrides: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct Mistake {
    line: Option<u32>,
    message: String,
}

/// A key that is not as by default.
#[derive(Debug, Serialize)]
struct Difference {
    key: String,
    #[serde(serialize_with = "json::toml_text")]
    default: String,
    #[serde(serialize_with = "json::toml_text")]
    value: String,
}

impl CheckOutput {
    fn new(file: Option<String>, checked: &Result<Policy, PolicyErrors>) -> Self {
        let errors = match checked {
            Ok(_) => Vec::new(),
            Err(errors) => errors
                .iter()
                .map(|error| Mistake {
                    line: error.line,
                    message: error.to_string(),
                })
                .collect(),
        };
        Self {
            file,
            ok: errors.is_empty(),
            errors,
            differs: checked.as_ref().map(differences).unwrap_or_default(),
            tools: checked
                .as_ref()
                .map(|policy| tables(policy, "tool"))
                .unwrap_or_default(),
            overrides: checked
                .as_ref()
                .map(|policy| tables(policy, "override"))
                .unwrap_or_default(),
        }
    }

    fn print(&self, out: &mut dyn Write, errors: Option<&PolicyErrors>) -> std::io::Result<()> {
        let Some(file) = &self.file else {
            return writeln!(out, "there is no policy file; the defaults hold");
        };
        if let Some(errors) = errors {
            writeln!(out, "{}", errors.display(file))?;
            let count = errors.len();
            let mistakes = if count == 1 { "mistake" } else { "mistakes" };
            return writeln!(out, "{}: {count} {mistakes}", paint(BAD, "wrong"));
        }
        for Difference {
            key,
            default,
            value,
        } in &self.differs
        {
            writeln!(out, "  {key}: {default} → {value}")?;
        }
        for tool in &self.tools {
            let (glob, kind) = (text(tool.get("match")), text(tool.get("kind")));
            writeln!(out, "  tool {glob}: {kind}")?;
        }
        for part in &self.overrides {
            let settings = settings(part);
            let whom = whom(part);
            for (key, value) in settings {
                writeln!(out, "  {whom}: {key} = {value}")?;
            }
        }
        writeln!(out, "{}: {file}", paint(GOOD, "right"))
    }
}

/// The tables of a list in the policy, as it is in force.
fn tables(policy: &Policy, name: &str) -> Vec<Value> {
    let document: Value = toml::from_str(&policy.to_toml()).unwrap_or_default();
    let list = document.get(name).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// `agent "clean*"`, `session "s-1"`, or both.
fn whom(part: &Value) -> String {
    let session = part.get("session");
    let session = session.and_then(|session| session.get("match")).or(session);
    let names = [("agent", part.get("agent")), ("session", session)];
    let named = names.iter().filter_map(|(word, glob)| {
        Some(format!(
            "{word} {}",
            glob.as_ref().filter(|glob| glob.is_string())?
        ))
    });
    named.collect::<Vec<_>>().join(", ")
}

/// The keys that an override sets, with their values.
fn settings(part: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, value) in part.as_object().into_iter().flatten() {
        if name != "agent" && !(name == "session" && value.is_string()) {
            flatten(name, value, &mut found);
        }
    }
    found.retain(|(key, _)| key != "session.match");
    found
}

fn flatten(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                flatten(&format!("{key}.{name}"), value, found);
            }
        }
        value => found.push((key.to_owned(), value.to_string())),
    }
}

fn differences(policy: &Policy) -> Vec<Difference> {
    let default = Policy::default();
    let keys = Policy::keys().iter().map(|key| key.name().to_owned());
    let modes = RuleId::ALL.iter().map(|rule| format!("rules.{rule}"));
    keys.chain(modes)
        .filter_map(|key| {
            let (default, value) = (default.get(&key)?, policy.get(&key)?);
            (default != value).then_some(Difference {
                key,
                default,
                value,
            })
        })
        .collect()
}
