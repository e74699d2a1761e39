//! File tools that write the guard's own files or a client's hooks: `Write`, `Edit`, `apply_patch`.

use serde_json::{Map, Value};

use super::own_path::{Own, own};
use crate::expand::{Field, HOME};
use crate::reach::Places;

/// Under which names stands what is written or looked for, never a file.
#[rustfmt::skip]
const CONTENTS: [&str; 24] = [
    "content", "contents", "old_string", "new_string", "oldString", "newString", "old_str",
    "new_str", "oldText", "newText", "file_text", "text", "edits", "patch", "diff", "insert_text",
    "code_edit", "data", "pattern", "query", "description", "command", "code", "prompt",
];
/// Under which names the parts of an edit stand.
#[rustfmt::skip]
const PARTS: [&str; 8] = [
    "old_string", "new_string", "oldString", "newString", "old_str", "new_str", "oldText",
    "newText",
];
/// Words of names of tools that change files.
#[rustfmt::skip]
const CHANGING: [&str; 18] = [
    "write", "edit", "create", "delete", "remove", "move", "rename", "patch", "replace", "append",
    "update", "save", "put", "insert", "copy", "apply", "truncate", "overwrite",
];
/// Words of which one stands in every part of settings that hooks consist of.
#[rustfmt::skip]
const HOOK_WORDS: [&str; 9] = [
    "sprag", "hook", "matcher", "tooluse", "beforetool", "aftertool", "userpromptsubmit",
    "subagentst", "sessionstart",
];
/// How deep arguments are looked into, and how many.
const MAX_DEPTH: usize = 4;
const MAX_STRINGS: usize = 256;

/// Whether a tool, whose name has these words, writes what is the guard's, or reads its tokens.
pub(crate) fn writes_guard(words: &[String], args: &Map<String, Value>, places: &Places) -> bool {
    let changes = words.iter().any(|word| CHANGING.contains(&word.as_str()))
        || [
            "content",
            "contents",
            "file_text",
            "new_string",
            "new_str",
            "edits",
        ]
        .iter()
        .any(|name| args.contains_key(*name));
    let mut found = Strings::default();
    found.collect(args, 0);
    if found.all().any(|text| patches_guard(places, text)) {
        return true;
    }
    let copies = words.iter().any(|word| word == "copy");
    found.files.iter().any(|(name, file)| {
        // What is copied stays as it is.
        let reads = copies && matches!(*name, "source" | "src" | "from");
        match owned(places, file) {
            Some(Own::Store | Own::Program) => (changes && !reads) || file.ends_with(".token"),
            // An edit of another part of a client's settings is honest work.
            Some(Own::HookFile) => {
                let parts = &found.parts;
                changes && !reads && (parts.is_empty() || parts.iter().any(|part| is_hook(part)))
            }
            None => false,
        }
    })
}

/// The strings among the arguments of a tool.
#[derive(Default)]
struct Strings<'a> {
    /// What may be a file, with its name.
    files: Vec<(&'a str, &'a str)>,
    parts: Vec<&'a str>,
    others: Vec<&'a str>,
}

impl<'a> Strings<'a> {
    fn collect(&mut self, args: &'a Map<String, Value>, depth: usize) {
        for (name, value) in args {
            self.value(name, value, depth);
        }
    }

    fn value(&mut self, name: &'a str, value: &'a Value, depth: usize) {
        if depth > MAX_DEPTH || self.files.len() + self.others.len() > MAX_STRINGS {
            return;
        }
        match value {
            Value::String(text) if PARTS.contains(&name) => self.parts.push(text),
            Value::String(text) if CONTENTS.contains(&name) => self.others.push(text),
            Value::String(text) => self.files.push((name, text)),
            Value::Array(all) => all
                .iter()
                .for_each(|value| self.value(name, value, depth + 1)),
            Value::Object(args) => self.collect(args, depth + 1),
            _ => {}
        }
    }

    fn all(&self) -> impl Iterator<Item = &'a str> {
        let files = self.files.iter().map(|(_, text)| *text);
        files.chain(self.others.iter().copied())
    }
}

fn owned(places: &Places, file: &str) -> Option<Own> {
    let file = file.strip_prefix("file://").unwrap_or(file);
    let file = file.replace('\\', "/");
    let file = match file.strip_prefix('~') {
        Some(rest) => format!("{HOME}{rest}"),
        None => file,
    };
    own(places, &places.start, &Field::literal(file))
}

fn is_hook(part: &str) -> bool {
    let part = part.to_lowercase();
    HOOK_WORDS.iter().any(|word| part.contains(word))
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
            Some((_, Some(Own::Store | Own::Program))) => return true,
            Some((_, owned)) => inside = owned,
            None if inside == Some(Own::HookFile)
                && line.starts_with(['+', '-'])
                && is_hook(line) =>
            {
                return true;
            }
            None => {}
        }
    }
    false
}
