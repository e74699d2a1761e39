//! `sprag rules`: everything that is watched, on one page.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag_core::{Decision, Mode, Policy, RuleId};
use sprag_review::explain;

use crate::args::RulesArgs;
use crate::failure::Run;
use crate::json;
use crate::layout::TextTable;
use crate::limit_text::limit_text;
use crate::policy_file;
use crate::settings::Settings;

/// Prints the table.
pub(crate) fn run(args: &RulesArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let policy = args.who.narrow(policy);
    let default = Policy::default();
    let rows: Vec<Row> = RuleId::ALL
        .iter()
        .map(|&rule| Row::new(rule, &default, &policy))
        .collect();
    if args.json {
        json::print(out, &rows)?;
    } else {
        table(&rows).print(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Serialize)]
struct Row {
    rule: RuleId,
    verdicts: &'static [Decision],
    keys: &'static [&'static str],
    default: String,
    current: String,
    mode: Mode,
}

impl Row {
    fn new(rule: RuleId, default: &Policy, policy: &Policy) -> Self {
        let text = explain(rule);
        Self {
            rule,
            verdicts: text.verdicts,
            keys: text.keys,
            default: match default.base().modes.get(rule) {
                Mode::Off => format!("off ({})", limit_text(default, &text)),
                _ => limit_text(default, &text),
            },
            current: limit_text(policy, &text),
            mode: policy.base().modes.get(rule),
        }
    }
}

fn table(rows: &[Row]) -> TextTable<5> {
    let mut table = TextTable::new(["RULE", "VERDICT", "DEFAULT", "CURRENT", "MODE"]);
    for row in rows {
        let verdicts: Vec<&str> = row
            .verdicts
            .iter()
            .map(|verdict| verdict.as_str())
            .collect();
        let mode = match row.rule.has_mode() {
            true => row.mode.as_str(),
            false => "always",
        };
        table.row([
            row.rule.to_string(),
            verdicts.join(", "),
            row.default.clone(),
            row.current.clone(),
            mode.to_owned(),
        ]);
    }
    table
}
