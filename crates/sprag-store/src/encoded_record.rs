//! From a draft to a encoded record: the part that every store shares.

use sprag_core::{Known, Observation, RULES_VERSION, Timestamp, Verdict, resolve};

use crate::codec::{Malformed, RecordBody, encode_event, encode_note, encode_verdict};
use crate::draft::Draft;
use crate::error::StoreError;
use crate::hash::{Hash, chain};
use crate::note::Noted;
use crate::random::fresh_flow;
use crate::record::{Record, RecordKind};

/// The end of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ChainHead {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

/// A record with its bytes.
#[derive(Debug)]
pub(crate) struct EncodedRecord {
    pub(crate) record: Record,
    pub(crate) body: Vec<u8>,
}

impl ChainHead {
    fn seal(self, body: &[u8]) -> Self {
        let seq = self.seq.saturating_add(1);
        Self {
            seq,
            hash: chain(&self.hash, seq, body),
        }
    }

    /// The record after this one, with bytes that another log has.
    pub(crate) fn copy(self, body: &[u8]) -> Result<EncodedRecord, Malformed> {
        let head = self.seal(body);
        let record = RecordBody::decode(body)?.into_record(head.seq, self.hash, head.hash)?;
        Ok(EncodedRecord {
            record,
            body: body.to_vec(),
        })
    }

    /// The record after this one, for an event that was judged.
    pub(crate) fn event(self, draft: Draft, verdict: Verdict) -> EncodedRecord {
        let Draft {
            observation,
            policy,
            captured,
        } = draft;
        let told = encode_verdict(&verdict);
        let digest = &policy.digest;
        let body = encode_event(
            RULES_VERSION,
            digest,
            &observation,
            &told,
            captured.as_ref(),
        );
        let head = self.seal(&body);
        let record = Record {
            seq: head.seq,
            at: observation.at,
            kind: RecordKind::Event {
                observation: Box::new(observation),
                captured,
            },
            verdict,
            policy: digest.clone(),
            rules_version: RULES_VERSION,
            prev: self.hash,
            hash: head.hash,
        };
        EncodedRecord { record, body }
    }

    /// The record after this one, for a note; without a policy where none was in force.
    pub(crate) fn note(
        self,
        at: Timestamp,
        policy: &str,
        what: Noted,
    ) -> Result<EncodedRecord, StoreError> {
        let body = encode_note(RULES_VERSION, policy, at, &what).map_err(unwritable)?;
        let head = self.seal(&body);
        let record = Record {
            seq: head.seq,
            at,
            kind: RecordKind::Note(what),
            verdict: Verdict::default(),
            policy: policy.to_owned(),
            rules_version: RULES_VERSION,
            prev: self.hash,
            hash: head.hash,
        };
        Ok(EncodedRecord { record, body })
    }
}

impl Record {
    /// The end of a log that ends with it.
    pub(crate) fn head(&self) -> ChainHead {
        ChainHead {
            seq: self.seq,
            hash: self.hash,
        }
    }
}

impl EncodedRecord {
    pub(crate) fn head(&self) -> ChainHead {
        self.record.head()
    }
}

fn unwritable(error: Malformed) -> StoreError {
    StoreError::Damaged {
        place: "a new record".to_owned(),
        what: error.to_string(),
    }
}

/// Fills in what an event leaves open.
pub(crate) fn resolve_open_fields(
    observation: &mut Observation,
    known: &impl Known,
) -> Result<(), StoreError> {
    let mut failed = None;
    resolve(observation, known, || {
        fresh_flow().map_err(|error| failed = Some(error)).ok()
    })?;
    failed.map_or(Ok(()), Err)
}
