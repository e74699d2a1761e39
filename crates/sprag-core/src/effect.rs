//! Effects: what a call destroys, how far that reaches, and which program does it.
//!
//! Core defines the words only. What reads commands and SQL is given to the digester as an
//! [`EffectReader`], so that the engine needs no parser and an embedder may leave it out.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::observation::Hints;
use crate::policy::DestructiveLimits;

/// The most effects of one call that are kept, those with the widest reach first.
pub const MAX_EFFECTS: usize = 16;

/// What happens to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Files, rows, branches or things behind an API are removed.
    Delete,
    /// Changes are thrown away, or history or data is overwritten.
    Reset,
    /// A table, a schema, a database or a part of one is dropped.
    Drop,
    /// Infrastructure is taken down.
    Destroy,
    /// A device or a file system is overwritten.
    Format,
}

impl Verb {
    /// The verb as a person says it: "removes", "drops".
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Delete => "removes",
            Self::Reset => "resets",
            Self::Drop => "drops",
            Self::Destroy => "destroys",
            Self::Format => "overwrites",
        }
    }
}

words! {
    "reach",
    /// How far the loss reaches; the later, the worse.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Reach {
        /// Build outputs, caches, temporary places, test databases, dry runs: nothing is lost.
        Scratch = "scratch",
        /// Files below the project's root.
        Workspace = "workspace",
        /// Local paths elsewhere.
        Outside = "outside",
        /// What others use too: databases, remote files, clusters, clouds.
        Shared = "shared",
        /// A whole place where data lives goes at once.
        Sweeping = "sweeping",
    }
}

/// One thing that a call destroys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What happens.
    pub verb: Verb,
    /// How far it reaches.
    pub reach: Reach,
    /// It is sweeping on `/`, a home, a system directory or a device: nobody is asked.
    pub vital: bool,
    /// It can be replaced: a pod, an image, an unprotected branch, rows picked by a condition.
    pub replaceable: bool,
    /// Program and subcommand, without values.
    pub by: Box<str>,
    /// What is destroyed: a path below the root or an absolute one, a table, a resource.
    pub target: Box<str>,
}

/// One thing that a call destroys, as an observation keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedEffect {
    /// What happens.
    pub verb: Verb,
    /// How far it reaches, before the policy has a say.
    pub reach: Reach,
    /// It is sweeping on `/`, a home, a system directory or a device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vital: bool,
    /// It can be replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaceable: bool,
    /// Program and subcommand, without values.
    pub by: Box<str>,
    /// The digest of the target.
    pub target: Digest,
    /// The target in clear, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<str>>,
}

impl ObservedEffect {
    /// How far it reaches in the project at `root` under a policy's `scratch`, `protected` and `allow`.
    /// None of them lifts a vital effect.
    #[must_use]
    pub fn reach_under(&self, limits: &DestructiveLimits, root: Option<&str>) -> Reach {
        if self.vital {
            return Reach::Sweeping;
        }
        let names = |globs: &[crate::glob::Glob]| {
            let text = self.text.as_deref().unwrap_or_default();
            globs.iter().any(|glob| lies_below(text, glob))
        };
        if self.reach != Reach::Scratch && names(&limits.protected) {
            return Reach::Sweeping;
        }
        let allowed = limits.allow.iter().any(|entry| {
            let (command, place) = allowed_command(entry);
            let rest = self.by.strip_prefix(command);
            let here = place.is_none_or(|place| Some(place) == root);
            here && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        if allowed || names(&limits.scratch) {
            return Reach::Scratch;
        }
        self.reach
    }

    /// "removes `data` (workspace)".
    #[must_use]
    pub fn in_words(&self) -> String {
        let text = self.text.as_deref().unwrap_or("something");
        format!("{} `{text}` ({})", self.verb.phrase(), self.reach.as_str())
    }
}

/// How many effects of one call are put into words.
const MAX_IN_WORDS: usize = 3;

/// What `effects` lose, for a line that a person reads: "removes `data` (workspace)". Scratch is left out.
#[must_use]
pub fn effects_in_words(effects: &[ObservedEffect]) -> Vec<String> {
    let lost = || {
        effects
            .iter()
            .filter(|effect| effect.reach != Reach::Scratch)
    };
    let mut words: Vec<String> = lost()
        .take(MAX_IN_WORDS)
        .map(ObservedEffect::in_words)
        .collect();
    let more = lost().count().saturating_sub(MAX_IN_WORDS);
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words
}

/// An entry of `destructive.allow`: the command, and the folder of the project if it is for one only, as in
/// `terraform destroy in /srv/app`.
fn allowed_command(entry: &str) -> (&str, Option<&str>) {
    match entry.find(IN_PROJECT) {
        // The path keeps its first character.
        Some(at) => {
            let place = entry.get(at + IN_PROJECT.len() - 1..).unwrap_or_default();
            (
                entry.get(..at).unwrap_or_default(),
                Some(place.trim_end_matches('/')),
            )
        }
        None => (entry, None),
    }
}

/// What stands between a command and the project for which it is allowed.
const IN_PROJECT: &str = " in /";

/// The entry of `destructive.allow` for a command in the project at `root` only; none if `root` is not an
/// absolute path.
#[must_use]
pub fn allowed_in(command: &str, root: &str) -> Option<String> {
    root.starts_with('/')
        .then(|| format!("{command} in {root}"))
}

/// Whether a path, or a folder above it, matches `glob`.
fn lies_below(path: &str, glob: &crate::glob::Glob) -> bool {
    let mut ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .filter(|at| *at > 0);
    glob.matches(path) || ends.any(|end| path.get(..end).is_some_and(|above| glob.matches(above)))
}

/// What was read from one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The effects, the widest reach first, at most [`MAX_EFFECTS`].
    pub list: Vec<Effect>,
    /// There was a command or SQL text that could not be parsed: it has no effects.
    pub unparsed: bool,
    /// A command in it gives the guard orders, or changes its store or its hooks.
    pub orders_guard: bool,
    /// How far the paths among the arguments reach, the farthest of them; none without a known folder.
    pub path: Option<Reach>,
}

/// A tool call as an [`EffectReader`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct CallText<'c> {
    /// The server that offers the tool.
    pub server: Option<&'c str>,
    /// The tool's bare name.
    pub tool: &'c str,
    /// Its arguments, as JSON text.
    pub args: &'c str,
    /// What the server claims about the tool.
    pub hints: Hints,
    /// The folder in which it runs.
    pub cwd: Option<&'c str>,
    /// The project's folder.
    pub root: Option<&'c str>,
}

/// Reads from a call what it destroys.
pub trait EffectReader: Send + Sync + std::fmt::Debug {
    /// The effects of `call`. Pure and bounded: the same call has the same effects everywhere.
    fn effects(&self, call: &CallText<'_>) -> Effects;
}
