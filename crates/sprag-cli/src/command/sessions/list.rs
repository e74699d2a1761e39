//! `sprag sessions list`: the latest first.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use sprag::{Id, SessionQuery, SessionState, SessionSummary};

use super::show::dollars;
use crate::args::SessionsListArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::layout::TextTable;
use crate::record_line::time;
use crate::settings::Settings;

/// Prints the table.
pub(crate) fn run(args: &SessionsListArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let store = Db::find(settings, &args.db)?.read()?;
    let agent = args.agent.as_deref().map(Id::new).transpose();
    let query = SessionQuery {
        state: args.state,
        agent: agent.map_err(|error| Failure::new(format!("--agent: {error}")))?,
        contains: args.contains.clone(),
        limit: args.limit.max(1),
        ..SessionQuery::default()
    };
    let page = store.sessions(&query)?;
    if args.json {
        let sessions: Vec<Value> = page.items.iter().map(summary_json).collect();
        json::print(out, &sessions)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = TextTable::new([
        "SESSION",
        "AGENT",
        "STATE",
        "GEN",
        "LAST EVENT",
        "EVENTS",
        "REFUSED",
        "TOKENS",
        "COST",
        "LAST RULE",
    ]);
    for session in &page.items {
        table.row(row(session));
    }
    table.print(out)?;
    if page.next.is_some() {
        writeln!(
            out,
            "there are more; --limit, --state, --agent and --contains choose"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(session: &SessionSummary) -> [String; 10] {
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    [
        session.id.to_string(),
        text(session.agent.as_ref().map(Id::to_string)),
        standing(session),
        session.generation.to_string(),
        time(session.touched),
        session.tally.events.to_string(),
        session.tally.refused.to_string(),
        text(Some(session.tokens.to_string()).filter(|_| session.tokens > 0)),
        text(Some(dollars(session.cost_micros)).filter(|_| session.cost_micros > 0)),
        text(session.tally.last_rule.map(|rule| rule.to_string())),
    ]
}

/// What a session is, or would be if rules were not in shadow.
pub(super) fn standing(session: &SessionSummary) -> String {
    match session.would {
        Some(would) => format!("would be {}", would.as_str()),
        None => session.state.as_str().to_owned(),
    }
}

/// A line of the listing, for programs.
pub(super) fn summary_json(session: &SessionSummary) -> Value {
    json!({
        "session": session.id,
        "agent": session.agent,
        "state": session.state.as_str(),
        "would": session.would.map(SessionState::as_str),
        "generation": session.generation,
        "touched": session.touched,
        "events": session.tally.events,
        "refused": session.tally.refused,
        "tokens": session.tokens,
        "cost_micros": session.cost_micros,
        "last_rule": session.tally.last_rule,
    })
}
