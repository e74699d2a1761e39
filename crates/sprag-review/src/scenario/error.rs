//! What can be wrong with a scenario file, and where.
//!
//! Scenario files are written by hand. An error names the scenario by number and name and the event
//! by number, because a position in a file of a thousand lines of JSON helps nobody.

use std::fmt;

use sprag_core::{EventError, PolicyErrors};

/// Something wrong in a scenario file.
#[derive(Debug, thiserror::Error)]
pub struct ScenarioError {
    scenario: Option<(usize, Option<String>)>,
    event: Option<usize>,
    #[source]
    problem: ScenarioProblem,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioProblem {
    /// The file is not UTF-8.
    #[error("this is not UTF-8: the first bad byte is on line {line}")]
    NotUtf8 {
        /// The line of the first bad byte.
        line: usize,
    },
    /// The file is not JSON.
    #[error("this is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// The file holds something else than an array.
    #[error(
        "a scenario file is an array of scenarios: [{{\"name\": …, \"policy\": {{…}}, \"events\": […], \"overall\": {{…}}}}]"
    )]
    NotAnArray,
    /// A value of the right kind that can't be read.
    #[error("{what} can't be read: {why}")]
    Unreadable {
        /// What was read.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A field is missing.
    #[error("the field `{field}` is missing")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field holds something of the wrong kind.
    #[error("{what} must be {wanted}, not {got}")]
    WrongKind {
        /// What was read.
        what: String,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        got: String,
    },
    /// A field that is none, but looks like one.
    #[error("there is no field `{field}`; did you mean `{meant}`?")]
    Misspelt {
        /// What is written.
        field: String,
        /// What was probably meant.
        meant: &'static str,
    },
    /// A demand on the whole that is none.
    #[error(
        "`overall` knows no `{field}`; it may hold silent, no_stop, warn_by, stop_by and not_before"
    )]
    UnknownDemand {
        /// What is written.
        field: String,
    },
    /// The policy is wrong.
    #[error("the policy is wrong: {}", in_one_line(.0))]
    Policy(PolicyErrors),
    /// The event is none.
    #[error("{0}")]
    Event(EventError),
}

fn in_one_line(errors: &PolicyErrors) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

impl ScenarioError {
    pub(super) fn in_file(problem: ScenarioProblem) -> Self {
        Self {
            scenario: None,
            event: None,
            problem,
        }
    }

    pub(super) fn in_scenario(number: usize, name: Option<&str>, found: LocatedProblem) -> Self {
        Self {
            scenario: Some((number, name.map(str::to_owned))),
            event: found.event,
            problem: found.problem,
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &ScenarioProblem {
        &self.problem
    }
}

/// A problem on its way up, with the number of the event it was found in.
#[derive(Debug)]
pub(super) struct LocatedProblem {
    event: Option<usize>,
    problem: ScenarioProblem,
}

impl From<ScenarioProblem> for LocatedProblem {
    fn from(problem: ScenarioProblem) -> Self {
        Self {
            event: None,
            problem,
        }
    }
}

impl LocatedProblem {
    pub(super) fn in_event(number: usize, problem: ScenarioProblem) -> Self {
        Self {
            event: Some(number),
            problem,
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((number, name)) = &self.scenario {
            write!(f, "scenario {number}")?;
            if let Some(name) = name {
                write!(f, " \"{name}\"")?;
            }
            if let Some(event) = self.event {
                write!(f, ", event {event}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}", self.problem)
    }
}
