//! A panic: a person stopped everything that agents do.

use serde::{Deserialize, Serialize};

use crate::encoding::Text;
use crate::numbered_fields;

/// Everything that agents do is refused, on every process that shares the store, until somebody calms the guard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panic {
    /// Who stopped everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

numbered_fields!(Panic {
    1 by: Option<Text>,
    2 why: Option<Text>,
});
