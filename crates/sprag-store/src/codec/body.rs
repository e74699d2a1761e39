//! A whole record as bytes: everything but its number and its hashes.

use sprag_core::{Observation, Timestamp, Verdict};

use super::bytes::{Malformed, Reader, Writer};
use super::observation;
use super::verdict::decode_verdict;
use crate::draft::Captured;
use crate::hash::Hash;
use crate::note::Noted;
use crate::record::{Record, RecordKind};

const FORMAT: u8 = 1;
const EVENT: u8 = 0;
const NOTE: u8 = 1;

/// A record's bytes, taken apart.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub(crate) rules_version: u32,
    pub(crate) policy: &'a str,
    pub(crate) content: Content<'a>,
}

/// What it is about.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    Event {
        observation: Observation,
        /// As stored: whoever only compares need not read it.
        verdict: &'a [u8],
        captured: Option<&'a str>,
    },
    Note {
        at: Timestamp,
        note: Noted,
    },
}

fn start(kind: u8, rules_version: u32, policy: &str) -> Writer {
    let mut out = Writer(Vec::with_capacity(256));
    out.byte(FORMAT);
    out.byte(kind);
    out.number(u64::from(rules_version));
    out.text(policy);
    out
}

/// The bytes of an event with the bytes of its verdict.
pub(crate) fn encode_event(
    rules_version: u32,
    policy: &str,
    observation: &Observation,
    verdict: &[u8],
    captured: Option<&Captured>,
) -> Vec<u8> {
    let mut out = start(EVENT, rules_version, policy);
    out.flags([captured.is_some()]);
    observation::encode(&mut out, observation);
    out.bytes(verdict);
    if let Some(captured) = captured {
        out.text(captured.as_str());
    }
    out.0
}

/// The bytes of a note.
pub(crate) fn encode_note(
    rules_version: u32,
    policy: &str,
    at: Timestamp,
    note: &Noted,
) -> Result<Vec<u8>, Malformed> {
    let mut out = start(NOTE, rules_version, policy);
    out.number(at.0);
    serde_json::to_writer(&mut out.0, note).map_err(|error| Malformed::Json(error.to_string()))?;
    Ok(out.0)
}

impl<'a> Body<'a> {
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut from = Reader(bytes);
        match from.byte()? {
            FORMAT => {}
            other => return Err(Malformed::Tag(u64::from(other), "format")),
        }
        let kind = from.byte()?;
        let rules_version = from.small()?;
        let policy = from.text()?;
        let content = match kind {
            EVENT => Self::event(&mut from)?,
            NOTE => Content::Note {
                at: Timestamp(from.number()?),
                note: serde_json::from_slice(from.0)
                    .map_err(|error| Malformed::Json(error.to_string()))?,
            },
            other => return Err(Malformed::Tag(u64::from(other), "kind of record")),
        };
        Ok(Self {
            rules_version,
            policy,
            content,
        })
    }

    fn event(from: &mut Reader<'a>) -> Result<Content<'a>, Malformed> {
        let [captured] = from.flags()?;
        let content = Content::Event {
            observation: observation::decode(from)?,
            verdict: from.bytes()?,
            captured: captured.then(|| from.text()).transpose()?,
        };
        match from.0.len() {
            0 => Ok(content),
            rest => Err(Malformed::Rest(rest)),
        }
    }

    /// The record that people read.
    pub(crate) fn into_record(self, seq: u64, prev: Hash, hash: Hash) -> Result<Record, Malformed> {
        let (at, kind, verdict) = match self.content {
            Content::Event {
                observation,
                verdict,
                captured,
            } => (
                observation.at,
                RecordKind::Event {
                    observation: Box::new(observation),
                    captured: captured.map(Captured::new),
                },
                decode_verdict(verdict)?,
            ),
            Content::Note { at, note } => (at, RecordKind::Note(note), Verdict::default()),
        };
        Ok(Record {
            seq,
            at,
            kind,
            verdict,
            policy: self.policy.to_owned(),
            rules_version: self.rules_version,
            prev,
            hash,
        })
    }
}
