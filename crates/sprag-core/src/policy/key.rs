//! Every key of a policy, once.
//!
//! The reader, the printer, the merge of overrides, the schema, the suggestions for misspelt names
//! and the documentation all walk this one table: a new limit is a field in [`Limits`] and a line
//! here.

use super::field::PolicyField;
use super::limit::MAX_LIMIT;
use super::limits::Limits;
use super::setting::{Setting, SettingKind};
use super::spawns::MAX_OPEN_SUB_AGENTS;
use super::write::show;

/// A key that a policy may set: `flow.max_depth`.
#[derive(Debug)]
pub struct PolicyKey {
    name: &'static str,
    doc: &'static str,
    pub(super) kind: SettingKind,
    pub(super) load: fn(&Limits) -> Setting,
    pub(super) store: fn(&mut Limits, &Setting),
}

impl PolicyKey {
    /// Its full name: `flow.echo.warn`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The table that it stands in at the top level: `flow`.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }

    /// What it is for, in one line.
    #[must_use]
    pub const fn doc(&self) -> &'static str {
        self.doc
    }

    /// The type of its value: `count`, `duration`, `flag`, `word`, `list`, `tokens`, `dollars`.
    #[must_use]
    pub const fn value_type(&self) -> &'static str {
        match self.kind {
            SettingKind::Count { .. } => "count",
            SettingKind::Span | SettingKind::Time => "duration",
            SettingKind::Flag => "flag",
            SettingKind::Word(_) => "word",
            SettingKind::Globs | SettingKind::Names => "list",
            SettingKind::Tokens => "tokens",
            SettingKind::Money => "dollars",
        }
    }

    /// What may be written: `a whole number from 1 to 4096`.
    #[must_use]
    pub fn allowed(&self) -> String {
        self.kind.expected()
    }

    /// Its default value, as it would be written.
    #[must_use]
    pub fn default_text(&self) -> String {
        show(self.kind, &(self.load)(&Limits::default()))
    }

    /// Every key, in the order in which they are written and shown.
    #[must_use]
    pub fn all() -> &'static [Self] {
        KEYS
    }

    /// The key of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The count that this warning comes before: `flow.echo.deny` for `flow.echo.warn`.
    pub(super) fn warns_before(&self) -> Option<&'static Self> {
        let begin = self.name.strip_suffix("warn")?;
        KEYS.iter().find(|key| {
            let end = key.name.strip_prefix(begin);
            matches!(end, Some("deny" | "block"))
        })
    }
}

const COUNT: SettingKind = SettingKind::Count { max: MAX_LIMIT };
const OPEN: SettingKind = SettingKind::Count {
    max: MAX_OPEN_SUB_AGENTS,
};
const SCOPES: SettingKind = SettingKind::Word(&["session", "agent"]);

macro_rules! keys {
    ($($name:literal = $section:ident $(. $field:ident)+, $kind:expr, $doc:literal;)+) => {
        /// In the order in which they are written and shown.
        pub(super) static KEYS: &[PolicyKey] = &[$(PolicyKey {
            name: $name,
            doc: $doc,
            kind: $kind,
            load: |limits| limits.$section $(. $field)+ .load(),
            store: |limits, setting| limits.$section $(. $field)+ .store(setting),
        }),+];
    };
}

keys! {
    "flow.max_depth" = flow.max_depth, COUNT, "The longest call stack, returns collapsed.";
    "flow.max_sessions" = flow.max_sessions, COUNT, "The most sessions in one flow, both ends included.";
    "flow.max_duration" = flow.max_duration, SettingKind::Span, "How long a flow may go on without anything new; as long a silence starts it afresh.";
    "flow.max_calls_per_minute" = flow.max_calls_per_minute, COUNT, "Agents' messages in one flow within 60 seconds.";
    "flow.max_calls" = flow.max_calls, COUNT, "Agents' messages in one flow.";
    "flow.max_revisits" = flow.max_revisits, COUNT, "Returns to one session; `flow.revisits` is off by default.";
    "flow.chatter" = flow.chatter, COUNT, "Warn on this message between two sessions within 60 seconds without news or a step by either.";
    "flow.echo.warn" = flow.echo.warn, COUNT, "Warn on this repetition of the same words.";
    "flow.echo.deny" = flow.echo.deny, COUNT, "Refuse this repetition, if the answers were all the same.";
    "flow.max_unattended" = flow.max_unattended, COUNT, "Agents' messages into a session since a user was last behind it.";

    "flow.spawns.warn" = flow.spawns.warn, OPEN, "Warn if a sub-agent starts another while this many of the flow are open.";
    "flow.spawns.deny" = flow.spawns.deny, OPEN, "Refuse that start while this many are open.";
    "flow.spawns.root_warn" = flow.spawns.root_warn, OPEN, "Warn if the session at the top starts one while this many are open.";
    "flow.spawns.root_deny" = flow.spawns.root_deny, OPEN, "Refuse that start while this many are open.";
    "flow.spawns.per_minute" = flow.spawns.per_minute, OPEN, "Starts within 60 seconds by two or more sub-agents together.";

    "inbox.max_messages_per_minute" = inbox.max_messages_per_minute, COUNT, "Agents' messages that arrive within 60 seconds.";
    "inbox.scope" = inbox.scope, SCOPES, "Whose inbox it is: each session's, or one for all sessions of an agent.";

    "conversation.max_messages" = conversation.max_messages, COUNT, "Agents' messages in a conversation since a user last wrote in it.";

    "access.allow" = access.allow, SettingKind::Globs, "Tools that may be called, as `server/tool` or bare tool; an empty list allows all.";
    "access.deny" = access.deny, SettingKind::Globs, "Tools that may not be called; wins over `access.allow`.";

    "call.max_identical" = call.max_identical, SettingKind::Count { max: 256 }, "Calls with the same tool and arguments in the window.";
    "call.window" = call.window, SettingKind::Span, "The window of `call.max_identical`.";
    "call.repeat" = call.repeat, COUNT, "Warn on this equal call in a row if no results are reported.";

    "destructive.tools" = destructive.tools, SettingKind::Globs, "Tools that destroy: a word of the name, or a glob on the whole name in snake case.";
    "destructive.targets" = destructive.targets, SettingKind::Names, "The arguments that name what is destroyed.";
    "destructive.max_calls" = destructive.max_calls, COUNT, "Kill on this destructive call in the window.";
    "destructive.max_same_target" = destructive.max_same_target, COUNT, "Destructive calls that one target may be in; the next one kills.";
    "destructive.window" = destructive.window, SettingKind::Span, "The window of both destructive limits.";
    "destructive.scope" = destructive.scope, SCOPES, "Count for each session, or over all sessions of an agent.";
    "destructive.trust_hints" = destructive.trust_hints, SettingKind::Flag, "Whether a server's own hint makes a tool destructive.";
    "destructive.scratch" = destructive.scratch, SettingKind::Globs, "More scratch places: what lies there may be removed freely.";
    "destructive.protected" = destructive.protected, SettingKind::Globs, "Protected places: removing anything there needs a person's approval.";
    "destructive.allow" = destructive.allow, SettingKind::Names, "Programs with their subcommand that never ask here, such as \"prisma migrate reset\"; with \" in /path\" behind them in that project only.";

    "session.max_refused" = session.max_refused, COUNT, "Block on this refused call in a row, kill on twice as many.";
    "session.human_unblocks" = session.human_unblocks, SettingKind::Flag, "Whether any message of a user lifts a block.";
    "session.rerun" = session.rerun, SettingKind::Count { max: 8 }, "Warn when this many runs of a task within 24 hours did the same with the same results.";

    "progress.classifier" = progress.classifier, SettingKind::Word(&["informed", "plain"]), "How steps are judged: with an idea of what counts as new, or on exact digests.";
    "progress.stagnation.warn" = progress.stagnation.warn, COUNT, "Warn at this streak of repeated approaches with unchanged outcomes.";
    "progress.stagnation.block" = progress.stagnation.block, COUNT, "Block at this streak.";
    "progress.stuck.warn" = progress.stuck.warn, COUNT, "Warn at this streak of new approaches with the same telling outcome.";
    "progress.stuck.block" = progress.stuck.block, COUNT, "Block at this streak.";
    "progress.empty.warn" = progress.empty.warn, COUNT, "Warn at this streak of new approaches with the same empty finding.";
    "progress.empty.block" = progress.empty.block, COUNT, "Block at this streak.";
    "progress.recurrence.warn" = progress.recurrence.warn, COUNT, "Warn when one approach came back this often with an unchanged outcome.";
    "progress.recurrence.block" = progress.recurrence.block, COUNT, "Block at this count.";
    "progress.churn.warn" = progress.churn.warn, COUNT, "Warn when the same change was made this often.";
    "progress.churn.block" = progress.churn.block, COUNT, "Block at this count.";
    "progress.probe.warn" = progress.probe.warn, COUNT, "Warn at this many calls in a row that only print what they are given.";
    "progress.probe.block" = progress.probe.block, COUNT, "Block at this many.";

    "output.chant" = output.chant, COUNT, "So many copies of one unit in an answer of the model are a chant; for all sessions alike.";
    "output.repeat.warn" = output.repeat.warn, COUNT, "Warn when a model said the same this often in a row.";
    "output.repeat.block" = output.repeat.block, COUNT, "Block at this many.";

    "budget.actions" = budget.actions, SettingKind::Count { max: 1_000_000 }, "Calls, messages and lone steps of a session between two words of a user.";
    "budget.strict" = budget.strict, SettingKind::Flag, "Whether the actions budget stops sessions in which no user was ever seen.";
    "budget.tokens.session" = budget.tokens.session, SettingKind::Tokens, "Tokens of one session.";
    "budget.tokens.flow" = budget.tokens.flow, SettingKind::Tokens, "Tokens of one flow, over all its sessions.";
    "budget.tokens.agent_day" = budget.tokens.agent_day, SettingKind::Tokens, "Tokens of one agent in a UTC day.";
    "budget.cost_usd.session" = budget.cost_micros.session, SettingKind::Money, "US dollars of one session.";
    "budget.cost_usd.flow" = budget.cost_micros.flow, SettingKind::Money, "US dollars of one flow, over all its sessions.";
    "budget.cost_usd.agent_day" = budget.cost_micros.agent_day, SettingKind::Money, "US dollars of one agent in a UTC day.";
    "budget.time.session" = budget.time_ms.session, SettingKind::Time, "Time since the first event of a session.";
    "budget.time.flow" = budget.time_ms.flow, SettingKind::Time, "Time since the start of a flow's chain.";
    "budget.time.agent_day" = budget.time_ms.agent_day, SettingKind::Time, "Time since the first event of an agent's UTC day.";

    "ask.expires" = ask.expires, SettingKind::Span, "How long a question to a person stays open, and how long an approval is good for.";
}

/// The tables that keys stand in, with what each is about.
pub(super) static TABLES: &[(&str, &str)] = &[
    (
        "flow",
        "Messages between agents that one user action caused.",
    ),
    ("flow.echo", "The same words again and again."),
    ("flow.spawns", "Sub-agents that have not returned."),
    ("inbox", "Messages that arrive at a session or an agent."),
    ("conversation", "Tracked conversations of several agents."),
    ("access", "Which tools may be called."),
    ("call", "The same call again and again."),
    ("destructive", "Calls that destroy something."),
    ("session", "The session as a whole."),
    ("progress", "Steps that bring nothing new."),
    (
        "progress.stagnation",
        "The same approach with the same outcome.",
    ),
    (
        "progress.stuck",
        "New approaches with the same telling outcome.",
    ),
    (
        "progress.empty",
        "New approaches with the same empty finding.",
    ),
    (
        "progress.recurrence",
        "One approach with an unchanged outcome, other work in between.",
    ),
    (
        "progress.churn",
        "The same change again, whatever it answers.",
    ),
    (
        "progress.probe",
        "Calls that only print what they are given.",
    ),
    ("output", "What models say."),
    (
        "output.repeat",
        "The same words in a row, and nothing done.",
    ),
    ("budget", "What a session, a flow or an agent may use up."),
    ("budget.tokens", "Model tokens."),
    ("budget.cost_usd", "Money, in US dollars."),
    ("budget.time", "Time."),
    ("ask", "Questions to a person."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_a_table_and_every_table_has_keys() {
        for key in KEYS {
            let (table, _) = key.name.rsplit_once('.').unwrap();
            assert!(TABLES.iter().any(|(name, _)| *name == table), "{table}");
            assert!(TABLES.iter().any(|(name, _)| *name == key.section()));
            assert!(key.doc.ends_with('.'), "{}", key.name);
        }
        for (table, _) in TABLES {
            let inside = format!("{table}.");
            assert!(
                KEYS.iter().any(|key| key.name.starts_with(&inside)),
                "{table}"
            );
        }
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = KEYS.iter().map(PolicyKey::name).collect();
        assert_eq!(names.len(), KEYS.len());
    }

    #[test]
    fn each_key_sets_a_field_of_its_own() {
        let default = Limits::default();
        for key in KEYS {
            let other = match (key.load)(&default) {
                Setting::Count(count) => Setting::Count(count + 1),
                Setting::Span(span) => Setting::Span(crate::time::Millis(span.0 + 1)),
                Setting::Flag(flag) => Setting::Flag(!flag),
                Setting::Word(word) => match key.kind {
                    SettingKind::Word(words) => {
                        Setting::Word(words.iter().find(|w| **w != word).unwrap())
                    }
                    other => panic!("{other:?}"),
                },
                Setting::Globs(_) => Setting::Globs([crate::glob::Glob::new("x")].into()),
                Setting::Names(_) => Setting::Names(["x".into()].into()),
                Setting::Amount(_) => Setting::Amount(Some(1)),
            };
            let mut limits = default.clone();
            (key.store)(&mut limits, &other);
            for checked in KEYS {
                let expected = if checked.name == key.name {
                    other.clone()
                } else {
                    (checked.load)(&default)
                };
                assert_eq!(
                    (checked.load)(&limits),
                    expected,
                    "{} {}",
                    key.name,
                    checked.name
                );
            }
        }
    }

    #[test]
    fn each_warning_knows_what_it_comes_before() {
        let pairs: Vec<_> = KEYS
            .iter()
            .filter_map(|key| Some((key.name, key.warns_before()?.name)))
            .collect();
        assert_eq!(pairs.len(), 10);
        assert!(pairs.contains(&("flow.spawns.root_warn", "flow.spawns.root_deny")));
        assert!(pairs.contains(&("flow.echo.warn", "flow.echo.deny")));
        assert!(pairs.contains(&("progress.churn.warn", "progress.churn.block")));
    }

    #[test]
    fn the_limit_of_identical_calls_is_what_a_session_keeps() {
        assert_eq!(
            PolicyKey::find("call.max_identical").unwrap().allowed(),
            "a whole number from 1 to 256"
        );
    }
}
