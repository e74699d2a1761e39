//! The body of a message: read where it concerns us, passed on byte for byte otherwise.
//!
//! An agent server has fields that we have never heard of, in an order that somebody may sign, with numbers that
//! no parser of ours should round. So the text is never written anew: the few fields that the relay sets are
//! put into it, and everything else stays as it came.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sprag::Id;
use sprag_core::{Payload, Source};
use sprag_http::strict_path::folded;

use super::config::FieldNames;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};

/// A body, as it came.
pub(super) struct MessageBody<'a> {
    text: &'a str,
    members: Vec<(String, &'a RawValue)>,
}

/// What a body says to the relay.
#[derive(Debug)]
pub(super) struct RelayFields {
    pub(super) content: Option<Payload>,
    pub(super) flow: Option<Id>,
    pub(super) from: Option<Id>,
    pub(super) source: Source,
    pub(super) agent: Option<Id>,
    pub(super) from_agent: Option<Id>,
    pub(super) conversation: Option<Id>,
    pub(super) session: Option<Id>,
    pub(super) generation: Option<u32>,
}

impl<'a> MessageBody<'a> {
    /// Reads a JSON object.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Problem::new(ProblemKind::BadRequest, format!("the body: {error}")))?;
        let JsonMembers(members) =
            serde_json::from_str(text).map_err(|error| Problem::json(&error))?;
        Ok(Self { text, members })
    }

    /// Its members but for these, as they stand.
    #[cfg(feature = "fuzz")]
    pub(super) fn others(&self, own: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let members = self
            .members
            .iter()
            .map(|(name, raw)| (name.as_str(), raw.get()));
        members.filter(|(name, _)| !own.contains(name))
    }

    /// What it says to the relay.
    pub(super) fn fields(&self, names: &FieldNames) -> Result<RelayFields, Problem> {
        self.refuse_odd_spellings(names)?;
        let mut content = None;
        for name in &names.content {
            content = content.or(self.get(name)?);
        }
        let (from, from_agent) = (self.id(&names.from)?, self.id(&names.from_agent)?);
        if from.is_none() && from_agent.is_some() {
            let why = format!("an agent's message names its session in {}", names.from);
            return Err(bad(&names.from_agent, why));
        }
        Ok(RelayFields {
            content: content.map(Payload::from),
            flow: self.id(&names.correlation)?,
            from,
            source: self.source(names)?,
            agent: self.id(&names.agent)?,
            from_agent,
            conversation: self.id(&names.conversation)?,
            session: self.id(&names.session)?,
            generation: self.parse(&names.generation, "a whole number")?,
        })
    }

    /// The same text with these fields set.
    pub(super) fn with(&self, fields: &[(&str, &str)]) -> String {
        let mut edits: Vec<(usize, usize, String)> = Vec::new();
        let start = self.text.find('{').map_or(0, |brace| brace + 1);
        let mut lonely = self.members.is_empty();
        for (name, value) in fields {
            let (key, value) = (quoted(name), quoted(value));
            match self.members.iter().find(|(held, _)| held == name) {
                Some((_, raw)) => {
                    let at = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
                    edits.push((at, at + raw.get().len(), value));
                }
                None => {
                    let comma = if lonely { "" } else { "," };
                    edits.push((start, start, format!("{key}:{value}{comma}")));
                    lonely = false;
                }
            }
        }
        // New fields are put at the start one before the other, so the last comes first.
        edits.reverse();
        edits.sort_by_key(|(from, ..)| *from);
        let mut text = String::with_capacity(self.text.len() + 128);
        let mut done = 0;
        for (from, to, put) in edits {
            text.push_str(self.text.get(done..from).unwrap_or_default());
            text.push_str(&put);
            done = to;
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        text
    }

    /// Refuses a name that an agent server without an eye for case takes for one of ours: it would read another sender
    /// or flow than the one that was judged.
    fn refuse_odd_spellings(&self, names: &FieldNames) -> Result<(), Problem> {
        let decides = [&names.from, &names.correlation];
        for name in names.all() {
            let wanted = folded(name);
            let is_like = |held: &String| held != name && folded(held) == wanted;
            let mut odd = self.members.iter().map(|(held, _)| held);
            let Some(odd) = odd.find(|held| is_like(held)) else {
                continue;
            };
            if decides.contains(&name) || self.members.iter().any(|(held, _)| held == name) {
                let why = format!("it could be read as {name:?}; write it so");
                return Err(bad(odd, why));
            }
        }
        Ok(())
    }

    /// A field; null is none. Twice is refused: who reads it after us might take the other one.
    fn get(&self, name: &str) -> Result<Option<&'a RawValue>, Problem> {
        let mut found = self.members.iter().filter(|(held, _)| held == name);
        let first = found.next();
        if found.next().is_some() {
            return Err(bad(name, "it is there twice"));
        }
        Ok(first.map(|(_, raw)| *raw).filter(|raw| raw.get() != "null"))
    }

    fn parse<T: Deserialize<'a>>(&self, name: &str, what: &str) -> Result<Option<T>, Problem> {
        let Some(raw) = self.get(name)? else {
            return Ok(None);
        };
        let read = serde_json::from_str(raw.get());
        read.map(Some)
            .map_err(|_| bad(name, format!("it must be {what}")))
    }

    fn id(&self, name: &str) -> Result<Option<Id>, Problem> {
        let text: Option<Cow<'a, str>> = self.parse(name, "a string")?;
        let id = text.map(|text| Id::new(&text)).transpose();
        id.map_err(|error| bad(name, error))
    }

    fn source(&self, names: &FieldNames) -> Result<Source, Problem> {
        let name = &names.source;
        let told: Option<Cow<'a, str>> = self.parse(name, "a string")?;
        match told.as_deref() {
            None | Some("user") => Ok(Source::User),
            Some("applet") => Ok(Source::Applet),
            Some("scheduler") => Ok(Source::Scheduler),
            Some("agent") if self.get(&names.from)?.is_some() => Ok(Source::User),
            Some("agent") => Err(bad(
                name,
                format!("an agent's message names its session in {}", names.from),
            )),
            Some(other) => Err(bad(
                name,
                format!("{other:?} is none of user, applet, scheduler, agent"),
            )),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The members of an object in their order, twins too.
struct JsonMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for JsonMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = JsonMembers<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, fields: &[(&str, &str)]) -> String {
        MessageBody::read(text.as_bytes()).unwrap().with(fields)
    }

    fn fields(text: &str) -> Result<RelayFields, String> {
        let body = MessageBody::read(text.as_bytes()).map_err(|error| error.detail().to_owned())?;
        body.fields(&FieldNames::default())
            .map_err(|error| error.detail().to_owned())
    }

    #[test]
    fn fields_are_put_into_the_text_and_nothing_else_moves() {
        let set: &[(&str, &str)] = &[("correlationId", "f\"1")];
        for (before, after) in [
            ("{}", r#"{"correlationId":"f\"1"}"#),
            (" { } ", r#" {"correlationId":"f\"1" } "#),
            (
                r#"{"z":1.0e2, "a" :12345678901234567890}"#,
                r#"{"correlationId":"f\"1","z":1.0e2, "a" :12345678901234567890}"#,
            ),
            (
                r#"{"a":"ü","correlationId": null ,"b":[]}"#,
                r#"{"a":"ü","correlationId": "f\"1" ,"b":[]}"#,
            ),
            (
                r#"{"correlationId":"f\"1","n":{"correlationId":null}}"#,
                r#"{"correlationId":"f\"1","n":{"correlationId":null}}"#,
            ),
        ] {
            assert_eq!(with(before, set), after);
        }
    }

    #[test]
    fn two_new_fields_stand_side_by_side() {
        let set: &[(&str, &str)] = &[("c", "1"), ("s", "2")];
        assert_eq!(with("{}", set), r#"{"s":"2","c":"1"}"#);
        assert_eq!(with(r#"{"s":null}"#, set), r#"{"c":"1","s":"2"}"#);
    }

    #[test]
    fn what_concerns_the_relay_is_read() {
        let fields = fields(
            r#"{"prompt":"hi","message":"x","fromSession":"1","source":"agent","generation":2,"correlationId":null,"kind":"spawn"}"#,
        );
        let fields = fields.unwrap();
        assert_eq!(fields.content.unwrap().as_json(), "\"hi\"");
        assert_eq!(fields.from.unwrap().as_str(), "1");
        assert_eq!(fields.generation, Some(2));
        assert!(fields.flow.is_none());
    }

    #[test]
    fn fields_of_the_agent_server_may_be_spelled_like_ours() {
        let read = fields(r#"{"fromSession":"1","Source":"github","Agent":"x","Message":"hi"}"#);
        assert!(read.unwrap().agent.is_none());
    }

    #[test]
    fn what_can_not_be_meant_is_told() {
        for (text, told) in [
            (
                "[]",
                "the body: invalid type: sequence, expected a JSON object at line 1 column 0",
            ),
            ("{\"a\":1,}", "the body: trailing comma at line 1 column 8"),
            (r#"{"fromSession":7}"#, "fromSession: it must be a string"),
            (
                r#"{"fromSession":""}"#,
                "fromSession: an id must not be empty",
            ),
            (
                r#"{"fromSession":"1","fromSession":"2"}"#,
                "fromSession: it is there twice",
            ),
            (
                r#"{"source":"agent"}"#,
                "source: an agent's message names its session in fromSession",
            ),
            (
                r#"{"fromAgent":"coder","prompt":"the user said yes"}"#,
                "fromAgent: an agent's message names its session in fromSession",
            ),
            (
                r#"{"source":"robot"}"#,
                "source: \"robot\" is none of user, applet, scheduler, agent",
            ),
            (
                r#"{"fromSession":"1","FromSession":null}"#,
                "FromSession: it could be read as \"fromSession\"; write it so",
            ),
            (
                r#"{"from\u017fession":"1"}"#,
                "from\u{17f}ession: it could be read as \"fromSession\"; write it so",
            ),
            (
                r#"{"fromSession":"1","prompt":"a","PROMPT":"b"}"#,
                "PROMPT: it could be read as \"prompt\"; write it so",
            ),
            (
                r#"{"generation":-1}"#,
                "generation: it must be a whole number",
            ),
        ] {
            assert_eq!(fields(text).unwrap_err(), told, "{text}");
        }
    }
}
