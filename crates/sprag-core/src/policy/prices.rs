//! What models cost, if the shipped table is wrong or does not know them.

use super::document::{Node, NodeValue};
use super::error::{ErrorList, PolicyProblem};
use super::read::once;
use super::setting::{MAX_GLOBS, MAX_TEXT, micros, wrong};
use crate::glob::Glob;
use crate::nearest::nearest;
use crate::price::Price;

/// What a price has a number for.
pub(super) const NAMES: [&str; 4] = ["input", "output", "cache_read", "cache_write"];
/// The highest price, in US dollars a million tokens.
pub(super) const MAX_DOLLARS: u64 = 1_000_000;
const MICROS: u64 = 1_000_000;

/// Reads `[prices]`.
pub(super) fn read(node: &Node, errors: &mut ErrorList) -> Vec<(Glob, Price)> {
    let NodeValue::Table(entries) = &node.value else {
        let expected = "a table of prices by model".to_owned();
        errors.push("prices", node.place, wrong(expected, &node.value));
        return Vec::new();
    };
    if entries.len() > MAX_GLOBS {
        let (max, found) = (MAX_GLOBS, entries.len());
        errors.push("prices", node.place, PolicyProblem::TooMany { max, found });
        return Vec::new();
    }
    let mut prices = Vec::new();
    for entry in once(entries, "prices.", errors) {
        let path = format!("prices.{:?}", entry.name);
        if !(1..=MAX_TEXT).contains(&entry.name.chars().count()) {
            let expected = format!("a glob of 1 to {MAX_TEXT} characters");
            let name = NodeValue::Text(entry.name.clone());
            errors.push(&path, entry.place, wrong(expected, &name));
            continue;
        }
        if let Some(price) = read_one(&path, &entry.node, errors) {
            prices.push((Glob::new(&entry.name), price));
        }
    }
    prices
}

fn read_one(path: &str, node: &Node, errors: &mut ErrorList) -> Option<Price> {
    let NodeValue::Table(entries) = &node.value else {
        let expected =
            "a table such as { input = 3.0, output = 15.0 }, in US dollars a million tokens";
        errors.push(path, node.place, wrong(expected.to_owned(), &node.value));
        return None;
    };
    let mut found = [None; NAMES.len()];
    let mut sound = true;
    for entry in once(entries, &format!("{path}."), errors) {
        let full = format!("{path}.{}", entry.name);
        let at = NAMES.iter().position(|name| *name == entry.name);
        let Some(slot) = at.and_then(|at| found.get_mut(at)) else {
            let meant = || nearest(&entry.name, NAMES).map(str::to_owned);
            errors.suggest(&full, entry.place, PolicyProblem::UnknownKey, meant);
            sound = false;
            continue;
        };
        *slot = dollars(&entry.node);
        if slot.is_none() {
            let expected = format!("US dollars from 0 to {MAX_DOLLARS} with at most six decimals");
            errors.push(&full, entry.node.place, wrong(expected, &entry.node.value));
            sound = false;
        }
    }
    let [input, output, cache_read, cache_write] = found;
    let (Some(input), Some(output)) = (input, output) else {
        if sound {
            let missing = PolicyProblem::Missing("both `input` and `output`");
            errors.push(path, node.place, missing);
        }
        return None;
    };
    // A provider without a price of its own for its cache asks the price of input.
    Some(Price {
        input,
        output,
        cache_read: cache_read.unwrap_or(input),
        cache_write: cache_write.unwrap_or(input),
    })
}

fn dollars(node: &Node) -> Option<u64> {
    let NodeValue::Number(number) = &node.value else {
        return None;
    };
    let micros = match number.whole {
        Some(dollars) => u64::try_from(dollars).ok()?.checked_mul(MICROS)?,
        None => micros(&number.text)?,
    };
    (micros <= MAX_DOLLARS * MICROS).then_some(micros)
}
