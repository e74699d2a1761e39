//! `sprag effects`: what a command would destroy, and which rule would judge it, before anybody runs it.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use sprag::{Event, Judge, Verdict};
use sprag_core::{Observed, ObservedEffect, Payload, Reach};

use crate::args::EffectsArgs;
use crate::clock;
use crate::failure::{Failure, Run};
use crate::json;
use crate::policy_file;
use crate::settings::Settings;
use crate::style::{FAINT, paint};

/// Prints the effects of the command that the arguments name.
pub(crate) fn run(args: &EffectsArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let limits = policy.base().destructive.clone();
    let mut judge = Judge::new(policy);
    let event = event(args).map_err(|error| Failure::new(error.to_string()))?;
    let at = clock::now();
    let observation = judge
        .observe(&event, at)
        .map_err(|error| Failure::new(error.to_string()))?;
    let Observed::Call(call) = &observation.what else {
        return Ok(ExitCode::SUCCESS);
    };
    let answer = EffectsReport {
        unparsed: call.unparsed,
        orders_guard: call.orders_guard,
        effects: call
            .effects
            .iter()
            .map(|effect| EffectLine {
                judged: effect.reach_under(&limits, call.root.as_deref()),
                effect: effect.clone(),
            })
            .collect(),
        verdict: judge
            .fold(observation.clone())
            .map_err(|error| Failure::new(error.to_string()))?,
    };
    if args.json {
        json::print(out, &answer)?;
    } else {
        answer.print(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn event(args: &EffectsArgs) -> Result<Event, sprag::EventError> {
    let name = if args.sql { "sql" } else { "command" };
    let tool = if args.sql { "execute_sql" } else { "Bash" };
    let arguments = serde_json::json!({ name: args.command });
    let mut call = Event::call("effects", tool)?.args(Payload::from(arguments));
    if let Some(cwd) = &args.cwd {
        call = call.cwd(cwd);
    }
    if let Some(root) = &args.root {
        call = call.root(root);
    }
    Ok(call.into())
}

/// What a command would destroy.
#[derive(Debug, Serialize)]
struct EffectsReport {
    /// The command, or a part of it, could not be parsed: that part has no effects.
    unparsed: bool,
    /// It gives the guard orders or changes its files.
    orders_guard: bool,
    effects: Vec<EffectLine>,
    /// The verdict on a first such call.
    verdict: Verdict,
}

#[derive(Debug, Serialize)]
struct EffectLine {
    #[serde(flatten)]
    effect: ObservedEffect,
    /// How far it reaches under the policy.
    judged: Reach,
}

impl EffectsReport {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        for EffectLine { effect, judged } in &self.effects {
            let by = paint(FAINT, format!("by `{}`", effect.by));
            let policy = if *judged == effect.reach {
                String::new()
            } else {
                format!(", {} by the policy", judged.as_str())
            };
            writeln!(out, "{}{policy}  {by}", effect.in_words())?;
        }
        if self.effects.is_empty() && !self.unparsed {
            writeln!(out, "destroys nothing")?;
        }
        if self.unparsed {
            writeln!(
                out,
                "not parsed, so it has no effects; it is judged by its tool's name alone"
            )?;
        }
        if self.orders_guard {
            writeln!(out, "gives the guard an order, or changes its files")?;
        }
        match (&self.verdict.rule, &self.verdict.message) {
            (Some(rule), message) => {
                // Nobody is asked here, so how to approve it is left out.
                let evidence = self.verdict.evidence.as_ref();
                let why = evidence.and_then(|all| all.get("why")?.as_str());
                let why = why.or(message.as_deref()).unwrap_or_default();
                writeln!(out, "{} by {rule}: {why}", self.verdict.decision)
            }
            (None, _) => writeln!(out, "{} at the first time", self.verdict.decision),
        }
    }
}
