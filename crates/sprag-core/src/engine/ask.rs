//! From a verdict that asks to a question that a person can answer.

use crate::cell::hash::{hash_bytes, mix};
use crate::cell::tried::Tried;
use crate::cell::{MAX_OPEN, Question, SessionCell};
use crate::effect::{MAX_EFFECTS, ObservedEffect};
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Call;
use crate::policy::{Limits, Scope};
use crate::rule::RuleId;
use crate::rules::destruction::Destruction;
use crate::rules::destructive::{Destroys, series};
use crate::time::{Millis, Timestamp};
use crate::verdict::{Code, Decision, Verdict};

/// The most characters of a question's call and of its reason.
const MAX_CHARS: usize = 240;

/// What an approval for the whole session covers: the same programs that do the same to the same targets,
/// or the same tool on the same targets, else the same call but for noise in its arguments.
pub(super) fn deed(call: &Call, tried: &Tried, destruction: &Destruction<'_>) -> u64 {
    if destruction.is_empty() {
        return tried.normal;
    }
    let approach = &call.approach;
    let mut deeds: Vec<u64> = destruction.deeds().map(effect_deed).collect();
    let destroys = destruction.destroys.as_ref();
    let targets = destroys.map(Destroys::targets).unwrap_or_default();
    if deeds.is_empty() && targets.is_empty() || !deeds.is_empty() && !is_known(call) {
        return tried.normal;
    }
    let name = |id: &Option<Id>| hash_bytes(id.as_ref().map_or("", Id::as_str).as_bytes());
    let tool = mix(name(&approach.server), name(&approach.tool));
    if !deeds.is_empty() {
        deeds.sort_unstable();
        deeds.dedup();
        return deeds.iter().fold(tool, |hash, deed| mix(hash, *deed));
    }
    let label = hash_bytes(approach.label.as_deref().unwrap_or_default().as_bytes());
    let tool = mix(tool, label);
    targets.iter().fold(tool, |hash, target| mix(hash, *target))
}

/// Whether all that the call destroys is known by name. An approval for the session must not cover what
/// another value of a variable would destroy.
fn is_known(call: &Call) -> bool {
    let named = |effect: &ObservedEffect| {
        let text = effect.text.as_deref().unwrap_or_default();
        !text.contains(['…', '$'])
    };
    !call.unparsed && call.effects.len() < MAX_EFFECTS && call.effects.iter().all(named)
}

/// Program with subcommand, verb and target.
fn effect_deed(effect: &ObservedEffect) -> u64 {
    let verb = hash_bytes(effect.verb.phrase().as_bytes());
    let by = mix(hash_bytes(effect.by.as_bytes()), verb);
    mix(by, effect.target.prefix())
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
    (call, tried, destruction): (&Call, &Tried, &Destruction<'_>),
    cell: &mut SessionCell,
    limits: &Limits,
    now: Timestamp,
) {
    let Some(rule) = verdict.rule.filter(|_| verdict.decision == Decision::Ask) else {
        return;
    };
    let what = words(call, destruction.destroys.as_ref());
    // A question about how much is deleted is about more than this one target.
    let is_series = cell.held.user_seen
        && limits.destructive.scope == Scope::Session
        && destruction.destroys.is_some()
        && destruction.deeds().next().is_none();
    let mut commands: Vec<Box<str>> = destruction.deeds().map(|deed| deed.by.clone()).collect();
    commands.sort_unstable();
    commands.dedup();
    let question = Question {
        session: &call.session,
        generation: cell.generation,
        exact: tried.exact,
        deed: match rule {
            RuleId::DestructiveVolume if is_series => series(call),
            _ => deed(call, tried, destruction),
        },
        rule,
        what: what.clone(),
        why: why.clone(),
        commands,
        root: call.root.clone(),
        agent: call.agent.clone(),
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
