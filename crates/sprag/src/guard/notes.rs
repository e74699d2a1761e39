//! Finding the latest note of a kind in the log.

use sprag_store::{LogQuery, LogScope, Record, Store, StoreError};

/// How many notes are read at once: what is looked for is usually among the last few.
const PAGE: usize = 16;

/// The latest note for which `wanted` answers.
pub(super) fn latest<T>(
    store: &dyn Store,
    wanted: impl Fn(Record) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    let mut query = LogQuery {
        scope: LogScope::Notes,
        newest_first: true,
        limit: PAGE,
        ..LogQuery::default()
    };
    loop {
        let page = store.records(&query)?;
        if let Some(found) = page.items.into_iter().find_map(&wanted) {
            return Ok(Some(found));
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(None),
        }
    }
}
