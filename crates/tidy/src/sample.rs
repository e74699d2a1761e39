//! How the tests try a check: on one made-up file, by the words that a person would read.

use crate::tree::{Tree, Violation};

pub(crate) fn found(check: fn(&Tree) -> Vec<Violation>, path: &str, text: &str) -> Vec<String> {
    told(&check(&[(path, text)].into_iter().collect()))
}

pub(crate) fn told(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}
