//! What operators and the guard itself do, in a line.

use sprag::rfc3339;
use sprag_core::{Answer, ApprovalScope, Id, Order, Panic};
use sprag_store::{Noted, Offline, Pause, Pool, Record, SnapshotReason};
use tracing::Level;

use super::safe::{safe, safe_sentence};

fn who(by: Option<&str>) -> String {
    by.map_or_else(|| "an operator".to_owned(), safe)
}

fn reason(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| format!(": {}", safe_sentence(why)))
}

fn origin(source: Option<&str>) -> String {
    source.map_or_else(String::new, |source| {
        format!(" from {}", safe_sentence(source))
    })
}

/// A digest that a person can compare at a glance.
fn short(digest: &str) -> String {
    safe(digest.get(..12).unwrap_or(digest))
}

/// A message of several lines in one.
fn one_line(text: &str) -> String {
    safe_sentence(&text.trim_end().replace('\n', "; "))
}

/// `1 cell`, `3 cells`.
fn some(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

pub(super) fn killed(order: &Order) -> (Level, String) {
    let (who, why) = (who(order.by.as_deref()), reason(order.why.as_deref()));
    let session = safe(order.session.as_str());
    (
        Level::WARN,
        format!("[Operator] {who} killed session {session}{why}"),
    )
}

pub(super) fn reset(order: &Order, generation: u32) -> (Level, String) {
    let (who, why) = (who(order.by.as_deref()), reason(order.why.as_deref()));
    let session = safe(order.session.as_str());
    let text =
        format!("[Operator] {who} reset session {session}, now generation {generation}{why}");
    (Level::INFO, text)
}

/// A clock that had jumped ahead.
pub(super) fn clock_back(session: &Id) -> (Level, String) {
    let text = format!(
        "[Store] what session {} touches was more than 5 minutes ahead of the clock, and was taken back",
        safe(session.as_str())
    );
    (Level::WARN, text)
}

/// What a verdict lets a person know.
pub(super) fn noticed(session: &Id, notice: &str) -> (Level, String) {
    let text = format!(
        "[LoopGuard] Notice: session {}: {}",
        safe(session.as_str()),
        safe_sentence(notice)
    );
    (Level::INFO, text)
}

pub(super) fn answered(answer: &Answer, did: &str) -> (Level, String) {
    let (who, why) = (who(answer.by.as_deref()), reason(answer.why.as_deref()));
    let (code, session) = (
        safe(answer.approval.as_str()),
        safe(answer.session.as_str()),
    );
    let scope = match answer.scope {
        ApprovalScope::Once => "",
        ApprovalScope::Session => " for the session",
        ApprovalScope::Project => " for the project",
        ApprovalScope::Agent => " for the agent",
    };
    let text = format!("[Operator] {did} by {who}: {code} of session {session}{scope}{why}");
    (Level::INFO, text)
}

pub(super) fn told(noted: &Noted, record: &Record) -> Option<(Level, String)> {
    let policy = short(&record.policy);
    Some(match noted {
        Noted::PolicyLoaded { source } => {
            let from = origin(source.as_deref());
            (
                Level::INFO,
                format!("[Policy] started under {policy}{from}"),
            )
        }
        Noted::PolicyChanged {
            from,
            source,
            by,
            why,
        } => {
            let (before, origin) = (short(from), origin(source.as_deref()));
            let changed = format!("{before} to {policy}{origin}");
            match by {
                Some(by) => {
                    let (who, why) = (who(Some(by)), reason(why.as_deref()));
                    let text = format!("[Operator] {who} changed the policy from {changed}{why}");
                    (Level::WARN, text)
                }
                None => (Level::INFO, format!("[Policy] changed {changed}")),
            }
        }
        Noted::PolicyRejected { why, source } => {
            let (why, origin) = (one_line(why), origin(source.as_deref()));
            let text =
                format!("[Policy] rejected a new one{origin}, {policy} stays in force: {why}");
            (Level::WARN, text)
        }
        Noted::Paused(Pause { until, by, why }) => {
            let until =
                until.map_or_else(String::new, |until| format!(" until {}", rfc3339(until)));
            let (who, why) = (who(by.as_deref()), reason(why.as_deref()));
            (
                Level::WARN,
                format!("[Operator] {who} put every rule into shadow{until}{why}"),
            )
        }
        Noted::Resumed { by: Some(by) } => (
            Level::INFO,
            format!("[Operator] {} ended the pause", safe(by)),
        ),
        Noted::Resumed { by: None } => {
            let text = "[Guard] the pause ran out, rules are enforced again";
            (Level::INFO, text.to_owned())
        }
        Noted::Panicked(panic) => panicked(panic),
        Noted::Calmed { by, why } => calmed(by.as_deref(), why.as_deref()),
        Noted::StopMarkedWrong { .. } => (Level::INFO, marked_wrong(noted)),
        noted => return of_the_store(noted),
    })
}

/// What a person said about a stop.
fn marked_wrong(noted: &Noted) -> String {
    let Noted::StopMarkedWrong {
        seq,
        session,
        rule,
        by,
        why,
        ..
    } = noted
    else {
        return String::new();
    };
    let (by, session, why) = (safe(by), safe(session.as_str()), one_line(why));
    format!("[Operator] {by} marked the stop of {session} by {rule} (record {seq}) as wrong: {why}")
}

fn calmed(by: Option<&str>, why: Option<&str>) -> (Level, String) {
    let (who, why) = (who(by), reason(why));
    (
        Level::WARN,
        format!("[Operator] {who} ended the panic{why}"),
    )
}

fn panicked(panic: &Panic) -> (Level, String) {
    let (who, why) = (who(panic.by.as_deref()), reason(panic.why.as_deref()));
    (
        Level::ERROR,
        format!("[Operator] {who} stopped everything that agents do{why}"),
    )
}

/// What a pod decided alone.
fn alone(offline: &Offline) -> String {
    let rule = offline
        .rule
        .map_or(String::new(), |rule| format!(" by {rule}"));
    let also = offline.also.map_or(String::new(), |seq| {
        format!("; Redis has it as record {seq}")
    });
    format!(
        "[Store] {} decided without Redis: {} for session {}{rule} ({}){also}",
        safe(&offline.pod),
        offline.verdict,
        safe(offline.session.as_str()),
        safe(&offline.why)
    )
}

fn of_the_store(noted: &Noted) -> Option<(Level, String)> {
    Some(match noted {
        Noted::OwnerTook { owner } => (
            Level::INFO,
            format!("[Store] {} took the store", safe(owner)),
        ),
        Noted::OwnerLeft { owner } => (
            Level::INFO,
            format!("[Store] {} left the store", safe(owner)),
        ),
        Noted::LossAccepted {
            checkpoint, last, ..
        } => {
            let text = format!(
                "[Store] the log was cut or replaced: it ended at record {last}, a checkpoint knew record \
                 {checkpoint}; it goes on all the same"
            );
            (Level::ERROR, text)
        }
        Noted::Evicted(eviction) => {
            let what = match eviction.pool {
                Pool::Sessions => "session",
                Pool::Marks => "killed or blocked session",
                Pool::Others => "cell",
            };
            let some = some(eviction.cells, what);
            let text = format!("[Store] forgot {some}, idle the longest: it holds too many");
            (Level::WARN, text)
        }
        Noted::Snapshot(snapshot) => {
            let why = match snapshot.reason {
                SnapshotReason::Prune => "older records are about to go",
                SnapshotReason::RulesVersion => "records from here on are judged under other rules",
            };
            let (some, after) = (some(snapshot.count, "cell"), snapshot.after);
            let text = format!("[Store] wrote down {some} as of record {after}: {why}");
            (Level::INFO, text)
        }
        Noted::Pruned { through, records } => {
            let text = format!(
                "[Store] removed {}, up to number {through}",
                some(*records, "record")
            );
            (Level::INFO, text)
        }
        Noted::Offline(offline) => (Level::WARN, alone(offline)),
        Noted::OfflineLost { pod, records } => {
            let text = format!(
                "[Store] {} lost up to {records} records of what it decided without Redis",
                safe(pod)
            );
            (Level::WARN, text)
        }
        _ => return None,
    })
}
