//! A log that does not grow for ever, though nobody tells it to shrink.

use sprag::{Guard, LogQuery, Retention};

use crate::place::call;

#[test]
fn the_log_is_pruned_by_itself_and_still_verifies() {
    let retention = Retention {
        max_bytes: 100_000,
        ..Retention::default()
    };
    let guard = Guard::builder().retention(retention).build().unwrap();
    for n in 0..8_300 {
        call(&guard, &format!("s{}", n % 50), &format!("tool{n}"));
    }
    let left = guard.records(&LogQuery::default()).unwrap();
    let first = left.items.first().unwrap().seq;
    assert!(first > 1, "the oldest records are gone");
    assert!(guard.verify().unwrap().is_sound());
}
