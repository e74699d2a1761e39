//! Questions to a person: found by their code, bounded, and answered once.

use std::sync::Arc;

use sprag::{
    ApprovalScope, Decision, Event, Guard, GuardError, MAX_QUESTIONS, Policy, Question,
    QuestionUpdate, Questions, Record, Role, TestClock, Verdict,
};
use sprag_core::Id;

use crate::place::START;

pub(crate) const ASKS: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n[session]\nmax_refused = 1000\n";

fn guard() -> (Guard, Arc<TestClock>) {
    let clock = Arc::new(TestClock::at(START));
    let policy = Policy::from_toml(ASKS).unwrap();
    let builder = Guard::builder().policy(policy).clock(Arc::clone(&clock));
    (builder.build().unwrap(), clock)
}

pub(crate) fn remove(session: &str, id: u32) -> Event {
    let call = Event::call(session, "rm_all").unwrap();
    call.args(serde_json::json!({ "id": id })).into()
}

fn asked(guard: &Guard, session: &str, id: u32) -> Id {
    let verdict = guard.check(remove(session, id)).unwrap();
    assert_eq!(verdict.decision, Decision::Ask, "{verdict:?}");
    verdict.approval.unwrap()
}

fn open(guard: &Guard) -> Vec<Question> {
    Questions::read(guard).unwrap().open(guard).unwrap()
}

fn approve(guard: &Guard, session: &str, code: &Id) -> Result<Verdict, GuardError> {
    let session = Id::new(session).unwrap();
    guard.answer((&session, code), Some(ApprovalScope::Once), "ops", None)
}

#[test]
fn a_question_is_listed_answered_and_gone() {
    let (guard, _) = guard();
    let code = asked(&guard, "s1", 1);
    let listed = open(&guard);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].approval.code, code);
    assert_eq!(listed[0].approval.what, "rm_all");
    approve(&guard, "s1", &code).unwrap();
    assert_eq!(open(&guard), []);
    let again = guard.check(remove("s1", 1)).unwrap();
    assert_eq!(
        (again.decision, again.approval.as_ref()),
        (Decision::Allow, Some(&code))
    );
    assert!(guard.verify().unwrap().is_sound());
}

#[test]
fn an_agent_can_not_answer_for_a_person() {
    let (guard, _) = guard();
    let code = asked(&guard, "s1", 1);
    for kind in ["approve", "decline"] {
        let text = format!(r#"{{"type":"{kind}","session":"s1","approval":"{code}"}}"#);
        let event = Event::parse(text.as_bytes()).unwrap();
        let refused = guard.check_as(Role::Agent, event);
        assert!(matches!(refused, Err(GuardError::Forbidden { .. })));
    }
    assert_eq!(open(&guard).len(), 1);
}

#[test]
fn what_expired_was_answered_or_belongs_to_the_dead_can_not_be_answered() {
    let (guard, clock) = guard();
    let told = |result: Result<Verdict, GuardError>| result.unwrap_err().to_string();
    let code = asked(&guard, "s1", 1);
    let other = Id::new("zzzzzzzz").unwrap();
    assert!(told(approve(&guard, "s1", &other)).contains("not open"));
    assert!(told(approve(&guard, "s2", &code)).contains("not open"));
    approve(&guard, "s1", &code).unwrap();
    assert!(told(approve(&guard, "s1", &code)).contains("approved by ops already"));
    let late = asked(&guard, "s1", 2);
    clock.advance(sprag::Millis(600_000));
    assert!(told(approve(&guard, "s1", &late)).contains("expired"));
    let dead = asked(&guard, "s1", 3);
    guard.kill("s1", "ops", "enough").unwrap();
    assert!(told(approve(&guard, "s1", &dead)).contains("killed"));
    assert_eq!(open(&guard), []);
    guard.reset("s1", "ops", "again").unwrap();
    assert!(told(approve(&guard, "s1", &dead)).contains("not open"));
}

#[test]
fn of_two_people_at_once_one_is_heard() {
    let (guard, _) = guard();
    let code = asked(&guard, "s1", 1);
    let answers: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| approve(&guard, "s1", &code).is_ok()))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|heard| **heard).count(), 1);
}

#[test]
fn ten_thousand_questions_are_bounded_in_a_session_and_in_all() {
    let (guard, _) = guard();
    let feed = guard.subscribe_with(20_000);
    for number in 0..10_000_u32 {
        let session = format!("s{}", number % 500);
        guard.check(remove(&session, number)).unwrap();
    }
    let questions = Questions::default();
    let mut too_many = 0;
    while let Some(sprag::FeedItem::Record(record)) = feed.try_next() {
        let record: &Record = &record;
        too_many += usize::from(matches!(
            questions.observe(record),
            QuestionUpdate::TooMany { .. }
        ));
    }
    let open = questions.open(&guard).unwrap();
    assert_eq!(open.len(), MAX_QUESTIONS);
    assert_eq!(too_many, 500 * 16 - MAX_QUESTIONS);
    let session = guard.session("s7").unwrap().unwrap();
    let held = session.cell.approvals(guard.now()).count();
    assert_eq!(held, 16);
}

#[test]
fn a_question_is_told_once_however_often_it_is_seen() {
    let (guard, _) = guard();
    let feed = guard.subscribe();
    let code = asked(&guard, "s1", 1);
    assert_eq!(asked(&guard, "s1", 1), code);
    let questions = Questions::default();
    // Whoever looks for the code reads it from the log before the feed has told it.
    assert!(questions.find(&guard, &code).unwrap().is_some());
    let mut updates = Vec::new();
    while let Some(sprag::FeedItem::Record(record)) = feed.try_next() {
        updates.push(questions.observe(&record));
    }
    assert_eq!(updates, [QuestionUpdate::Opened, QuestionUpdate::Nothing]);
}
