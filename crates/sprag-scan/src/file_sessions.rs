//! The sessions of one file, each on its own and folded.

use std::collections::HashMap;

use sprag_core::Policy;

use crate::fold::Fold;
use crate::session_fold::{SessionFold, SessionOutcome};
use crate::transcript_item::TranscriptItem;
use crate::transcript_source::TranscriptSource;

/// How many sessions of one file are followed at once. A log of many takes turns; whoever has not been heard of for
/// longest is taken for ended.
const MAX_LIVE: usize = 64;

/// The sessions of one file.
pub(crate) struct FileSessions {
    source: TranscriptSource,
    file: String,
    project: Option<String>,
    fold: Fold,
    live: HashMap<String, (u64, SessionFold)>,
    heard: u64,
    ended: Vec<SessionOutcome>,
}

impl FileSessions {
    /// `project` is what the place of the file says; the transcript may know better.
    pub(crate) fn new(
        source: TranscriptSource,
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

    pub(crate) fn take(&mut self, item: TranscriptItem<'_>) {
        self.heard += 1;
        if !self.live.contains_key(item.session) {
            self.make_room();
            let project = self.project.clone();
            let Some(session) = SessionFold::new(item.session, self.source, &self.file, project)
            else {
                return;
            };
            self.live
                .insert(item.session.to_owned(), (self.heard, session));
        }
        if let Some((last, session)) = self.live.get_mut(item.session) {
            *last = self.heard;
            session.take(item.at, item.what, &mut self.fold);
        }
    }

    /// All sessions, now that the file is read.
    pub(crate) fn end(mut self) -> Vec<SessionOutcome> {
        let mut live: Vec<(u64, SessionFold)> =
            self.live.drain().map(|(_, session)| session).collect();
        live.sort_by_key(|(last, _)| *last);
        let fold = &mut self.fold;
        let ended = live.into_iter().map(|(_, session)| session.end(fold));
        self.ended.extend(ended);
        self.ended
    }

    fn make_room(&mut self) {
        if self.live.len() < MAX_LIVE {
            return;
        }
        let oldest = self.live.iter().min_by_key(|(_, (last, _))| *last);
        let oldest = oldest.map(|(name, _)| name.clone());
        if let Some((_, session)) = oldest.and_then(|name| self.live.remove(&name)) {
            self.ended.push(session.end(&mut self.fold));
        }
    }
}
