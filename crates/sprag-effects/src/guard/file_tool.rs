//! File tools that write the guard's own files or a client's hooks: `Write`, `Edit`, `apply_patch`.

use serde_json::{Map, Value};

use super::own_path::{Own, own};
use crate::expand::{Field, HOME};
use crate::reach::Places;

/// Under which names the file of a tool stands.
#[rustfmt::skip]
const FILES: [&str; 12] = [
    "file_path", "path", "filename", "filePath", "target_file", "file", "destination", "dest",
    "new_path", "newPath", "absolute_path", "relative_path",
];
/// Under which names stands what is written.
#[rustfmt::skip]
const CONTENTS: [&str; 16] = [
    "content", "contents", "old_string", "new_string", "oldString", "newString", "old_str",
    "new_str", "file_text", "text", "edits", "patch", "diff", "insert_text", "code_edit", "data",
];
/// Words of names of tools that change files.
#[rustfmt::skip]
const CHANGING: [&str; 18] = [
    "write", "edit", "create", "delete", "remove", "move", "rename", "patch", "replace", "append",
    "update", "save", "put", "insert", "copy", "apply", "truncate", "overwrite",
];
/// The parts of an edit.
#[rustfmt::skip]
const PARTS: [&str; 6] = [
    "old_string", "new_string", "oldString", "newString", "old_str", "new_str",
];

/// Whether a tool, whose name has these words, writes what is the guard's, or reads its tokens.
pub(crate) fn writes_guard(words: &[String], args: &Map<String, Value>, places: &Places) -> bool {
    let texts = |names: &'static [&'static str]| {
        let found = names.iter().filter_map(|name| args.get(*name)?.as_str());
        found.collect::<Vec<_>>()
    };
    let changes = words.iter().any(|word| CHANGING.contains(&word.as_str()))
        || CONTENTS.iter().any(|name| args.contains_key(*name));
    let strings = args.values().filter_map(Value::as_str);
    if strings.into_iter().any(|text| patches_guard(places, text)) {
        return true;
    }
    let parts = texts(&PARTS);
    texts(&FILES)
        .into_iter()
        .any(|file| match owned(places, file) {
            Some(Own::Guard) => changes || file.ends_with(".token"),
            // An edit of another part of a client's settings is honest work.
            Some(Own::HookFile) => {
                changes && (parts.is_empty() || parts.iter().any(|part| names_hooks(part)))
            }
            None => false,
        })
}

fn owned(places: &Places, file: &str) -> Option<Own> {
    let file = file.replace('\\', "/");
    let file = match file.strip_prefix('~') {
        Some(rest) => format!("{HOME}{rest}"),
        None => file,
    };
    own(places, &places.start, &Field::literal(file))
}

fn names_hooks(part: &str) -> bool {
    part.contains("sprag") || part.to_lowercase().contains("hooks")
}

/// Whether a patch in the form `*** Update File: path` changes what is the guard's.
pub(super) fn patches_guard(places: &Places, text: &str) -> bool {
    if !text.contains("*** Begin Patch") {
        return false;
    }
    let mut inside = None;
    for line in text.lines() {
        let header = line.strip_prefix("*** ").and_then(|line| {
            let (verb, file) = line.split_once(": ")?;
            Some((verb, owned(places, file.trim())))
        });
        match header {
            Some(("Delete File" | "Move to" | "Add File", Some(_))) => return true,
            Some((_, Some(Own::Guard))) => return true,
            Some((_, owned)) => inside = owned,
            None if inside == Some(Own::HookFile)
                && line.starts_with(['+', '-'])
                && names_hooks(line) =>
            {
                return true;
            }
            None => {}
        }
    }
    false
}
