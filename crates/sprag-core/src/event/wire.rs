//! Events from JSON text.
//!
//! The text is walked once: every known field is kept as the raw text of its value, every other one
//! skipped. Only then, with the type known, are the fields of that type read. So a field that
//! another type has is as unknown as any, payloads stay as they came, and an error can name the
//! position of its value in the text.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::EventError;
use super::field::EventField;
use super::usage::micros;
use super::value::FieldValues;
use super::{
    AnswerEvent, CallEvent, DispatchEvent, Event, MAX_EVENT_BYTES, MessageEvent, OrderEvent,
    OutputEvent, StepEvent, UsageEvent,
};
use crate::nearest::nearest;

/// The types of events.
pub(super) const TYPES: [&str; 11] = [
    "message",
    "call",
    "step",
    "usage",
    "output",
    "kill",
    "reset",
    "dispatch_start",
    "dispatch_end",
    "approve",
    "decline",
];

/// Reads one event.
pub(super) fn parse(bytes: &[u8]) -> Result<Event, EventError> {
    if bytes.len() > MAX_EVENT_BYTES {
        return Err(EventError::TooLong { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| EventError::NotUtf8 {
        at: error.valid_up_to(),
    })?;
    let mut values = FieldValues::new(text);
    walk(text, &mut values.raw).map_err(EventError::NotAnEvent)?;
    let name = values.text(EventField::Type)?.ok_or(EventError::Missing {
        field: EventField::Type.name(),
        needed_by: "every event",
    })?;
    match &*name {
        "message" => message(&values).map(Event::Message),
        "call" => call(&values).map(Event::Call),
        "step" => step(&values).map(Event::Step),
        "usage" => usage(&values).map(Event::Usage),
        "output" => output(&values).map(Event::Output),
        "kill" => order(&values, "a kill").map(Event::Kill),
        "reset" => order(&values, "a reset").map(Event::Reset),
        "dispatch_start" => dispatch(&values, "a dispatch").map(Event::DispatchStart),
        "dispatch_end" => dispatch(&values, "a dispatch").map(Event::DispatchEnd),
        "approve" => answer(&values, "an approve").map(Event::Approve),
        "decline" => answer(&values, "a decline").map(Event::Decline),
        other => Err(EventError::UnknownType {
            found: other.chars().take(80).collect::<String>().into(),
            nearest: nearest(other, TYPES),
        }),
    }
}

fn message(values: &FieldValues<'_>) -> Result<MessageEvent, EventError> {
    Ok(MessageEvent {
        at: values.at()?,
        from: values.id(EventField::From)?,
        source: values.one_of(EventField::Source, "\"user\", \"applet\" or \"scheduler\"")?,
        flow: values.id(EventField::Flow)?,
        conversation: values.id(EventField::Conversation)?,
        agent: values.id(EventField::Agent)?,
        to_agent: values.id(EventField::ToAgent)?,
        content: values.payload(EventField::Content),
        kind: values.one_of(EventField::Kind, "\"say\", \"spawn\" or \"return\"")?,
        unblock: values.flag(EventField::Unblock)?,
        generation: values.generation()?,
        identity: values.identity()?,
        use_id: values.id(EventField::UseId)?,
        ..MessageEvent::new(values.required_id(EventField::To, "a message")?)
    })
}

fn call(values: &FieldValues<'_>) -> Result<CallEvent, EventError> {
    let session = values.required_id(EventField::Session, "a call")?;
    Ok(CallEvent {
        at: values.at()?,
        agent: values.id(EventField::Agent)?,
        flow: values.id(EventField::Flow)?,
        id: values.id(EventField::Id)?,
        use_id: values.id(EventField::UseId)?,
        server: values.id(EventField::Server)?,
        args: values.payload(EventField::Args),
        hints: values.one_of(
            EventField::Hints,
            "an object whose read_only, destructive and idempotent are true or false",
        )?,
        turn: values.id(EventField::Turn)?,
        cwd: values.folder(EventField::Cwd)?,
        root: values.folder(EventField::Root)?,
        generation: values.generation()?,
        identity: values.identity()?,
        via: values.via()?,
        dialog: values.flag(EventField::Dialog)?,
        ..CallEvent::new(session, values.required_id(EventField::Tool, "a call")?)
    })
}

fn step(values: &FieldValues<'_>) -> Result<StepEvent, EventError> {
    values.not_both(EventField::Result, EventField::Outcome)?;
    values.not_both(EventField::Tool, EventField::Approach)?;
    let result = values.payload(EventField::Result);
    Ok(StepEvent {
        at: values.at()?,
        agent: values.id(EventField::Agent)?,
        flow: values.id(EventField::Flow)?,
        id: values.id(EventField::Id)?,
        use_id: values.id(EventField::UseId)?,
        server: values.id(EventField::Server)?,
        tool: values.id(EventField::Tool)?,
        args: values.payload(EventField::Args),
        approach: values.payload(EventField::Approach),
        result: result.or_else(|| values.payload(EventField::Outcome)),
        is_error: values.flag(EventField::IsError)?,
        generation: values.generation()?,
        identity: values.identity()?,
        via: values.via()?,
        ..StepEvent::new(values.required_id(EventField::Session, "a step")?)
    })
}

fn usage(values: &FieldValues<'_>) -> Result<UsageEvent, EventError> {
    let cost: Option<f64> = values.one_of(EventField::CostUsd, "a number")?;
    let (pending, id) = (
        values.flag(EventField::Pending)?,
        values.id(EventField::Id)?,
    );
    if pending && id.is_none() {
        return Err(EventError::Missing {
            field: EventField::Id.name(),
            needed_by: "a reservation (a usage with pending)",
        });
    }
    Ok(UsageEvent {
        at: values.at()?,
        agent: values.id(EventField::Agent)?,
        flow: values.id(EventField::Flow)?,
        model: values.id(EventField::Model)?,
        input_tokens: values.count(EventField::InputTokens)?.unwrap_or(0),
        output_tokens: values.count(EventField::OutputTokens)?.unwrap_or(0),
        cache_read_tokens: values.count(EventField::CacheReadTokens)?.unwrap_or(0),
        cache_write_tokens: values.count(EventField::CacheWriteTokens)?.unwrap_or(0),
        cost_micros: cost.map(micros).transpose()?,
        pending,
        id,
        generation: values.generation()?,
        identity: values.identity()?,
        ..UsageEvent::new(values.required_id(EventField::Session, "a usage")?)
    })
}

fn output(values: &FieldValues<'_>) -> Result<OutputEvent, EventError> {
    Ok(OutputEvent {
        at: values.at()?,
        agent: values.id(EventField::Agent)?,
        flow: values.id(EventField::Flow)?,
        text: values.payload(EventField::Text),
        generation: values.generation()?,
        identity: values.identity()?,
        ..OutputEvent::new(values.required_id(EventField::Session, "an output")?)
    })
}

fn order(values: &FieldValues<'_>, needed_by: &'static str) -> Result<OrderEvent, EventError> {
    Ok(OrderEvent {
        at: values.at()?,
        session: values.required_id(EventField::Session, needed_by)?,
        by: values.text(EventField::By)?.map(Box::from),
        why: values.text(EventField::Why)?.map(Box::from),
    })
}

fn answer(values: &FieldValues<'_>, needed_by: &'static str) -> Result<AnswerEvent, EventError> {
    let session = values.required_id(EventField::Session, needed_by)?;
    Ok(AnswerEvent {
        at: values.at()?,
        scope: values.one_of(EventField::Scope, "\"once\", \"session\" or \"project\"")?,
        by: values.text(EventField::By)?.map(Box::from),
        why: values.text(EventField::Why)?.map(Box::from),
        ..AnswerEvent::new(
            session,
            values.required_id(EventField::Approval, needed_by)?,
        )
    })
}

fn dispatch(
    values: &FieldValues<'_>,
    needed_by: &'static str,
) -> Result<DispatchEvent, EventError> {
    Ok(DispatchEvent {
        at: values.at()?,
        session: values.required_id(EventField::Session, needed_by)?,
        flow: values.id(EventField::Flow)?,
    })
}

/// The raw values of all fields, by their numbers: written in place, since they are many.
pub(super) type RawFields<'a> = [Option<&'a RawValue>; EventField::COUNT];

/// Writes the raw values of the known fields of the object in `text`.
fn walk<'a>(text: &'a str, values: &mut RawFields<'a>) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(EventVisitor(values))?;
    reader.end()
}

struct EventVisitor<'v, 'a>(&'v mut RawFields<'a>);

impl<'de> Visitor<'de> for EventVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(field) = entries.next_key_seed(FieldSeed)? {
            let Some(field) = field else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = entries
                .next_value::<&RawValue>()
                .map_err(|error| A::Error::custom(format_args!("{}: {error}", field.name())))?;
            if let Some(slot) = self.0.get_mut(field as usize) {
                if slot.is_some() {
                    return Err(A::Error::duplicate_field(field.name()));
                }
                *slot = Some(value);
            }
        }
        Ok(())
    }
}

/// The name of a field; none if it is not known.
struct FieldSeed;

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Option<EventField>;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FieldSeed {
    type Value = Option<EventField>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }
    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(EventField::named(name))
    }
}
