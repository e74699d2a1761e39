//! The published schema is the one that the code makes, and agrees with the reader.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that can't read its files has failed"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sprag_core::{Policy, policy_schema};

const PUBLISHED: &str = "schema/policy.schema.json";
const REGENERATE: &str =
    "cargo run -p sprag-cli -- policy schema > crates/sprag-core/schema/policy.schema.json";

/// Malformed policies whose mistake a schema can't express, or that are no document at all.
const BEYOND_A_SCHEMA: &[&str] = &[
    "broken.json",
    "broken.toml",
    "duration-out-of-range.toml",
    "limit-with-fraction.json",
    "override-warns-late.toml",
    "set-twice.json",
    "set-twice.toml",
    "warns-late.toml",
];

#[test]
fn the_published_schema_is_current() {
    let made = format!("{:#}\n", policy_schema());
    let published = fs::read_to_string(here().join(PUBLISHED)).unwrap_or_default();
    assert!(
        made == published,
        "{PUBLISHED} is stale; run\n  {REGENERATE}"
    );
}

#[test]
fn every_sound_policy_fits_the_schema() {
    for (name, document) in documents("valid") {
        assert_eq!(check(&document), Ok(()), "{name}");
    }
    assert_eq!(check(&json_of_toml(&Policy::default().to_toml())), Ok(()));
}

#[test]
fn malformed_policies_do_not_fit_the_schema() {
    for (name, document) in documents("bad") {
        if !BEYOND_A_SCHEMA.contains(&name.as_str()) {
            assert!(check(&document).is_err(), "{name}");
        }
    }
}

#[test]
fn the_schema_knows_every_key_with_its_default() {
    let schema = policy_schema();
    for key in Policy::keys() {
        let mut path = key.name().split('.');
        let section = path.next().unwrap();
        let mut place = &schema["$defs"][section];
        for name in path {
            place = &place["properties"][name];
        }
        assert_eq!(place["description"], key.doc(), "{}", key.name());
        let default: Value = serde_json::from_str(&key.default_text()).unwrap();
        assert_eq!(place["default"], default, "{}", key.name());
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents(kind: &str) -> Vec<(String, Value)> {
    let folder = here().join("tests/policies").join(kind);
    let paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let named = paths.into_iter().filter_map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name()?.to_string_lossy().into_owned();
        match path.extension()?.to_str()? {
            "toml" => Some((name, json_of_toml(&text))),
            "json" => Some((name, serde_json::from_str(&text).unwrap_or(Value::Null))),
            _ => None,
        }
    });
    let documents: Vec<_> = named.collect();
    assert!(documents.len() > 5);
    documents
}

/// Null for a text that is no TOML.
fn json_of_toml(text: &str) -> Value {
    let table = text.parse::<toml::Table>();
    table.map_or(Value::Null, |table| serde_json::to_value(table).unwrap())
}

fn check(document: &Value) -> Result<(), String> {
    let schema = policy_schema();
    fits(&schema, &schema, document)
}

/// A validator for the words that our schema uses; an unknown one is an error, never skipped.
fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let path = rule.as_str().unwrap().trim_start_matches('#');
                fits(root, root.pointer(path).expect("a definition"), value)?;
                true
            }
            "type" => has_type(rule.as_str().unwrap(), value),
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
            "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
            "minLength" => value
                .as_str()
                .is_none_or(|s| s.chars().count() as u64 >= rule.as_u64().unwrap()),
            "maxLength" => value
                .as_str()
                .is_none_or(|s| s.chars().count() as u64 <= rule.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap()),
            // The only pattern on values is that of durations.
            "pattern" => value
                .as_str()
                .is_none_or(|s| s.parse::<sprag_core::Millis>().is_ok()),
            "required" => value.as_object().is_none_or(|o| {
                rule.as_array()
                    .unwrap()
                    .iter()
                    .all(|name| o.contains_key(name.as_str().unwrap()))
            }),
            "anyOf" => rule
                .as_array()
                .unwrap()
                .iter()
                .any(|one| fits(root, one, value).is_ok()),
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    fits(root, rule, item)?;
                }
                true
            }
            "properties" | "patternProperties" | "additionalProperties" => {
                members(root, schema.as_object().unwrap(), value)?;
                true
            }
            other => panic!("the test does not know `{other}`"),
        };
        if !holds {
            return Err(format!("{word} {rule}: {value}"));
        }
    }
    Ok(())
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("the test does not know the type `{other}`"),
    }
}

fn members(root: &Value, schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    for (name, member) in value.as_object().into_iter().flatten() {
        let known = schema.get("properties").and_then(|all| all.get(name));
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        // The only pattern on names is that of globs.
        let glob = patterns
            .and_then(|all| all.get("[*?]"))
            .filter(|_| name.contains(['*', '?']));
        if let Some(inner) = known.or(glob) {
            fits(root, inner, member)?;
        } else {
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => return Err(format!("no {name}")),
                Some(other) => fits(root, other, member)?,
                None => {}
            }
        }
    }
    Ok(())
}
