//! What people, benchmarks and a few simple rules said of a recorded run.
//!
//! One JSON line a run, `labels.jsonl`. Only what a metric asks for is read; other fields may come
//! and go. What nobody said is absent, which is not the same as "no".

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::error::EvalError;
use super::files::read_bytes;

/// The label of one run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Label {
    /// The run.
    pub trace: String,
    /// The collection that it is from.
    pub source: String,
    /// 1 where the benchmark called it a success, 0 where a failure.
    pub outcome: Option<u8>,
    /// Whether its times were recorded.
    #[serde(default)]
    pub time: TimeSource,
    /// What kind of repetition it holds.
    #[serde(default)]
    pub kind: RepetitionKind,
    /// The last call of the third repetition: from there on a stop is due.
    pub stuck_seq: Option<u64>,
    /// How often the loop was gone through.
    pub reps: Option<u64>,
    /// What a careful reader said.
    pub reader: Option<ReaderNote>,
    /// Whether people labelled it as repeating its steps: `yes`, `no`.
    pub human_step_repetition: Option<String>,
    /// The steps that people annotated as abuse of resources.
    pub annotated_resource_abuse: Option<Vec<u64>>,
}

/// Where the times of a run come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// They were recorded.
    #[default]
    Recorded,
    /// They were made up afterwards.
    Synthetic,
}

/// The kind of repetition in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionKind {
    /// It ended inside a loop that it never left.
    TerminalLoop,
    /// The same call to the end, though results change.
    TerminalLoopCall,
    /// One agent repeats its message.
    Pingpong,
    /// Another kind, or none.
    #[default]
    #[serde(other)]
    Other,
}

/// A careful reader's word on a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReaderNote {
    /// What it is.
    pub verdict: ReaderVerdict,
    /// Why.
    #[serde(default)]
    pub why: String,
}

/// What a reader took a run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReaderVerdict {
    /// It ran away.
    Runaway,
    /// Work.
    Legit,
    /// It was stuck and got out by itself.
    Recovered,
    /// Work with detours.
    Wasteful,
    /// Nothing it could have done would have worked.
    DeadEnv,
    /// Who knows.
    #[serde(other)]
    Unclear,
}

impl Label {
    /// The label of a run that nobody labelled.
    #[must_use]
    pub fn unknown(trace: &str, source: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            source: source.to_owned(),
            outcome: None,
            time: TimeSource::default(),
            kind: RepetitionKind::default(),
            stuck_seq: None,
            reps: None,
            reader: None,
            human_step_repetition: None,
            annotated_resource_abuse: None,
        }
    }

    /// Whether the benchmark called it a success.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.outcome == Some(1)
    }

    /// Whether it should have been left alone: a success that did not run away afterwards.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.succeeded() && !self.read_as(&[ReaderVerdict::Runaway])
    }

    /// Whether a reader took it for one of these.
    #[must_use]
    pub fn read_as(&self, verdicts: &[ReaderVerdict]) -> bool {
        let reader = self.reader.as_ref();
        reader.is_some_and(|reader| verdicts.contains(&reader.verdict))
    }
}

/// Reads `labels.jsonl`, by trace.
///
/// # Errors
/// Returns an error if the file can't be read or a line is not a label.
pub fn read_labels(path: &Path) -> Result<HashMap<String, Label>, EvalError> {
    let bytes = read_bytes(path)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .map(|(number, line)| {
            let label: Label =
                serde_json::from_slice(line).map_err(|source| EvalError::BadLabel {
                    path: path.to_owned(),
                    line: number + 1,
                    source,
                })?;
            Ok((label.trace.clone(), label))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_said_is_absent() {
        let label: Label =
            serde_json::from_str(r#"{"trace":"t","source":"s","outcome":null,"steps":3}"#).unwrap();
        assert_eq!(label, Label::unknown("t", "s"));
    }

    #[test]
    fn kinds_and_verdicts_that_no_metric_asks_for_are_taken() {
        let label: Label = serde_json::from_str(
            r#"{"trace":"t","source":"s","outcome":1,"time":"synthetic","kind":"short_repeat","onset_seq":3,
                "reader":{"verdict":"puzzling","stuck_seq":null,"why":"?"}}"#,
        )
        .unwrap();
        assert_eq!(
            (label.kind, label.time),
            (RepetitionKind::Other, TimeSource::Synthetic)
        );
        assert!(label.read_as(&[ReaderVerdict::Unclear]));
    }
}
