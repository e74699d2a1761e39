//! A panic refuses everything that agents do, for everyone on the store, and nothing that people say.

use sprag::{Code, Decision, Event, Guard, LazyLink, LinkOptions, Millis, NoVerdict, Role};

use crate::place::{Place, call};

fn user(guard: &Guard, to: &str) -> Decision {
    let event = Event::message(to).unwrap();
    guard.check_as(Role::Hook, event).unwrap().decision
}

#[test]
fn in_a_panic_agents_are_refused_and_users_are_heard() {
    for place in Place::every() {
        let guard = &place.guard;
        assert_eq!(call(guard, "a", "read").decision, Decision::Allow);
        guard.kill("dead", "ops", "enough").unwrap();
        guard.panic("me", "agents delete tickets").unwrap();
        let verdict = call(guard, "a", "read");
        assert_eq!(verdict.decision, Decision::Deny);
        assert_eq!(verdict.code, Some(Code::Panic));
        assert_eq!(
            verdict.message.as_deref(),
            Some(
                "Everything that agents do is refused: me stopped all of them (agents delete tickets). \
                 Stop now and wait for a person. Do not work around it."
            )
        );
        let step = Event::step("a").unwrap().id("t9").unwrap().result("late");
        assert_eq!(guard.check(step).unwrap().decision, Decision::Warn);
        let said = Event::message("b").unwrap().from("a").unwrap();
        assert_eq!(guard.check(said).unwrap().decision, Decision::Deny);
        assert_eq!(user(guard, "a"), Decision::Allow);
        assert_eq!(call(guard, "dead", "read").decision, Decision::Kill);
        assert!(guard.calm("me", "fixed").unwrap().is_some());
        assert_eq!(call(guard, "a", "read").decision, Decision::Allow);
        assert!(guard.calm("me", "fixed").unwrap().is_none());
        assert!(guard.verify().unwrap().is_sound());
    }
}

#[test]
fn a_pause_does_not_lift_a_panic_and_its_refusals_count_for_nothing() {
    for place in Place::every() {
        let guard = &place.guard;
        guard.panic("me", "stop").unwrap();
        guard.pause(Millis::HOUR, "me", None).unwrap();
        for _ in 0..40 {
            place.clock.advance(Millis(2_000));
            assert_eq!(call(guard, "a", "read").code, Some(Code::Panic));
        }
        guard.resume("me").unwrap();
        assert_eq!(call(guard, "a", "read").code, Some(Code::Panic));
        guard.calm("me", "fixed").unwrap();
        assert_eq!(call(guard, "a", "read").decision, Decision::Allow);
    }
}

#[test]
fn a_file_beside_the_store_is_a_panic_while_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let guard = Guard::open(folder.path().join("sprag.db")).unwrap();
    assert_eq!(call(&guard, "a", "read").decision, Decision::Allow);
    let file = folder.path().join("panic");
    std::fs::write(&file, "wrong tenant\nmore").unwrap();
    let verdict = call(&guard, "a", "read");
    assert_eq!(verdict.code, Some(Code::Panic));
    assert!(verdict.message.unwrap().contains("(wrong tenant)"));
    assert_eq!(user(&guard, "a"), Decision::Allow);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(call(&guard, "a", "read").decision, Decision::Allow);
}

#[test]
fn whoever_cannot_reach_the_guard_finds_the_panic_before_it_fails_open() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("sprag.db");
    Guard::open(&db).unwrap().panic("me", "stop").unwrap();
    // A server owns the store, and nobody answers on its socket.
    let owner = Guard::builder().owned_file(&db).build().unwrap();
    let mut options = LinkOptions::new(&db);
    options.deadline = std::time::Duration::from_millis(200);
    let link = LazyLink::new(options);
    let event: Event = Event::call("a", "read").unwrap().into();
    let error = link.check_as(Role::Hook, event).unwrap_err();
    let NoVerdict::Unreachable {
        stopped: Some(verdict),
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(verdict.code, Some(Code::Panic));
    assert_eq!(verdict.decision, Decision::Deny);
    let event: Event = Event::message("a").unwrap().into();
    let error = link.check_as(Role::Hook, event).unwrap_err();
    assert!(
        matches!(error, NoVerdict::Unreachable { stopped: None, .. }),
        "{error:?}"
    );
    drop(owner);
}
