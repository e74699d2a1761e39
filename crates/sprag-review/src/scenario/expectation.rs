//! Partial matching: what a verdict must hold, and nothing about the rest.
//!
//! A scenario that had to spell out whole verdicts would break with every new field and hide what it
//! is about. So an expectation names what matters: objects are compared field by field, only the
//! fields that are named; numbers, strings and arrays must be equal. A field that is expected to be
//! `null` may as well be missing.

use serde::Serialize;
use serde_json::{Number, Value};

/// One place where a verdict is not what was expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mismatch {
    /// Where: `evidence.count`.
    pub path: String,
    /// What was expected there.
    pub expected: Value,
    /// What was there; none where the field is missing.
    pub got: Option<Value>,
}

/// All places where `got` is not what `expected` asks for.
pub(super) fn mismatches(expected: &Value, got: &Value) -> Vec<Mismatch> {
    let mut found = Vec::new();
    compare("", expected, Some(got), &mut found);
    found
}

fn compare(path: &str, expected: &Value, got: Option<&Value>, found: &mut Vec<Mismatch>) {
    match (expected, got) {
        (Value::Object(fields), Some(Value::Object(object))) => {
            for (name, value) in fields {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                compare(&path, value, object.get(name), found);
            }
        }
        (expected, got) => {
            if !equal(expected, got.unwrap_or(&Value::Null)) {
                found.push(Mismatch {
                    path: path.to_owned(),
                    expected: expected.clone(),
                    got: got.cloned(),
                });
            }
        }
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => equal_numbers(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// `1` and `1.0` are the same number; integers beyond 2^53 are compared exactly.
fn equal_numbers(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expected: &Value, got: &Value) -> Vec<String> {
        mismatches(expected, got)
            .into_iter()
            .map(|m| m.path)
            .collect()
    }

    #[test]
    fn only_what_is_named_is_compared() {
        let got =
            json!({"verdict": "deny", "rule": "flow.depth", "evidence": {"depth": 6, "max": 5}});
        assert!(paths(&json!({}), &got).is_empty());
        assert!(paths(&json!({"evidence": {"depth": 6}}), &got).is_empty());
        assert_eq!(
            paths(
                &json!({"verdict": "allow", "evidence": {"depth": 7, "max": 5}}),
                &got
            ),
            ["evidence.depth", "verdict"]
        );
    }

    #[test]
    fn arrays_are_equal_or_not() {
        let got = json!({"also": ["flow.rate", "flow.total"]});
        assert!(paths(&json!({"also": ["flow.rate", "flow.total"]}), &got).is_empty());
        assert_eq!(paths(&json!({"also": ["flow.rate"]}), &got), ["also"]);
        let chain = json!({"chain": [{"a": 1, "b": 2}]});
        assert_eq!(paths(&json!({"chain": [{"a": 1}]}), &chain), ["chain"]);
    }

    #[test]
    fn a_missing_field_is_null_and_nothing_else() {
        assert!(paths(&json!({"would": null}), &json!({})).is_empty());
        assert_eq!(
            mismatches(&json!({"rule": "flow.depth"}), &json!({})),
            [Mismatch {
                path: "rule".to_owned(),
                expected: json!("flow.depth"),
                got: None
            }]
        );
        assert_eq!(
            paths(&json!({"evidence": {"a": 1}}), &json!({"evidence": null})),
            ["evidence"]
        );
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(paths(&json!({"depth": 2.0}), &json!({"depth": 2})).is_empty());
        let big = json!({"n": 9_007_199_254_740_993_u64});
        assert_eq!(paths(&json!({"n": 9_007_199_254_740_992_u64}), &big), ["n"]);
        assert_eq!(paths(&json!({"n": "1"}), &json!({"n": 1})), ["n"]);
    }
}
