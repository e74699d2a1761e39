//! One line for one record or event: what happened, to what, and what was answered.

use sprag::replay::{RecordedEvent, RecordedForm, RecordedItem};
use sprag::{Decision, Event, Timestamp, Verdict, rfc3339};
use sprag_core::Observed;

use crate::style::{BAD, CAREFUL, FAINT, paint};

/// `2026-02-03 04:05:06`: to the second, in UTC.
pub(crate) fn time(at: Timestamp) -> String {
    let text = rfc3339(at);
    let seconds = text.split('.').next().unwrap_or_default();
    seconds.replace('T', " ")
}

/// The beginning of the line of an event: number, time, type, session, object. A message of a user
/// has no session that sends it.
pub(crate) fn event(event: &RecordedEvent) -> String {
    let object = event.object().map_or("", |object| object.as_str());
    let session = match is_from_user(event) {
        true => "(user)",
        false => event.session().as_str(),
    };
    format!(
        "{:>6}  {}  {:<8}  {:<12}  {:<16}",
        event.number,
        paint(FAINT, time(event.at)),
        event.kind(),
        session,
        object
    )
}

fn is_from_user(event: &RecordedEvent) -> bool {
    match &event.what {
        RecordedForm::Raw(Event::Message(message)) => message.from.is_none(),
        RecordedForm::Observed(observation) => {
            matches!(&observation.what, Observed::Message(message) if message.from.is_none())
        }
        RecordedForm::Raw(_) => false,
    }
}

/// What a call destroys, in words.
pub(crate) fn effects(event: &RecordedEvent) -> String {
    let words = event.effects();
    if words.is_empty() {
        return String::new();
    }
    format!("  {}", paint(FAINT, words.join(", ")))
}

/// A verdict in its colour, with the rule and the message.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let word = format!("{:<5}", verdict.decision);
    let mut text = match verdict.decision {
        Decision::Allow => word,
        Decision::Warn | Decision::Ask => paint(CAREFUL, word),
        _ => paint(BAD, word),
    };
    if let Some(rule) = verdict.rule {
        text.push_str(&format!("  {rule}"));
    }
    if let Some(message) = &verdict.message {
        text.push_str(&format!(": {message}"));
    }
    if let Some(notice) = &verdict.notice {
        text.push_str(&paint(FAINT, format!("  notice: {notice}")));
    }
    if let Some(would) = &verdict.would {
        let would = format!("  in shadow: {} by {}", would.decision, would.rule);
        text.push_str(&paint(FAINT, would));
    }
    text
}

/// The whole line of something recorded.
pub(crate) fn item(item: &RecordedItem) -> String {
    match item {
        RecordedItem::Event(found) => {
            let verdict = found.recorded.as_ref().map(verdict).unwrap_or_default();
            format!("{}  {verdict}{}", event(found), effects(found))
        }
        RecordedItem::Bad { number, why } => format!("{number:>6}  {} {why}", paint(BAD, "error:")),
        RecordedItem::Note { number, at, what } => {
            let note = serde_json::to_value(what).unwrap_or_default();
            let word = note.get("note").and_then(serde_json::Value::as_str);
            let mut rest = note.clone();
            if let Some(fields) = rest.as_object_mut() {
                fields.remove("note");
                // The bytes of what a pod decided alone are too much for a line; `log show` has them.
                fields.remove("record");
            }
            let rest = match rest.as_object() {
                Some(fields) if !fields.is_empty() => rest.to_string(),
                _ => String::new(),
            };
            let at = paint(FAINT, time(*at));
            let line = format!(
                "{number:>6}  {at}  note      {}  {rest}",
                word.unwrap_or("unknown")
            );
            line.trim_end().to_owned()
        }
    }
}
