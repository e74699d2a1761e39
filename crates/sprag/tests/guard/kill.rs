//! A kill that was acknowledged holds: from every thread, with every clock, on every store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sprag::{
    Code, Decision, Event, Guard, Id, LogQuery, LogScope, Millis, SessionState, Timestamp,
};

use crate::place::{Place, START, call};

#[test]
fn after_a_kill_is_acknowledged_no_call_is_allowed_from_any_thread_until_reset() {
    for place in Place::every() {
        let guard = &place.guard;
        let acknowledged = AtomicBool::new(false);
        let (before, after) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (acknowledged, before, after) = (&acknowledged, &before, &after);
                scope.spawn(move || {
                    for n in 0.. {
                        let known = acknowledged.load(Ordering::SeqCst);
                        let session = if n % 2 == 0 { "s" } else { "s/helper" };
                        let args = serde_json::json!({ "n": n, "thread": thread });
                        let event = Event::call(session, "read").unwrap().args(args);
                        let verdict = guard.check(event).unwrap();
                        if known {
                            assert_eq!(verdict.decision, Decision::Kill, "after the kill");
                            assert_eq!(verdict.code, Some(Code::SessionKilledLoopGuard));
                            if after.fetch_add(1, Ordering::SeqCst) > 100 {
                                break;
                            }
                        } else {
                            before.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
            while before.load(Ordering::SeqCst) < 50 {
                std::thread::yield_now();
            }
            guard.kill("s", "ops", "seen enough").unwrap();
            acknowledged.store(true, Ordering::SeqCst);
        });
        assert_eq!(guard.reset("s", "ops", "fixed").unwrap().generation, 2);
        assert_eq!(call(guard, "s", "read").decision, Decision::Allow);
        assert!(guard.verify().unwrap().is_sound());
    }
}

#[test]
fn a_guard_may_be_cloned_and_sent_and_shared() {
    fn is<T: Clone + Send + Sync + 'static>(_: &T) {}
    is(&Guard::in_memory().unwrap());
}

#[test]
fn a_clock_that_goes_back_or_leaps_opens_no_killed_session() {
    for place in Place::every() {
        let guard = &place.guard;
        guard.kill("s", "ops", "enough").unwrap();
        for at in [
            0,
            START.0 - 1,
            START.0 + Millis::DAY.0 * 40,
            5,
            u64::MAX >> 12,
        ] {
            place.clock.set(Timestamp(at));
            assert_eq!(call(guard, "s", "read").decision, Decision::Kill, "at {at}");
        }
    }
}

#[test]
fn a_clock_that_goes_back_lets_no_window_count_less() {
    for place in Place::every() {
        let deletes = |at: u64| {
            place.clock.set(Timestamp(START.0 + at));
            call(&place.guard, "s", "delete_asset").decision
        };
        assert_eq!(deletes(50_000), Decision::Allow);
        assert_eq!(deletes(0), Decision::Warn);
        assert_eq!(deletes(20_000), Decision::Kill);
    }
}

#[test]
fn a_kill_is_seen_by_another_guard_on_the_same_file() {
    let place = Place::shared();
    let path = place.folder.path().join("state/sprag.db");
    let other = Guard::open(&path).unwrap();
    place.guard.kill("s", "ops", "enough").unwrap();
    assert_eq!(call(&other, "s", "read").decision, Decision::Kill);
    other.reset("s", "ops", "fine").unwrap();
    assert_eq!(call(&place.guard, "s", "read").decision, Decision::Allow);
}

#[test]
fn sessions_are_listed_with_what_they_may_do_and_why() {
    let place = Place::memory();
    let guard = &place.guard;
    call(guard, "good", "read");
    guard.kill("bad", "ops@host", "it loops").unwrap();
    let page = guard.sessions(&sprag::SessionQuery::default()).unwrap();
    let listed: Vec<_> = page
        .items
        .iter()
        .map(|one| (one.id.as_str(), one.state))
        .collect();
    assert_eq!(
        listed,
        [
            ("bad", SessionState::Killed),
            ("good", SessionState::Active)
        ]
    );
    let state = guard.state("bad").unwrap().unwrap();
    let mark = state.killed.unwrap();
    assert_eq!(
        (mark.why.as_str(), mark.by.as_deref()),
        ("by ops@host (it loops)", Some("ops@host"))
    );
    assert!(guard.session("nobody").unwrap().is_none());
    assert!(guard.session("").is_err());
}

#[test]
fn the_folder_of_a_store_is_private_to_its_user() {
    let place = Place::shared();
    let folder = place.folder.path().join("state");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    assert!(folder.join("sprag.db").exists());
}

#[test]
fn what_happened_to_a_session_is_in_the_log() {
    let place = Place::owned();
    call(&place.guard, "s", "read");
    place.guard.kill("s", "ops", "enough").unwrap();
    let query = LogQuery {
        scope: LogScope::Session(Id::new("s").unwrap()),
        ..LogQuery::default()
    };
    let page = place.guard.records(&query).unwrap();
    assert_eq!(page.items.len(), 2);
    assert!(Arc::new(page).next.is_none());
}
