//! `sprag explain`: one rule, explained so that a person can decide what to do about it.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag_core::nearest;
use sprag_core::{Mode, RuleId};
use sprag_review::{Explanation, explain};

use crate::args::ExplainArgs;
use crate::failure::{Failure, Run};
use crate::json;
use crate::layout::paragraph;
use crate::policy_file;
use crate::settings::Settings;
use crate::style::{FAINT, HEAD, paint};

/// Explains the rule that the arguments name.
pub(crate) fn run(args: &ExplainArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let rule = find(&args.rule)?;
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let text = explain(rule);
    let output = RuleText {
        rule,
        mode: policy.base().modes.get(rule),
        limits: text
            .keys
            .iter()
            .map(|key| LimitValue {
                key,
                value: policy.get(key).unwrap_or_default(),
            })
            .collect(),
        text,
    };
    if args.json {
        json::print(out, &output)?;
    } else {
        output.print(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn find(name: &str) -> Result<RuleId, Failure> {
    name.parse().map_err(|_| {
        let failure = Failure::new(format!("there is no rule `{name}`"));
        match nearest(name, RuleId::ALL.iter().map(|rule| rule.as_str())) {
            Some(meant) => failure.next(format!("did you mean `sprag explain {meant}`?")),
            None => failure.next("`sprag rules` lists them all"),
        }
    })
}

/// A rule with what the policy in force says of it.
#[derive(Debug, Serialize)]
struct RuleText {
    rule: RuleId,
    mode: Mode,
    limits: Vec<LimitValue>,
    #[serde(flatten)]
    text: Explanation,
}

#[derive(Debug, Serialize)]
struct LimitValue {
    key: &'static str,
    #[serde(serialize_with = "json::toml_text")]
    value: String,
}

impl RuleText {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let rule = self.rule;
        let verdicts: Vec<&str> = self.text.verdicts.iter().map(|v| v.as_str()).collect();
        writeln!(out, "{}  {}", paint(HEAD, rule), verdicts.join(", "))?;
        for LimitValue { key, value } in &self.limits {
            let per = self
                .text
                .per
                .map(|per| format!(" {per}"))
                .unwrap_or_default();
            writeln!(
                out,
                "{}",
                paint(FAINT, format_args!("  {key} = {value}{per}"))
            )?;
        }
        if rule.has_mode() {
            let mode = paint(FAINT, format_args!("  mode: {}", self.mode.as_str()));
            writeln!(out, "{mode}")?;
        }
        for (head, text) in [
            ("Why", self.text.why),
            ("Trips when", self.text.trips),
            ("Resets when", self.text.resets),
            ("Tune", self.text.tune),
        ] {
            writeln!(out, "\n{}", paint(HEAD, head))?;
            paragraph(out, "  ", text)?;
        }
        if rule.has_mode() {
            let shadow = format!(
                "`sprag policy set {rule} shadow` reports what it would do and stops nothing."
            );
            paragraph(out, "  ", &shadow)?;
        }
        if !self.text.odd.is_empty() {
            writeln!(out, "\n{}", paint(HEAD, "Odd cases"))?;
            for case in self.text.odd {
                paragraph(out, "  - ", case)?;
            }
        }
        Ok(())
    }
}
