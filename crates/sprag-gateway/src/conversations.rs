//! The sessions that the gateway remembers, and whose they are.
//!
//! A session id in a header is a name that anyone could write. It counts only together with the
//! credential that it first came with; the same name with another credential is another session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::conversation::Conversation;
use crate::limits::CONVERSATIONS;

/// A digest of what a client shows to its provider, keyed with a number that only this process knows.
pub(crate) type Credential = [u8; 16];

struct Entry {
    owner: Credential,
    conversation: Arc<Mutex<Conversation>>,
    used: u64,
}

#[derive(Default)]
struct Table {
    entries: HashMap<String, Entry>,
    clock: u64,
}

/// The sessions, by the names that the guard knows them by.
#[derive(Default)]
pub(crate) struct Conversations {
    table: Mutex<Table>,
}

impl Conversations {
    /// The session `name` of whoever shows `credential`, under the name that the guard gets.
    pub(crate) fn of(
        &self,
        name: &str,
        credential: &Credential,
    ) -> (String, Arc<Mutex<Conversation>>) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.clock += 1;
        let now = table.clock;
        let is_foreign = table
            .entries
            .get(name)
            .is_some_and(|entry| entry.owner != *credential);
        let name = if is_foreign {
            format!("{name}~{}", hex(&credential[..4]))
        } else {
            name.to_owned()
        };
        if !table.entries.contains_key(&name) && table.entries.len() >= CONVERSATIONS {
            let oldest = table.entries.iter().min_by_key(|(_, entry)| entry.used);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.and_then(|name| table.entries.remove(&name));
        }
        let entry = table.entries.entry(name.clone()).or_insert_with(|| Entry {
            owner: *credential,
            conversation: Arc::default(),
            used: now,
        });
        entry.used = now;
        (name, Arc::clone(&entry.conversation))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_only_with_the_credential_it_first_came_with() {
        let all = Conversations::default();
        let (mine, first) = all.of("s1", &[1; 16]);
        let (theirs, other) = all.of("s1", &[2; 16]);
        assert_eq!((mine.as_str(), theirs.as_str()), ("s1", "s1~02020202"));
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(Arc::ptr_eq(&first, &all.of("s1", &[1; 16]).1));
    }

    #[test]
    fn the_longest_unused_session_is_forgotten_first() {
        let all = Conversations::default();
        let (_, first) = all.of("s0", &[0; 16]);
        for n in 1..CONVERSATIONS {
            all.of(&format!("s{n}"), &[0; 16]);
        }
        all.of("s0", &[0; 16]);
        all.of("one more", &[0; 16]);
        assert!(Arc::ptr_eq(&first, &all.of("s0", &[0; 16]).1));
        assert_eq!(all.table.lock().unwrap().entries.len(), CONVERSATIONS);
    }
}
