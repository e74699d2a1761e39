//! A rule's limits in a few words, for a table: `20 / 60s`, `warn 3, block 5`.

use sprag_core::Policy;
use sprag_review::Explanation;
use toml_edit::Value;

/// How many entries of a list are shown.
const SHOWN: usize = 3;

/// What `policy` says of the rule that `text` explains; a dash where there is nothing to set, or
/// nothing set.
pub(crate) fn limit_text(policy: &Policy, text: &Explanation) -> String {
    let mut words = String::new();
    for key in text.keys {
        let Some(value) = policy.get(key).and_then(|value| value.parse().ok()) else {
            continue;
        };
        let name = key.rsplit('.').next().unwrap_or(key);
        let part = value_text(name, &value);
        if part.is_empty() {
            continue;
        }
        match (&value, words.is_empty()) {
            (_, true) => words = part,
            (Value::InlineTable(_), false) => words = format!("{words}; {name} {part}"),
            (_, false) => words = format!("{words} / {part}"),
        }
    }
    match text.per {
        _ if words.is_empty() => "-".to_owned(),
        Some(per) => format!("{words} {per}"),
        None => words,
    }
}

/// A flag is its name or nothing, a list its name and the first entries, a table its fields.
fn value_text(name: &str, value: &Value) -> String {
    match value {
        Value::Boolean(flag) if *flag.value() => name.to_owned(),
        Value::Boolean(_) => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Array(items) => {
            let shown: Vec<String> = items.iter().take(SHOWN).map(plain).collect();
            let more = match items.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{name} {}{more}", shown.join(", "))
        }
        Value::InlineTable(fields) => {
            let set: Vec<String> = fields
                .iter()
                .map(|(name, value)| (name, plain(value)))
                .filter(|(_, value)| value != "off")
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            if set.is_empty() {
                "off".to_owned()
            } else {
                set.join(", ")
            }
        }
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, value: &str) -> String {
        value_text(name, &value.parse().unwrap())
    }

    #[test]
    fn each_kind_of_value_has_its_words() {
        assert_eq!(text("max_depth", "5"), "5");
        assert_eq!(text("window", "\"60s\""), "60s");
        assert_eq!(text("strict", "false"), "");
        assert_eq!(text("strict", "true"), "strict");
        assert_eq!(text("deny", "[]"), "");
        assert_eq!(
            text("deny", "['a', 'b', 'c', 'd']"),
            "deny a, b, c and 1 more"
        );
        assert_eq!(text("stuck", "{ warn = 5, block = 8 }"), "warn 5, block 8");
        assert_eq!(text("tokens", "{ session = 'off', flow = 'off' }"), "off");
        assert_eq!(text("tokens", "{ session = 9, flow = 'off' }"), "session 9");
    }
}
