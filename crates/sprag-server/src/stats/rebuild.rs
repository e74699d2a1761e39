//! What happened before this process started, read from the end of the log.

use sprag_core::Timestamp;
use sprag_store::{LogQuery, MAX_PAGE, Store, StoreError};

use super::{GRAINS, Stats};

/// How many records are read at most: the charts of a very busy server start later.
const MAX_RECORDS: u64 = 500_000;

impl Stats {
    /// Reads the log backwards from where this began to count, until the rings or the bound are full. For a thread
    /// of its own: it may take seconds. `go_on` is asked now and then, so that a server can stop.
    ///
    /// # Errors
    /// Returns an error if the log can't be read; what was counted stays.
    pub fn rebuild(
        &self,
        store: &dyn Store,
        now: Timestamp,
        go_on: impl Fn() -> bool,
    ) -> Result<(), StoreError> {
        let [.., (step, length)] = GRAINS;
        let reach = step
            .0
            .saturating_mul(u64::try_from(length).unwrap_or(u64::MAX));
        let horizon = Timestamp(now.0.saturating_sub(reach));
        let mut query = LogQuery {
            newest_first: true,
            after: Some(self.starts_after.saturating_add(1)),
            limit: MAX_PAGE,
            ..LogQuery::default()
        };
        let mut read = 0_u64;
        while go_on() {
            let page = store.records(&query)?;
            let mut state = self.state();
            for record in &page.items {
                read = read.saturating_add(1);
                state.count(record);
                state.complete_since = state.complete_since.map(|since| since.min(record.at));
            }
            drop(state);
            let oldest = page.items.last().map_or(Timestamp(0), |record| record.at);
            query.after = page.next;
            if page.next.is_none() || oldest < horizon || read >= MAX_RECORDS {
                // A log that was pruned does not tell what it once state.
                let whole = oldest < horizon || (page.next.is_none() && store.base()?.after == 0);
                let mut state = self.state();
                state.rebuilt = true;
                if whole {
                    state.complete_since = Some(horizon);
                }
                return Ok(());
            }
        }
        Ok(())
    }
}
