//! Listeners hear everything, or how much they missed, and hold nobody up.

use std::time::Duration;

use sprag::{FEED_LENGTH, FeedItem};

use crate::place::{Place, call};

fn number(told: &FeedItem) -> Option<u64> {
    match told {
        FeedItem::Record(record) => Some(record.seq),
        FeedItem::Missed(_) => None,
    }
}

#[test]
fn a_listener_hears_events_and_notes() {
    let place = Place::memory();
    let heard = place.guard.subscribe();
    assert_eq!(heard.try_next(), None);
    call(&place.guard, "s", "read");
    place
        .guard
        .pause(sprag::Millis::MINUTE, "me", None)
        .unwrap();
    let first = heard.wait().unwrap();
    let FeedItem::Record(record) = &first else {
        panic!("{first:?}");
    };
    assert!(record.observation().is_some());
    assert!(number(&heard.wait_for(Duration::from_secs(5)).unwrap()) > number(&first));
    assert_eq!(heard.wait_for(Duration::ZERO), None);
}

#[test]
fn a_slow_listener_is_told_how_many_it_missed_and_holds_nobody_up() {
    let place = Place::memory();
    let heard = place.guard.subscribe();
    let calls = FEED_LENGTH + 7;
    for n in 0..calls {
        call(&place.guard, &format!("s{n}"), "read");
    }
    for _ in 0..FEED_LENGTH {
        assert!(number(&heard.try_next().unwrap()).is_some());
    }
    assert_eq!(heard.try_next(), Some(FeedItem::Missed(7)));
    assert_eq!(heard.try_next(), None);
    call(&place.guard, "s", "read");
    let last = place.guard.status().last_seq;
    assert_eq!(number(&heard.try_next().unwrap()), Some(last));
}

#[test]
fn a_subscription_ends_with_the_guard() {
    let place = Place::memory();
    let heard = place.guard.subscribe();
    call(&place.guard, "s", "read");
    let listener = std::thread::spawn(move || heard.count());
    drop(place);
    assert_eq!(listener.join().unwrap(), 1);
}
