//! What the digester guesses of a call and of its answer.

use serde::{Deserialize, Serialize};

/// What a call is for, guessed by the digester from names and commands; the policy may override it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Looks at something: asking again without any change in between brings nothing.
    Read,
    /// Asks whether something is ready: asking again later is the point.
    Poll,
    /// Changes something.
    Change,
    /// Runs something whose result may differ.
    #[default]
    Run,
}

/// What an answer is like, judged by the digester from its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Says something of its own.
    #[default]
    Telling,
    /// Says that something failed.
    Failure,
    /// Says that nothing was found.
    Empty,
    /// Says only that it was done.
    Done,
    /// Says nothing.
    Silent,
}
