//! `[rules]`: which rules decide, which only report, and which are off.
//!
//! People write families (`"flow.*" = "shadow"`) and exceptions (`"flow.depth" = "enforce"`) in
//! any order, so not the order but the longer literal part wins; only between equals the later.

use std::collections::{BTreeMap, HashSet};

use super::document::{Node, NodeValue, TableEntry};
use super::error::{ErrorList, PolicyProblem};
use super::mode::Mode;
use super::setting::{choice, wrong};
use crate::glob::Glob;
use crate::nearest::nearest;
use crate::rule::RuleId;

/// Reads the table into the modes that it sets, rule by rule. `path` is its path in the document.
pub(super) fn read(path: &str, node: &Node, errors: &mut ErrorList) -> BTreeMap<RuleId, Mode> {
    let NodeValue::Table(entries) = &node.value else {
        let expected = "a table of rules and modes".to_owned();
        errors.push(path, node.place, wrong(expected, &node.value));
        return BTreeMap::new();
    };
    let mut written = Vec::new();
    let mut names = HashSet::new();
    for entry in entries {
        let full = format!("{path}.\"{}\"", entry.name);
        if !names.insert(&entry.name) {
            errors.push(&full, entry.place, PolicyProblem::Twice);
            continue;
        }
        let glob = Glob::new(&entry.name);
        let rules = rules_of(&full, entry, &glob, errors);
        let mode = mode_of(&full, entry, errors);
        if let (Some(mut rules), Some(mode)) = (rules, mode) {
            if mode == Mode::Ask {
                rules.retain(|rule| rule.can_ask());
            }
            if rules.is_empty() {
                errors.push(&full, entry.node.place, PolicyProblem::CannotAsk);
                continue;
            }
            written.push((glob.literal_chars(), rules, mode));
        }
    }
    written.sort_by_key(|(literal, ..)| *literal);
    let modes = written.into_iter();
    modes
        .flat_map(|(_, rules, mode)| rules.into_iter().map(move |rule| (rule, mode)))
        .collect()
}

fn rules_of(
    full: &str,
    entry: &TableEntry,
    glob: &Glob,
    errors: &mut ErrorList,
) -> Option<Vec<RuleId>> {
    if matches!(entry.node.value, NodeValue::Table(_)) {
        return None;
    }
    let matching = RuleId::ALL.iter().copied();
    let mut rules: Vec<RuleId> = matching
        .filter(|rule| glob.matches(rule.as_str()))
        .collect();
    if rules.is_empty() {
        if entry.name.contains(['*', '?']) {
            errors.push(full, entry.place, PolicyProblem::MatchesNoRule);
        } else {
            let names = RuleId::ALL.iter().map(|rule| rule.as_str());
            let meant = || nearest(&entry.name, names).map(str::to_owned);
            errors.suggest(full, entry.place, PolicyProblem::UnknownRule, meant);
        }
        return None;
    }
    if !rules.iter().any(|rule| rule.has_mode()) {
        errors.push(full, entry.place, PolicyProblem::NoMode);
        return None;
    }
    rules.retain(|rule| rule.has_mode());
    Some(rules)
}

fn mode_of(full: &str, entry: &TableEntry, errors: &mut ErrorList) -> Option<Mode> {
    let problem = match &entry.node.value {
        NodeValue::Text(word) => match Mode::from_word(word) {
            Some(mode) => return Some(mode),
            None => wrong(choice(&Mode::ALL.map(Mode::as_str)), &entry.node.value),
        },
        NodeValue::Table(inner) => {
            let rule = inner.first().map_or("*", |inner| inner.name.as_str());
            PolicyProblem::UnquotedRule(super::error::short(&format!("{}.{rule}", entry.name)))
        }
        other => wrong(choice(&Mode::ALL.map(Mode::as_str)), other),
    };
    errors.push(full, entry.node.place, problem);
    None
}
