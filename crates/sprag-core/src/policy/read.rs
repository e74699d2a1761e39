//! From the tree to a policy, with everything that is wrong on the way.
//!
//! The reader goes on after a mistake and collects, so that all mistakes of a file are reported at once.
//! What can only be a consequence of a reported mistake is not reported.

use std::collections::{BTreeMap, HashSet};

use super::Policy;
use super::document::{Node, NodeValue, Position, TableEntry};
use super::error::{ErrorList, PolicyProblem};
use super::key::{KEYS, PolicyKey, TABLES};
use super::limits::Limits;
use super::setting::{Setting, wrong};
use super::{prices, read_overrides, rules, tool};
use crate::nearest::nearest;

/// What a table sets, by position in [`KEYS`]; none for a value that was wrong.
pub(super) type FoundSettings = BTreeMap<usize, (Option<Setting>, Option<Position>)>;

/// Reads the whole document.
pub(super) fn policy(document: &Node, errors: &mut ErrorList) -> Policy {
    let mut base = Limits::default();
    let mut found = FoundSettings::new();
    let mut overrides = None;
    let NodeValue::Table(entries) = &document.value else {
        let expected = "a table of sections".to_owned();
        errors.push("", document.place, wrong(expected, &document.value));
        return Policy::default();
    };
    for entry in once(entries, "", errors) {
        match entry.name.as_str() {
            "rules" => {
                for (rule, mode) in rules::read("rules", &entry.node, errors) {
                    base.modes.set(rule, mode);
                }
            }
            "prices" => base.prices = prices::read(&entry.node, errors).into(),
            "tool" => base.tools = tool::read(&entry.node, errors).into(),
            "override" => overrides = Some(&entry.node),
            _ => TableReader::BASE.entry(entry, &mut found, errors),
        }
    }
    store(&found, &mut base);
    check_order("", &base, &found, errors);
    let sound = errors.is_empty();
    let overrides =
        overrides.map(|node| read_overrides::read(node, sound.then_some(&base), errors));
    Policy::new(base, overrides.unwrap_or_default())
}

/// The entries of a table without those whose name was there before.
pub(super) fn once<'n>(
    entries: &'n [TableEntry],
    path: &str,
    errors: &mut ErrorList,
) -> Vec<&'n TableEntry> {
    let mut names = HashSet::new();
    let mut first = Vec::new();
    for entry in entries {
        if names.insert(&entry.name) {
            first.push(entry);
        } else {
            errors.push(
                &format!("{path}{}", entry.name),
                entry.place,
                PolicyProblem::Twice,
            );
        }
    }
    first
}

/// A table of settings: its path in the document, and in the table of keys.
pub(super) struct TableReader<'a> {
    /// `override[2].` or nothing.
    pub(super) document: &'a str,
    /// `flow.echo.`, `flow.` or nothing.
    pub(super) path: String,
}

impl TableReader<'_> {
    const BASE: TableReader<'static> = TableReader {
        document: "",
        path: String::new(),
    };

    pub(super) fn entry(
        &self,
        entry: &TableEntry,
        found: &mut FoundSettings,
        errors: &mut ErrorList,
    ) {
        let path = format!("{}{}", self.path, entry.name);
        let full = format!("{}{path}", self.document);
        if entry.name.contains('.') {
            let meant = (PolicyKey::find(&path))
                .map_or(PolicyProblem::UnknownKey, |_| PolicyProblem::QuotedPath);
            errors.push(&full, entry.place, meant);
        } else if let Some(index) = KEYS.iter().position(|key| key.name() == path) {
            self.setting(index, &full, entry, found, errors);
        } else if TABLES.iter().any(|(table, _)| *table == path) {
            let NodeValue::Table(entries) = &entry.node.value else {
                errors.push(
                    &full,
                    entry.node.place,
                    wrong("a table".to_owned(), &entry.node.value),
                );
                return;
            };
            let inner = TableReader {
                document: self.document,
                path: format!("{path}."),
            };
            for entry in once(entries, &format!("{full}."), errors) {
                inner.entry(entry, found, errors);
            }
        } else {
            let meant = || self.meant(&entry.name);
            errors.suggest(&full, entry.place, PolicyProblem::UnknownKey, meant);
        }
    }

    fn setting(
        &self,
        index: usize,
        full: &str,
        entry: &TableEntry,
        found: &mut FoundSettings,
        errors: &mut ErrorList,
    ) {
        let Some(key) = KEYS.get(index) else { return };
        let setting = match key.kind.read(&entry.node) {
            Ok(setting) => Some(setting),
            Err((problem, node)) => {
                errors.push(full, node.place, problem);
                None
            }
        };
        found.insert(index, (setting, entry.place));
    }

    /// The nearest name in this table; else the same name in another one.
    fn meant(&self, wrong: &str) -> Option<String> {
        let tables = TABLES.iter().map(|(table, _)| *table);
        let names = KEYS.iter().map(PolicyKey::name).chain(tables);
        let here = names.filter_map(|name| name.strip_prefix(self.path.as_str()));
        let top: &[&str] = match (self.path.is_empty(), self.document.is_empty()) {
            (true, true) => &["rules", "override", "tool", "prices"],
            (true, false) => &["rules", "agent"],
            (false, _) => &[],
        };
        let here = here
            .filter(|name| !name.contains('.'))
            .chain(top.iter().copied());
        if let Some(name) = nearest(wrong, here) {
            return Some(format!("{}{name}", self.path));
        }
        let elsewhere = |key: &&PolicyKey| key.name().rsplit('.').next() == Some(wrong);
        let mut same = KEYS.iter().filter(elsewhere);
        let only = same.next()?.name();
        same.next().is_none().then(|| only.to_owned())
    }
}

pub(super) fn store(found: &FoundSettings, limits: &mut Limits) {
    for (index, (setting, _)) in found {
        if let (Some(key), Some(setting)) = (KEYS.get(*index), setting) {
            (key.store)(limits, setting);
        }
    }
}

/// Every warning that `found` touches comes no later than what it warns of.
pub(super) fn check_order(
    document: &str,
    limits: &Limits,
    found: &FoundSettings,
    errors: &mut ErrorList,
) {
    for (index, key) in KEYS.iter().enumerate() {
        let Some(next) = key.warns_before() else {
            continue;
        };
        let next_index = KEYS.iter().position(|key| key.name() == next.name());
        let warn_found = found.get(&index);
        let next_found = next_index.and_then(|index| found.get(&index));
        let unread = |found: Option<&(Option<Setting>, _)>| found.is_some_and(|(s, _)| s.is_none());
        if unread(warn_found) || unread(next_found) {
            continue;
        }
        let (Setting::Count(warn), Setting::Count(count)) =
            ((key.load)(limits), (next.load)(limits))
        else {
            continue;
        };
        if warn <= count {
            continue;
        }
        let (key, place, problem) = match (warn_found, next_found) {
            (Some((_, place)), _) => {
                let problem = PolicyProblem::WarnsLate {
                    value: warn,
                    than: next.name(),
                    bound: count,
                };
                (key, place, problem)
            }
            (None, Some((_, place))) => {
                let problem = PolicyProblem::ComesBeforeWarning {
                    value: count,
                    than: key.name(),
                    bound: warn,
                };
                (next, place, problem)
            }
            (None, None) => continue,
        };
        errors.push(&format!("{document}{}", key.name()), *place, problem);
    }
}
