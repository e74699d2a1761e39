//! Records of the log as other programs read them: plain JSON, and CloudEvents 1.0.

use serde_json::{Map, Value, json};
use sprag_store::{Record, RecordKind};

use crate::utc::rfc3339;

/// A record as JSON: `event` or `note`, and for events the verdict and what was captured.
#[must_use]
pub fn record_json(record: &Record) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("seq", record.seq.into());
    put("at", record.at.0.into());
    match &record.kind {
        RecordKind::Event {
            observation,
            captured,
        } => {
            if let Some(sender) = &observation.sender {
                put("sender", serde_json::to_value(sender).unwrap_or_default());
            }
            put(
                "event",
                serde_json::to_value(&observation.what).unwrap_or_default(),
            );
            put(
                "verdict",
                serde_json::to_value(&record.verdict).unwrap_or_default(),
            );
            if let Some(captured) = captured {
                let captured = captured.as_str();
                put(
                    "captured",
                    serde_json::from_str(captured).unwrap_or_else(|_| captured.into()),
                );
            }
        }
        RecordKind::Note(noted) => {
            put("note", serde_json::to_value(noted).unwrap_or_default());
        }
    }
    put("policy", record.policy.as_str().into());
    put("rules_version", record.rules_version.into());
    put("prev", record.prev.to_string().into());
    put("hash", record.hash.to_string().into());
    Value::Object(fields)
}

/// What an object has under a name: null if nothing.
fn of<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

/// The columns of [`csv_row`].
pub const CSV_HEADER: &str =
    "seq,time,type,session,agent,flow,tool,verdict,rule,message,tokens,cost_usd,by,why";

/// A record as a row for spreadsheets, without its line end. What a spreadsheet would take for a formula is
/// marked as text.
#[must_use]
pub fn csv_row(record: &Record) -> String {
    let json = record_json(record);
    let [event, note, verdict] = ["event", "note", "verdict"].map(|part| of(&json, part));
    let first = |names: &[&str]| {
        let found = names.iter().map(|name| match of(event, name) {
            Value::Null => of(note, name),
            value => value,
        });
        found
            .filter_map(Value::as_str)
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let of_verdict = |name: &str| of(verdict, name).as_str().unwrap_or_default().to_owned();
    let cost = of(event, "cost_micros").as_u64();
    let cost = cost.map(|micros| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000));
    let approach = of(event, "approach");
    let named = ["server", "tool"].map(|name| of(approach, name));
    let tool: Vec<&str> = named.into_iter().filter_map(Value::as_str).collect();
    let flow = match of_verdict("flow") {
        flow if flow.is_empty() => first(&["flow"]),
        flow => flow,
    };
    let tokens = of(event, "tokens")
        .as_u64()
        .map(|tokens| tokens.to_string());
    let cells = [
        record.seq.to_string(),
        rfc3339(record.at),
        type_of(record),
        first(&["session", "from", "to"]),
        first(&["agent", "to_agent"]),
        flow,
        tool.join("/"),
        of_verdict("verdict"),
        of_verdict("rule"),
        of_verdict("message"),
        tokens.unwrap_or_default(),
        cost.unwrap_or_default(),
        first(&["by"]),
        first(&["why"]),
    ];
    cells.map(|cell| csv_cell(&cell)).join(",")
}

fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

/// A record as a CloudEvent. Its id is the record's number and the start of its hash, so that records
/// of different logs don't collide; `source` says which log it is from.
#[must_use]
pub fn cloud_event(record: &Record, source: &str) -> Value {
    let hash = record.hash.to_string();
    let id = format!("{}-{}", record.seq, hash.get(..16).unwrap_or_default());
    let mut event = json!({
        "specversion": "1.0",
        "id": id,
        "source": source,
        "type": format!("dev.sprag.{}", type_of(record)),
        "time": rfc3339(record.at),
        "datacontenttype": "application/json",
        "data": record_json(record),
    });
    if let (Some(subject), Value::Object(fields)) = (subject(record), &mut event) {
        fields.insert("subject".to_owned(), subject.into());
    }
    event
}

/// What a record is: `call`, or `note.paused`.
fn type_of(record: &Record) -> String {
    let tag = |value: Option<Value>, name: &str| {
        let tag = value.as_ref().and_then(|value| value.get(name)?.as_str());
        tag.unwrap_or("unknown").to_owned()
    };
    match &record.kind {
        RecordKind::Event { observation, .. } => observation.what.kind().to_owned(),
        RecordKind::Note(noted) => {
            format!("note.{}", tag(serde_json::to_value(noted).ok(), "note"))
        }
    }
}

/// The session that a record is about.
fn subject(record: &Record) -> Option<&str> {
    Some(record.observation()?.what.session().as_str())
}
