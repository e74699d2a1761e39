//! One file for each group of routes: what it takes, whom it serves, what it answers.

pub(crate) mod batch;
pub(crate) mod check;
mod cursor;
pub(crate) mod health;
pub(crate) mod login;
pub(crate) mod openapi;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod sessions;
