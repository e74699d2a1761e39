//! Folding a log again, record by record, and comparing everything with what it says.

use sprag_core::{CellKey, CellMap, EngineError, Observation, Policy, RULES_VERSION};

use crate::codec::{RecordBody, RecordContent, decode_verdict, encode_verdict_into};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::note::{Noted, Snapshot, SnapshotReason};
use crate::offline::OfflineChains;
use crate::view::{Base, LogView, RawRecord};

/// Reads a policy from its digest and its text as stored; none where it can't be read or the text is
/// not what the digest says.
pub type ReadPolicy<'a> = &'a dyn Fn(&str, &str) -> Option<Policy>;

/// What is wrong with a log at one place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogProblem {
    /// Another number stands where this record should be.
    #[error("it is missing: record {found} stands in its place")]
    Missing {
        /// What stands there.
        found: u64,
    },
    /// Its content, its number or the record before is not what was hashed.
    #[error("its hash does not fit: it, its number or the record before was changed")]
    Hash,
    /// It is not what an independent checkpoint says.
    #[error("it is not the record that the checkpoint names")]
    Checkpoint,
    /// The log ends before its last checkpoint.
    #[error("it is missing: the log was cut, its last checkpoint is at record {checkpoint}")]
    Cut {
        /// The last checkpoint.
        checkpoint: u64,
    },
    /// There should be checkpoints by now.
    #[error("the checkpoints are missing, so a log that was cut would look whole")]
    NoCheckpoints,
    /// Its bytes make no sense.
    #[error("it can't be read: {0}")]
    Unreadable(String),
    /// The policy it names is not in the store, or not readable.
    #[error("its policy {0} is missing or can't be read")]
    Policy(String),
    /// The engine refuses it today.
    #[error("it should not be there: {0}")]
    Refused(EngineError),
    /// Folded again, the engine answers something else.
    #[error("it says `{recorded}`, recomputed it is `{recomputed}`")]
    Verdict {
        /// What stands there.
        recorded: String,
        /// What the engine says.
        recomputed: String,
    },
    /// The cells that were written down are not those that the log speaks of.
    #[error("the cells written down after record {after} are not those that the log names")]
    Snapshot {
        /// The record they stand after.
        after: u64,
    },
    /// The log starts at cells that it never speaks of.
    #[error("the log starts after record {after}, and no record in it says so")]
    Unanchored {
        /// The record it starts after.
        after: u64,
    },
    /// What a pod decided alone is not what it wrote down then.
    #[error("record {number} of {pod} is missing before it, or was changed")]
    Offline {
        /// The pod.
        pod: String,
        /// The number of its own record.
        number: u64,
    },
    /// A cell in the store is not what the log makes of it.
    #[error("in the store {0:?} is not what the log makes of it")]
    Cells(CellKey),
}

/// What came of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepResult {
    /// An event whose verdict came out the same.
    Recomputed,
    /// A note.
    Noted,
    /// An event that this build can't judge.
    OtherRules(u32),
}

/// A log being folded.
pub(crate) struct FoldLog<'a> {
    base: (u64, Hash),
    anchored: bool,
    last: u64,
    prev: Hash,
    /// None while the records come from other rules: this build can't tell what they did.
    cells: Option<CellMap>,
    /// Each policy once, the one of the latest event first: the next event nearly always has the same.
    policies: Vec<(String, Policy)>,
    read: ReadPolicy<'a>,
    pods: OfflineChains,
    /// The bytes of the latest verdict; the next one is written in their place.
    verdict: Vec<u8>,
}

impl<'a> FoldLog<'a> {
    pub(crate) fn new(base: Base, read: ReadPolicy<'a>) -> Self {
        Self {
            base: (base.after, base.hash),
            anchored: base.after == 0,
            last: base.after,
            prev: base.hash,
            cells: Some(base.cells),
            policies: Vec::new(),
            read,
            pods: OfflineChains::default(),
            verdict: Vec::new(),
        }
    }

    /// The cells after the last record, where they could be told.
    pub(crate) fn cells(&self) -> Option<&CellMap> {
        self.cells.as_ref()
    }

    /// The last record.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Whether the log itself says where it starts.
    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// Checks and folds one more record.
    pub(crate) fn step(
        &mut self,
        view: &dyn LogView,
        row: RawRecord<'_>,
    ) -> Result<StepResult, LogProblem> {
        let seq = self.last.saturating_add(1);
        if row.seq != seq {
            return Err(LogProblem::Missing { found: row.seq });
        }
        if view.link(&self.prev, seq, row.body) != row.hash {
            return Err(LogProblem::Hash);
        }
        let body = RecordBody::decode(row.body)
            .map_err(|error| LogProblem::Unreadable(error.to_string()))?;
        let stepped = match body.content {
            RecordContent::Note { note, .. } => {
                self.note(view, &note)?;
                StepResult::Noted
            }
            RecordContent::Event { .. } if body.rules_version != RULES_VERSION => {
                self.cells = None;
                StepResult::OtherRules(body.rules_version)
            }
            RecordContent::Event {
                observation,
                verdict,
                ..
            } => self.event(view, body.policy, &observation, verdict)?,
        };
        self.last = seq;
        self.prev = row.hash;
        Ok(stepped)
    }

    fn event(
        &mut self,
        view: &dyn LogView,
        digest: &str,
        observation: &Observation,
        recorded: &[u8],
    ) -> Result<StepResult, LogProblem> {
        let Some(cells) = &mut self.cells else {
            return Ok(StepResult::OtherRules(RULES_VERSION));
        };
        let policy = find_policy(&mut self.policies, view, digest, self.read)?;
        let (verdict, _) = cells
            .fold(policy, observation)
            .map_err(LogProblem::Refused)?;
        self.verdict = encode_verdict_into(&verdict, std::mem::take(&mut self.verdict));
        if self.verdict == recorded {
            return Ok(StepResult::Recomputed);
        }
        // Equal verdicts may be written differently by builds that order evidence differently.
        match decode_verdict(recorded) {
            Ok(told) if told == verdict => Ok(StepResult::Recomputed),
            Ok(told) => Err(LogProblem::Verdict {
                recorded: told.decision.to_string(),
                recomputed: verdict.decision.to_string(),
            }),
            Err(error) => Err(LogProblem::Unreadable(error.to_string())),
        }
    }

    fn note(&mut self, view: &dyn LogView, note: &Noted) -> Result<(), LogProblem> {
        if let Noted::Snapshot(snapshot) = note {
            self.snapshot(view, snapshot)?;
        }
        if let Some(cells) = &mut self.cells {
            note.apply(cells);
        }
        let starts_late = self.base.0 > 0;
        self.pods
            .see(note, starts_late)
            .map_err(|number| LogProblem::Offline {
                pod: number.0,
                number: number.1,
            })
    }

    fn snapshot(&mut self, view: &dyn LogView, snapshot: &Snapshot) -> Result<(), LogProblem> {
        let after = snapshot.after;
        let wrong = LogProblem::Snapshot { after };
        let written = || match known(view.written_cells(after))? {
            Some(written)
                if (written.digest, written.count) == (snapshot.cells, snapshot.count) =>
            {
                Ok(written)
            }
            _ => Err(wrong.clone()),
        };
        match snapshot.reason {
            SnapshotReason::Prune if after < self.base.0 => {}
            SnapshotReason::Prune if (after, snapshot.hash) == self.base => {
                written()?;
                self.anchored = true;
            }
            SnapshotReason::RulesVersion if (after, snapshot.hash) == (self.last, self.prev) => {
                self.cells = Some(written()?.cells);
            }
            _ => return Err(wrong),
        }
        Ok(())
    }
}

/// The policy with `digest`, out of the store if it was not read yet. It comes to the front of `policies`.
fn find_policy<'p>(
    policies: &'p mut Vec<(String, Policy)>,
    view: &dyn LogView,
    digest: &str,
    read: ReadPolicy<'_>,
) -> Result<&'p Policy, LogProblem> {
    let unknown = || LogProblem::Policy(digest.to_owned());
    let known_at = policies.iter().position(|(known, _)| known == digest);
    let at = known_at.unwrap_or(policies.len());
    if known_at.is_none() {
        let policy = known(view.policy_text(digest))?.and_then(|text| read(digest, &text));
        policies.push((digest.to_owned(), policy.ok_or_else(unknown)?));
    }
    policies.swap(0, at);
    policies
        .first()
        .map(|(_, policy)| policy)
        .ok_or_else(unknown)
}

/// Turns a store's failure in the middle of a fold into a problem of the log.
fn known<T>(result: Result<T, StoreError>) -> Result<T, LogProblem> {
    result.map_err(|error| LogProblem::Unreadable(error.to_string()))
}
