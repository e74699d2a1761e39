//! What the walk notes: effects, judged by where they are.

use sprag_core::{Effect, Effects, MAX_EFFECTS, Reach, Verb};

use super::Walker;
use crate::expand::Field;
use crate::mount::Mounted;
use crate::reach::{Judged, Site};

/// The most characters of a target.
const MAX_TARGET_CHARS: usize = 200;

impl Walker<'_> {
    /// Judges a path as this command sees it; in a fresh container, by what is mounted there.
    pub(crate) fn judge(&self, field: &Field, recursive: bool) -> Judged {
        let folder = &self.environment.folder;
        if self.mounts.is_empty() {
            return self.places.judge(field, folder, recursive, self.site);
        }
        match self.mounts.outside(field, folder) {
            Mounted::Folder { field, folder } => {
                self.places.judge(&field, &folder, recursive, Site::Local)
            }
            Mounted::Volume { reach, target } => Judged {
                reach,
                vital: false,
                target,
            },
            Mounted::Nowhere => Judged {
                reach: Reach::Scratch,
                vital: false,
                target: field.shown(),
            },
        }
    }

    /// Notes the removal of a path.
    pub(crate) fn path_effect(&mut self, verb: Verb, by: &str, field: &Field, recursive: bool) {
        let judged = self.judge(field, recursive);
        self.removes(field);
        self.effect(Effect {
            verb,
            reach: judged.reach,
            vital: judged.vital,
            replaceable: false,
            by: by.into(),
            target: judged.target.into(),
        });
    }

    /// Notes an effect; once only.
    pub(crate) fn effect(&mut self, mut effect: Effect) {
        if self.throwaway {
            effect.reach = Reach::Scratch;
        }
        if effect.reach != Reach::Sweeping {
            effect.vital = false;
        }
        effect.by = crate::expand::show(&effect.by).into();
        effect.target = shorten(&crate::expand::show(&effect.target));
        if !self.found.list.contains(&effect) {
            self.found.list.push(effect);
        }
    }

    /// What was found, the widest reach first.
    pub(crate) fn finish(mut self) -> Effects {
        self.found
            .list
            .sort_by_key(|effect| std::cmp::Reverse((effect.vital, effect.reach)));
        self.found.list.truncate(MAX_EFFECTS);
        self.found
    }
}

fn shorten(text: &str) -> Box<str> {
    match text.char_indices().nth(MAX_TARGET_CHARS) {
        Some((end, _)) => text.get(..end).unwrap_or_default().into(),
        None => text.into(),
    }
}
