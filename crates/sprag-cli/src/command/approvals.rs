//! `sprag approvals`, `sprag approve` and `sprag decline`: calls that wait for a person.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use sprag::{
    AllowError, ApprovalScope, Guard, Id, Link, PolicyFile, Question, Questions, Role, Timestamp,
};

use crate::args::{AnswerArgs, ApprovalsArgs, ApproveArgs};
use crate::clock;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::settings::Settings;

/// Shows what is open.
pub(crate) fn list(args: &ApprovalsArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let policy = args.policy.policy.as_deref();
    let link = Db::link(settings, &args.place, policy, sprag::Capture::Digest)?;
    let open = open(&link)?;
    if args.json {
        json::print(out, &json!({ "approvals": open }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if open.is_empty() {
        writeln!(out, "nothing waits for an answer")?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::now();
    for one in &open {
        print(one, now, out)?;
    }
    writeln!(
        out,
        "`sprag approve CODE` lets a call run, `sprag decline CODE` refuses it"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn print(one: &Value, now: Timestamp, out: &mut dyn Write) -> std::io::Result<()> {
    let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
    let until = one
        .get("expires_at")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let left = until.saturating_sub(now.0) / 1000;
    let agent = match text("agent") {
        "" => String::new(),
        agent => format!(" (agent {agent})"),
    };
    writeln!(out, "{}  {}", text("approval"), text("call"))?;
    writeln!(
        out,
        "    session {}{agent}, open for {left}s more",
        text("session")
    )?;
    writeln!(out, "    {}: {}", text("rule"), text("why"))
}

/// What is open, as the API has it.
fn open(link: &Link) -> Result<Vec<Value>, Failure> {
    if let Some(server) = link.server() {
        let answer = server.request(Role::Operator, "GET", "/v1/approvals", b"")?;
        let body: Value = server.read(&answer)?;
        let list = body.get("approvals").and_then(Value::as_array);
        return Ok(list.cloned().unwrap_or_default());
    }
    let Some(guard) = link.guard() else {
        return Ok(Vec::new());
    };
    let open = Questions::read(&guard)?.open(&guard)?;
    Ok(open.iter().map(shown).collect())
}

fn shown(question: &Question) -> Value {
    let held = &question.approval;
    json!({
        "approval": held.code,
        "session": question.session,
        "state": "open",
        "agent": question.agent,
        "rule": held.rule,
        "call": held.what,
        "why": held.why,
        "commands": held.commands,
        "root": held.root,
        "asked_at": held.asked,
        "expires_at": held.until,
        "seq": question.seq,
    })
}

/// Approves a call.
pub(crate) fn approve(args: &ApproveArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    answer(&args.answer, Some(args.scope), settings, out)
}

/// Declines a call.
pub(crate) fn decline(args: &AnswerArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    answer(args, None, settings, out)
}

fn answer(
    args: &AnswerArgs,
    scope: Option<ApprovalScope>,
    settings: &Settings,
    out: &mut dyn Write,
) -> Run {
    let code = Id::new(args.code.trim())
        .map_err(|error| Failure::new(format!("{:?} is not a code: {error}", args.code)))?;
    let link = args.order.link(settings)?;
    let open = open(&link)?;
    let of_code = |one: &&Value| one.get("approval").and_then(Value::as_str) == Some(code.as_str());
    let call = open.iter().find(of_code).and_then(|one| one.get("call"));
    let call = call.and_then(Value::as_str).unwrap_or("an unknown call");
    let (verb, did) = match scope {
        Some(_) => ("Approve", "approved"),
        None => ("Decline", "declined"),
    };
    let what = format!("{verb} {code} ({call})");
    let by = args.order.signed(settings, &what)?;
    let session = match (link.server(), link.guard()) {
        (Some(server), _) => {
            let body = json!({
                "answer": verb.to_lowercase(),
                "scope": scope.unwrap_or_default(),
                "by": by,
                "why": args.why,
            });
            let path = format!("/v1/approvals/{code}");
            let body = body.to_string();
            let answer = server.request(Role::Operator, "POST", &path, body.as_bytes())?;
            let body: Value = server.read(&answer)?;
            let session = body.get("session").and_then(Value::as_str);
            session.unwrap_or_default().to_owned()
        }
        (None, Some(guard)) => {
            let file = settings.policy_file(args.order.policy.policy.as_deref());
            let answer = (scope, by.as_str(), args.why.as_deref());
            straight(&guard, &code, answer, file.as_ref())?
        }
        (None, None) => String::new(),
    };
    if args.json {
        json::print(
            out,
            &json!({ "approval": code, "session": session, "state": did, "by": by }),
        )?;
    } else {
        writeln!(out, "{did} {code}: {call} of session {session}")?;
        if scope.is_some() {
            writeln!(out, "the agent may now make the same call again")?;
        }
        let named = open.iter().find(of_code);
        print_allowed(named, scope, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how far a yes goes, and what the policy allows from now on.
fn print_allowed(
    named: Option<&Value>,
    scope: Option<ApprovalScope>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let text = |key: &str| named.and_then(|one| one.get(key)?.as_str());
    let commands = named.and_then(|one| one.get("commands")?.as_array());
    let mut commands = commands.into_iter().flatten().filter_map(Value::as_str);
    let place = match scope {
        Some(ApprovalScope::Once) if commands.next().is_some() => {
            let wider = "`--scope session` would hold for the rest of the session, `--scope project` for this project";
            return writeln!(out, "once only: {wider}");
        }
        Some(ApprovalScope::Project) => format!("in {}", text("root").unwrap_or_default()),
        Some(ApprovalScope::Agent) => {
            format!("for agent {}", text("agent").unwrap_or_default())
        }
        _ => return Ok(()),
    };
    for command in commands {
        writeln!(out, "the policy now allows `{command}` {place}")?;
    }
    Ok(())
}

/// Answers in the store itself.
fn straight(
    guard: &Guard,
    code: &Id,
    (scope, by, why): (Option<ApprovalScope>, &str, Option<&str>),
    file: Option<&PolicyFile>,
) -> Result<String, Failure> {
    let Some((session, question)) = Questions::read(guard)?.find(guard, code)? else {
        return Err(Failure::new(format!("there is no approval {code}"))
            .next("`sprag approvals` shows what is open"));
    };
    let allow = question.zip(scope);
    if let Some((question, scope)) = &allow {
        guard.can_allow(question, *scope).map_err(not_allowed)?;
    }
    guard.answer((&session, code), scope, by, why)?;
    if let Some((question, scope)) = &allow {
        guard
            .allow_commands(question, *scope, file, by)
            .map_err(not_allowed)?;
    }
    Ok(session.to_string())
}

fn not_allowed(error: AllowError) -> Failure {
    Failure::new(error.to_string())
}
