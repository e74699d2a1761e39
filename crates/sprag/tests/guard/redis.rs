//! The guard over a real Redis, which the tests start themselves.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use sprag::{Decision, Event, Guard, Id, Millis, Role, Sender};

use crate::place::{START, call};
use crate::redis_server::RedisServer;
use crate::replay::{run, vectors};

#[test]
fn every_vector_gets_its_verdicts_from_redis_and_from_a_file_too() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (number, vector) in vectors().iter().enumerate() {
        let options = server.options(&format!("vector{number}"));
        let events = run(vector, Guard::builder().redis(options));
        let file = folder.path().join(format!("{number}.db"));
        assert_eq!(run(vector, Guard::builder().owned_file(file)), events);
    }
}

#[test]
fn a_panic_on_one_pod_holds_on_the_other_and_ends_there_too() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        let clock = sprag::TestClock::at(START);
        let builder = Guard::builder().redis(server.options("panic"));
        builder.clock(clock).build().unwrap()
    };
    let (one, two) = (pod(), pod());
    one.panic("ops", "stop").unwrap();
    // The second pod hears of it with the answer to its next decision.
    call(&two, "s1", "read");
    assert_eq!(call(&two, "s2", "read").code, Some(sprag::Code::Panic));
    // One that joins later knows it from the start.
    let three = pod();
    assert_eq!(call(&three, "s3", "read").code, Some(sprag::Code::Panic));
    two.calm("ops", "fixed").unwrap();
    assert_eq!(call(&two, "s2", "read").decision, Decision::Allow);
    call(&one, "s1", "read");
    assert_eq!(call(&one, "s4", "read").decision, Decision::Allow);
    assert!(one.verify().unwrap().is_sound());
}

#[test]
fn a_pause_on_one_pod_holds_on_the_other_and_ends_there_too() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        let clock = sprag::TestClock::at(START);
        let builder = Guard::builder().redis(server.options("pods"));
        builder.clock(clock).build().unwrap()
    };
    let (one, two) = (pod(), pod());
    let deleted = |guard: &Guard, session: &str| {
        let verdicts = (0..3).map(|_| call(guard, session, "delete_asset").decision);
        verdicts.max().unwrap()
    };
    assert_eq!(deleted(&two, "s1"), Decision::Kill);
    one.pause(Millis::HOUR, "ops", None).unwrap();
    // The second pod hears of it with the answer to its next decision.
    call(&two, "s2", "read");
    assert_eq!(deleted(&two, "s3"), Decision::Allow);
    one.resume("ops").unwrap();
    call(&two, "s2", "read");
    assert_eq!(deleted(&two, "s4"), Decision::Kill);
    assert!(two.verify().unwrap().is_sound());
}

#[test]
fn a_guard_over_redis_tells_its_time_and_kills_for_all() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        Guard::builder()
            .redis(server.options("time"))
            .build()
            .unwrap()
    };
    let (one, two) = (pod(), pod());
    let apart = one.now().0.abs_diff(two.now().0);
    assert!(apart < 60_000, "{apart} ms apart");
    one.kill("s1", "ops", "enough").unwrap();
    assert_eq!(call(&two, "s1", "read").decision, Decision::Kill);
    let say = Event::parse(br#"{"type":"message","to":"s1","content":"hello"}"#).unwrap();
    assert_eq!(
        two.check_as(Role::Relay, say).unwrap().decision,
        Decision::Deny
    );
}

#[test]
fn a_session_that_one_pod_opened_for_a_token_is_foreign_to_others_on_every_pod() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        let clock = sprag::TestClock::at(START);
        let builder = Guard::builder().redis(server.options("owners"));
        builder.clock(clock).build().unwrap()
    };
    let (one, two) = (pod(), pod());
    let agent = |name| Sender::named(Role::Agent, Id::new(name).unwrap());
    let read = || Event::call("s", "read").unwrap();
    one.check_from(&agent("build"), read()).unwrap();
    for sender in [agent("other"), Sender::anonymous(Role::Agent)] {
        for guard in [&one, &two] {
            let error = guard.check_from(&sender, read()).unwrap_err();
            assert!(error.is_foreign(), "{error}");
        }
    }
    two.check_from(&agent("build"), read()).unwrap();
    two.check_from(&Sender::anonymous(Role::Hook), read())
        .unwrap();
    let error = one.check_from(&agent("build"), read()).unwrap_err();
    assert!(error.is_foreign(), "{error}");
    assert!(one.verify().unwrap().is_sound());
}

#[test]
fn a_password_need_not_be_in_the_address() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream
        .write_all(b"CONFIG SET requirepass hunter2\r\n")
        .unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
    let options = || server.options("password");
    let refused = Guard::builder().redis(options()).build();
    assert!(refused.is_err());
    let mut known = options();
    known.password = Some("hunter2".to_owned());
    let guard = Guard::builder().redis(known).build().unwrap();
    assert_eq!(call(&guard, "s", "read").decision, Decision::Allow);
}

#[test]
fn a_pod_that_dies_between_ask_and_approve_loses_nothing() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        let policy = sprag::Policy::from_toml(crate::questions::ASKS).unwrap();
        let builder = Guard::builder().redis(server.options("approvals"));
        builder.policy(policy).build().unwrap()
    };
    let call = || crate::questions::remove("s1", 1);
    let asked = {
        let first = pod();
        first.check(call()).unwrap()
    };
    assert_eq!(asked.decision, Decision::Ask);
    let second = pod();
    let questions = sprag::Questions::read(&second).unwrap();
    let open = questions.open(&second).unwrap();
    assert_eq!(open.len(), 1);
    let (session, code) = (&open[0].session, &open[0].approval.code);
    assert_eq!(Some(code), asked.approval.as_ref());
    let scope = Some(sprag::ApprovalScope::Once);
    second.answer((session, code), scope, "ops", None).unwrap();
    let third = pod();
    assert_eq!(third.check(call()).unwrap().decision, Decision::Allow);
    assert_eq!(second.check(call()).unwrap().decision, Decision::Ask);
}

#[test]
fn of_two_people_at_two_pods_one_is_heard() {
    let Some(server) = RedisServer::start() else {
        return;
    };
    let pod = || {
        let policy = sprag::Policy::from_toml(crate::questions::ASKS).unwrap();
        let builder = Guard::builder().redis(server.options("two-people"));
        builder.policy(policy).build().unwrap()
    };
    let pods = [pod(), pod()];
    for round in 0..8 {
        let session = format!("s{round}");
        let call = || crate::questions::remove(&session, 1);
        let asked = pods[0].check(call()).unwrap();
        let code = asked.approval.unwrap();
        let session = sprag_core::Id::new(&session).unwrap();
        let say = |pod: &Guard, scope| pod.answer((&session, &code), scope, "ops", None).is_ok();
        let heard: Vec<bool> = std::thread::scope(|threads| {
            let scopes = [Some(sprag::ApprovalScope::Once), None];
            let people: Vec<_> = pods
                .iter()
                .zip(scopes)
                .map(|(pod, scope)| threads.spawn(move || say(pod, scope)))
                .collect();
            people.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(heard.iter().filter(|heard| **heard).count(), 1, "{heard:?}");
        // Who was heard is who decides, at either pod.
        let expected = if heard[0] {
            Decision::Allow
        } else {
            Decision::Deny
        };
        assert_eq!(pods[1].check(call()).unwrap().decision, expected);
    }
}
