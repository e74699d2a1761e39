//! The JSON Schema of a policy, for editors and for tools that write policies.
//!
//! It is made from the table of keys and their kinds, the same that the reader goes by, so it
//! can't promise what the reader refuses. What a schema can't express is left to the reader: that a
//! warning comes before what it warns of, and that a glob stands for some rule.

use serde_json::{Map, Value, json};

use super::key::{KEYS, PolicyKey, TABLES};
use super::mode::Mode;
use super::overrides::MAX_OVERRIDES;
use super::prices::{MAX_DOLLARS, NAMES};
use super::setting::{MAX_GLOBS, MAX_MICROS, MAX_NAMES, MAX_TEXT, MAX_TOKENS, OFF, SettingKind};
use super::tool::WORDS;
use crate::rule::RuleId;

const DURATION: &str = "^([0-9]+(d|h|m|s|ms))+$";

/// The schema, in the 2020-12 dialect.
#[must_use]
pub fn policy_schema() -> Value {
    let mut properties = Map::new();
    let mut definitions = Map::new();
    for (name, _) in TABLES.iter().filter(|(name, _)| !name.contains('.')) {
        definitions.insert((*name).to_owned(), table(name));
        properties.insert((*name).to_owned(), reference(name));
    }
    definitions.insert("rules".to_owned(), rules_table());
    definitions.insert("glob".to_owned(), text());
    definitions.insert("tool".to_owned(), tool_table());
    properties.insert("rules".to_owned(), reference("rules"));
    definitions.insert("override".to_owned(), override_table(&properties));
    definitions.insert("prices".to_owned(), prices_table());
    properties.insert("prices".to_owned(), reference("prices"));
    properties.insert("tool".to_owned(), list("tool", MAX_GLOBS));
    properties.insert("override".to_owned(), list("override", MAX_OVERRIDES));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sprag policy",
        "description": "Limits and modes of the rules that stop runaway agents.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": definitions,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn list(name: &str, max: usize) -> Value {
    json!({ "type": "array", "items": reference(name), "maxItems": max })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": MAX_TEXT })
}

/// A section or a small table in it.
fn table(path: &str) -> Value {
    let inside = format!("{path}.");
    let children = |name: &'static str| {
        name.strip_prefix(&inside)
            .filter(|rest| !rest.contains('.'))
    };
    let mut properties = Map::new();
    for key in KEYS {
        if let Some(name) = children(key.name()) {
            properties.insert(name.to_owned(), key_schema(key));
        }
    }
    for (name, _) in TABLES {
        if let Some(child) = children(name) {
            properties.insert(child.to_owned(), table(name));
        }
    }
    let about = TABLES.iter().find(|(name, _)| *name == path);
    json!({
        "description": about.map(|(_, about)| *about),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn key_schema(key: &PolicyKey) -> Value {
    let mut schema = value(key.kind);
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".to_owned(), key.doc().into());
        if let Ok(default) = serde_json::from_str(&key.default_text()) {
            fields.insert("default".to_owned(), default);
        }
    }
    schema
}

fn value(kind: SettingKind) -> Value {
    match kind {
        SettingKind::Count { max } => json!({ "type": "integer", "minimum": 1, "maximum": max }),
        SettingKind::Span => json!({ "type": "string", "pattern": DURATION }),
        SettingKind::Flag => json!({ "type": "boolean" }),
        SettingKind::Word(words) => json!({ "enum": words }),
        SettingKind::Globs => list("glob", MAX_GLOBS),
        SettingKind::Names => json!({ "type": "array", "items": text(), "maxItems": MAX_NAMES }),
        SettingKind::Tokens => {
            or_off(&json!({ "type": "integer", "minimum": 1, "maximum": MAX_TOKENS }))
        }
        SettingKind::Money => {
            let dollars = MAX_MICROS / 1_000_000;
            or_off(&json!({ "type": "number", "exclusiveMinimum": 0, "maximum": dollars }))
        }
        SettingKind::Time => or_off(&json!({ "type": "string", "pattern": DURATION })),
    }
}

fn or_off(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "const": OFF }] })
}

fn rules_table() -> Value {
    let mode = json!({ "enum": Mode::ALL.map(Mode::as_str) });
    let rules = RuleId::ALL.iter().filter(|rule| rule.has_mode());
    let of_rule = |rule: &RuleId| {
        let modes = Mode::ALL.into_iter();
        let modes = modes.filter(|mode| rule.can_ask() || *mode != Mode::Ask);
        let words: Vec<&str> = modes.map(Mode::as_str).collect();
        (rule.to_string(), json!({ "enum": words }))
    };
    let properties: Map<String, Value> = rules.map(of_rule).collect();
    json!({
        "description": "The mode of each rule, by id or glob; the longer literal part wins.",
        "type": "object",
        "properties": properties,
        "patternProperties": { "[*?]": mode },
        "additionalProperties": false,
    })
}

fn tool_table() -> Value {
    json!({
        "description": "What tools are for, if the guess from their names is wrong.",
        "type": "object",
        "properties": { "match": reference("glob"), "kind": { "enum": WORDS } },
        "required": ["match", "kind"],
        "additionalProperties": false,
    })
}

fn prices_table() -> Value {
    let dollars = json!({ "type": "number", "minimum": 0, "maximum": MAX_DOLLARS });
    let names: Map<String, Value> = NAMES
        .iter()
        .map(|name| ((*name).to_owned(), dollars.clone()))
        .collect();
    json!({
        "description": "What models cost by glob, in US dollars a million tokens; before the shipped table.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": names,
            "required": ["input", "output"],
            "additionalProperties": false,
        },
    })
}

fn override_table(sections: &Map<String, Value>) -> Value {
    let mut properties = sections.clone();
    properties.insert("agent".to_owned(), reference("glob"));
    let mut session = table("session");
    if let Some(Value::Object(keys)) = session.get_mut("properties") {
        keys.insert("match".to_owned(), reference("glob"));
    }
    properties.insert(
        "session".to_owned(),
        json!({ "anyOf": [reference("glob"), session] }),
    );
    let by_session = json!({
        "properties": { "session": { "anyOf": [{ "type": "string" }, { "required": ["match"] }] } },
        "required": ["session"],
    });
    json!({
        "description": "Other limits for the agents or sessions that match.",
        "type": "object",
        "properties": properties,
        "anyOf": [{ "required": ["agent"] }, by_session],
        "additionalProperties": false,
    })
}
