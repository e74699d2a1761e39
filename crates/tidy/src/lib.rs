//! Keeps the tree in shape: what a reviewer would say about form, a test says first.
//!
//! Each module holds one kind of check and is a function from a [`Tree`] to [`Violation`]s. The
//! checks read text only, so they need no build and can be tried on samples. The test that runs
//! them over the repository is `tests/repository.rs`.

mod dependencies;
mod house;
mod licence;
mod links;
mod locks;
mod names;
mod promises;
mod rust_text;
#[cfg(test)]
mod sample;
mod size;
mod tree;
mod type_names;
mod unused;
mod words;

pub use dependencies::check as check_dependencies;
pub use tree::{Tree, TreeError, Violation};

/// Everything that is wrong with the files of a tree, in the order of their paths.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut found: Vec<Violation> = [
        house::check,
        links::check,
        locks::check,
        names::check,
        promises::check,
        size::check,
        type_names::check,
        unused::check,
        words::check,
    ]
    .iter()
    .flat_map(|check| check(tree))
    .collect();
    found.sort();
    found
}
