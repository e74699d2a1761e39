//! Folded again, a log gives its verdicts again: for the vectors, after a pause, after a prune.

use sprag::replay::{LogRecording, RecordedItem, Replay, ReplayOutcome, TraceRecording};
use sprag::{
    Decision, Event, Guard, GuardBuilder, Id, Judge, Millis, Policy, Role, Timestamp, Verdict,
};
use sprag_review::scenario::{Scenario, parse};

use crate::place::{Place, START, call, event};

/// Folds the whole log under its own policies and tells how many verdicts came out the same.
fn fold(guard: &Guard) -> (u64, u64) {
    let mut replay = Replay::own(guard.store()).unwrap();
    for past in LogRecording::all(guard.store()) {
        replay.fold(&past.unwrap()).unwrap();
    }
    let tally = replay.tally();
    (tally.events, tally.different + tally.errors)
}

/// The approval codes of a guard by those of the bare engine. They follow from the key of the store, so the
/// codes that a vector names are not those that a store gives out.
#[derive(Default)]
struct Codes(Vec<(Id, Id)>);

impl Codes {
    fn learn(&mut self, judged: &Verdict, guarded: &Verdict) {
        if let (Some(judged), Some(guarded)) = (&judged.approval, &guarded.approval) {
            self.0.push((judged.clone(), guarded.clone()));
        }
    }

    /// The event as it answers the guard's own question.
    fn answering(&self, mut event: Event) -> Event {
        if let Event::Approve(answer) | Event::Decline(answer) = &mut event
            && let Some((_, code)) = self.0.iter().find(|(code, _)| *code == answer.approval)
        {
            answer.approval = code.clone();
        }
        event
    }

    /// A verdict of the guard with the engine's codes, and without its flow.
    fn comparable(&self, mut verdict: Verdict) -> String {
        verdict.flow = None;
        let text = serde_json::to_string(&verdict).unwrap();
        self.0.iter().fold(text, |text, (judged, guarded)| {
            text.replace(guarded.as_str(), judged.as_str())
        })
    }
}

/// Runs a scenario through a guard and the bare engine, which must agree; how many events it has.
pub(crate) fn run(scenario: &Scenario, builder: GuardBuilder) -> u64 {
    let guard = builder.policy(scenario.policy.clone()).build().unwrap();
    let mut judge = Judge::new(scenario.policy.clone());
    let mut codes = Codes::default();
    let mut next = START;
    let mut count = 0;
    for (number, one) in scenario.events.iter().enumerate() {
        let at = one.event.at().unwrap_or(next);
        next = at.plus(Millis::SECOND);
        let judged = judge.judge(&one.event, at);
        // That a client shows a dialog is believed of a hook only.
        let role = match &one.event {
            Event::Call(call) if call.dialog => Role::Hook,
            _ => Role::Operator,
        };
        let guarded = guard.check_at(role, codes.answering(one.event.clone()), at);
        match (judged, guarded) {
            (Ok(judged), Ok(guarded)) => {
                count += 1;
                codes.learn(&judged, &guarded);
                let (judged, guarded) = (codes.comparable(judged), codes.comparable(guarded));
                assert_eq!(judged, guarded, "{}, event {}", scenario.name, number + 1);
            }
            (judged, guarded) => assert!(judged.is_err() && guarded.is_err(), "{}", scenario.name),
        }
    }
    assert_eq!(fold(&guard), (count, 0), "{}", scenario.name);
    assert!(guard.verify().unwrap().is_sound());
    count
}

pub(crate) fn vectors() -> Vec<Scenario> {
    let files = [
        include_str!("../../../sprag-core/tests/vectors/approvals.json"),
        include_str!("../../../sprag-core/tests/vectors/calls.json"),
        include_str!("../../../sprag-core/tests/vectors/effects.json"),
        include_str!("../../../sprag-core/tests/vectors/flow.json"),
        include_str!("../../../sprag-core/tests/vectors/inbox.json"),
        include_str!("../../../sprag-core/tests/vectors/news.json"),
        include_str!("../../../sprag-core/tests/vectors/outputs.json"),
        include_str!("../../../sprag-core/tests/vectors/probes.json"),
        include_str!("../../../sprag-core/tests/vectors/reruns.json"),
        include_str!("../../../sprag-core/tests/vectors/spend.json"),
        include_str!("../../../sprag-core/tests/vectors/steps.json"),
        include_str!("../../../sprag-core/tests/vectors/storms.json"),
        include_str!("../../../sprag-core/tests/vectors/suite.json"),
    ];
    let scenarios = files
        .iter()
        .flat_map(|text| parse(text.as_bytes()).unwrap());
    scenarios.collect()
}

#[test]
fn every_vector_gets_its_verdicts_from_guard_judge_and_replay_alike() {
    let vectors = vectors();
    let events = vectors.iter().map(|one| run(one, Guard::builder()));
    assert!(events.sum::<u64>() > 1_000);
}

#[test]
fn a_replay_shows_the_state_of_the_rules_up_to_a_cursor() {
    let place = Place::memory();
    for _ in 0..2 {
        call(&place.guard, "s", "delete_asset");
        place.clock.advance(Millis::SECOND);
    }
    let store = place.guard.store();
    let mut replay = Replay::own(store).unwrap().with_state();
    let mut volumes = Vec::new();
    for past in LogRecording::all(store) {
        let past = past.unwrap();
        if let ReplayOutcome::Judged { state, .. } = replay.fold(&past).unwrap() {
            let state = state.unwrap();
            let gauge = state
                .gauges
                .iter()
                .find(|g| g.rule == sprag::RuleId::DestructiveVolume);
            volumes.push((past.number(), gauge.unwrap().used));
        }
    }
    assert_eq!(volumes, [(2, 1), (3, 2)]);
}

#[test]
fn a_replay_of_one_session_folds_what_it_shares_with_others() {
    let place = Place::memory();
    let guard = &place.guard;
    for n in 0..30 {
        place.clock.advance(Millis(500));
        call(guard, "stranger", "read");
        let (from, to) = if n % 2 == 0 { ("1", "2") } else { ("2", "1") };
        let say =
            format!(r#"{{"type":"message","from":"{from}","to":"{to}","flow":"f","content":{n}}}"#);
        guard.check(event(&say)).unwrap();
    }
    let mut replay = Replay::own(guard.store()).unwrap();
    for past in LogRecording::session(guard.store(), Id::new("1").unwrap()) {
        replay.fold(&past.unwrap()).unwrap();
    }
    assert_eq!((replay.tally().events, replay.tally().different), (30, 0));
    assert!(replay.tally().verdicts.contains_key("deny"));
}

#[test]
fn a_replay_survives_a_change_of_policy_a_pause_and_a_prune() {
    for place in Place::every() {
        let guard = &place.guard;
        call(guard, "s", "delete_asset");
        guard.pause(Millis::MINUTE, "me", None).unwrap();
        for _ in 0..3 {
            call(guard, "s", "delete_asset");
        }
        place.clock.advance(Millis::MINUTE);
        call(guard, "s", "delete_asset");
        assert_eq!(fold(guard), (5, 0));
        let retention = sprag::Retention {
            max_age: Millis::SECOND,
            ..sprag::Retention::default()
        };
        assert!(guard.prune(retention).unwrap().records > 0);
        call(guard, "s", "read");
        let (events, wrong) = fold(guard);
        assert!(events < 6 && wrong == 0, "{events} {wrong}");
        assert!(guard.verify().unwrap().is_sound());
    }
}

#[test]
fn a_trace_is_read_plain_and_gzipped_and_its_mistakes_are_told() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"type":"call","session":"s","tool":"read","at":1000,"trace":"x","seq":1}"#;
    let text = format!("{line}\n\n  \n{line}");
    let plain = folder.path().join("t.jsonl");
    std::fs::write(&plain, &text).unwrap();
    let zipped = folder.path().join("t.jsonl.gz");
    let file = std::fs::File::create(&zipped).unwrap();
    let mut writer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap();
    for path in [&plain, &zipped] {
        let numbers: Vec<u64> = TraceRecording::open(path)
            .unwrap()
            .map(|past| past.unwrap().number())
            .collect();
        assert_eq!(numbers, [1, 4]);
    }
    for (text, message) in [
        (
            "{\"type\":\"cal\"}",
            "1: type: unknown event type \"cal\"; did you mean \"call\"?",
        ),
        (
            "\n{\"type\":\"usage\",\"at\":1}\n",
            "2: session: missing, and a usage needs it",
        ),
    ] {
        std::fs::write(&plain, format!("{text}\n{line}")).unwrap();
        let mut trace = TraceRecording::open(&plain).unwrap();
        let Some(Ok(RecordedItem::Bad { number, why })) = trace.next() else {
            panic!("{text} is no event");
        };
        assert_eq!(format!("{number}: {why}"), message);
        assert!(
            matches!(trace.next(), Some(Ok(RecordedItem::Event(_)))),
            "the rest is read"
        );
    }
}

#[test]
fn a_trace_is_judged_as_a_guard_would() {
    let mut replay = Replay::plain(Policy::default());
    let mut last = None;
    for n in 0..3_u64 {
        let text = r#"{"type":"call","session":"s","tool":"delete_asset","args":{"id":"x"}}"#;
        let past = RecordedItem::Event(Box::new(sprag::replay::RecordedEvent {
            number: n,
            at: Timestamp(n),
            what: sprag::replay::RecordedForm::Raw(event(text)),
            recorded: None,
            policy: None,
        }));
        last = Some(replay.fold(&past).unwrap());
    }
    let Some(ReplayOutcome::Judged { verdict, .. }) = last else {
        panic!("{last:?}");
    };
    assert_eq!(verdict.decision, Decision::Kill);
}
