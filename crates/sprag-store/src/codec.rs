//! A record as bytes: everything but its number and its hashes.
//!
//! The hash chain covers these bytes. How a value is written, and how a field is added, is said in
//! [`sprag_core::encoding`].

use std::borrow::Cow;

use sprag_core::encoding::{
    Encoding, KnownRule, Lent, Reader, Text, Writer, decode, decode_part, encode, encode_part,
    encode_part_into,
};
use sprag_core::{Observation, Observed, Panic, Sender, Timestamp, Verdict, numbered_fields};

use crate::draft::Captured;
use crate::hash::Hash;
use crate::note::Noted;
use crate::query::Tally;
use crate::record::{Record, RecordKind};

pub(crate) use sprag_core::encoding::Malformed;

/// A record's bytes, taken apart.
#[derive(Debug)]
pub(crate) struct RecordBody<'a> {
    pub(crate) rules_version: u32,
    pub(crate) policy: &'a str,
    pub(crate) content: RecordContent<'a>,
}

/// What a record is about: an event with its verdict, or a note.
#[derive(Debug)]
pub(crate) enum RecordContent<'a> {
    Event {
        observation: Box<Observation>,
        /// As stored: whoever only compares need not read it.
        verdict: &'a [u8],
        captured: Option<&'a str>,
    },
    Note {
        at: Timestamp,
        /// In a box, so that what nearly all records are is quickly moved.
        note: Box<Noted>,
    },
}

/// A record as it is written: either something observed with its verdict, or a note.
struct Stored<'a> {
    rules_version: u32,
    policy: &'a str,
    at: Timestamp,
    observed: Option<ObservedPart<'a>>,
    verdict: &'a [u8],
    captured: Option<&'a str>,
    /// As JSON: notes are rare and of many shapes.
    note: Option<&'a [u8]>,
    sender: Option<Cow<'a, Sender>>,
    panic: Option<Cow<'a, Panic>>,
    clock_back: bool,
}

/// What was observed. It is large, so what was read goes at once to where it stays.
enum ObservedPart<'a> {
    /// To be written.
    Lent(&'a Observed),
    /// What was read; the rest of the observation is filled in afterwards.
    Read(Box<Observation>),
}

impl<'a> Encoding<'a, Self> for ObservedPart<'a> {
    fn write(value: &Self, out: &mut Writer) {
        match value {
            Self::Lent(observed) => Observed::write(observed, out),
            Self::Read(observation) => Observed::write(&observation.what, out),
        }
    }

    fn read(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let what = Observed::read(from)?;
        Ok(Self::Read(Box::new(Observation::new(Timestamp(0), what))))
    }
}

numbered_fields!(Stored<'a> {
    1 rules_version: u32,
    2 policy: Text,
    3 at: Timestamp,
    4 observed: Option<ObservedPart<'a>>,
    5 verdict: &'a [u8],
    6 captured: Option<Text>,
    7 note: Option<&'a [u8]>,
    8 sender: Option<Lent<Sender>>,
    9 panic: Option<Lent<Panic>>,
    10 clock_back: bool,
});

numbered_fields!(Tally {
    1 events: u64,
    2 refused: u64,
    3 last_rule: KnownRule,
});

/// The bytes of an event with the bytes of its verdict.
pub(crate) fn encode_event(
    rules_version: u32,
    policy: &str,
    observation: &Observation,
    verdict: &[u8],
    captured: Option<&Captured>,
) -> Vec<u8> {
    encode(&Stored {
        rules_version,
        policy,
        at: observation.at,
        observed: Some(ObservedPart::Lent(&observation.what)),
        verdict,
        captured: captured.map(Captured::as_str),
        note: None,
        sender: observation.sender.as_ref().map(Cow::Borrowed),
        panic: observation.panic.as_ref().map(Cow::Borrowed),
        clock_back: observation.clock_back,
    })
}

/// The bytes of a note.
pub(crate) fn encode_note(
    rules_version: u32,
    policy: &str,
    at: Timestamp,
    note: &Noted,
) -> Result<Vec<u8>, Malformed> {
    let json = serde_json::to_vec(note).map_err(json_error)?;
    Ok(encode(&Stored {
        rules_version,
        policy,
        at,
        observed: None,
        verdict: &[],
        captured: None,
        note: Some(&json),
        sender: None,
        panic: None,
        clock_back: false,
    }))
}

fn json_error(error: serde_json::Error) -> Malformed {
    Malformed::Json(error.to_string())
}

/// The bytes of a verdict inside of a record.
pub(crate) fn encode_verdict(verdict: &Verdict) -> Vec<u8> {
    encode_part(verdict)
}

/// The same in the place of `bytes`.
pub(crate) fn encode_verdict_into(verdict: &Verdict, bytes: Vec<u8>) -> Vec<u8> {
    encode_part_into(verdict, bytes)
}

/// The verdict that bytes stand for.
pub(crate) fn decode_verdict(bytes: &[u8]) -> Result<Verdict, Malformed> {
    decode_part(bytes)
}

impl<'a> RecordBody<'a> {
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Stored {
            rules_version,
            policy,
            at,
            observed,
            verdict,
            captured,
            note,
            sender,
            panic,
            clock_back,
        } = decode(bytes)?;
        let content = match (observed, note) {
            (Some(ObservedPart::Read(mut observation)), None) => {
                observation.at = at;
                observation.sender = sender.map(Cow::into_owned);
                observation.panic = panic.map(Cow::into_owned);
                observation.clock_back = clock_back;
                RecordContent::Event {
                    observation,
                    verdict,
                    captured,
                }
            }
            (None, Some(note)) => RecordContent::Note {
                at,
                note: serde_json::from_slice(note).map_err(json_error)?,
            },
            // Only a newer build could write a third kind of record.
            _ => return Err(Malformed::Missing("observed")),
        };
        Ok(Self {
            rules_version,
            policy,
            content,
        })
    }

    /// The record that people read.
    pub(crate) fn into_record(self, seq: u64, prev: Hash, hash: Hash) -> Result<Record, Malformed> {
        let (at, kind, verdict) = match self.content {
            RecordContent::Event {
                observation,
                verdict,
                captured,
            } => (
                observation.at,
                RecordKind::Event {
                    observation,
                    captured: captured.map(Captured::new),
                },
                decode_verdict(verdict)?,
            ),
            RecordContent::Note { at, note } => (at, RecordKind::Note(*note), Verdict::default()),
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
