//! What is wrong with a policy, reported so that it can be fixed at once.
//!
//! A policy that is refused leaves the old one in force, so the person who wrote it has to find
//! the mistake quickly: every mistake of a file is reported in one go, each with its key, its line,
//! what would be right and, if a name is close to a known one, that name.

use std::fmt;

use super::document::Position;

/// How many mistakes are reported in full; the others are only counted.
const MAX_REPORTED: usize = 50;

/// How much of a text from the file is repeated in a message.
const MAX_CHARS: usize = 60;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// The path in the policy: `flow.max_depth`, `override[2].agent`. Empty for the file as a whole.
    pub key: String,
    /// The line, from 1; none for a policy that came without a text.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub problem: PolicyProblem,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

/// What can be wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyProblem {
    /// The text is neither TOML nor JSON.
    #[error("{0}")]
    Syntax(String),
    /// The text is longer than a policy may be.
    #[error("a policy has at most {max} bytes, this one has {found}")]
    TooLong {
        /// What is allowed.
        max: usize,
        /// What there is.
        found: usize,
    },
    /// The text is short enough, but what its globs stand for is not.
    #[error("written out in full this policy has {found} bytes; {max} is the most")]
    TooLongInFull {
        /// What is allowed.
        max: usize,
        /// What there is.
        found: usize,
    },
    /// Tables in tables in tables.
    #[error("nested too deep")]
    TooDeep,
    /// A name that no policy has.
    #[error("no such key")]
    UnknownKey,
    /// A dotted name in quotes, which is one name and not a path.
    #[error(
        "a dotted name in quotes is one key; write it without quotes, in JSON as nested objects"
    )]
    QuotedPath,
    /// A key that only stands at the top level of a policy.
    #[error("can't be set in an override")]
    NotInOverride,
    /// A key that stands twice.
    #[error("set twice")]
    Twice,
    /// A rule that does not exist.
    #[error("no such rule")]
    UnknownRule,
    /// A glob that stands for no rule.
    #[error("matches no rule")]
    MatchesNoRule,
    /// A rule id that was split by its dot.
    #[error("write the whole rule id in quotes: \"{0}\"")]
    UnquotedRule(String),
    /// The kill gate.
    #[error("has no mode: a killed session stays killed until an operator resets it")]
    NoMode,
    /// A rule that judges no calls.
    #[error(
        "judges no calls, so there is nothing to ask about; use \"enforce\", \"shadow\" or \"off\""
    )]
    CannotAsk,
    /// A value of another kind or out of range.
    #[error("must be {expected}, not {found}")]
    Wrong {
        /// What is allowed.
        expected: String,
        /// What there is.
        found: String,
    },
    /// A warning that would come after what it warns of.
    #[error("{value} is more than `{than}` ({bound}), so the warning would come too late")]
    WarnsLate {
        /// The warning's count.
        value: u32,
        /// The other key.
        than: &'static str,
        /// Its count.
        bound: u32,
    },
    /// Something that would come before its warning.
    #[error("{value} is less than `{than}` ({bound}), so the warning would come too late")]
    ComesBeforeWarning {
        /// The count.
        value: u32,
        /// The warning's key.
        than: &'static str,
        /// Its count.
        bound: u32,
    },
    /// A key that must be there.
    #[error("needs {0}")]
    Missing(&'static str),
    /// A list that is too long.
    #[error("has {found} entries; {max} is the most")]
    TooMany {
        /// What is allowed.
        max: usize,
        /// What there is.
        found: usize,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}", self.problem)?;
        match &self.suggestion {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a policy: one mistake or more, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyErrors {
    reported: Vec<PolicyError>,
    unreported: usize,
}

impl PolicyErrors {
    /// The mistakes; of very many the first.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyError> {
        self.reported.iter()
    }

    /// How many there are; never zero.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.reported.len() + self.unreported
    }

    /// For showing, one line for each, with the name of the file: `policy.toml:12: flow.…`.
    #[must_use]
    pub fn display<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        InFile { errors: self, file }
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        InFile {
            errors: self,
            file: "policy",
        }
        .fmt(f)
    }
}

impl std::error::Error for PolicyErrors {}

struct InFile<'a> {
    errors: &'a PolicyErrors,
    file: &'a str,
}

impl fmt::Display for InFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.reported.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            match error.line {
                Some(line) => write!(f, "{}:{line}: {error}", self.file)?,
                None => write!(f, "{}: {error}", self.file)?,
            }
        }
        match self.errors.unreported {
            0 => Ok(()),
            more => write!(f, "\n{}: and {more} more", self.file),
        }
    }
}

/// Mistakes while a policy is read.
#[derive(Debug, Default)]
pub(super) struct ErrorList {
    found: Vec<PolicyError>,
    unreported: usize,
}

impl ErrorList {
    pub(super) fn push(&mut self, key: &str, place: Option<Position>, problem: PolicyProblem) {
        self.suggest(key, place, problem, || None);
    }

    /// With the name that was probably meant, looked for only if it is reported.
    pub(super) fn suggest(
        &mut self,
        key: &str,
        place: Option<Position>,
        problem: PolicyProblem,
        meant: impl FnOnce() -> Option<String>,
    ) {
        if self.found.len() >= MAX_REPORTED {
            self.unreported += 1;
            return;
        }
        self.found.push(PolicyError {
            key: short(key),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            problem,
            suggestion: meant(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The mistakes in the order of the text, if there are any.
    pub(super) fn finish(mut self) -> Result<(), PolicyErrors> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|error| (error.line, error.column));
        Err(PolicyErrors {
            reported: self.found,
            unreported: self.unreported,
        })
    }
}

/// A text of the file for a message: not too long, and nothing in it that a terminal obeys.
pub(super) fn short(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MAX_CHARS)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
