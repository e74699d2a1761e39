//! Which paths are the guard's own: its store, its tokens, its policy, its program, and the files by which
//! clients find their hooks.

use sprag_core::Reach;

use crate::expand::Field;
use crate::path::{Base, Path};
use crate::reach::{Places, Site};
use crate::walk::Walker;

/// Folders of the guard, by their last parts.
const FOLDERS: [&[&str]; 5] = [
    &[".local", "state", "sprag"],
    &[".local", "share", "sprag"],
    &[".config", "sprag"],
    &["Application Support", "sprag"],
    &["var", "lib", "sprag"],
];

/// Variables that stand for the folders above them.
const FOLDER_VARIABLES: [&str; 3] = [
    "$XDG_STATE_HOMEsprag",
    "$XDG_DATA_HOMEsprag",
    "$XDG_CONFIG_HOMEsprag",
];

/// Files in which clients keep their hooks, by their last parts.
const HOOK_FILES: [&[&str]; 11] = [
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".gemini", "settings.json"],
    &[".cursor", "hooks.json"],
    &[".copilot", "config.json"],
    &[".copilot", "hooks.json"],
    &[".github", "hooks", "sprag.json"],
    &["plugins", "sprag.js"],
    &["plugin", "sprag.js"],
];

/// Folders of a person's home in which the above lie: who removes one removes them.
const ABOVE: [&[&str]; 8] = [
    &[".local"],
    &[".local", "state"],
    &[".config"],
    &[".claude"],
    &[".codex"],
    &[".gemini"],
    &[".cursor"],
    &[".copilot"],
];

/// What a path is to the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// In its own folder, or its program.
    Guard,
    /// A client's settings, of which hooks are a part.
    HookFile,
}

/// What the path `field` is to the guard; none if nothing.
pub(super) fn own(places: &Places, folder: &str, field: &Field) -> Option<Own> {
    let text = field.with_unset_empty();
    if text.is_empty() {
        return None;
    }
    let shown = field.shown().replace(['/', '{', '}'], "");
    let by_variable = FOLDER_VARIABLES.iter().any(|name| shown.contains(name));
    let path = places.path(&text, folder);
    let names = path.names();
    if HOOK_FILES.iter().any(|file| names.ends_with(file)) {
        return Some(Own::HookFile);
    }
    let within = |own: &&[&str]| names.windows(own.len()).any(|part| part == *own);
    let store = |name: &&str| {
        name.starts_with("sprag.db") || matches!(*name, "operator.token" | "hook.token")
    };
    let program = matches!(names.as_slice(), [.., "bin", "sprag" | "sprag.exe"]);
    let file = names.last().is_some_and(store) && !is_scratch(places, folder, field);
    let own = by_variable || FOLDERS.iter().any(within) || program || file;
    own.then_some(Own::Guard)
}

fn is_scratch(places: &Places, folder: &str, field: &Field) -> bool {
    places.judge(field, folder, false, Site::Local).reach == Reach::Scratch
}

/// Whether the guard's folder or a client's hooks lie below the path, which is to be removed.
fn is_above(path: &Path) -> bool {
    let names = path.names();
    let below_home = match (path.base, names.as_slice()) {
        (Base::Home, rest) => rest,
        (Base::Root, ["home" | "Users", _, rest @ ..] | ["root", rest @ ..]) => rest,
        _ => return false,
    };
    ABOVE.contains(&below_home)
}

impl Walker<'_> {
    /// Whether a path is the guard's, or a file of hooks.
    pub(crate) fn is_guards(&self, field: &Field) -> bool {
        own(self.places, &self.environment.folder, field).is_some()
    }

    /// Whether a path, or what follows a `@` or `=`, is one of the guard's tokens.
    pub(crate) fn is_token(&self, field: &Field) -> bool {
        let raw = field.raw();
        if !raw.contains(".token") {
            return false;
        }
        let path = raw.rsplit(['@', '=', '<']).next().unwrap_or(raw);
        let field = Field::literal(path);
        own(self.places, &self.environment.folder, &field) == Some(Own::Guard)
    }

    /// Notes that a file is written, or read, by a redirection.
    pub(crate) fn redirected(&mut self, target: &Field, writes: bool) {
        self.found.orders_guard |= (writes && self.is_guards(target)) || self.is_token(target);
    }

    /// Notes that a path goes, with all below it.
    pub(crate) fn removes(&mut self, field: &Field) {
        let text = field.with_unset_empty();
        let path = self.places.path(&text, &self.environment.folder);
        self.found.orders_guard |= self.is_guards(field) || is_above(&path);
    }
}
