//! The sessions of one file, each told apart and folded.

use std::collections::HashMap;

use sprag_core::Policy;

use crate::act::Told;
use crate::fold::Fold;
use crate::session::{Ended, Session};
use crate::source::Source;

/// How many sessions of one file are followed at once. A log of many takes turns; whoever has not been heard of for
/// longest is taken for ended.
const MAX_LIVE: usize = 64;

/// The sessions of one file.
pub(crate) struct Ledger {
    source: Source,
    file: String,
    project: Option<String>,
    fold: Fold,
    live: HashMap<String, (u64, Session)>,
    heard: u64,
    ended: Vec<Ended>,
}

impl Ledger {
    /// `project` is what the place of the file says; the transcript may know better.
    pub(crate) fn new(
        source: Source,
        file: String,
        project: Option<String>,
        policy: &Policy,
    ) -> Self {
        Self {
            source,
            file,
            project,
            fold: Fold::new(policy),
            live: HashMap::new(),
            heard: 0,
            ended: Vec::new(),
        }
    }

    pub(crate) fn hear(&mut self, told: Told<'_>) {
        self.heard += 1;
        if !self.live.contains_key(told.session) {
            self.make_room();
            let project = self.project.clone();
            let Some(session) = Session::new(told.session, self.source, &self.file, project) else {
                return;
            };
            self.live
                .insert(told.session.to_owned(), (self.heard, session));
        }
        if let Some((last, session)) = self.live.get_mut(told.session) {
            *last = self.heard;
            session.take(told.at, told.act, &mut self.fold);
        }
    }

    /// All sessions, now that the file is read.
    pub(crate) fn end(mut self) -> Vec<Ended> {
        let mut live: Vec<(u64, Session)> = self.live.drain().map(|(_, session)| session).collect();
        live.sort_by_key(|(last, _)| *last);
        self.ended
            .extend(live.into_iter().map(|(_, session)| session.end()));
        self.ended
    }

    fn make_room(&mut self) {
        if self.live.len() < MAX_LIVE {
            return;
        }
        let oldest = self.live.iter().min_by_key(|(_, (last, _))| *last);
        let oldest = oldest.map(|(name, _)| name.clone());
        if let Some((_, session)) = oldest.and_then(|name| self.live.remove(&name)) {
            self.ended.push(session.end());
        }
    }
}
