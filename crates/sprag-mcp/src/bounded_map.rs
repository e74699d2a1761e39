//! A map that forgets its oldest entry when it is full.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// How many entries a map keeps.
const MAX_ENTRIES: usize = 4096;

/// A map that forgets its oldest entry when it is full.
#[derive(Debug)]
pub(crate) struct BoundedMap<K, V> {
    /// Each value with the number of its insertion: the smallest is the oldest.
    entries: HashMap<K, (u64, V)>,
    insertions: u64,
}

impl<K, V> Default for BoundedMap<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            insertions: 0,
        }
    }
}

impl<K: Hash + Eq + Clone, V> BoundedMap<K, V> {
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.entries.len() >= MAX_ENTRIES && !self.entries.contains_key(&key) {
            let oldest = self.entries.iter().min_by_key(|(_, (number, _))| *number);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&key);
            }
        }
        self.insertions += 1;
        self.entries.insert(key, (self.insertions, value));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn take<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries.remove(key).map(|(_, value)| value)
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_map_forgets_its_oldest_entry() {
        let mut map = BoundedMap::default();
        (0..MAX_ENTRIES).for_each(|n| map.insert(n, n));
        map.insert(0, 0);
        map.insert(MAX_ENTRIES, 7);
        assert_eq!(map.entries.len(), MAX_ENTRIES);
        assert_eq!(map.get(&1), None);
        assert_eq!(map.take(&0), Some(0));
        assert_eq!(map.take(&MAX_ENTRIES), Some(7));
    }
}
