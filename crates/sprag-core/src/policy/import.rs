//! Limits that people already have elsewhere, as a policy.
//!
//! Moving to Sprag should not mean to find every number again. Three kinds of files are known by
//! their keys; each becomes the TOML that means the same, with a note for every key on what it
//! became or why it was left out, so that nothing is lost in silence.

mod report;

use std::fmt::Write as _;

use serde_json::{Map, Value};

pub use report::{ImportError, ImportNote};

use super::MAX_POLICY_BYTES;
use super::key::PolicyKey;
use super::setting::SettingKind;
use crate::time::Millis;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// `.caco/recursion-limits.json`.
    RecursionLimits,
    /// A `settings.json` with `protection.*`.
    Protection,
    /// `{"max_deletes": …, "window_s": …}`.
    Deletes,
}

/// A policy made from another tool's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// What the file was.
    pub kind: ImportKind,
    /// The policy.
    pub toml: String,
    /// What became of each key, in the order of their names.
    pub notes: Vec<ImportNote>,
}

/// A key of another tool, and what it is here.
struct Mapping {
    kind: ImportKind,
    from: &'static str,
    to: &'static str,
}

macro_rules! mappings {
    ($($kind:ident { $($from:literal => $to:literal,)+ })+) => {
        const MAPPINGS: &[Mapping] = &[$($(Mapping {
            kind: ImportKind::$kind,
            from: $from,
            to: $to,
        },)+)+];
    };
}

mappings! {
    RecursionLimits {
        "maxDepth" => "flow.max_depth",
        "maxStackDepth" => "flow.max_depth",
        "maxUniqueSessions" => "flow.max_sessions",
        "maxTotalCalls" => "flow.max_calls",
        "maxCallsPerMinute" => "flow.max_calls_per_minute",
        "maxDuration" => "flow.max_duration",
        "maxRevisits" => "flow.max_revisits",
    }
    Protection {
        "protection.max_agent_messages_per_minute" => "inbox.max_messages_per_minute",
        "protection.max_chain_depth" => "conversation.max_messages",
    }
    Deletes {
        "max_deletes" => "destructive.max_calls",
        "window_s" => "destructive.window",
    }
}

/// Whom imported limits are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ImportScope {
    /// Everyone: the policy's own sections.
    #[default]
    Everyone,
    /// Sessions that this name or glob fits: an `[[override]]`.
    Session(String),
    /// Agents that this name or glob fits: an `[[override]]`.
    Agent(String),
}

impl ImportScope {
    /// What stands before the sections, and before the name of each.
    fn start(&self) -> (String, &'static str) {
        let (key, name) = match self {
            Self::Everyone => return (String::new(), ""),
            Self::Session(name) => ("session", name),
            Self::Agent(name) => ("agent", name),
        };
        // A JSON string is a TOML string too.
        let name = Value::from(name.as_str());
        (format!("[[override]]\n{key} = {name}\n"), "override.")
    }
}

/// Makes a policy from a file of another tool. Without a `kind`, its keys decide what it is.
///
/// # Errors
/// Returns an error if it is not JSON, has none of the known keys, or has a value that can't be a
/// limit.
pub fn from_json(
    text: &str,
    kind: Option<ImportKind>,
    scope: &ImportScope,
) -> Result<Imported, ImportError> {
    let (max, found) = (MAX_POLICY_BYTES, text.len());
    if found > max {
        return Err(ImportError::TooLong { max, found });
    }
    let document =
        serde_json::from_str(text).map_err(|error| ImportError::Syntax(error.to_string()))?;
    let Value::Object(document) = document else {
        return Err(ImportError::NoObject);
    };
    let keys = flat(&document);
    let known = |mapping: &&Mapping| {
        kind.is_none_or(|kind| kind == mapping.kind)
            && keys.iter().any(|(key, _)| key == mapping.from)
    };
    let kind = MAPPINGS
        .iter()
        .find(known)
        .ok_or(ImportError::Unknown)?
        .kind;
    let mut import = Import::default();
    for (from, value) in &keys {
        import.key(kind, from, value)?;
    }
    Ok(Imported {
        kind,
        toml: import.toml(scope),
        notes: import.notes,
    })
}

/// The keys of the file; those under `protection` by their full name, however it is written.
fn flat(document: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut keys = Vec::new();
    for (name, value) in document {
        match value {
            Value::Object(inner) if name == "protection" => {
                keys.extend(
                    inner
                        .iter()
                        .map(|(key, value)| (format!("{name}.{key}"), value)),
                );
            }
            _ => keys.push((name.clone(), value)),
        }
    }
    keys
}

#[derive(Default)]
struct Import {
    /// The key of the policy, its number, and the index of its note.
    settings: Vec<(&'static PolicyKey, u64, usize)>,
    notes: Vec<ImportNote>,
}

impl Import {
    fn key(&mut self, kind: ImportKind, from: &str, value: &Value) -> Result<(), ImportError> {
        let mut same = MAPPINGS.iter().filter(|mapping| mapping.kind == kind);
        let mapping = same.find(|mapping| mapping.from == from);
        let from = from.to_owned();
        let Some(key) = mapping.and_then(|mapping| PolicyKey::find(mapping.to)) else {
            self.notes.push(ImportNote::Ignored { from });
            return Ok(());
        };
        let Some(found) = value.as_u64().filter(|found| *found > 0) else {
            let found = super::error::short(&value.to_string());
            return Err(ImportError::Value { key: from, found });
        };
        let to = key.name();
        let at = self.notes.len();
        match self
            .settings
            .iter_mut()
            .find(|(other, ..)| other.name() == to)
        {
            Some((_, number, _)) if *number <= found => {
                self.notes.push(ImportNote::Overruled { from, to });
                return Ok(());
            }
            Some((_, number, told)) => {
                *number = found;
                if let Some(
                    ImportNote::Mapped { from, to, .. } | ImportNote::Lowered { from, to, .. },
                ) = self.notes.get(*told).cloned()
                    && let Some(note) = self.notes.get_mut(*told)
                {
                    *note = ImportNote::Overruled { from, to };
                }
                *told = at;
            }
            None => self.settings.push((key, found, at)),
        }
        let (number, value) = number_and_text(key, found);
        self.notes.push(if number < found {
            ImportNote::Lowered {
                from,
                to,
                value,
                found,
            }
        } else {
            ImportNote::Mapped { from, to, value }
        });
        Ok(())
    }

    fn toml(&self, scope: &ImportScope) -> String {
        let (mut text, prefix) = scope.start();
        if self
            .settings
            .iter()
            .any(|(key, ..)| key.name() == "flow.max_revisits")
        {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(
                text,
                "{gap}[{prefix}rules]\n\"flow.revisits\" = \"enforce\""
            );
        }
        let mut section = "";
        for key in super::KEYS {
            let found = self
                .settings
                .iter()
                .find(|(set, ..)| set.name() == key.name());
            let Some((_, number, _)) = found else {
                continue;
            };
            if section != key.section() {
                section = key.section();
                let gap = if text.is_empty() { "" } else { "\n" };
                let _ = writeln!(text, "{gap}[{prefix}{section}]");
            }
            let (_, value) = number_and_text(key, *number);
            let name = key.name().rsplit('.').next().unwrap_or_default();
            let _ = writeln!(text, "{name} = {value}");
        }
        text
    }
}

/// A number brought down to what the key allows, and as it is written; times are in seconds.
fn number_and_text(key: &PolicyKey, found: u64) -> (u64, String) {
    match key.kind {
        SettingKind::Count { max } => {
            let number = found.min(u64::from(max));
            (number, number.to_string())
        }
        _ => {
            let seconds = found.min(Millis::DAY.0 / Millis::SECOND.0);
            (
                seconds,
                format!("\"{}\"", Millis(seconds * Millis::SECOND.0)),
            )
        }
    }
}

#[cfg(test)]
mod tests;
