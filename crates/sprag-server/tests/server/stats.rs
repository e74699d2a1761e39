//! What charts get.

use serde_json::json;
use sprag::{Guard, Millis, Timestamp};
use sprag_server::stats::{Stats, StatsAnswer, StatsQuery};

use crate::stage::{START, Stage};

fn hears(stage: &Stage, stats: &Stats) {
    for record in stage.records() {
        stats.saw(&record);
    }
    let now = stage.guard.now();
    stats.levels(now, stage.guard.census().unwrap());
}

fn work(stage: &Stage) {
    for n in 0..3 {
        stage.tell(json!({"type": "call", "session": "s", "tool": "delete_x", "args": {"id": n}}));
        stage.tell(json!({"type": "call", "session": "r", "tool": "look"}));
    }
}

/// The buckets in which something happened.
fn busy(answer: &StatsAnswer) -> Vec<serde_json::Value> {
    let buckets = answer.buckets.iter();
    let busy = buckets.filter(|bucket| bucket.events.call + bucket.events.kill > 0);
    busy.map(|bucket| serde_json::to_value(bucket).unwrap())
        .collect()
}

fn ask(since: Timestamp, step: Option<u64>) -> StatsQuery {
    StatsQuery {
        since: Some(since.0),
        step,
    }
}

#[test]
fn a_bucket_counts_events_verdicts_rules_and_sessions() {
    let stage = Stage::new(
        "rules = { \"destructive.target\" = \"shadow\", \"call.repeat\" = \"shadow\" }\ncall.repeat = 2",
    );
    let stats = Stats::new(stage.guard.status().last_seq, START);
    work(&stage);
    hears(&stage, &stats);
    let answer = stats.answer(&ask(START, None), stage.guard.now());
    assert_eq!((answer.step, answer.buckets.len()), (10, 1));
    insta::assert_json_snapshot!(busy(&answer));
}

#[test]
fn the_grain_fits_the_time_that_is_asked_for() {
    let stage = Stage::new("");
    let stats = Stats::new(0, START);
    work(&stage);
    stage.clock.advance(Millis::HOUR);
    work(&stage);
    hears(&stage, &stats);
    let now = stage.guard.now();
    let grain = |ago: u64, step| {
        let since = Timestamp(now.0 - ago);
        let answer = stats.answer(&ask(since, step), now);
        (answer.step, answer.buckets.len(), busy(&answer).len())
    };
    let hour = Millis::HOUR.0;
    assert_eq!(grain(hour, None), (10, 360, 2));
    assert_eq!(grain(2 * hour, None), (300, 25, 2));
    assert_eq!(grain(24 * hour, None), (300, 288, 2));
    assert_eq!(grain(48 * hour, None), (3600, 49, 2));
    assert_eq!(grain(10 * 24 * hour, None), (3600, 241, 2));
    assert_eq!(grain(900 * 24 * hour, None), (3600, 720, 2));
    assert_eq!(grain(2 * hour, Some(60)), (300, 25, 2));
    assert_eq!(grain(2 * hour, Some(9_999_999)), (3600, 3, 2));
    let unsaid = stats.answer(&StatsQuery::default(), now);
    assert_eq!((unsaid.step, unsaid.buckets.len()), (10, 360));
}

#[test]
fn what_happened_before_the_start_is_read_from_the_log_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sprag.db");
    let live = Stats::new(0, START);
    let stage = Stage::of(Guard::builder().owned_file(&file), "");
    work(&stage);
    hears(&stage, &live);
    let boundary = stage.guard.status().last_seq;
    let again = Stats::new(boundary, stage.guard.now());
    let before = again.answer(&ask(START, None), stage.guard.now());
    assert_eq!((before.rebuilt, busy(&before).len()), (false, 0));
    work(&stage);
    stage.guard.sync().unwrap();
    let now = stage.guard.now();
    again.rebuild(stage.guard.store(), now, || true).unwrap();
    for record in stage
        .guard
        .records(&sprag::LogQuery::default())
        .unwrap()
        .items
    {
        again.saw(&record);
    }
    hears(&stage, &live);
    again.levels(now, stage.guard.census().unwrap());
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
    let stage = Stage::new("");
    work(&stage);
    let stats = Stats::new(stage.guard.status().last_seq, START);
    stats.rebuild(stage.guard.store(), START, || false).unwrap();
    assert!(!stats.answer(&StatsQuery::default(), START).rebuilt);
}
