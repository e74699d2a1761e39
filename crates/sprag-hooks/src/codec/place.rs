//! Where a call is made: the folder and the project, as every client names them in its own way.
//!
//! Claude Code, Codex, Gemini and Copilot send `cwd`, Cursor `workspace_roots`, the plugin in opencode
//! `directory`. They are the same for all, so they are read here, once.

use serde::Deserialize;
use sprag::Event;

/// The fields of any client that name a folder.
#[derive(Deserialize)]
struct Place {
    cwd: Option<String>,
    workspace_roots: Option<Vec<String>>,
    directory: Option<String>,
    worktree: Option<String>,
}

/// Adds folder and project to the calls among `events`.
pub(super) fn add(events: &mut [Event], payload: &[u8]) {
    if !events.iter().any(|event| matches!(event, Event::Call(_))) {
        return;
    }
    let Ok(place) = serde_json::from_slice::<Place>(payload) else {
        return;
    };
    let first = place
        .workspace_roots
        .and_then(|roots| roots.into_iter().next());
    let cwd = place.cwd.or(place.directory).or_else(|| first.clone());
    let root = first.or(place.worktree);
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
