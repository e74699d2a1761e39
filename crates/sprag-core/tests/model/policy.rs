//! Where the model gets its limits: a policy as JSON, read without ceremony.
//!
//! Reading policies is not under test here, so this knows just what the vectors and the generator
//! write, and panics on anything else.

use std::sync::Arc;

use serde_json::{Map, Value};
use sprag_core::{
    Amounts, Classifier, Echo, Glob, Limit, Limits, Millis, Mode, RuleId, Scope, Threshold,
};

/// Gives the limits in force for a session.
pub(crate) trait LimitsFor {
    fn limits_for(&self, agent: Option<&str>, session: &str) -> Arc<Limits>;
}

/// A policy as it was written.
#[derive(Debug)]
pub(crate) struct WrittenPolicy {
    base: Arc<Limits>,
    rules: Map<String, Value>,
    overrides: Vec<Override>,
}

#[derive(Debug)]
struct Override {
    is_session: bool,
    name: Glob,
    keys: Map<String, Value>,
}

impl WrittenPolicy {
    pub(crate) fn new(policy: &Value) -> Self {
        let keys = policy.as_object().expect("a policy is an object");
        let mut overrides: Vec<Override> = keys
            .get("override")
            .and_then(Value::as_array)
            .map(|all| all.iter().map(Override::new).collect())
            .unwrap_or_default();
        // Agents' before sessions', the more specific later; the sort keeps the order of the file.
        overrides.sort_by_key(|one| (one.is_session, one.name.literal_chars()));
        let mut base = Limits::default();
        let mut rules = Map::new();
        read(keys, &mut base, &mut rules);
        set_modes(&rules, &mut base);
        Self {
            base: Arc::new(base),
            rules,
            overrides,
        }
    }
}

impl LimitsFor for WrittenPolicy {
    fn limits_for(&self, agent: Option<&str>, session: &str) -> Arc<Limits> {
        let mut merged: Option<(Limits, Map<String, Value>)> = None;
        for one in &self.overrides {
            let name = if one.is_session { Some(session) } else { agent };
            if name.is_some_and(|name| one.name.matches(name)) {
                let (limits, rules) =
                    merged.get_or_insert_with(|| ((*self.base).clone(), self.rules.clone()));
                read(&one.keys, limits, rules);
                set_modes(rules, limits);
            }
        }
        merged.map_or_else(|| Arc::clone(&self.base), |(limits, _)| Arc::new(limits))
    }
}

impl Override {
    fn new(written: &Value) -> Self {
        let keys = written.as_object().expect("an override is an object");
        // `session` names one; as a section it belongs to an agent's override.
        let is_session = keys.get("session").is_some_and(Value::is_string);
        let name = keys.get(if is_session { "session" } else { "agent" });
        Self {
            is_session,
            name: Glob::new(
                name.and_then(Value::as_str)
                    .expect("an override names whom"),
            ),
            keys: keys.clone(),
        }
    }
}

fn read(keys: &Map<String, Value>, limits: &mut Limits, rules: &mut Map<String, Value>) {
    for (section, content) in keys {
        match section.as_str() {
            "override" | "agent" | "session" if !content.is_object() => {}
            "rules" => rules.extend(object(content).clone()),
            _ => {
                for (key, value) in object(content) {
                    set(limits, &format!("{section}.{key}"), value);
                }
            }
        }
    }
}

/// The longer literal part wins; what is written beats the defaults.
fn set_modes(rules: &Map<String, Value>, limits: &mut Limits) {
    let mut written: Vec<(Glob, &Value)> = rules
        .iter()
        .map(|(pattern, mode)| (Glob::new(pattern), mode))
        .collect();
    written.sort_by_key(|(pattern, _)| pattern.literal_chars());
    for (pattern, mode) in written {
        let mode: Mode = parse(mode);
        for rule in RuleId::ALL {
            if pattern.matches(rule.as_str()) {
                limits.modes.set(*rule, mode);
            }
        }
    }
}

fn set(limits: &mut Limits, key: &str, value: &Value) {
    match key {
        "flow.max_depth" => limits.flow.max_depth = limit(value),
        "flow.max_sessions" => limits.flow.max_sessions = limit(value),
        "flow.max_duration" => limits.flow.max_duration = duration(value),
        "flow.max_calls_per_minute" => limits.flow.max_calls_per_minute = limit(value),
        "flow.max_calls" => limits.flow.max_calls = limit(value),
        "flow.max_revisits" => limits.flow.max_revisits = limit(value),
        "flow.chatter" => limits.flow.chatter = limit(value),
        "flow.echo" => {
            limits.flow.echo = Echo {
                warn: limit(&value["warn"]),
                deny: limit(&value["deny"]),
            }
        }
        "flow.max_unattended" => limits.flow.max_unattended = limit(value),
        "inbox.max_messages_per_minute" => limits.inbox.max_messages_per_minute = limit(value),
        "inbox.scope" => limits.inbox.scope = parse::<Scope>(value),
        "conversation.max_messages" => limits.conversation.max_messages = limit(value),
        "access.allow" => limits.access.allow = parse::<Vec<Glob>>(value).into(),
        "access.deny" => limits.access.deny = parse::<Vec<Glob>>(value).into(),
        "call.max_identical" => limits.call.max_identical = limit(value),
        "call.window" => limits.call.window = duration(value),
        "call.repeat" => limits.call.repeat = limit(value),
        "progress.classifier" => limits.progress.classifier = parse::<Classifier>(value),
        "progress.stagnation" => limits.progress.stagnation = threshold(value),
        "progress.stuck" => limits.progress.stuck = threshold(value),
        _ => set_rest(limits, key, value),
    }
}

fn set_rest(limits: &mut Limits, key: &str, value: &Value) {
    match key {
        "destructive.max_calls" => limits.destructive.max_calls = limit(value),
        "destructive.max_same_target" => limits.destructive.max_same_target = limit(value),
        "destructive.window" => limits.destructive.window = duration(value),
        "destructive.scope" => limits.destructive.scope = parse::<Scope>(value),
        "destructive.trust_hints" => limits.destructive.trust_hints = parse(value),
        "session.max_refused" => limits.session.max_refused = limit(value),
        "session.human_unblocks" => limits.session.human_unblocks = parse(value),
        "budget.actions" => limits.budget.actions = parse(value),
        "budget.strict" => limits.budget.strict = parse(value),
        "budget.tokens" => limits.budget.tokens = amounts(value, parse::<u64>),
        "budget.cost_usd" => limits.budget.cost_micros = amounts(value, micros),
        "budget.time" => limits.budget.time_ms = amounts(value, |span| duration(span).0),
        _ => panic!("the model's policy reader does not know `{key}`"),
    }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("a section is an object")
}

fn parse<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).expect("a value of the right type")
}

fn limit(value: &Value) -> Limit {
    parse(value)
}

fn threshold(value: &Value) -> Threshold {
    Threshold {
        warn: limit(&value["warn"]),
        block: limit(&value["block"]),
    }
}

fn amounts(value: &Value, read: fn(&Value) -> u64) -> Amounts {
    Amounts {
        session: value.get("session").map(read),
        flow: value.get("flow").map(read),
        agent_day: value.get("agent_day").map(read),
    }
}

/// Dollars as written, in millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "amounts are small and positive"
)]
fn micros(value: &Value) -> u64 {
    (value.as_f64().expect("an amount of money") * 1e6).round() as u64
}

/// `"90s"`, `"5m"`, `"250ms"`.
fn duration(value: &Value) -> Millis {
    let text = value.as_str().expect("a duration is a string");
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match text.strip_prefix(digits) {
        Some("ms") => 1,
        Some("s") => 1_000,
        Some("m") => 60_000,
        Some("h") => 3_600_000,
        _ => panic!("`{text}` is no duration"),
    };
    Millis(digits.parse::<u64>().expect("a whole number") * unit)
}
