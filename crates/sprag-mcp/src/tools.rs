//! The tools that a server lists, with their annotations.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use sprag_core::Hints;

use crate::envelope::{parse, raw_member, text};
use crate::header_arguments::{HeaderArgument, header_arguments};

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// The hints that the server gives about it.
    pub hints: Hints,
    /// The arguments that it wants repeated in headers.
    pub(crate) header_arguments: Arc<[HeaderArgument]>,
}

#[derive(Deserialize)]
struct Listed<'m> {
    #[serde(borrow)]
    name: &'m RawValue,
    #[serde(default, borrow)]
    annotations: Option<&'m RawValue>,
    #[serde(default, borrow, rename = "inputSchema")]
    schema: Option<&'m RawValue>,
}

#[derive(Default, Deserialize)]
struct Annotations {
    #[serde(default, rename = "readOnlyHint")]
    read_only: Option<bool>,
    #[serde(default, rename = "destructiveHint")]
    destructive: Option<bool>,
    #[serde(default, rename = "idempotentHint")]
    idempotent: Option<bool>,
}

/// The tools in a result of `tools/list`; entries that are not tools are left out.
pub(crate) fn listed(result: &RawValue) -> Vec<Tool> {
    let tools = raw_member(result, "tools").and_then(parse::<Vec<&RawValue>>);
    tools
        .unwrap_or_default()
        .into_iter()
        .filter_map(tool)
        .collect()
}

fn tool(raw: &RawValue) -> Option<Tool> {
    let listed: Listed<'_> = parse(raw)?;
    let annotations: Annotations = listed.annotations.and_then(parse).unwrap_or_default();
    Some(Tool {
        name: text(listed.name)?.into_owned(),
        hints: Hints {
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            idempotent: annotations.idempotent,
        },
        header_arguments: listed
            .schema
            .map(header_arguments)
            .unwrap_or_default()
            .into(),
    })
}
