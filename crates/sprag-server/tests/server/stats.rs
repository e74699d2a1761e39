//! What charts get.

use serde_json::json;
use sprag::{Guard, Millis, Timestamp};
use sprag_server::stats::{Stats, StatsQuery, StatsResponse};

use crate::guard_fixture::{GuardFixture, START};

fn hears(fixture: &GuardFixture, stats: &Stats) {
    for record in fixture.records() {
        stats.observe(&record);
    }
    let now = fixture.guard.now();
    stats.levels(now, fixture.guard.census().unwrap());
}

fn work(fixture: &GuardFixture) {
    for n in 0..3 {
        fixture
            .tell(json!({"type": "call", "session": "s", "tool": "delete_x", "args": {"id": n}}));
        fixture.tell(json!({"type": "call", "session": "r", "tool": "look"}));
    }
}

/// The buckets in which something happened.
fn busy(answer: &StatsResponse) -> Vec<serde_json::Value> {
    let buckets = answer.buckets.iter();
    let busy = buckets.filter(|bucket| bucket.events.call + bucket.events.kill > 0);
    busy.map(|bucket| serde_json::to_value(bucket).unwrap())
        .collect()
}

fn ask(since: Timestamp, step: Option<u64>) -> StatsQuery {
    StatsQuery {
        since: Some(since.0),
        until: None,
        step,
    }
}

#[test]
fn a_bucket_counts_events_verdicts_rules_and_sessions() {
    let fixture = GuardFixture::new(
        "rules = { \"destructive.target\" = \"shadow\", \"call.repeat\" = \"shadow\" }\ncall.repeat = 2",
    );
    let stats = Stats::new(fixture.guard.status().last_seq, START);
    work(&fixture);
    hears(&fixture, &stats);
    let answer = stats.answer(&ask(START, None), fixture.guard.now());
    assert_eq!((answer.step, answer.buckets.len()), (10, 1));
    insta::assert_json_snapshot!(busy(&answer));
}

#[test]
fn the_grain_fits_the_time_that_is_asked_for() {
    let fixture = GuardFixture::new("");
    let stats = Stats::new(0, START);
    work(&fixture);
    fixture.clock.advance(Millis::HOUR);
    work(&fixture);
    hears(&fixture, &stats);
    let now = fixture.guard.now();
    let grain = |ago: u64, step| {
        let since = Timestamp(now.0 - ago);
        let answer = stats.answer(&ask(since, step), now);
        (answer.step, answer.buckets.len(), busy(&answer).len())
    };
    let hour = Millis::HOUR.0;
    assert_eq!(grain(hour, None), (10, 361, 2));
    assert_eq!(grain(2 * hour, None), (300, 25, 2));
    assert_eq!(grain(24 * hour, None), (300, 289, 2));
    assert_eq!(grain(48 * hour, None), (3600, 49, 2));
    assert_eq!(grain(10 * 24 * hour, None), (3600, 241, 2));
    assert_eq!(grain(900 * 24 * hour, None), (3600, 721, 2));
    assert_eq!(grain(2 * hour, Some(60)), (300, 25, 2));
    assert_eq!(grain(2 * hour, Some(9_999_999)), (3600, 3, 2));
    let unsaid = stats.answer(&StatsQuery::default(), now);
    assert_eq!((unsaid.step, unsaid.buckets.len()), (10, 361));
}

#[test]
fn the_last_hour_asked_for_a_moment_later_keeps_its_grain() {
    let fixture = GuardFixture::new("");
    let stats = Stats::new(0, START);
    work(&fixture);
    hears(&fixture, &stats);
    let now = fixture.guard.now();
    for (ago, step) in [(1, 10), (24, 300), (30 * 24, 3600)] {
        let since = Timestamp(now.0 - ago * Millis::HOUR.0 - 700);
        assert_eq!(stats.answer(&ask(since, None), now).step, step);
    }
}

#[test]
fn a_chart_ends_when_it_is_told_to() {
    let fixture = GuardFixture::new("");
    let stats = Stats::new(0, START);
    work(&fixture);
    let until = fixture.guard.now();
    fixture.clock.advance(Millis(120_000));
    work(&fixture);
    hears(&fixture, &stats);
    let query = StatsQuery {
        until: Some(until.0),
        ..ask(START, None)
    };
    let answer = stats.answer(&query, fixture.guard.now());
    assert_eq!((answer.buckets.len(), busy(&answer).len()), (1, 1));
    let reversed = StatsQuery {
        until: Some(START.0 - 60_000),
        ..ask(START, None)
    };
    assert!(
        stats
            .answer(&reversed, fixture.guard.now())
            .buckets
            .is_empty()
    );
}

#[test]
fn what_happened_before_the_start_is_read_from_the_log_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sprag.db");
    let live = Stats::new(0, START);
    let fixture = GuardFixture::of(Guard::builder().owned_file(&file), "");
    work(&fixture);
    hears(&fixture, &live);
    let boundary = fixture.guard.status().last_seq;
    let again = Stats::new(boundary, fixture.guard.now());
    let before = again.answer(&ask(START, None), fixture.guard.now());
    assert_eq!((before.rebuilt, busy(&before).len()), (false, 0));
    work(&fixture);
    fixture.guard.sync().unwrap();
    let now = fixture.guard.now();
    again.rebuild(fixture.guard.store(), now, || true).unwrap();
    for record in fixture
        .guard
        .records(&sprag::LogQuery::default())
        .unwrap()
        .items
    {
        again.observe(&record);
    }
    hears(&fixture, &live);
    again.levels(now, fixture.guard.census().unwrap());
    let counts = |stats: &Stats| {
        let mut answer = stats.answer(&ask(START, None), now);
        for bucket in &mut answer.buckets {
            bucket.sessions = None;
        }
        answer
    };
    assert_eq!(counts(&again).buckets, counts(&live).buckets);
    let answer = counts(&again);
    assert!(answer.rebuilt);
    assert!(answer.complete_since.unwrap() < START.0);
}

#[test]
fn a_rebuild_stops_when_it_is_told_to() {
    let fixture = GuardFixture::new("");
    work(&fixture);
    let stats = Stats::new(fixture.guard.status().last_seq, START);
    stats
        .rebuild(fixture.guard.store(), START, || false)
        .unwrap();
    assert!(!stats.answer(&StatsQuery::default(), START).rebuilt);
}
