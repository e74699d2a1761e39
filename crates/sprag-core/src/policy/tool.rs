//! What single tools are for, if the guess from their names is wrong.

use super::document::{Node, NodeValue, TableEntry};
use super::error::{ErrorList, PolicyProblem};
use super::setting::{MAX_GLOBS, MAX_TEXT, choice, name, wrong};
use crate::glob::Glob;
use crate::nearest::nearest;
use crate::observation::ToolKind;

/// The words for the kinds of tools.
pub(super) const WORDS: [&str; 4] = ["read", "poll", "change", "run"];
const NAMES: [&str; 2] = ["match", "kind"];

pub(super) const fn word_of(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Poll => "poll",
        ToolKind::Change => "change",
        ToolKind::Run => "run",
    }
}

fn kind_of(word: &str) -> Option<ToolKind> {
    [
        ToolKind::Read,
        ToolKind::Poll,
        ToolKind::Change,
        ToolKind::Run,
    ]
    .into_iter()
    .find(|kind| word_of(*kind) == word)
}

/// Reads `[[tool]]`.
pub(super) fn read(node: &Node, errors: &mut ErrorList) -> Vec<(Glob, ToolKind)> {
    let NodeValue::List(items) = &node.value else {
        let expected = "a list of tables, written [[tool]]".to_owned();
        errors.push("tool", node.place, wrong(expected, &node.value));
        return Vec::new();
    };
    if items.len() > MAX_GLOBS {
        let (max, found) = (MAX_GLOBS, items.len());
        errors.push("tool", node.place, PolicyProblem::TooMany { max, found });
        return Vec::new();
    }
    let read = |(index, item)| read_one(&format!("tool[{index}]"), item, errors);
    items.iter().enumerate().filter_map(read).collect()
}

fn read_one(path: &str, item: &Node, errors: &mut ErrorList) -> Option<(Glob, ToolKind)> {
    let NodeValue::Table(entries) = &item.value else {
        errors.push(path, item.place, wrong("a table".to_owned(), &item.value));
        return None;
    };
    let (mut glob, mut kind, mut misspelt) = (None, None, false);
    for TableEntry {
        name: key,
        place,
        node,
    } in entries
    {
        let full = format!("{path}.{key}");
        let twice = match key.as_str() {
            "match" => glob.replace((full.clone(), node)).is_some(),
            "kind" => kind.replace((full.clone(), node)).is_some(),
            _ => {
                let meant = || nearest(key, NAMES).map(str::to_owned);
                errors.suggest(&full, *place, PolicyProblem::UnknownKey, meant);
                misspelt = true;
                false
            }
        };
        if twice {
            errors.push(&full, *place, PolicyProblem::Twice);
        }
    }
    let (Some(glob), Some(kind)) = (glob, kind) else {
        if !misspelt {
            let missing = PolicyProblem::Missing("both `match` and `kind`");
            errors.push(path, item.place, missing);
        }
        return None;
    };
    let pattern = checked(
        glob,
        errors,
        format!("a glob of 1 to {MAX_TEXT} characters"),
        |node| name(node).map(Glob::new),
    );
    let kind = checked(kind, errors, choice(&WORDS), |node| match &node.value {
        NodeValue::Text(word) => kind_of(word),
        _ => None,
    });
    Some((pattern?, kind?))
}

fn checked<T>(
    (path, node): (String, &Node),
    errors: &mut ErrorList,
    expected: String,
    read: impl FnOnce(&Node) -> Option<T>,
) -> Option<T> {
    let value = read(node);
    if value.is_none() {
        errors.push(&path, node.place, wrong(expected, &node.value));
    }
    value
}
