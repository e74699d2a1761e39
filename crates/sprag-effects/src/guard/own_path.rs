//! Which paths are the guard's own: its store, its tokens, its policy, its program, and the files by which
//! clients find their hooks.

use sprag_core::{Glob, Reach};

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

/// The tokens beside the store.
pub(super) const TOKENS: [&str; 2] = ["operator.token", "hook.token"];

/// Files in which clients keep their hooks, by their last parts.
const HOOK_FILES: [&[&str]; 12] = [
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".gemini", "settings.json"],
    &[".cursor", "hooks.json"],
    &[".copilot", "config.json"],
    &[".copilot", "hooks.json"],
    &[".copilot", "hooks", "sprag.json"],
    &[".github", "hooks", "sprag.json"],
    &["plugins", "sprag.js"],
    &["plugin", "sprag.js"],
];

/// Folders of a home or a project in which those files lie.
const HOOK_FOLDERS: [&[&str]; 12] = [
    &[".claude"],
    &[".codex"],
    &[".gemini"],
    &[".cursor"],
    &[".copilot"],
    &[".copilot", "hooks"],
    &[".github", "hooks"],
    &[".opencode"],
    &[".opencode", "plugin"],
    &[".opencode", "plugins"],
    &[".config", "opencode"],
    &[".config", "opencode", "plugin"],
];

/// Folders of a home in which the guard's lie: who removes one removes it.
const ABOVE: [&[&str]; 3] = [&[".local"], &[".local", "state"], &[".config"]];

/// What a path is to the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// In one of its folders.
    Store,
    /// Its program.
    Program,
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
    if FOLDER_VARIABLES.iter().any(|name| shown.contains(name)) {
        return Some(Own::Store);
    }
    let path = places.path(&text, folder);
    let names = path.names();
    let found = kind(&names, field.globs)?;
    (!is_scratch(places, folder, field)).then_some(found)
}

fn kind(names: &[&str], globs: bool) -> Option<Own> {
    let ends = |file: &&[&str]| {
        let start = names.len().checked_sub(file.len());
        let tail = start.and_then(|start| names.get(start..));
        tail.is_some_and(|tail| is_same(tail, file, globs))
    };
    if HOOK_FILES.iter().any(ends) {
        return Some(Own::HookFile);
    }
    let within = |own: &&[&str]| {
        let mut parts = names.windows(own.len());
        parts.any(|part| is_same(part, own, globs))
    };
    let store = |name: &&str| name.starts_with("sprag.db") || TOKENS.contains(name);
    if FOLDERS.iter().any(within) || names.last().is_some_and(store) {
        return Some(Own::Store);
    }
    matches!(names, [.., "bin", "sprag" | "sprag.exe"]).then_some(Own::Program)
}

/// Whether the components of a path are those of `own`. Some file systems don't tell capitals apart. A glob
/// counts if one component is written out.
fn is_same(names: &[&str], own: &[&str], globs: bool) -> bool {
    let equal = |(name, own): &(&&str, &&str)| name.eq_ignore_ascii_case(own);
    let pairs = || names.iter().zip(own);
    if names.len() != own.len() {
        return false;
    }
    if !globs {
        return pairs().all(|pair| equal(&pair));
    }
    let matches = |pair: (&&str, &&str)| {
        let hidden = pair.1.starts_with('.') && !pair.0.starts_with('.');
        equal(&pair) || (!hidden && Glob::new(pair.0).matches(pair.1))
    };
    pairs().any(|pair| equal(&pair)) && pairs().all(matches)
}

fn is_scratch(places: &Places, folder: &str, field: &Field) -> bool {
    places.judge(field, folder, false, Site::Local).reach == Reach::Scratch
}

/// The components below a person's home.
fn below_home<'p>(path: &Path, names: &'p [&'p str]) -> Option<&'p [&'p str]> {
    match (path.base, names) {
        (Base::Home, rest) => Some(rest),
        (Base::Root, ["home" | "Users", _, rest @ ..] | ["root", rest @ ..]) => Some(rest),
        _ => None,
    }
}

/// Whether clients' hooks lie right in this folder of a home or of the project.
fn holds_hooks(places: &Places, path: &Path, globs: bool) -> bool {
    let names = path.names();
    let listed = |rest: &[&str]| {
        let mut folders = HOOK_FOLDERS.iter();
        folders.any(|folder| is_same(rest, folder, globs && rest.len() == 1) || rest == *folder)
            || (globs && matches!(rest, [name] if is_hidden_glob(name)))
    };
    if below_home(path, &names).is_some_and(listed) {
        return true;
    }
    let root = places.root_text().map(|text| places.path(&text, ""));
    let start = match root {
        Some(root) => path.below(&root).map(<[String]>::len),
        None if path.base == Base::Start(0) => Some(names.len()),
        None => None,
    };
    let rest = start.and_then(|length| names.get(names.len() - length..));
    rest.is_some_and(listed)
}

/// `.cl*`: a glob that matches one of the clients' folders and not all hidden ones.
fn is_hidden_glob(name: &str) -> bool {
    let pattern = Glob::new(name);
    pattern.literal_chars() > 1
        && HOOK_FOLDERS.iter().any(|folder| match folder {
            [only] => pattern.matches(only),
            _ => false,
        })
}

impl Walker<'_> {
    /// What a path is to the guard.
    pub(super) fn own(&self, field: &Field) -> Option<Own> {
        own(self.places, &self.environment.folder, field)
    }

    /// Whether a path is the guard's, or a file of hooks.
    pub(super) fn is_guards(&self, field: &Field) -> bool {
        self.own(field).is_some()
    }

    /// Whether something unknown that is put into this folder may replace hooks or the store.
    pub(super) fn is_guards_folder(&self, field: &Field) -> bool {
        let text = field.with_unset_empty();
        let path = self.places.path(&text, &self.environment.folder);
        let scratch = || is_scratch(self.places, &self.environment.folder, field);
        self.own(field) == Some(Own::Store)
            || (holds_hooks(self.places, &path, field.globs) && !scratch())
    }

    /// Whether the path is one of the guard's folders as a whole.
    pub(super) fn is_store_folder(&self, field: &Field) -> bool {
        let text = field.with_unset_empty();
        let path = self.places.path(&text, &self.environment.folder);
        let names = path.names();
        let last = names.last().copied().unwrap_or_default();
        self.own(field) == Some(Own::Store) && matches!(last, "sprag" | "*")
    }

    /// Whether a path, or what follows a `@`, `=` or `<`, is one of the guard's tokens.
    pub(super) fn is_token(&self, field: &Field) -> bool {
        let raw = field.raw();
        if !raw.contains(".token") && !field.globs {
            return false;
        }
        let path = raw.rsplit(['@', '=', '<']).next().unwrap_or(raw);
        let mut field = Field::literal(path);
        field.globs = raw.contains(['*', '?']);
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = match field.globs {
            true => TOKENS.iter().any(|token| Glob::new(name).matches(token)),
            false => name.ends_with(".token"),
        };
        named && self.own(&field) == Some(Own::Store)
    }

    /// Notes that a file is written, or read, by a redirection.
    pub(crate) fn redirected(&mut self, target: &Field, writes: bool) {
        self.found.orders_guard |= (writes && self.is_guards(target)) || self.is_token(target);
    }

    /// Notes that a path goes, with all below it.
    pub(crate) fn removes(&mut self, field: &Field) {
        self.found.orders_guard |= self.loses(field);
    }

    /// Whether the guard or a client's hooks go with this path.
    pub(super) fn loses(&self, field: &Field) -> bool {
        let text = field.with_unset_empty();
        let path = self.places.path(&text, &self.environment.folder);
        let names = path.names();
        let above = below_home(&path, &names).is_some_and(|rest| ABOVE.contains(&rest));
        above || self.is_guards(field) || self.is_guards_folder(field)
    }
}
