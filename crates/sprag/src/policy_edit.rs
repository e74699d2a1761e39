//! Changing one key of a TOML file and nothing else.
//!
//! People explain their limits in comments and order them as they think. A file that is read,
//! changed and written back as data loses both; so the text is edited as a text that knows its
//! structure.

pub use toml_edit::Value;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

/// For whom a key is set; globs.
#[derive(Debug, Clone, Copy, Default)]
pub struct OverrideTarget<'a> {
    /// The agents that it fits.
    pub agent: Option<&'a str>,
    /// The sessions that it fits.
    pub session: Option<&'a str>,
}

/// A text after the change.
#[derive(Debug)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// What the key held before, where it was in the file.
    pub old: Option<String>,
}

/// Why a text can't be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It is not TOML.
    #[error("the file is not TOML: {0}")]
    Syntax(#[from] toml_edit::TomlError),
    /// Something on the way to the key is not a table.
    #[error("`{0}` in the file is a value, not a table")]
    NotATable(String),
    /// The overrides are written in a form that is not edited here.
    #[error("the file holds `override = [ … ]` in one value; write [[override]] tables instead")]
    InlineOverrides,
}

/// Sets the key at `path` to `value` in `text`, for everyone or in the override for `who`.
///
/// # Errors
/// Returns an error if `text` is not TOML, or holds something else than a table on the way to the key.
pub fn set(
    text: &str,
    path: &[&str],
    value: Value,
    who: OverrideTarget<'_>,
) -> Result<Edited, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let old = if who.agent.is_none() && who.session.is_none() {
        put(document.as_table_mut(), path, value, Fresh::Header)?
    } else {
        put(
            override_for(&mut document, who)?,
            path,
            value,
            Fresh::Dotted,
        )?
    };
    Ok(Edited {
        text: document.to_string(),
        old,
    })
}

/// How a table that is not there yet is written.
#[derive(Debug, Clone, Copy)]
enum Fresh {
    /// `[flow]`.
    Header,
    /// `flow.max_depth = …`.
    Dotted,
    /// `{ … }`.
    Inline,
}

impl Fresh {
    fn table(self) -> Item {
        match self {
            Self::Header => Item::Table(Table::new()),
            Self::Dotted => {
                let mut table = Table::new();
                table.set_dotted(true);
                Item::Table(table)
            }
            Self::Inline => Item::Value(Value::InlineTable(InlineTable::new())),
        }
    }
}

fn put(
    table: &mut dyn TableLike,
    path: &[&str],
    value: Value,
    fresh: Fresh,
) -> Result<Option<String>, EditError> {
    match path {
        [] => Ok(None),
        [last] => Ok(replace(table, last, value)),
        [first, rest @ ..] => {
            make_room(table, first);
            let item = table.entry(first).or_insert_with(|| fresh.table());
            let inner = item
                .as_table_like_mut()
                .ok_or_else(|| EditError::NotATable((*first).to_owned()))?;
            put(inner, rest, value, Fresh::Inline)
        }
    }
}

fn replace(table: &mut dyn TableLike, key: &str, mut value: Value) -> Option<String> {
    let Some(item) = table.get_mut(key) else {
        table.insert(key, Item::Value(value));
        return None;
    };
    let held = item.clone().into_value().ok()?;
    if item.is_value() {
        *value.decor_mut() = held.decor().clone();
    }
    *item = Item::Value(value);
    Some(held.decorated("", "").to_string().trim().to_owned())
}

/// In an override `session = "s1"` says for whom it is. Next to `session.max_refused` the same is
/// written `session.match = "s1"`.
fn make_room(table: &mut dyn TableLike, key: &str) {
    if key != "session" {
        return;
    }
    let Some(Item::Value(Value::String(name))) = table.get(key) else {
        return;
    };
    let name = Value::from(name.value().as_str());
    let mut fresh = Fresh::Dotted.table();
    if let Some(inner) = fresh.as_table_like_mut() {
        inner.insert("match", Item::Value(name));
    }
    table.insert(key, fresh);
}

/// The last override that is exactly for `who`, or a new one.
fn override_for<'d>(
    document: &'d mut DocumentMut,
    who: OverrideTarget<'_>,
) -> Result<&'d mut Table, EditError> {
    let item = document
        .entry("override")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let overrides = item
        .as_array_of_tables_mut()
        .ok_or(EditError::InlineOverrides)?;
    let is_for = |table: &Table| {
        name_of(table, "agent").as_deref() == who.agent
            && name_of(table, "session").as_deref() == who.session
    };
    let held = overrides
        .iter()
        .enumerate()
        .filter(|(_, table)| is_for(table));
    let at = match held.last() {
        Some((at, _)) => at,
        None => {
            let mut table = Table::new();
            for (key, name) in [("agent", who.agent), ("session", who.session)] {
                if let Some(name) = name {
                    table.insert(key, toml_edit::value(name));
                }
            }
            overrides.push(table);
            overrides.len().saturating_sub(1)
        }
    };
    overrides.get_mut(at).ok_or(EditError::InlineOverrides)
}

fn name_of(table: &Table, key: &str) -> Option<String> {
    let item = table.get(key)?;
    let item = match item.as_table_like() {
        Some(inner) => inner.get("match")?,
        None => item,
    };
    item.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"# Ours, agreed in May.
[flow]
max_depth = 5        # deep enough
max_calls = 100

[progress]
stagnation = { warn = 3, block = 5 } # patient

# The night shift.
[[override]]
agent = "bulk-cleaner"
destructive.max_calls = 50 # it is their job
"#;

    fn change(text: &str, key: &str, value: &str, who: OverrideTarget<'_>) -> String {
        let path: Vec<&str> = key.split('.').collect();
        set(text, &path, value.parse().unwrap(), who).unwrap().text
    }

    const ALL: OverrideTarget<'_> = OverrideTarget {
        agent: None,
        session: None,
    };

    fn agent(name: &str) -> OverrideTarget<'_> {
        OverrideTarget {
            agent: Some(name),
            session: None,
        }
    }

    #[test]
    fn comments_and_layout_stay() {
        let text = change(FILE, "flow.max_depth", "6", ALL);
        assert_eq!(text, FILE.replace("max_depth = 5 ", "max_depth = 6 "));
        let text = change(FILE, "progress.stagnation.warn", "4", ALL);
        assert_eq!(text, FILE.replace("warn = 3", "warn = 4"));
        let text = change(FILE, "progress.stagnation", "{ warn = 1, block = 2 }", ALL);
        assert_eq!(
            text,
            FILE.replace("{ warn = 3, block = 5 }", "{ warn = 1, block = 2 }")
        );
        let text = change(FILE, "destructive.max_calls", "60", agent("bulk-cleaner"));
        assert_eq!(text, FILE.replace("= 50 #", "= 60 #"));
    }

    #[test]
    fn the_old_value_is_told() {
        let edited = set(FILE, &["flow", "max_depth"], 6.into(), ALL).unwrap();
        assert_eq!(edited.old.as_deref(), Some("5"));
        let edited = set(FILE, &["flow", "chatter"], 6.into(), ALL).unwrap();
        assert_eq!(edited.old, None);
    }

    #[test]
    fn what_is_not_there_is_added_where_it_belongs() {
        insta::assert_snapshot!(change("", "flow.max_depth", "6", ALL), @"
        [flow]
        max_depth = 6
        ");
        insta::assert_snapshot!(change("", "progress.stuck.warn", "6", ALL), @"
        [progress]
        stuck = { warn = 6 }
        ");
        insta::assert_snapshot!(change(FILE, "flow.chatter", "9", ALL), @r#"
        # Ours, agreed in May.
        [flow]
        max_depth = 5        # deep enough
        max_calls = 100
        chatter = 9

        [progress]
        stagnation = { warn = 3, block = 5 } # patient

        # The night shift.
        [[override]]
        agent = "bulk-cleaner"
        destructive.max_calls = 50 # it is their job
        "#);
        insta::assert_snapshot!(change(FILE, "call.repeat", "9", ALL), @r#"
        # Ours, agreed in May.
        [flow]
        max_depth = 5        # deep enough
        max_calls = 100

        [progress]
        stagnation = { warn = 3, block = 5 } # patient

        # The night shift.
        [[override]]
        agent = "bulk-cleaner"
        destructive.max_calls = 50 # it is their job

        [call]
        repeat = 9
        "#);
        insta::assert_snapshot!(set("", &["rules", "flow.*"], "shadow".into(), ALL).unwrap().text, @r#"
        [rules]
        "flow.*" = "shadow"
        "#);
    }

    #[test]
    fn an_override_is_found_or_made() {
        insta::assert_snapshot!(change(FILE, "call.repeat", "9", agent("bulk-cleaner")), @r#"
        # Ours, agreed in May.
        [flow]
        max_depth = 5        # deep enough
        max_calls = 100

        [progress]
        stagnation = { warn = 3, block = 5 } # patient

        # The night shift.
        [[override]]
        agent = "bulk-cleaner"
        destructive.max_calls = 50 # it is their job
        call.repeat = 9
        "#);
        insta::assert_snapshot!(change("", "call.repeat", "9", agent("bulk-*")), @r#"
        [[override]]
        agent = "bulk-*"
        call.repeat = 9
        "#);
        let both = OverrideTarget {
            agent: Some("a"),
            session: Some("s"),
        };
        insta::assert_snapshot!(change("", "progress.churn.warn", "2", both), @r#"
        [[override]]
        agent = "a"
        session = "s"
        progress.churn = { warn = 2 }
        "#);
        let again = change(
            &change("", "call.repeat", "9", both),
            "flow.chatter",
            "3",
            both,
        );
        assert_eq!(again.matches("[[override]]").count(), 1);
    }

    #[test]
    fn a_session_gets_limits_of_the_session_table() {
        let who = OverrideTarget {
            agent: None,
            session: Some("s1"),
        };
        let text = change("", "session.max_refused", "3", who);
        insta::assert_snapshot!(text, @r#"
        [[override]]
        session.match = "s1"
        session.max_refused = 3
        "#);
        let again = change(&text, "session.max_refused", "4", who);
        assert_eq!(again, text.replace('3', "4"));
    }

    #[test]
    fn dotted_keys_stay_dotted() {
        assert_eq!(
            change("flow.max_depth = 5\n", "flow.max_calls", "7", ALL),
            "flow.max_depth = 5\nflow.max_calls = 7\n"
        );
    }

    #[test]
    fn what_can_not_be_edited_is_told() {
        let error = |text: &str, who| {
            let error = set(text, &["flow", "max_depth"], 6.into(), who).unwrap_err();
            error.to_string()
        };
        insta::assert_snapshot!(error("flow = 3", ALL), @"`flow` in the file is a value, not a table");
        insta::assert_snapshot!(error("override = [{ agent = 'a' }]", agent("a")), @"the file holds `override = [ … ]` in one value; write [[override]] tables instead");
        insta::assert_snapshot!(error("[flow", ALL), @"
        the file is not TOML: TOML parse error at line 1, column 6
          |
        1 | [flow
          |      ^
        unclosed table, expected `]`
        ");
    }
}
