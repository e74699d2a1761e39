//! The limits that can be tuned from a history, and which settings are tried.
//!
//! A grid is small on purpose: a person reads it, and the difference between 17 and 18 is noise. The
//! setting in force is always among those tried.

use serde_json::{Value, json};
use sprag_core::{Limits, RuleId};

/// What a rule needs to see before it can fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Messages,
    Calls,
    Steps,
    /// Calls whose results nobody reports.
    CallsAlone,
}

/// How a setting is written in a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingForm {
    /// A number.
    Count,
    /// A duration; settings are seconds.
    Seconds,
    /// A pair `{ warn, … }`; settings are when it refuses, and the warning comes at three fifths.
    Warns(&'static str),
}

/// A limit that can be tuned.
#[derive(Debug)]
pub struct Knob {
    /// The rule that it belongs to.
    pub rule: RuleId,
    /// Its key in a policy: `flow.max_depth`, `progress.stuck`.
    pub key: &'static str,
    pub(super) needs: Needs,
    form: SettingForm,
    settings: &'static [u32],
    current: fn(&Limits) -> u32,
}

impl Knob {
    /// What is in force.
    #[must_use]
    pub fn current(&self, limits: &Limits) -> u32 {
        (self.current)(limits)
    }

    /// What is tried, the tightest first.
    #[must_use]
    pub fn settings(&self, limits: &Limits) -> Vec<u32> {
        let mut settings = self.settings.to_vec();
        settings.push(self.current(limits));
        settings.sort_unstable();
        settings.dedup();
        settings
    }

    /// A setting as it stands in a policy.
    #[must_use]
    pub fn value(&self, setting: u32) -> Value {
        match self.form {
            SettingForm::Count => json!(setting),
            SettingForm::Seconds => json!(format!("{setting}s")),
            SettingForm::Warns(refuses) => json!({ "warn": warn_at(setting), refuses: setting }),
        }
    }

    /// A setting as a line of a policy in TOML.
    #[must_use]
    pub fn line(&self, setting: u32) -> String {
        let value = match self.form {
            SettingForm::Count => setting.to_string(),
            SettingForm::Seconds => format!("\"{setting}s\""),
            SettingForm::Warns(refuses) => {
                format!("{{ warn = {}, {refuses} = {setting} }}", warn_at(setting))
            }
        };
        format!("{} = {value}", self.key)
    }
}

fn warn_at(refuses: u32) -> u32 {
    refuses.saturating_mul(3).div_ceil(5)
}

macro_rules! knobs {
    ($($rule:ident, $key:literal, $needs:ident, $form:expr, [$($setting:literal),+], $current:expr;)+) => {
        /// Every limit that can be tuned, in the order of the rules.
        pub static KNOBS: &[Knob] = &[$(Knob {
            rule: RuleId::$rule,
            key: $key,
            needs: Needs::$needs,
            form: $form,
            settings: &[$($setting),+],
            current: $current,
        }),+];
    };
}

const BLOCK: SettingForm = SettingForm::Warns("block");

knobs! {
    FlowDepth, "flow.max_depth", Messages, SettingForm::Count, [2, 3, 4, 5, 6, 8, 12], |l| l.flow.max_depth.get();
    FlowSessions, "flow.max_sessions", Messages, SettingForm::Count, [2, 3, 5, 10, 15, 25], |l| l.flow.max_sessions.get();
    FlowDuration, "flow.max_duration", Messages, SettingForm::Seconds, [60, 120, 300, 900, 3600], |l| seconds(l.flow.max_duration);
    FlowRate, "flow.max_calls_per_minute", Messages, SettingForm::Count, [5, 10, 20, 40, 80], |l| l.flow.max_calls_per_minute.get();
    FlowTotal, "flow.max_calls", Messages, SettingForm::Count, [10, 25, 50, 100, 200, 400], |l| l.flow.max_calls.get();
    FlowChatter, "flow.chatter", Messages, SettingForm::Count, [4, 6, 10, 20], |l| l.flow.chatter.get();
    FlowEcho, "flow.echo", Messages, SettingForm::Warns("deny"), [3, 4, 5, 8, 12], |l| l.flow.echo.deny.get();
    FlowUnattended, "flow.max_unattended", Messages, SettingForm::Count, [25, 50, 100, 200, 400], |l| l.flow.max_unattended.get();
    InboxRate, "inbox.max_messages_per_minute", Messages, SettingForm::Count, [3, 5, 10, 20, 40], |l| l.inbox.max_messages_per_minute.get();
    ConversationLength, "conversation.max_messages", Messages, SettingForm::Count, [5, 10, 20, 40], |l| l.conversation.max_messages.get();
    CallIdentical, "call.max_identical", Calls, SettingForm::Count, [3, 5, 10, 20, 40], |l| l.call.max_identical.get();
    CallRepeat, "call.repeat", CallsAlone, SettingForm::Count, [3, 4, 6, 10], |l| l.call.repeat.get();
    DestructiveVolume, "destructive.max_calls", Calls, SettingForm::Count, [2, 3, 5, 10, 25, 50], |l| l.destructive.max_calls.get();
    DestructiveTarget, "destructive.max_same_target", Calls, SettingForm::Count, [1, 2, 3, 5], |l| l.destructive.max_same_target.get();
    ProgressStagnation, "progress.stagnation", Steps, BLOCK, [3, 4, 5, 7, 10], |l| l.progress.stagnation.block.get();
    ProgressStuck, "progress.stuck", Steps, BLOCK, [4, 6, 8, 12, 16], |l| l.progress.stuck.block.get();
    ProgressStuck, "progress.empty", Steps, BLOCK, [6, 10, 15, 25], |l| l.progress.empty.block.get();
    ProgressRecurrence, "progress.recurrence", Steps, BLOCK, [5, 7, 10, 15], |l| l.progress.recurrence.block.get();
    ProgressChurn, "progress.churn", Steps, BLOCK, [4, 5, 7, 10], |l| l.progress.churn.block.get();
    ProgressProbe, "progress.probe", Steps, BLOCK, [20, 40, 80], |l| l.progress.probe.block.get();
    BudgetActions, "budget.actions", Calls, SettingForm::Count, [50, 100, 200, 500, 2000], |l| l.budget.actions;
}

fn seconds(span: sprag_core::Millis) -> u32 {
    u32::try_from(span.0 / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag_core::Policy;

    #[test]
    fn every_setting_that_is_tried_is_a_policy() {
        let limits = Limits::default();
        for knob in KNOBS {
            for setting in knob.settings(&limits) {
                let line = knob.line(setting);
                let policy = Policy::from_toml(&line).expect(&line);
                assert_eq!(knob.current(policy.base()), setting, "{line}");
                let (table, key) = knob.key.split_once('.').expect("a table");
                let value = json!({ table: { key: knob.value(setting) } });
                assert_eq!(Policy::from_value(&value).expect(&line), policy, "{line}");
            }
        }
    }

    #[test]
    fn what_is_in_force_is_tried_once() {
        let policy = Policy::from_toml("flow.max_depth = 7").unwrap();
        let settings = KNOBS[0].settings(policy.base());
        assert_eq!(settings, [2, 3, 4, 5, 6, 7, 8, 12]);
        assert_eq!(
            KNOBS[0].settings(&Limits::default()),
            [2, 3, 4, 5, 6, 8, 12]
        );
    }
}
