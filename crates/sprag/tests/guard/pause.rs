//! A pause stops nothing, ends by itself, and holds for everyone on the store.

use sprag::{Decision, Guard, LogQuery, LogScope, Millis};

use crate::place::{Place, START, call};

fn deletes(place: &Place, guard: &Guard, session: &str) -> Decision {
    place.clock.advance(Millis(1));
    let mut last = Decision::Allow;
    for _ in 0..3 {
        last = call(guard, session, "delete_asset").decision;
    }
    last
}

fn notes(guard: &Guard) -> Vec<String> {
    let query = LogQuery {
        scope: LogScope::Notes,
        ..LogQuery::default()
    };
    let page = guard.records(&query).unwrap();
    let note = |record: &sprag::Record| serde_json::to_string(record.note()?).ok();
    page.items
        .iter()
        .filter_map(note)
        .filter(|note| note.contains("paused") || note.contains("resumed"))
        .collect()
}

#[test]
fn in_a_pause_everything_is_told_and_nothing_is_stopped() {
    for place in Place::every() {
        let guard = &place.guard;
        guard.kill("dead", "ops", "enough").unwrap();
        guard
            .pause(Millis::HOUR, "me", Some("release day"))
            .unwrap();
        assert_eq!(guard.paused().unwrap().unwrap().by.as_deref(), Some("me"));
        assert_eq!(deletes(&place, guard, "a"), Decision::Allow);
        let verdict = call(guard, "a", "delete_asset");
        assert_eq!(verdict.would.unwrap().decision, Decision::Kill);
        assert_eq!(call(guard, "dead", "read").decision, Decision::Kill);
        assert!(guard.resume("me").unwrap().is_some());
        assert_eq!(deletes(&place, guard, "b"), Decision::Kill);
        assert!(guard.resume("me").unwrap().is_none());
        assert!(guard.verify().unwrap().is_sound());
    }
}

#[test]
fn a_pause_ends_by_itself_and_the_log_tells_both() {
    for place in Place::every() {
        let guard = &place.guard;
        guard.pause(Millis::MINUTE, "me", None).unwrap();
        place.clock.set(START.plus(Millis(59_000)));
        assert_eq!(deletes(&place, guard, "a"), Decision::Allow);
        place.clock.set(START.plus(Millis::MINUTE));
        assert_eq!(deletes(&place, guard, "b"), Decision::Kill);
        assert_eq!(
            notes(guard),
            [
                r#"{"note":"paused","until":1760000060000,"by":"me"}"#,
                r#"{"note":"resumed"}"#
            ]
        );
    }
}

#[test]
fn a_pause_holds_for_every_process_on_the_file_and_for_the_next_one() {
    let place = Place::shared();
    let path = place.folder.path().join("state/sprag.db");
    let clock = std::sync::Arc::clone(&place.clock);
    let other = || {
        Guard::builder()
            .file(&path)
            .clock(std::sync::Arc::clone(&clock))
            .build()
            .unwrap()
    };
    let early = other();
    place.guard.pause(Millis::HOUR, "me", None).unwrap();
    assert_eq!(deletes(&place, &early, "a"), Decision::Allow);
    assert_eq!(deletes(&place, &other(), "b"), Decision::Allow);
    early.resume("you").unwrap();
    assert_eq!(deletes(&place, &place.guard, "c"), Decision::Kill);
    assert_eq!(notes(&place.guard).len(), 2);
}
