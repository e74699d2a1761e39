//! `[[override]]`: the same sections again, for those that match.
//!
//! `session` is the name of a match and of a section. A text is the match; if an override for
//! sessions sets that section too, the match moves into it: `session.match = "batch-*"`.

use super::document::{Node, NodeValue, TableEntry};
use super::error::{ErrorList, PolicyProblem};
use super::limits::Limits;
use super::overrides::{MAX_OVERRIDES, Override};
use super::read::{FoundSettings, TableReader, check_order, once, store};
use super::rules;
use super::setting::{MAX_TEXT, name, wrong};
use crate::glob::Glob;
use crate::nearest::nearest;

/// Reads the list. Each is checked over `base`, if that is sound.
pub(super) fn read(node: &Node, base: Option<&Limits>, errors: &mut ErrorList) -> Vec<Override> {
    let NodeValue::List(items) = &node.value else {
        let expected = "a list of tables, written [[override]]".to_owned();
        errors.push("override", node.place, wrong(expected, &node.value));
        return Vec::new();
    };
    if items.len() > MAX_OVERRIDES {
        let (max, found) = (MAX_OVERRIDES, items.len());
        errors.push(
            "override",
            node.place,
            PolicyProblem::TooMany { max, found },
        );
        return Vec::new();
    }
    let read = |(index, item)| read_one(&format!("override[{index}]"), item, base, errors);
    items.iter().enumerate().filter_map(read).collect()
}

/// Returns none if it is wrong or sets nothing.
fn read_one(
    path: &str,
    item: &Node,
    base: Option<&Limits>,
    errors: &mut ErrorList,
) -> Option<Override> {
    let NodeValue::Table(entries) = &item.value else {
        errors.push(path, item.place, wrong("a table".to_owned(), &item.value));
        return None;
    };
    let mut reader = OverrideReader {
        document: format!("{path}."),
        written: Override::default(),
        found: FoundSettings::new(),
        has_match: false,
    };
    for entry in once(entries, &reader.document, errors) {
        reader.entry(entry, errors);
    }
    if !reader.has_match {
        let missing = PolicyProblem::Missing("an `agent` or a `session` to match");
        errors.push(path, item.place, missing);
    }
    if let Some(base) = base {
        let mut limits = base.clone();
        store(&reader.found, &mut limits);
        check_order(&reader.document, &limits, &reader.found, errors);
    }
    reader.finish()
}

struct OverrideReader {
    /// `override[2].`
    document: String,
    written: Override,
    found: FoundSettings,
    has_match: bool,
}

impl OverrideReader {
    fn entry(&mut self, entry: &TableEntry, errors: &mut ErrorList) {
        let full = format!("{}{}", self.document, entry.name);
        match (entry.name.as_str(), &entry.node.value) {
            ("agent", _) => {
                self.has_match = true;
                self.written.agent = glob(&full, &entry.node, errors);
            }
            ("session", NodeValue::Table(entries)) => {
                for inner in once(entries, &format!("{full}."), errors) {
                    if inner.name == "match" {
                        self.session(&format!("{full}.match"), &inner.node, errors);
                    } else {
                        self.setting("session.", inner, errors);
                    }
                }
            }
            ("session", _) => self.session(&full, &entry.node, errors),
            ("rules", _) => self.written.modes = rules::read(&full, &entry.node, errors),
            ("tool" | "override", _) => {
                errors.push(&full, entry.place, PolicyProblem::NotInOverride)
            }
            (other, _) => {
                // A misspelt match is told once, as a name and not as missing too.
                self.has_match |= nearest(other, ["agent", "session"]).is_some();
                self.setting("", entry, errors);
            }
        }
    }

    fn session(&mut self, full: &str, node: &Node, errors: &mut ErrorList) {
        self.has_match = true;
        self.written.session = glob(full, node, errors);
    }

    fn setting(&mut self, path: &str, entry: &TableEntry, errors: &mut ErrorList) {
        let table = TableReader {
            document: &self.document,
            path: path.to_owned(),
        };
        table.entry(entry, &mut self.found, errors);
    }

    fn finish(self) -> Option<Override> {
        let mut written = self.written;
        let settings = self.found.into_iter();
        written.settings = settings
            .filter_map(|(index, (setting, _))| Some((index, setting?)))
            .collect();
        let sets_nothing = written.settings.is_empty() && written.modes.is_empty();
        let matches = written.agent.is_some() || written.session.is_some();
        (matches && !sets_nothing).then_some(written)
    }
}

fn glob(full: &str, node: &Node, errors: &mut ErrorList) -> Option<Glob> {
    let glob = name(node).map(Glob::new);
    if glob.is_none() {
        let expected = format!("a glob of 1 to {MAX_TEXT} characters");
        errors.push(full, node.place, wrong(expected, &node.value));
    }
    glob
}
