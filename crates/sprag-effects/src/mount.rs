//! What a fresh container shares with the machine around it.

use sprag_core::Reach;

use crate::expand::Field;
use crate::path::{Path, takes_all};

/// Folders and volumes, by the place at which a container has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mounts {
    all: Vec<(Field, Path)>,
    /// Nothing but this is shared.
    apart: bool,
    /// The folder from which relative folders are seen.
    folder: String,
}

/// Where a path of a container is.
#[derive(Debug)]
pub(crate) enum Mounted {
    /// In a folder outside.
    Folder { field: Field, folder: String },
    /// In a volume, which is all of it or a part.
    Volume { reach: Reach, target: String },
    /// In the container alone.
    Nowhere,
}

impl Mounts {
    pub(crate) fn new(mounts: Vec<(Field, String)>, folder: String) -> Self {
        let all = mounts.into_iter();
        let all = all.map(|(outside, inside)| (outside, Path::new(&inside, "", None)));
        Self {
            all: all.collect(),
            apart: true,
            folder,
        }
    }

    /// Whether paths are those of the machine.
    pub(crate) fn is_empty(&self) -> bool {
        !self.apart
    }

    /// Where `field` is, seen from `folder` in the container.
    pub(crate) fn outside(&self, field: &Field, folder: &str) -> Mounted {
        let path = Path::new(&field.with_unset_empty(), folder, None);
        for (outside, inside) in &self.all {
            let Some(rest) = path.below(inside) else {
                // `rm -rf /` in the container takes what is mounted in it.
                if inside.below(&path).is_some() {
                    return self.place(outside, &[], field.globs);
                }
                continue;
            };
            return self.place(outside, rest, field.globs);
        }
        Mounted::Nowhere
    }

    fn place(&self, outside: &Field, rest: &[String], globs: bool) -> Mounted {
        let name = outside.raw();
        let folder = name.contains('/') || name.starts_with(['.', '~', '$']) || !outside.is_known();
        if folder {
            let mut field = Field::literal(format!("{name}/{}", rest.join("/")));
            field.globs = globs;
            return Mounted::Folder {
                field,
                folder: self.folder.clone(),
            };
        }
        let all = match rest {
            [] => true,
            [only] => globs && takes_all(only),
            _ => false,
        };
        let reach = match all {
            _ if crate::scratch::is_test_name(name) => Reach::Scratch,
            true => Reach::Sweeping,
            false => Reach::Shared,
        };
        let target = if all {
            format!("volume {name}")
        } else {
            format!("volume {name}/{}", crate::expand::show(&rest.join("/")))
        };
        Mounted::Volume { reach, target }
    }
}
