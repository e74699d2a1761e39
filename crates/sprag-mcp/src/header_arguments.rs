//! Arguments that a tool wants repeated in headers (2026-07-28), so that intermediaries can read them.
//!
//! A property of the input schema with `"x-mcp-header": "Region"` is also sent as `Mcp-Param-Region`. Only
//! properties that are reached through `properties` alone count.
//!
//! Bounded by: [`MAX_ARGUMENTS`] arguments of a tool, [`MAX_LEVELS`] levels of nesting.

use serde_json::Value;
use serde_json::value::RawValue;

/// The most arguments of a tool that are repeated.
const MAX_ARGUMENTS: usize = 64;
/// How deep a schema is searched.
const MAX_LEVELS: usize = 16;
const ANNOTATION: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderArgument {
    /// The header's name, in lower case.
    pub(crate) header: String,
    /// The property names that lead to the argument.
    path: Vec<String>,
}

impl HeaderArgument {
    /// The value that a call's arguments have for it; none if it is absent or null.
    pub(crate) fn value_in<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        let mut found = arguments;
        for name in &self.path {
            found = found.get(name)?;
        }
        (!found.is_null()).then_some(found)
    }
}

/// Whether the text of a header repeats this value. Numbers are compared as numbers: `42` is `42.0`.
pub(crate) fn is_same(header: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => header == text,
        Value::Bool(truth) => header == if *truth { "true" } else { "false" },
        Value::Number(number) => {
            header == number.to_string()
                || header
                    .parse::<f64>()
                    .is_ok_and(|header| number.as_f64() == Some(header))
        }
        _ => false,
    }
}

/// The arguments that a tool with this input schema wants repeated.
pub(crate) fn header_arguments(schema: &RawValue) -> Vec<HeaderArgument> {
    let mut found = Vec::new();
    if schema.get().contains(ANNOTATION)
        && let Ok(schema) = serde_json::from_str(schema.get())
    {
        seek(&schema, &mut Vec::new(), &mut found);
    }
    found
}

fn seek(schema: &Value, path: &mut Vec<String>, found: &mut Vec<HeaderArgument>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    if path.len() >= MAX_LEVELS {
        return;
    }
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get(ANNOTATION).and_then(Value::as_str)
            && found.len() < MAX_ARGUMENTS
        {
            found.push(HeaderArgument {
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
                path: path.clone(),
            });
        }
        seek(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(schema: &Value) -> Vec<HeaderArgument> {
        header_arguments(&serde_json::value::to_raw_value(schema).unwrap())
    }

    #[test]
    fn annotated_arguments_are_found_at_every_level_and_nowhere_else() {
        let found = of(&json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "options": {"properties": {"limit": {"type": "integer", "x-mcp-header": "Limit"}}},
            "list": {"items": {"properties": {"a": {"x-mcp-header": "A"}}}},
            "plain": {"type": "string"},
        }}));
        let headers: Vec<&str> = found.iter().map(|one| one.header.as_str()).collect();
        assert_eq!(headers, ["mcp-param-limit", "mcp-param-region"]);
        let arguments = json!({"options": {"limit": 5}, "region": null});
        assert_eq!(found[0].value_in(&arguments), Some(&json!(5)));
        assert_eq!(found[1].value_in(&arguments), None);
        assert!(of(&json!({"properties": {"x": {}}})).is_empty());
        let mut deep = json!({"x-mcp-header": "Deep"});
        for _ in 0..100 {
            deep = json!({"properties": {"p": deep}});
        }
        assert!(of(&deep).is_empty());
    }

    #[test]
    fn a_header_repeats_the_value_not_its_spelling() {
        for (told, said) in [
            ("eu", json!("eu")),
            ("true", json!(true)),
            ("42", json!(42)),
            ("42.0", json!(42)),
            ("-7", json!(-7)),
        ] {
            assert!(is_same(told, &said), "{told}");
        }
        for (told, said) in [
            ("us", json!("eu")),
            ("True", json!(true)),
            ("43", json!(42)),
            ("", json!(0)),
            ("[1]", json!([1])),
        ] {
            assert!(!is_same(told, &said), "{told}");
        }
    }
}
