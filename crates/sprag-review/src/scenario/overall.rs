//! What must hold for a scenario as a whole, whatever each single event got.
//!
//! The exact event on which a loop is noticed is an engine's business; that it is noticed in time,
//! and that honest work is left alone, is the user's. Events are counted from 1.

use std::fmt;

use serde::Serialize;
use sprag_core::Decision;

/// The demands on a whole run; those not asked for are `false` or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overall {
    /// Nothing above `allow` at all.
    pub silent: bool,
    /// Nothing is refused; warnings are fine.
    pub no_stop: bool,
    /// The first `warn` or more comes at this event or before.
    pub warn_by: Option<usize>,
    /// The first `deny` or more comes at this event or before.
    pub stop_by: Option<usize>,
    /// Nothing above `allow` comes earlier than this event.
    pub not_before: Option<usize>,
}

/// A demand that was not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "demand", rename_all = "snake_case")]
pub enum OverallFailure {
    /// It was to be silent.
    Silent {
        /// The first event that was not.
        event: usize,
        /// What it got.
        verdict: Decision,
    },
    /// Nothing was to be refused.
    NoStop {
        /// The first event that was.
        event: usize,
        /// What it got.
        verdict: Decision,
    },
    /// A warning came late or never.
    WarnBy {
        /// When it was to come.
        by: usize,
        /// When it came.
        first: Option<usize>,
    },
    /// A refusal came late or never.
    StopBy {
        /// When it was to come.
        by: usize,
        /// When it came.
        first: Option<usize>,
    },
    /// Something came too early.
    NotBefore {
        /// Before which event nothing was to come.
        event: usize,
        /// When it came.
        first: usize,
        /// What came.
        verdict: Decision,
    },
}

impl Overall {
    /// The demands that a run with these decisions does not meet.
    #[must_use]
    pub fn check(&self, decisions: &[Decision]) -> Vec<OverallFailure> {
        let first_at_least = |rank: Decision| {
            let at = decisions.iter().position(|&decision| decision >= rank)?;
            Some((at + 1, *decisions.get(at)?))
        };
        let warned = first_at_least(Decision::Warn);
        let stopped = first_at_least(Decision::Ask);
        let late =
            |by: usize, first: Option<(usize, Decision)>| first.is_none_or(|(at, _)| at > by);
        let mut failures = Vec::new();
        if let Some((event, verdict)) = warned.filter(|_| self.silent) {
            failures.push(OverallFailure::Silent { event, verdict });
        }
        if let Some((event, verdict)) = stopped.filter(|_| self.no_stop) {
            failures.push(OverallFailure::NoStop { event, verdict });
        }
        if let Some(by) = self.warn_by.filter(|&by| late(by, warned)) {
            let first = warned.map(|(at, _)| at);
            failures.push(OverallFailure::WarnBy { by, first });
        }
        if let Some(by) = self.stop_by.filter(|&by| late(by, stopped)) {
            let first = stopped.map(|(at, _)| at);
            failures.push(OverallFailure::StopBy { by, first });
        }
        if let (Some(event), Some((first, verdict))) = (self.not_before, warned)
            && first < event
        {
            failures.push(OverallFailure::NotBefore {
                event,
                first,
                verdict,
            });
        }
        failures
    }
}

impl OverallFailure {
    /// The event that shows it: the one that got too much, or got it too late.
    #[must_use]
    pub const fn event(&self) -> Option<usize> {
        match self {
            Self::Silent { event, .. } | Self::NoStop { event, .. } => Some(*event),
            Self::WarnBy { first, .. } | Self::StopBy { first, .. } => *first,
            Self::NotBefore { first, .. } => Some(*first),
        }
    }
}

impl fmt::Display for OverallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let came = |first: &Option<usize>| match first {
            Some(event) => format!("the first came at event {event}"),
            None => "none came".to_owned(),
        };
        match self {
            Self::Silent { event, verdict } => {
                write!(f, "silent: event {event} got `{verdict}`")
            }
            Self::NoStop { event, verdict } => {
                write!(f, "no_stop: event {event} got `{verdict}`")
            }
            Self::WarnBy { by, first } => {
                write!(
                    f,
                    "warn_by {by}: no `warn` or more up to event {by}; {}",
                    came(first)
                )
            }
            Self::StopBy { by, first } => {
                write!(
                    f,
                    "stop_by {by}: no `deny` or more up to event {by}; {}",
                    came(first)
                )
            }
            Self::NotBefore {
                event,
                first,
                verdict,
            } => write!(
                f,
                "not_before {event}: event {first} already got `{verdict}`"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Decision::{Allow, Block, Deny, Warn};

    fn failures(overall: Overall, decisions: &[Decision]) -> Vec<String> {
        overall
            .check(decisions)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn silent_means_allow_all_the_way() {
        let silent = Overall {
            silent: true,
            ..Overall::default()
        };
        assert!(failures(silent, &[Allow, Allow]).is_empty());
        assert_eq!(
            failures(silent, &[Allow, Warn, Deny]),
            ["silent: event 2 got `warn`"]
        );
    }

    #[test]
    fn no_stop_lets_warnings_pass() {
        let no_stop = Overall {
            no_stop: true,
            ..Overall::default()
        };
        assert!(failures(no_stop, &[Warn, Warn]).is_empty());
        assert_eq!(
            failures(no_stop, &[Warn, Allow, Block]),
            ["no_stop: event 3 got `block`"]
        );
    }

    #[test]
    fn warn_by_and_stop_by_hold_at_that_event_and_not_after() {
        let by = Overall {
            warn_by: Some(2),
            stop_by: Some(3),
            ..Overall::default()
        };
        assert!(failures(by, &[Allow, Warn, Deny]).is_empty());
        assert!(failures(by, &[Deny]).is_empty());
        assert_eq!(
            failures(by, &[Allow, Allow, Warn, Deny]),
            [
                "warn_by 2: no `warn` or more up to event 2; the first came at event 3",
                "stop_by 3: no `deny` or more up to event 3; the first came at event 4"
            ]
        );
        assert_eq!(
            failures(by, &[Allow, Warn]),
            ["stop_by 3: no `deny` or more up to event 3; none came"]
        );
    }

    #[test]
    fn not_before_holds_up_to_the_event_before() {
        let not_before = Overall {
            not_before: Some(3),
            ..Overall::default()
        };
        assert!(failures(not_before, &[Allow, Allow, Warn]).is_empty());
        assert_eq!(
            failures(not_before, &[Allow, Warn]),
            ["not_before 3: event 2 already got `warn`"]
        );
    }
}
