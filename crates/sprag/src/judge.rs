//! Events in, verdicts out, with everything held in memory.
//!
//! `sprag decide` and `sprag test` need no store: they fold a stream from nothing, under one policy,
//! with a fixed digest key, so that the same events always get the same verdicts.

use sprag_core::{
    CellMap, DigestKey, Digester, EngineError, Event, EventError, FlowCounter, Observation, Policy,
    Timestamp, Verdict, resolve,
};

/// A fold from nothing over the events it is given.
#[derive(Debug)]
pub struct Judge {
    policy: Policy,
    digester: Digester,
    cells: CellMap,
    flows: FlowCounter,
}

/// Why an event got no verdict. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// Its payload can't be digested.
    #[error(transparent)]
    Event(#[from] EventError),
    /// It can't be judged.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Judge {
    /// A judge with no history.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            digester: crate::digester::digester(DigestKey::fixed()),
            cells: CellMap::default(),
            flows: FlowCounter::default(),
        }
    }

    /// The verdict on `event`, which happened at `at`.
    ///
    /// # Errors
    /// Returns an error if the event's payload can't be digested, or if it names a generation that the
    /// session has not reached.
    pub fn judge(&mut self, event: &Event, at: Timestamp) -> Result<Verdict, JudgeError> {
        let observation = self.observe(event, at)?;
        Ok(self.fold(observation)?)
    }

    /// What the rules see of `event`, which happened at `at`. It changes nothing.
    ///
    /// # Errors
    /// Returns an error if the event's payload can't be digested.
    pub fn observe(&self, event: &Event, at: Timestamp) -> Result<Observation, EventError> {
        self.digester.observe(event, at, &self.policy)
    }

    /// The verdict on an event that was digested before.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if it names a generation that the session has not
    /// reached.
    pub fn fold(&mut self, mut observation: Observation) -> Result<Verdict, EngineError> {
        resolve(&mut observation, &self.cells, || self.flows.draw())?;
        let (verdict, _) = self.cells.fold(&self.policy, &observation)?;
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag_core::{Decision, RuleId};

    fn judge(judge: &mut Judge, text: &str) -> Result<Verdict, JudgeError> {
        let event = Event::parse(text.as_bytes()).unwrap();
        judge.judge(&event, event.at().unwrap_or(Timestamp(0)))
    }

    #[test]
    fn the_third_delete_within_a_minute_kills() {
        let mut guard = Judge::new(Policy::default());
        let delete = |n: u64| {
            format!(
                r#"{{"type":"call","session":"s","tool":"delete_asset","args":{{"id":"{n}"}},"at":{n}000}}"#
            )
        };
        assert_eq!(
            judge(&mut guard, &delete(1)).unwrap().decision,
            Decision::Allow
        );
        assert_eq!(
            judge(&mut guard, &delete(2)).unwrap().decision,
            Decision::Warn
        );
        let verdict = judge(&mut guard, &delete(3)).unwrap();
        assert_eq!(verdict.decision, Decision::Kill);
        assert_eq!(verdict.rule, Some(RuleId::DestructiveVolume));
    }

    #[test]
    fn an_event_from_the_future_is_an_error_and_changes_nothing() {
        let mut guard = Judge::new(Policy::default());
        let future = r#"{"type":"call","session":"s","tool":"read","generation":7}"#;
        assert!(matches!(
            judge(&mut guard, future),
            Err(JudgeError::Engine(_))
        ));
        let now = r#"{"type":"call","session":"s","tool":"read"}"#;
        assert_eq!(judge(&mut guard, now).unwrap().generation, 1);
    }
}
