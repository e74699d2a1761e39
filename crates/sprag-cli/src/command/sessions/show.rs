//! `sprag sessions show`: what is held against one session, and how full the rules are.

use std::io::Write;
use std::process::ExitCode;

use sprag::{RuleId, RuleState, Session, SessionState};
use sprag_core::{Spent, plain_name};

use super::super::log::session_id;
use super::list::{standing, summary_json};
use crate::args::SessionsShowArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::layout::TextTable;
use crate::policy_file;
use crate::record_line::time;
use crate::settings::Settings;
use crate::style::{BAD, CAREFUL, GOOD, HEAD, paint};

/// Prints the session.
pub(crate) fn run(args: &SessionsShowArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let id = session_id(&args.session)?;
    let Some(session) = store.session(&id)? else {
        return Err(Failure::new(format!("there is no session {id}"))
            .next("`sprag sessions list` shows those there are"));
    };
    let state = RuleState::of_session(&id, &session.cell, &policy);
    if args.json {
        let mut document = summary_json(&session.summary);
        if let Some(fields) = document.as_object_mut() {
            fields.insert(
                "rules".to_owned(),
                serde_json::to_value(&state).unwrap_or_default(),
            );
        }
        json::print(out, &document)?;
    } else {
        print(out, &session, &state)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What rules in shadow would have done to it.
fn print_shadow(out: &mut dyn Write, session: &Session) -> std::io::Result<()> {
    let summary = &session.summary;
    if let Some(held) = session
        .cell
        .shadow_mark()
        .filter(|_| summary.would.is_some())
    {
        let rule = held.mark.rule.map_or("", RuleId::as_str);
        let at = time(held.mark.at);
        writeln!(
            out,
            "in shadow   {rule} would have stopped it at {at}: {}",
            held.mark.why
        )?;
    }
    Ok(())
}

fn print(out: &mut dyn Write, session: &Session, state: &RuleState) -> std::io::Result<()> {
    let summary = &session.summary;
    let style = match summary.state {
        SessionState::Active => GOOD,
        SessionState::Blocked => CAREFUL,
        SessionState::Killed => BAD,
    };
    let word = paint(style, standing(summary));
    writeln!(
        out,
        "{}  {word}, generation {}",
        paint(HEAD, &summary.id),
        summary.generation
    )?;
    if let Some(agent) = &summary.agent {
        writeln!(out, "agent       {agent}")?;
    }
    let tally = summary.tally;
    writeln!(out, "last event  {}", time(summary.touched))?;
    writeln!(
        out,
        "events      {}, {} of them refused",
        tally.events, tally.refused
    )?;
    for spent in &state.spent {
        writeln!(out, "spent       {}", spent_text(spent))?;
    }
    if let Some(mark) = &session.mark {
        let rule = mark
            .rule
            .map_or("an operator".to_owned(), |rule| rule.to_string());
        writeln!(out, "stopped by  {rule} at {}: {}", time(mark.at), mark.why)?;
        let id = &summary.id;
        let word = sprag_core::shell_word(id.as_str());
        writeln!(out, "to lift it  sprag sessions reset {word} --why …")?;
    }
    print_shadow(out, session)?;
    if state.gauges.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut table = TextTable::new(["RULE", "USED", "LIMIT"]);
    for gauge in &state.gauges {
        table.row([
            gauge.rule.to_string(),
            gauge.used.to_string(),
            gauge.limit.to_string(),
        ]);
    }
    table.print(out)
}

/// `$4.90, 310200 tokens, 2904113 from the cache: claude-opus-5 $4.90`.
fn spent_text(spent: &Spent) -> String {
    let mut text = format!("{}, {} tokens", dollars(spent.cost_micros), spent.tokens);
    if spent.cache_read_tokens > 0 {
        text += &format!(", {} from the cache", spent.cache_read_tokens);
    }
    let models: Vec<String> = spent
        .models
        .iter()
        .map(|on| {
            let name = on.model.as_ref().map(|model| plain_name(model.as_str()));
            let name = name.unwrap_or_else(|| "other models".to_owned());
            format!("{name} {}", dollars(on.cost_micros))
        })
        .collect();
    if !models.is_empty() {
        text += &format!(": {}", models.join(", "));
    }
    if spent.unpriced_tokens > 0 {
        text += &format!(" ({} tokens without a known price)", spent.unpriced_tokens);
    }
    text
}

pub(super) fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}
