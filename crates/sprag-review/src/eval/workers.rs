//! Work on many items at once, results in the order of the items.
//!
//! Items are taken one by one from a shared place, so that a long one holds up no other. Threads of
//! the standard library do; a pool would be one more dependency for one loop.

use std::sync::Mutex;
use std::thread;

/// What `work` makes of each of `items`.
pub(crate) fn each<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(items.iter().enumerate());
    let taken = || next.lock().ok().and_then(|mut items| items.next());
    let worker = || {
        let mut made = Vec::new();
        while let Some((place, item)) = taken() {
            made.push((place, work(item)));
        }
        made
    };
    let mut made: Vec<(usize, O)> = thread::scope(|scope| {
        let started: Vec<_> = (0..threads.min(items.len()))
            .map(|_| scope.spawn(worker))
            .collect();
        let joined = started.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .flat_map(|result| match result {
                Ok(made) => made,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(
            each(&items, |n| n * 2),
            (0..100).map(|n| n * 2).collect::<Vec<_>>()
        );
        assert!(each(&[0_u32; 0], |n| *n).is_empty());
    }
}
