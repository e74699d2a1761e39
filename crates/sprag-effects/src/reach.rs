//! How far the removal of a path reaches.
//!
//! Judged by the path's text, the folder and the root alone. The order matters: a system directory is one
//! wherever the root is, the root is more than a scratch place, and below the root only what lies there
//! counts, so that a project in `/tmp` is still a project.

use sprag_core::Reach;

use crate::expand::Field;
use crate::path::{Base, Path, is_unknown, takes_all};
use crate::scratch::is_scratch;

/// The folders that a call knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    root: Option<Path>,
    home: Option<String>,
    /// Where a command starts, as text.
    pub(crate) start: String,
}

/// On which machine a command works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Local,
    /// Behind `ssh`: it starts in a home.
    Remote,
    /// In a container or pod.
    Container,
}

/// A judged path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) reach: Reach,
    pub(crate) vital: bool,
    pub(crate) target: String,
}

/// System directories. A path in one of them is not one, except below `/var/lib`.
const SYSTEM: [&[&str]; 32] = [
    &["etc"],
    &["usr"],
    &["var"],
    &["opt"],
    &["srv"],
    &["boot"],
    &["bin"],
    &["sbin"],
    &["lib"],
    &["lib32"],
    &["lib64"],
    &["root"],
    &["home"],
    &["dev"],
    &["proc"],
    &["sys"],
    &["run"],
    &["mnt"],
    &["media"],
    &["Users"],
    &["System"],
    &["Library"],
    &["Applications"],
    &["Volumes"],
    &["private"],
    &["usr", "bin"],
    &["usr", "lib"],
    &["usr", "sbin"],
    &["usr", "share"],
    &["usr", "local"],
    &["var", "lib"],
    &["private", "etc"],
];

impl Places {
    /// `root` and `cwd` as the event names them. `/`, a home and what is above one is not a root.
    pub(crate) fn new(cwd: Option<&str>, root: Option<&str>) -> Self {
        let absolute = |text: &&str| text.starts_with('/');
        let cwd = cwd.filter(absolute);
        let root = root.filter(absolute);
        let home = [root, cwd].into_iter().flatten().find_map(home_of);
        let root = root
            .or(cwd)
            .map(|text| Path::new(text, "", None))
            .filter(|path| !is_home_or_above(path) && !is_system(path));
        Self {
            start: cwd
                .map(str::to_owned)
                .or_else(|| root.as_ref().map(Path::text))
                .unwrap_or_default(),
            root,
            home,
        }
    }

    pub(crate) fn root_text(&self) -> Option<String> {
        self.root.as_ref().map(Path::text)
    }

    pub(crate) fn path(&self, text: &str, folder: &str) -> Path {
        Path::new(text, folder, self.home.as_deref())
    }

    /// How far it reaches to remove what `field` names, seen from `folder`.
    pub(crate) fn judge(&self, field: &Field, folder: &str, recursive: bool, site: Site) -> Judged {
        let text = field.with_unset_empty();
        if text.is_empty() {
            return Judged {
                reach: Reach::Workspace,
                vital: false,
                target: field.shown(),
            };
        }
        let path = self.path(&text, folder);
        let all = field.globs && path.parts.last().is_some_and(|last| takes_all(last));
        let above = all.then(|| {
            let mut above = path.clone();
            above.parts.pop();
            above
        });
        let whole = above.as_ref().unwrap_or(&path);
        let (reach, vital) = self.reach(&path, whole, all, recursive, site);
        let unset_hit = field.has_unset();
        let target = if unset_hit {
            field.shown()
        } else {
            self.shown(&path, site)
        };
        Judged {
            reach,
            vital,
            target,
        }
    }

    fn reach(
        &self,
        path: &Path,
        whole: &Path,
        all: bool,
        recursive: bool,
        site: Site,
    ) -> (Reach, bool) {
        if recursive && is_vital(whole) && !is_scratch_place(whole) {
            return (Reach::Sweeping, true);
        }
        if site != Site::Local {
            return remote(path, whole, recursive, site);
        }
        let start = Path::new("", "", None);
        let root = match &self.root {
            Some(root) => root,
            None if self.start.is_empty() => &start,
            None => return (elsewhere(path), false),
        };
        if recursive && contains_root(whole, root) {
            return (Reach::Sweeping, false);
        }
        let Some(inside) = path.below(root) else {
            return (elsewhere(path), false);
        };
        let names: Vec<&str> = inside.iter().map(String::as_str).collect();
        let own_git = matches!(names.as_slice(), [".git"])
            || all && names.first() == Some(&".git") && names.len() == 2;
        if recursive && own_git {
            return (Reach::Sweeping, false);
        }
        if is_scratch(&names) {
            return (Reach::Scratch, false);
        }
        (Reach::Workspace, false)
    }

    /// A path as a person reads it: below the root without the root.
    fn shown(&self, path: &Path, site: Site) -> String {
        let below = self.root.as_ref().filter(|_| site == Site::Local);
        match below.and_then(|root| path.below(root)) {
            Some([]) => ".".to_owned(),
            Some(inside) => crate::expand::show(&inside.join("/")),
            None => crate::expand::show(&path.text()),
        }
    }
}

/// Whether `whole` is the root or above it.
fn contains_root(whole: &Path, root: &Path) -> bool {
    match (whole.base, root.base) {
        (Base::Start(up), Base::Start(_)) => {
            up > 0 && whole.parts.is_empty() || up == 0 && whole.parts.is_empty()
        }
        _ => root.below(whole).is_some(),
    }
}

fn elsewhere(path: &Path) -> Reach {
    let names = path.names();
    let unknown_start =
        path.base == Base::Start(0) && names.first().is_some_and(|name| is_unknown(name));
    if is_scratch_place(path) || is_scratch(&names) {
        Reach::Scratch
    } else if unknown_start {
        Reach::Workspace
    } else {
        Reach::Outside
    }
}

fn remote(path: &Path, whole: &Path, recursive: bool, site: Site) -> (Reach, bool) {
    let start = whole.base == Base::Start(0) && whole.parts.is_empty();
    if recursive && start && site == Site::Remote {
        return (Reach::Sweeping, true);
    }
    if is_scratch_place(path) || is_scratch(&path.names()) {
        return (Reach::Scratch, false);
    }
    (Reach::Shared, false)
}

/// `/`, a home or a system directory.
fn is_vital(path: &Path) -> bool {
    is_home_or_above(path) || is_system(path)
}

fn is_home_or_above(path: &Path) -> bool {
    let names = path.names();
    match path.base {
        Base::Home => names.is_empty(),
        Base::Root => matches!(
            names.as_slice(),
            [] | ["home" | "Users"] | ["home" | "Users", _] | ["root"] | ["var", "root"]
        ),
        Base::Start(_) => false,
    }
}

fn is_system(path: &Path) -> bool {
    let names = path.names();
    let below_lib = names.starts_with(&["var", "lib"]);
    path.base == Base::Root && (below_lib || SYSTEM.contains(&names.as_slice()))
}

/// Places for temporary files and caches that stand outside of any project.
pub(crate) fn is_scratch_place(path: &Path) -> bool {
    const PLACES: [&[&str]; 12] = [
        &["tmp"],
        &["var", "tmp"],
        &["private", "tmp"],
        &["private", "var", "folders"],
        &["private", "var", "tmp"],
        &["var", "folders"],
        &["dev", "shm"],
        &["dev", "null"],
        &["run", "user"],
        &["var", "cache"],
        &["var", "lib", "apt", "lists"],
        &["mnt", "tmp"],
    ];
    let names = path.names();
    path.base == Base::Root && PLACES.iter().any(|place| names.starts_with(place))
}

/// The home in which `text` lies.
fn home_of(text: &str) -> Option<String> {
    let mut parts = text.split('/').filter(|part| !part.is_empty());
    match (parts.next()?, parts.next()) {
        ("root", _) => Some("/root".to_owned()),
        (all @ ("home" | "Users"), Some(name)) => Some(format!("/{all}/{name}")),
        _ => None,
    }
}
