//! Refusing to open a session, without a trace in the log.
//!
//! A store can hold a bounded number of sessions that were stopped, and a server lets one caller open a bounded
//! number of sessions. Past that the answer must still be a refusal: an error would let an adapter that
//! fails open go on unguarded. What was refused so is not an event of the log, or the log would grow
//! in place of the sessions.

use sprag_core::{Code, Decision, Event, RULES_VERSION, Timestamp, Verdict};
use sprag_store::{Hash, Record, RecordKind};

use super::{Guard, GuardError, GuardState};

impl Guard {
    /// The refusal of an event that would open a session which may not be opened, as a record that is not
    /// in the log: its number is 0.
    ///
    /// # Errors
    /// Returns an error if the event is wrong.
    pub fn refuse_session(&self, event: &Event, why: String) -> Result<Record, GuardError> {
        self.inner
            .refused_session(event, self.inner.clock.now(), why)
    }
}

impl GuardState {
    pub(super) fn refused_session(
        &self,
        event: &Event,
        at: Timestamp,
        why: String,
    ) -> Result<Record, GuardError> {
        let policy = &self.policies().normal;
        let mut observation = self.digester.observe(event, at, &policy.policy)?;
        self.capture.scrub(&mut observation);
        // What has happened already can't be refused any more.
        let decision = match event {
            Event::Step(_) | Event::Usage(_) | Event::Output(_) => Decision::Warn,
            _ => Decision::Deny,
        };
        let mut verdict = Verdict::new(decision)
            .with_code(Code::SessionLimit)
            .with_message(format!("no new session may be opened: {why}"))
            .with_hint("sprag doctor");
        verdict.generation = 1;
        Ok(Record {
            seq: 0,
            at,
            kind: RecordKind::Event {
                observation: Box::new(observation),
                captured: None,
            },
            verdict,
            policy: policy.digest.clone(),
            rules_version: RULES_VERSION,
            prev: Hash::default(),
            hash: Hash::default(),
        })
    }
}
