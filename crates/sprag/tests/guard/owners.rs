//! A session belongs to whoever opened it: nobody acts in another's name.

use sprag::{Decision, Event, Guard, GuardError, Id, LogQuery, Role, Sender, TestClock, Verdict};

use crate::place::{Place, START, event};

fn agent(name: &str) -> Sender {
    Sender::named(Role::Agent, Id::new(name).unwrap())
}

fn hook() -> Sender {
    Sender::named(Role::Hook, Id::new("hook").unwrap())
}

fn anonymous() -> Sender {
    Sender::anonymous(Role::Agent)
}

fn delete(session: &str) -> Event {
    event(&format!(
        r#"{{"type":"call","session":"{session}","tool":"delete_asset","args":{{"id":1}}}}"#
    ))
}

/// Whether the event was refused because the session is somebody else's.
fn is_foreign(checked: Result<Verdict, GuardError>) -> bool {
    matches!(checked, Err(error) if error.is_foreign())
}

#[test]
fn three_deletes_in_another_agents_name_do_not_kill_it() {
    for place in Place::every() {
        let guard = &place.guard;
        guard
            .check_from(&agent("build"), Event::call("s", "read").unwrap())
            .unwrap();
        let before = guard.status().last_seq;
        for sender in [agent("other"), anonymous()] {
            for _ in 0..3 {
                let error = guard.check_from(&sender, delete("s")).unwrap_err();
                assert!(error.is_foreign(), "{error}");
            }
        }
        assert_eq!(guard.status().last_seq, before, "nothing is written");
        let own = guard.check_from(&agent("build"), Event::call("s", "read").unwrap());
        assert_eq!(own.unwrap().decision, Decision::Allow);
    }
}

#[test]
fn a_foreign_session_is_told_with_whose_it_is() {
    let place = Place::memory();
    let read = || Event::call("s", "read").unwrap();
    place.guard.check_from(&hook(), read()).unwrap();
    let error = place.guard.check_from(&anonymous(), read()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "session s belongs to a hook, a relay or an operator; a caller without a token may not act in it, use a session of your own or a token of role hook"
    );
}

#[test]
fn hooks_and_relays_act_in_any_session_and_take_it_over() {
    for place in Place::every() {
        let guard = &place.guard;
        let read = || Event::call("s", "read").unwrap();
        guard.check_from(&agent("squatter"), read()).unwrap();
        guard.check_from(&hook(), read()).unwrap();
        let relay = Sender::anonymous(Role::Relay);
        guard.check_from(&relay, read()).unwrap();
        assert!(is_foreign(
            guard.check_from(&agent("squatter"), delete("s"))
        ));
    }
}

#[test]
fn what_a_user_says_opens_the_session_for_the_adapters() {
    let place = Place::memory();
    let hello = event(r#"{"type":"message","to":"s","content":"please"}"#);
    place.guard.check_from(&hook(), hello).unwrap();
    assert!(is_foreign(
        place.guard.check_from(&anonymous(), delete("s"))
    ));
    let spawn = event(r#"{"type":"message","from":"s","to":"t","kind":"spawn"}"#);
    place.guard.check_from(&hook(), spawn).unwrap();
    assert!(is_foreign(
        place.guard.check_from(&anonymous(), delete("t"))
    ));
}

#[test]
fn agents_write_to_each_other_but_not_in_each_others_name() {
    let place = Place::memory();
    let guard = &place.guard;
    let say = |from: &str, to: &str| {
        event(&format!(
            r#"{{"type":"message","from":"{from}","to":"{to}","flow":"f"}}"#
        ))
    };
    guard.check_from(&agent("one"), say("1", "2")).unwrap();
    // Being written to makes nobody an owner.
    guard.check_from(&agent("two"), say("2", "1")).unwrap();
    assert!(is_foreign(guard.check_from(&agent("two"), say("1", "2"))));
    assert!(is_foreign(guard.check_from(&agent("one"), say("2", "1"))));
}

#[test]
fn a_sub_agent_below_anothers_session_is_foreign_too() {
    for place in Place::every() {
        let guard = &place.guard;
        guard
            .check_from(&agent("build"), Event::call("s", "read").unwrap())
            .unwrap();
        let spend = event(r#"{"type":"usage","session":"s/evil/x","input_tokens":1000}"#);
        assert!(is_foreign(guard.check_from(&agent("other"), spend.clone())));
        guard.check_from(&agent("build"), spend).unwrap();
    }
}

#[test]
fn a_claimed_tool_use_pulls_nobodys_call_into_another_session() {
    for place in Place::every() {
        let guard = &place.guard;
        let called = |session: &str, tool: &str| {
            event(&format!(
                r#"{{"type":"call","session":"{session}","tool":"{tool}","use_id":"call_0"}}"#
            ))
        };
        guard
            .check_from(&anonymous(), called("trap", "read"))
            .unwrap();
        guard
            .check_from(&hook(), called("s", "delete_asset"))
            .unwrap();
        let step = event(r#"{"type":"step","session":"s","use_id":"call_0","result":"gone"}"#);
        guard.check_from(&hook(), step).unwrap();
        let records = guard.records(&LogQuery::default()).unwrap().items;
        let sessions: Vec<_> = records
            .iter()
            .filter_map(|record| Some(record.observation()?.what.session().to_string()))
            .collect();
        assert_eq!(sessions, ["trap", "s", "s"]);
        // The call was judged for itself: two more of its kind kill.
        for (use_id, decision) in [("u1", Decision::Warn), ("u2", Decision::Kill)] {
            let mut next = called("s", "delete_asset");
            if let Event::Call(call) = &mut next {
                call.use_id = Some(Id::new(use_id).unwrap());
            }
            let verdict = guard.check_from(&hook(), next).unwrap();
            assert!(verdict.decision <= decision, "{verdict:?}");
            assert_eq!(verdict.decision == Decision::Kill, use_id == "u2");
        }
    }
}

#[test]
fn a_session_that_hook_and_wrapper_both_report_counts_once() {
    let place = Place::memory();
    let called =
        || event(r#"{"type":"call","session":"s","tool":"delete_asset","use_id":"toolu_1"}"#);
    let wrapper = Sender::anonymous(Role::Hook);
    for sender in [hook(), wrapper.clone(), hook(), wrapper] {
        let verdict = place.guard.check_from(&sender, called()).unwrap();
        assert_eq!(verdict.decision, Decision::Allow);
    }
}

#[test]
fn who_owns_a_session_survives_a_restart() {
    let place = Place::owned();
    let path = place.folder.path().join("sprag.db");
    place
        .guard
        .check_from(&agent("build"), Event::call("s", "read").unwrap())
        .unwrap();
    place.guard.sync().unwrap();
    drop(place.guard);
    let guard = Guard::builder()
        .clock(std::sync::Arc::new(TestClock::at(START)))
        .owned_file(path)
        .build()
        .unwrap();
    assert!(is_foreign(guard.check_from(&agent("other"), delete("s"))));
    let own = guard.check_from(&agent("build"), Event::call("s", "read").unwrap());
    assert_eq!(own.unwrap().decision, Decision::Allow);
    assert!(guard.verify().unwrap().is_sound());
}

#[test]
fn a_reset_leaves_a_session_to_its_owner_unless_that_showed_no_token() {
    let place = Place::memory();
    let guard = &place.guard;
    let read = |session: &str| Event::call(session, "read").unwrap();
    guard.check_from(&agent("build"), read("named")).unwrap();
    guard.check_from(&anonymous(), read("open")).unwrap();
    for session in ["named", "open"] {
        guard.reset(session, "ops", "again").unwrap();
    }
    assert!(is_foreign(guard.check_from(&anonymous(), read("named"))));
    guard.check_from(&agent("build"), read("open")).unwrap();
    assert!(is_foreign(guard.check_from(&anonymous(), read("open"))));
}

#[test]
fn the_log_names_who_sent_an_event() {
    let place = Place::memory();
    let read = || Event::call("s", "read").unwrap();
    place.guard.check_from(&agent("build"), read()).unwrap();
    place.guard.check_from(&hook(), read()).unwrap();
    place
        .guard
        .check(Event::call("t", "read").unwrap())
        .unwrap();
    let records = place.guard.records(&LogQuery::default()).unwrap().items;
    let senders: Vec<_> = records
        .iter()
        .filter(|record| record.observation().is_some())
        .map(|record| sprag::record_json(record)["sender"].to_string())
        .collect();
    assert_eq!(
        senders,
        [
            r#"{"name":"build","role":"agent"}"#,
            r#"{"name":"hook","role":"hook"}"#,
            "null"
        ]
    );
}

#[test]
fn a_program_that_embeds_the_guard_speaks_for_all_of_its_sessions() {
    let guard = Guard::in_memory().unwrap();
    let hello = event(r#"{"type":"message","to":"s"}"#);
    guard.check_as(Role::Relay, hello).unwrap();
    guard.check(Event::call("s", "read").unwrap()).unwrap();
}
