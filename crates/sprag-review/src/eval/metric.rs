//! The questions that are asked of every run, and which answer is wished for.
//!
//! Each is a yes or no about one run, among the runs that it can be asked of. So every figure is a
//! plain "so many of so many", and the runs behind it can be named.
//!
//! A success that looped after it had solved its task (a reader's runaway with outcome 1) may well be
//! warned and stopped, so it is not among the successes that must not be.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sprag_core::RuleId;

use super::label::{Label, ReaderVerdict, RepetitionKind};
use super::run::EvalRun;

/// What the answer should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// As many as can be.
    Many,
    /// None, or few.
    Few,
    /// Neither is good or bad in itself.
    Either,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $want:ident, $text:literal;)+) => {
        /// A question about a run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric { $($(#[doc = $doc])* $variant,)+ }

        impl Metric {
            /// Every question, in the order in which they are told.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word that people write.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it asks, in a few words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// What the answer should be.
            #[must_use]
            pub const fn want(self) -> Want {
                match self { $(Self::$variant => Want::$want,)+ }
            }
        }
    };
}

metrics! {
    /// Successes with tool calls that were stopped before their last call.
    FalseStops = "false_stops", Few, "successes stopped before their last call";
    /// Runs that ended in a loop.
    Loops = "loops", Many, "terminal loops stopped";
    /// Runs that ended in a loop, with at least one call saved.
    LoopsSaved = "loops_saved", Many, "terminal loops stopped before their last call";
    /// Runs that ended in a loop of at least 20 repetitions.
    LongLoops = "long_loops", Many, "terminal loops of 20 repetitions and more, stopped";
    /// Runs that ended in the same call, whose results changed.
    CallLoops = "call_loops", Either, "runs that ended in one call with changing results, stopped";
    /// Runs that a reader took for runaways.
    Runaways = "runaways", Many, "reader's runaways stopped";
    /// Runs that a reader took for work.
    Legit = "legit", Few, "reader's legitimate runs stopped";
    /// Runs that nothing could have saved.
    DeadEnv = "dead_env", Either, "dead environments stopped";
    /// Successes with tool calls that were warned or stopped.
    WarnedSuccesses = "warned_successes", Few, "successes warned";
    /// Runs that were warned or stopped.
    Warned = "warned", Either, "all runs warned";
    /// Runs that people labelled as repeating steps.
    Repetition = "repetition", Many, "warned where people saw steps repeated";
    /// Runs that people labelled as not repeating steps.
    NoRepetition = "no_repetition", Few, "warned where people saw none repeated";
    /// Runs that people annotated as abusing resources.
    Abuse = "abuse", Many, "warned where people saw resources abused";
    /// Runs without such an annotation.
    NoAbuse = "no_abuse", Few, "warned where people saw none abused";
    /// Labelled repetition without recorded results, by `call.repeat`.
    Repeat = "repeat", Many, "call.repeat where people saw steps repeated, no results recorded";
    /// The others without recorded results.
    NoRepeat = "no_repeat", Few, "call.repeat where people saw none repeated, no results recorded";
    /// Agents that repeat their message, by `flow.echo`.
    Echo = "echo", Many, "flow.echo where one agent repeats its message";
    /// Other runs with messages.
    NoEcho = "no_echo", Few, "flow.echo in other runs with messages";
}

/// So many repetitions are a loop at any pace.
const LONG_LOOP: u64 = 20;

impl Metric {
    /// Whether it can be asked of this run.
    #[must_use]
    pub fn asks(self, label: &Label, run: &EvalRun) -> bool {
        let has_calls = !run.calls.is_empty();
        let repetition = label.human_step_repetition.as_deref();
        let abuse = label.annotated_resource_abuse.as_ref();
        let unreported = has_calls && !run.has_steps;
        match self {
            Self::FalseStops | Self::WarnedSuccesses => label.is_good() && has_calls,
            Self::Loops | Self::LoopsSaved => label.kind == RepetitionKind::TerminalLoop,
            Self::LongLoops => {
                label.kind == RepetitionKind::TerminalLoop
                    && label.reps.is_some_and(|reps| reps >= LONG_LOOP)
            }
            Self::CallLoops => label.kind == RepetitionKind::TerminalLoopCall,
            Self::Runaways => label.read_as(&[ReaderVerdict::Runaway]),
            Self::Legit => label.read_as(&[
                ReaderVerdict::Legit,
                ReaderVerdict::Recovered,
                ReaderVerdict::Wasteful,
            ]),
            Self::DeadEnv => label.read_as(&[ReaderVerdict::DeadEnv]),
            Self::Warned => true,
            Self::Repetition => repetition == Some("yes"),
            Self::NoRepetition => repetition == Some("no"),
            Self::Abuse => abuse.is_some_and(|steps| !steps.is_empty()),
            Self::NoAbuse => abuse.is_some_and(Vec::is_empty),
            Self::Repeat => repetition == Some("yes") && unreported,
            Self::NoRepeat => repetition == Some("no") && unreported,
            Self::Echo => label.kind == RepetitionKind::Pingpong,
            Self::NoEcho => label.kind != RepetitionKind::Pingpong && run.has_messages,
        }
    }

    /// The answer for a run that it can be asked of.
    #[must_use]
    pub fn hit(self, run: &EvalRun) -> bool {
        match self {
            Self::FalseStops | Self::LoopsSaved => run.stopped_early(),
            Self::Loops
            | Self::LongLoops
            | Self::CallLoops
            | Self::Runaways
            | Self::Legit
            | Self::DeadEnv => run.stop.is_some(),
            Self::WarnedSuccesses
            | Self::Warned
            | Self::Repetition
            | Self::NoRepetition
            | Self::Abuse
            | Self::NoAbuse => run.noticed(),
            Self::Repeat | Self::NoRepeat => run.noticed_by(RuleId::CallRepeat),
            Self::Echo | Self::NoEcho => run.noticed_by(RuleId::FlowEcho),
        }
    }

    /// Whether an answer is the one that is not wished for.
    #[must_use]
    pub const fn is_wrong(self, hit: bool) -> bool {
        match self.want() {
            Want::Many => !hit,
            Want::Few => hit,
            Want::Either => false,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A name that is no metric's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no metric `{name}`; there are {}", all())]
pub struct UnknownMetric {
    name: String,
}

fn all() -> String {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.as_str()).collect();
    names.join(", ")
}

impl FromStr for Metric {
    type Err = UnknownMetric;
    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        let metric = Self::ALL.iter().find(|metric| metric.as_str() == text);
        metric.copied().ok_or_else(|| UnknownMetric {
            name: text.to_owned(),
        })
    }
}
