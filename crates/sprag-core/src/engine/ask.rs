//! From a verdict that asks to a question that a person can answer.

use crate::cell::hash::{hash_bytes, mix};
use crate::cell::tried::Tried;
use crate::cell::{MAX_OPEN, Question, SessionCell};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Call;
use crate::policy::Limits;
use crate::rules::destructive::Destroys;
use crate::time::{Millis, Timestamp};
use crate::verdict::{Code, Decision, Verdict};

/// The most characters of a question's call and of its reason.
const MAX_CHARS: usize = 240;

/// What an approval for the whole session covers: the same tool on the same targets, else the same
/// call but for noise in its arguments.
pub(super) fn deed(call: &Call, tried: &Tried, destroys: Option<&Destroys>) -> u64 {
    let targets = destroys.map(Destroys::targets).unwrap_or_default();
    if targets.is_empty() {
        return tried.normal;
    }
    let name = |id: &Option<Id>| hash_bytes(id.as_ref().map_or("", Id::as_str).as_bytes());
    let approach = &call.approach;
    let label = hash_bytes(approach.label.as_deref().unwrap_or_default().as_bytes());
    let tool = mix(mix(name(&approach.server), name(&approach.tool)), label);
    targets.iter().fold(tool, |hash, target| mix(hash, *target))
}

/// The call as a person reads it: `db/drop_table, table=users`.
fn words(call: &Call, destroys: Option<&Destroys>) -> String {
    let approach = &call.approach;
    let tool = approach.tool.as_ref().map_or("a program", Id::as_str);
    let mut text = match &approach.server {
        Some(server) => format!("{server}/{tool}"),
        None => tool.to_owned(),
    };
    let more = [approach.label.as_deref(), destroys.and_then(Destroys::text)];
    for part in more.into_iter().flatten() {
        text.push_str(", ");
        text.push_str(part);
    }
    cut(&text)
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

/// Why the strongest finding asks, if it does.
pub(super) fn reason(found: &Findings) -> Option<String> {
    let asks = found
        .strongest()
        .filter(|finding| finding.decision == Decision::Ask)?;
    Some(cut(&asks.reason()))
}

/// Opens the question that `verdict` asks, or finds the one that is open, and writes into the
/// verdict how to answer it.
pub(super) fn open(
    verdict: &mut Verdict,
    why: String,
    (call, tried, destroys): (&Call, &Tried, Option<&Destroys>),
    cell: &mut SessionCell,
    limits: &Limits,
    now: Timestamp,
) {
    let Some(rule) = verdict.rule.filter(|_| verdict.decision == Decision::Ask) else {
        return;
    };
    let what = words(call, destroys);
    let question = Question {
        session: &call.session,
        generation: cell.generation,
        exact: tried.exact,
        deed: deed(call, tried, destroys),
        rule,
        what: what.clone(),
        why: why.clone(),
    };
    let Some(held) = cell.held.approvals.ask(question, limits.ask.expires, now) else {
        verdict.decision = Decision::Deny;
        verdict.message = Some(format!(
            "{why}. A person would have to approve this call, but {MAX_OPEN} questions of this session are open already: wait for the answers."
        ));
        return;
    };
    let left = Millis(held.until.0.saturating_sub(now.0));
    let code = held.code.clone();
    verdict.code = Some(Code::ApprovalRequired);
    verdict.expires_ms = Some(left.0);
    verdict.message = Some(format!(
        "{why}. A person has to approve this call before it runs (code {code}): ask the user to run `sprag approve {code}`, then make the same call again. Do not work around it."
    ));
    verdict.hint = Some(format!("sprag approve {code}"));
    let evidence = verdict.evidence.get_or_insert_default();
    evidence.insert("call".to_owned(), what.into());
    evidence.insert("why".to_owned(), why.into());
    verdict.approval = Some(code);
}
