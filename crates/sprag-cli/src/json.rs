//! Output for programs.

use std::io::{Result, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;

/// Prints a JSON document that a person can read too.
pub(crate) fn print(out: &mut dyn Write, document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    out.write_all(&text)
}

/// Serialises what is held as TOML text (`"5m"`, `{ warn = 3 }`) as the value that it is.
pub(crate) fn toml_text<S: Serializer>(
    text: &str,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    value_of(text).serialize(serializer)
}

/// The same for a text that may be missing.
pub(crate) fn toml_value<S: Serializer>(
    text: &Option<String>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    text.as_deref().map(value_of).serialize(serializer)
}

fn value_of(text: &str) -> Value {
    let document: Option<Value> = toml::from_str(&format!("value = {text}")).ok();
    let value = document.and_then(|mut document| document.get_mut("value").map(Value::take));
    value.unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_toml_are_values_of_json() {
        assert_eq!(value_of("\"5m\""), json!("5m"));
        assert_eq!(
            value_of("{ warn = 3, block = 5 }"),
            json!({"warn": 3, "block": 5})
        );
        assert_eq!(value_of("['a']"), json!(["a"]));
        assert_eq!(value_of("no toml"), json!("no toml"));
    }
}
