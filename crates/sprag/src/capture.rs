//! How much of a payload the log keeps, and what is taken out of it before.
//!
//! By default the log holds no payload: rules need none, and what agents handle is often private. Who
//! wants to read along turns capture on. What looks like a secret is then taken out before anything
//! is written; see [`redact`] for what that finds and what it can't.
//!
//! A payload over 256 KiB is not kept, only its length: agents' logs are read by people.

mod byte_pairs;
mod command_line;
mod issued;
mod public_data;
mod redact;
mod secret_files;
mod shapes;
mod spans;
mod text;
mod words;

use serde_json::{Map, Value, json};
use sprag_core::{Event, Observation, Observed, Payload, words};
use sprag_store::Captured;

pub use redact::{REDACTED, redact, redact_text};

/// The longest payload that is kept, in bytes.
const MAX_KEPT_BYTES: usize = 256 * 1024;
/// How much of a payload a preview shows, in characters.
const PREVIEW_CHARS: usize = 200;

words! {
    "capture mode",
    /// How much of a payload the log keeps.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Capture {
        /// Nothing but digests.
        #[default]
        Digest = "digest",
        /// The first 200 characters, without secrets.
        Preview = "preview",
        /// All of it, without secrets.
        Full = "full",
    }
}

impl Capture {
    /// What the log keeps of an event's payload.
    pub(crate) fn capture(self, event: &Event) -> Option<Captured> {
        if self == Self::Digest {
            return None;
        }
        let payloads = match event {
            Event::Message(event) => vec![("content", &event.content)],
            Event::Call(event) => vec![("args", &event.args)],
            Event::Step(event) => vec![
                ("args", &event.args),
                ("approach", &event.approach),
                ("result", &event.result),
            ],
            Event::Output(event) => vec![("text", &event.text)],
            _ => Vec::new(),
        };
        let kept: Map<String, Value> = payloads
            .into_iter()
            .filter_map(|(name, payload)| Some((name, payload.as_ref()?)))
            .map(|(name, payload)| (name.to_owned(), self.keep(payload)))
            .collect();
        (!kept.is_empty()).then(|| Captured::new(Value::Object(kept).to_string()))
    }

    fn keep(self, payload: &Payload) -> Value {
        let text = payload.as_json();
        if text.len() > MAX_KEPT_BYTES {
            return json!({ "omitted_bytes": text.len() });
        }
        let value = match serde_json::from_str(text) {
            Ok(value) => redact(value),
            Err(_) => Value::String(redact_text(text)),
        };
        if self == Self::Full {
            return value;
        }
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Value::String(shorten(&text))
    }

    /// Takes secrets out of the few words that an observation keeps in clear whatever the mode: the
    /// targets of destructive calls and an operator's reasons.
    pub(crate) fn scrub(self, observation: &mut Observation) {
        let approach = match &mut observation.what {
            Observed::Call(call) => Some(&mut call.approach),
            Observed::Step(step) => step.approach.as_mut(),
            Observed::Kill(order) | Observed::Reset(order) => {
                for text in [&mut order.by, &mut order.why].into_iter().flatten() {
                    *text = redact_text(text).into();
                }
                None
            }
            Observed::Approve(answer) | Observed::Decline(answer) => {
                for text in [&mut answer.by, &mut answer.why].into_iter().flatten() {
                    *text = redact_text(text).into();
                }
                None
            }
            _ => None,
        };
        let fields = approach
            .into_iter()
            .flat_map(|approach| &mut approach.fields);
        for text in fields.filter_map(|field| field.text.as_mut()) {
            *text = redact_text(text).into();
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(capture: Capture, text: &str) -> Option<String> {
        let event = Event::parse(text.as_bytes()).unwrap();
        let captured = capture.capture(&event)?;
        Some(captured.as_str().to_owned())
    }

    #[test]
    fn by_default_nothing_is_kept() {
        let call = r#"{"type":"call","session":"s","tool":"t","args":{"a":1}}"#;
        assert_eq!(captured(Capture::default(), call), None);
        let bare = r#"{"type":"call","session":"s","tool":"t"}"#;
        assert_eq!(captured(Capture::Full, bare), None);
    }

    #[test]
    fn a_preview_is_cut_after_the_secrets_were_taken_out() {
        let long = format!("password=hunter2 {}", "ä".repeat(300));
        let step = json!({"type": "step", "session": "s", "approach": "run", "result": long});
        let kept = captured(Capture::Preview, &step.to_string()).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let result = kept["result"].as_str().unwrap();
        assert!(result.starts_with("password=[redacted] ä"), "{result}");
        assert_eq!(result.chars().count(), 201);
        assert_eq!(kept["approach"], "run");
    }

    #[test]
    fn full_keeps_the_value_as_it_is() {
        let call = r#"{"type":"call","session":"s","tool":"t","args":{"n":[1,"x"],"token":"t0p"}}"#;
        assert_eq!(
            captured(Capture::Full, call).unwrap(),
            r#"{"args":{"n":[1,"x"],"token":"[redacted]"}}"#
        );
    }

    #[test]
    fn of_a_huge_payload_only_the_length_is_kept() {
        let huge = json!({"type": "message", "to": "s", "content": "x".repeat(MAX_KEPT_BYTES)});
        let kept = captured(Capture::Full, &huge.to_string()).unwrap();
        assert_eq!(kept, r#"{"content":{"omitted_bytes":262146}}"#);
    }
}
