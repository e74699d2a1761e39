//! Where a call is made: the folder and the project, as every client names them in its own way.
//!
//! Claude Code, Codex, Gemini and Copilot send `cwd`, Cursor `workspace_roots`, the plugin in opencode
//! `directory`. They are the same for all, so they are read here, once. Claude Code's `cwd` follows `cd`; its
//! project is in the environment of its hooks.

use serde::Deserialize;
use sprag::Event;

/// The fields of any client that name a folder.
#[derive(Deserialize)]
struct FolderFields {
    cwd: Option<String>,
    workspace_roots: Option<Vec<String>>,
    directory: Option<String>,
    worktree: Option<String>,
}

/// Adds folder and project to the calls among `events`. `project` is what the client told its hooks beside the
/// payload.
pub(super) fn add(events: &mut [Event], payload: &[u8], project: Option<&str>) {
    if !events.iter().any(|event| matches!(event, Event::Call(_))) {
        return;
    }
    let Ok(place) = serde_json::from_slice::<FolderFields>(payload) else {
        return;
    };
    let first = place
        .workspace_roots
        .and_then(|roots| roots.into_iter().next());
    let cwd = place.cwd.or(place.directory).or_else(|| first.clone());
    let root = first.or(place.worktree).or(project.map(str::to_owned));
    for event in events {
        if let Event::Call(call) = event {
            if let Some(cwd) = &cwd {
                *call = call.clone().cwd(cwd);
            }
            if let Some(root) = &root {
                *call = call.clone().root(root);
            }
        }
    }
}
