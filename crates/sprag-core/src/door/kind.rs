//! What a call is for, guessed from the tool's name and the command it runs.

use crate::observation::ToolKind;

/// The kind of a call of `tool` with `command`.
pub(crate) fn guess(_tool: &str, _command: Option<&str>) -> ToolKind {
    ToolKind::Run
}
