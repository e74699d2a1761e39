//! What Prometheus gets to read.

use std::time::Duration;

use serde_json::json;
use sprag::StoreError;
use sprag_server::metrics::{Metrics, Readings};
use sprag_server::notify::{Channel, Delivery, DeliveryOutcome};

use crate::guard_fixture::GuardFixture;

fn play(fixture: &GuardFixture, metrics: &Metrics) {
    for record in fixture.records() {
        metrics.observe(&record);
    }
}

fn text(fixture: &GuardFixture, metrics: &Metrics) -> String {
    metrics.encode(&Readings::of(&fixture.guard))
}

/// The series that stand above zero.
fn counted(text: &str) -> Vec<&str> {
    let series = text.lines().filter(|line| !line.starts_with('#'));
    let mut counted: Vec<_> = series
        .filter(|line| !line.ends_with(" 0") && !line.ends_with(" 0.0"))
        .collect();
    counted.sort_unstable();
    counted
}

#[test]
fn everything_that_happens_is_counted_once() {
    let fixture = GuardFixture::new("flow.max_depth = 3\nrules = { \"call.repeat\" = \"shadow\" }");
    let metrics = Metrics::new();
    fixture.tell(json!({"type": "message", "to": "1", "flow": "f"}));
    fixture.tell(json!({"type": "message", "to": "1", "source": "applet"}));
    fixture.tell(json!({"type": "message", "to": "1", "source": "scheduler"}));
    for pair in [("1", "2"), ("2", "3"), ("3", "4"), ("1", "5")] {
        fixture.tell(json!({"type": "message", "from": pair.0, "to": pair.1, "flow": "f"}));
    }
    for _ in 0..3 {
        fixture
            .tell(json!({"type": "call", "session": "s", "tool": "delete_x", "args": {"id": 1}}));
    }
    for _ in 0..4 {
        fixture.tell(json!({"type": "call", "session": "r", "tool": "look"}));
    }
    fixture.guard.kill("k", "ops", "why").unwrap();
    play(&fixture, &metrics);
    metrics.decided(Duration::from_micros(7));
    metrics.store_failed(&StoreError::Closed);
    metrics.missed(3);
    metrics.left_out(4);
    let sent = Delivery {
        channel: Channel::Webhook,
        result: DeliveryOutcome::Sent,
    };
    metrics.notified(sent);
    let client = metrics.stream_client();
    let seen = text(&fixture, &metrics);
    insta::assert_snapshot!(counted(&seen).join("\n"));
    drop(client);
    assert!(text(&fixture, &metrics).contains("\nsprag_stream_clients 0\n"));
}

#[test]
fn the_text_is_open_metrics_and_every_metric_says_what_it_is() {
    let fixture = GuardFixture::new("");
    let text = text(&fixture, &Metrics::new());
    insta::assert_snapshot!(
        text.lines()
            .filter(|line| line.starts_with('#'))
            .collect::<Vec<_>>()
            .join("\n")
    );
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn names_that_agents_choose_make_no_series() {
    let fixture = GuardFixture::new("access.deny = [\"*\"]");
    let metrics = Metrics::new();
    let tell = |name: &str| {
        fixture.tell(json!({"type": "call", "session": name, "agent": name, "tool": name}));
        play(&fixture, &metrics);
    };
    tell("first");
    let lines = text(&fixture, &metrics).lines().count();
    for n in 0..300 {
        tell(&format!("n{n}"));
    }
    let after = text(&fixture, &metrics);
    assert_eq!(after.lines().count(), lines);
    assert!(!after.contains("n299"));
}

#[test]
fn what_is_not_on_disk_yet_has_an_age() {
    let fixture = GuardFixture::new("");
    let metrics = Metrics::new();
    for _ in 0..5 {
        fixture.tell(json!({"type": "call", "session": "s", "tool": "look"}));
    }
    play(&fixture, &metrics);
    let mut readings = Readings::of(&fixture.guard);
    readings.status.pending = 3;
    let text = metrics.encode(&readings);
    // The third of five that are a second apart is two seconds old.
    assert!(text.contains("\nsprag_log_lag_seconds 2.0\n"), "{text}");
    assert!(text.contains("\nsprag_log_pending_records 3\n"));
}
