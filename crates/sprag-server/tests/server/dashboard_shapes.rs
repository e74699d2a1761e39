//! The dashboard's types are those of the API, and its lists those of the engine.
//!
//! `web/src/api/generated.ts` is written from the OpenAPI document, the rules and the keys of policies. It is part of
//! the repository, so that the dashboard builds without Rust; this test fails if it is not what would be written now.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use sprag::{Decision, Policy, RuleId};

const HEAD: &str = "\
// What the server publishes: the types of its OpenAPI document, the rules, the keys of policies. Written by\n\
// `make shapes`; `make test` fails if it is not what would be written now.\n";

/// The name of a type in TypeScript, which has a `Record` of its own.
fn named(name: &str) -> &str {
    if name == "Record" { "LogRecord" } else { name }
}

/// A union or an intersection as the part of something else.
fn grouped(text: String) -> String {
    if text.contains(" | ") || text.contains(" & ") {
        return format!("({text})");
    }
    text
}

/// The types of a list, each once.
fn joined<'v>(types: impl IntoIterator<Item = &'v Value>, sign: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut texts: Vec<String> = types.into_iter().map(type_of).collect();
    texts.retain(|text| seen.insert(text.clone()));
    texts.join(sign)
}

/// The type of a schema.
fn type_of(schema: &Value) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        return named(path.rsplit('/').next().unwrap()).to_owned();
    }
    for (key, sign) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(parts) = schema[key].as_array() {
            return joined(parts, sign);
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return words.join(" | ");
    }
    if let Some(types) = schema["type"].as_array() {
        let each = types.iter().map(|kind| {
            let mut one = schema.clone();
            one["type"] = kind.clone();
            one
        });
        return joined(&each.collect::<Vec<_>>(), " | ");
    }
    match schema["type"].as_str() {
        Some("object") => object(schema),
        Some("array") => grouped(type_of(&schema["items"])) + "[]",
        Some("integer" | "number") => "number".to_owned(),
        Some(kind @ ("boolean" | "null" | "string")) => kind.to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn object(schema: &Value) -> String {
    if schema["properties"].is_object() {
        return format!("{{ {} }}", fields(schema).join(" "));
    }
    match &schema["additionalProperties"] {
        value @ Value::Object(_) => format!("Record<string, {}>", type_of(value)),
        _ => "Record<string, unknown>".to_owned(),
    }
}

/// The fields of an object, by name.
fn fields(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array();
    let is_required =
        |name: &String| required.is_some_and(|names| names.iter().any(|own| own == name));
    let mut fields: Vec<(&String, &Value)> =
        schema["properties"].as_object().unwrap().iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    let each = fields.into_iter().map(|(name, schema)| {
        let mark = if is_required(name) { "" } else { "?" };
        format!("{name}{mark}: {};", type_of(schema))
    });
    each.collect()
}

fn list<'w>(name: &str, of: &str, words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| format!("  \"{word}\",\n")).collect();
    format!(
        "\nexport const {name} = [\n{}] as const;\nexport type {of} = (typeof {name})[number];\n",
        words.concat()
    )
}

fn generated() -> String {
    let api = serde_json::to_value(sprag_server::openapi()).unwrap();
    let mut schemas: Vec<(&String, &Value)> = api["components"]["schemas"]
        .as_object()
        .unwrap()
        .iter()
        .collect();
    schemas.sort_by_key(|(name, _)| *name);
    let mut text = HEAD.to_owned();
    text += &list(
        "RULES",
        "RuleName",
        RuleId::ALL.iter().map(|rule| rule.as_str()),
    );
    text += &list(
        "DECISIONS",
        "DecisionName",
        Decision::ALL.iter().map(|decision| decision.as_str()),
    );
    text += &list(
        "POLICY_KEYS",
        "PolicyKey",
        Policy::keys().iter().map(|key| key.name()),
    );
    for (name, schema) in schemas {
        let name = named(name);
        text += &if schema["type"] == "object" && schema["properties"].is_object() {
            let fields: Vec<String> = fields(schema)
                .iter()
                .map(|field| format!("  {field}\n"))
                .collect();
            format!("\nexport interface {name} {{\n{}}}\n", fields.concat())
        } else {
            format!("\nexport type {name} = {};\n", type_of(schema))
        };
    }
    text
}

#[test]
fn the_dashboards_types_are_those_of_the_api() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/api/generated.ts");
    let text = generated();
    if std::env::var_os("SPRAG_WRITE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        held == text,
        "run `make shapes`: {} is not what the server publishes",
        path.display()
    );
}

#[test]
fn every_type_that_the_document_names_is_in_it_once() {
    let text = generated();
    let api = serde_json::to_string(&sprag_server::openapi()).unwrap();
    for part in api.split("\"#/components/schemas/").skip(1) {
        let name = named(part.split('"').next().unwrap());
        let as_interface = text
            .matches(&format!("\nexport interface {name} {{"))
            .count();
        let as_type = text.matches(&format!("\nexport type {name} = ")).count();
        assert_eq!(as_interface + as_type, 1, "{name}");
    }
}
