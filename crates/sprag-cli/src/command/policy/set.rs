//! `sprag policy set`: one key, one value, the rest of the file as it was.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag::PolicyFile;
use sprag::policy_edit::{self, OverrideTarget};
use sprag_core::{Glob, Policy, PolicyKey, RuleId};
use sprag_review::explain;
use toml_edit::{Array, Value};

use super::record;
use crate::args::PolicySetArgs;
use crate::failure::{Failure, Run};
use crate::json;
use crate::settings::Settings;

/// Sets the key.
pub(crate) fn run(args: &PolicySetArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let file = editable_file(args, settings)?;
    let path = file.path();
    let target = PolicyTarget::find(&args.key, &args.value)?;
    // A file that does not exist yet is created.
    let text = PolicyFile::optional(path).text()?.unwrap_or_default();
    let who = OverrideTarget {
        agent: args.who.agent.as_deref(),
        session: args.who.session.as_deref(),
    };
    let value = target.value(&args.value);
    let new = value.to_string().trim().to_owned();
    let edited = policy_edit::set(&text, &target.path(), value, who)
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    if let Err(errors) = Policy::from_toml(&edited.text) {
        let name = path.display().to_string();
        return Err(Failure::new(format!(
            "nothing was written: with this change the policy would be wrong\n{}",
            errors.display(&name)
        ))
        .next(target.advice()));
    }
    let changed = edited.text != text;
    if changed {
        let what = format!("Set {} to {new} in {}", args.key, path.display());
        let by = args.order.signed(settings, &what)?;
        let order = record::PolicyReplacement {
            text: &edited.text,
            by: &by,
            why: &format!("sprag policy set {}", target.name()),
        };
        record::write(args, settings, path, &order)?;
    }
    let output = SetOutput {
        file: path.display().to_string(),
        key: target.name(),
        agent: who.agent,
        session: who.session,
        default: edited.old.is_none().then(|| target.default()).flatten(),
        old: edited.old,
        new,
        changed,
    };
    if args.json {
        json::print(out, &output)?;
    } else {
        output.print(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The policy file that is to be edited.
fn editable_file(args: &PolicySetArgs, settings: &Settings) -> Result<PolicyFile, Failure> {
    let flag = args.order.policy.policy.as_deref();
    let Some(file) = settings.policy_file(flag) else {
        return Err(
            Failure::new("there is no place for a policy: HOME is not set")
                .next("name one: `sprag policy set --policy FILE …`"),
        );
    };
    if file.is_json() {
        let path = file.path().display();
        return Err(Failure::new(format!("{path} is JSON; `set` edits TOML"))
            .next("edit it by hand and try `sprag policy check`"));
    }
    Ok(file)
}

/// What is to be set.
#[derive(Debug)]
enum PolicyTarget<'a> {
    /// A key of the table of keys, or one of its small tables.
    Key(&'a str),
    /// The mode of a rule, or of all that a glob matches.
    Mode(&'a str),
}

impl<'a> PolicyTarget<'a> {
    fn find(key: &'a str, value: &str) -> Result<Self, Failure> {
        let bare = key.strip_prefix("rules.").unwrap_or(key).trim_matches('"');
        let is_mode = matches!(value, "enforce" | "ask" | "shadow" | "off");
        let rule: Option<RuleId> = bare.parse().ok();
        if key != bare || (is_mode && (rule.is_some() || is_glob_of_rules(bare))) {
            return Ok(Self::Mode(bare));
        }
        if is_key(key) {
            return Ok(Self::Key(key));
        }
        Err(match rule {
            Some(rule) => rule_is_no_key(rule, value),
            None => unknown(key),
        })
    }

    fn path(&self) -> Vec<&'a str> {
        match self {
            Self::Key(key) => key.split('.').collect(),
            Self::Mode(rule) => vec!["rules", rule],
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Key(key) => (*key).to_owned(),
            Self::Mode(rule) => format!("rules.\"{rule}\""),
        }
    }

    /// What is written as TOML is taken so, anything else as a text; one entry makes a list.
    fn value(&self, text: &str) -> Value {
        let mut value: Value = text.parse().unwrap_or_else(|_| text.into());
        let is_list = matches!(self, Self::Key(key) if PolicyKey::find(key).is_some_and(|key| key.value_type() == "list"));
        if is_list && !value.is_array() {
            value = Value::Array(text.split(',').map(str::trim).collect::<Array>());
        }
        value.decor_mut().clear();
        value
    }

    fn default(&self) -> Option<String> {
        Policy::default().get(&match self {
            Self::Key(key) => (*key).to_owned(),
            Self::Mode(rule) => format!("rules.{rule}"),
        })
    }

    fn advice(&self) -> String {
        match self {
            Self::Key(name) => match PolicyKey::find(name) {
                Some(key) => format!("`{name}` takes {}", key.allowed()),
                None => format!("`sprag policy show` has an example of `{name}`"),
            },
            Self::Mode(_) => "a mode is enforce, ask, shadow or off".to_owned(),
        }
    }
}

fn is_key(name: &str) -> bool {
    let inside = format!("{name}.");
    Policy::keys()
        .iter()
        .any(|key| key.name() == name || (name.contains('.') && key.name().starts_with(&inside)))
}

fn is_glob_of_rules(text: &str) -> bool {
    text.contains('*') && {
        let glob = Glob::new(text);
        RuleId::ALL.iter().any(|rule| glob.matches(rule.as_str()))
    }
}

/// `flow.depth 6`: the rule is meant, and its key is `flow.max_depth`.
fn rule_is_no_key(rule: RuleId, value: &str) -> Failure {
    let failure = Failure::new(format!(
        "`{rule}` is a rule; its mode is enforce, ask, shadow or off, not {value}"
    ));
    match explain(rule).keys.first() {
        Some(key) => failure.next(format!("its limit: `sprag policy set {key} {value}`")),
        None => failure,
    }
}

fn unknown(key: &str) -> Failure {
    let mut keys = Policy::keys().iter().map(PolicyKey::name);
    if let Some(example) = keys.find(|name| name.split('.').next() == Some(key)) {
        return Failure::new(format!("`{key}` is a table of keys"))
            .next(format!("set one of them, such as `{example}`"));
    }
    let failure = Failure::new(format!("there is no key `{key}`"));
    match Policy::nearest_key(key) {
        Some(meant) => failure.next(format!("did you mean `{meant}`?")),
        None => failure.next("`sprag policy show` prints every key"),
    }
}

/// What was done.
#[derive(Debug, Serialize)]
struct SetOutput<'a> {
    file: String,
    key: String,
    agent: Option<&'a str>,
    session: Option<&'a str>,
    #[serde(serialize_with = "json::toml_value")]
    old: Option<String>,
    #[serde(serialize_with = "json::toml_value")]
    default: Option<String>,
    #[serde(serialize_with = "json::toml_text")]
    new: String,
    changed: bool,
}

impl SetOutput<'_> {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { file, key, new, .. } = self;
        let mut whom = String::new();
        for (word, name) in [("agent", self.agent), ("session", self.session)] {
            if let Some(name) = name {
                whom = format!("{whom} for {word} {name}");
            }
        }
        if !self.changed {
            return writeln!(out, "{key}{whom} is {new} already; {file} stays as it is");
        }
        let old = match (&self.old, &self.default) {
            (Some(old), _) => old.clone(),
            (None, Some(default)) if whom.is_empty() => format!("{default} (default)"),
            (None, _) => "not set".to_owned(),
        };
        writeln!(out, "{key}{whom}: {old} → {new}")?;
        writeln!(out, "written to {file}")
    }
}
