//! What the view shows after a few events, so that a gauge that lies is noticed.

use super::*;
use crate::cell::CellKeys;
use crate::digest::DigestKey;
use crate::digester::Digester;
use crate::engine::fold;
use crate::event::Event;

/// Folds events into one set of cells that all of them name, and looks.
fn after(policy: &Policy, events: &[&str]) -> RuleState {
    let digester = Digester::new(DigestKey::fixed());
    let mut cells = Cells::default();
    let (mut last, mut before) = (None, None);
    for (text, at) in events.iter().zip(1..) {
        let event = Event::parse(text.as_bytes()).unwrap();
        let observation = digester
            .observe(&event, Timestamp(at * 1000), policy)
            .unwrap();
        let keys = CellKeys::of(&observation, policy);
        cells.session = keys.session.map(|_| cells.session.unwrap_or_default());
        cells.peer = keys.peer.map(|_| cells.peer.unwrap_or_default());
        cells.flow = keys.flow.map(|_| cells.flow.unwrap_or_default());
        cells.pair = keys.pair.map(|_| cells.pair.unwrap_or_default());
        cells.inbox = keys.inbox.map(|_| cells.inbox.unwrap_or_default());
        cells.agent = keys.agent.map(|_| cells.agent.unwrap_or_default());
        before = cells.session.as_deref().cloned();
        fold(policy, &observation, &mut cells).unwrap();
        last = Some(observation);
    }
    RuleState::of(&last.unwrap(), before, &cells, policy)
}

fn shown(state: &RuleState) -> Vec<String> {
    let gauge = |gauge: &Gauge| {
        let Gauge {
            rule,
            of,
            used,
            limit,
        } = gauge;
        format!("{rule} of {of}: {used}/{limit}")
    };
    state.gauges.iter().map(gauge).collect()
}

#[test]
fn calls_fill_windows_and_budgets() {
    let delete =
        r#"{"type":"call","session":"s","agent":"a","tool":"delete_asset","args":{"id":"x"}}"#;
    let state = after(&Policy::default(), &[delete, delete]);
    assert_eq!(
        shown(&state),
        [
            "call.identical of session: 2/20",
            "call.repeat of session: 2/4",
            "destructive.volume of session: 2/3",
            "budget.actions of session: 2/2000",
        ]
    );
    assert_eq!((state.generation, state.killed), (1, None));
    assert_eq!(state.agent.unwrap().as_str(), "a");
    let state = after(&Policy::default(), &[delete, delete, delete]);
    assert_eq!(state.killed.unwrap().rule, Some(RuleId::DestructiveVolume));
}

#[test]
fn steps_fill_streaks() {
    let step = r#"{"type":"step","session":"s","approach":"look","outcome":"nothing new here"}"#;
    let state = after(&Policy::default(), &[step; 3]);
    assert_eq!(
        shown(&state),
        [
            "progress.stagnation of session: 2/5",
            "progress.recurrence of session: 2/10",
            "budget.actions of session: 3/2000",
        ]
    );
}

#[test]
fn a_message_shows_its_stack_and_both_ends() {
    let say = r#"{"type":"message","from":"1","to":"2","flow":"f","content":"hi"}"#;
    let state = after(&Policy::default(), &[say, say]);
    assert_eq!(state.stack, [Id::new("1").unwrap(), Id::new("2").unwrap()]);
    assert_eq!(
        shown(&state),
        [
            "flow.depth of flow: 2/5",
            "flow.sessions of flow: 2/10",
            "flow.duration of flow: 1000/300000",
            "flow.rate of flow: 2/20",
            "flow.total of flow: 2/100",
            "flow.chatter of pair: 2/6",
            "flow.echo of pair: 2/5",
            "flow.unattended of receiver: 2/200",
            "inbox.rate of inbox: 2/10",
            "budget.actions of session: 2/2000",
        ]
    );
}

#[test]
fn rules_that_are_off_are_left_out() {
    let policy = Policy::from_toml("[rules]\n\"*\" = \"off\"\n").unwrap();
    let say = r#"{"type":"message","from":"1","to":"2","flow":"f","content":"hi"}"#;
    assert!(after(&policy, &[say]).gauges.is_empty());
}

/// Where the last of the steps falls, by approach and answer.
fn fell(policy: &Policy, steps: &[(&str, &str)]) -> Option<StepProgress> {
    let step = |(approach, outcome): &(&str, &str)| {
        format!(
            r#"{{"type":"step","session":"s","approach":"{approach}","outcome":"{outcome}","is_error":true}}"#
        )
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    after(policy, &steps).progress
}

#[test]
fn a_step_falls_where_the_classifier_in_force_put_it() {
    use StepProgress as P;
    let plain = Policy::from_toml("[progress]\nclassifier = \"plain\"\n").unwrap();
    let (look, ask) = (("look", "error: gone away"), ("ask", "error: gone away"));
    let moved = ("look", "error: disk is full of logs");
    for policy in [Policy::default(), plain] {
        let fell = |steps: &[(&str, &str)]| fell(&policy, steps);
        assert_eq!(fell(&[look]), Some(P::FullProgress));
        assert_eq!(fell(&[look, look]), Some(P::FullStagnation));
        assert_eq!(fell(&[look, ask]), Some(P::Stuck));
        assert_eq!(fell(&[look, moved]), Some(P::WorldChanged));
    }
    let call = r#"{"type":"call","session":"s","tool":"look"}"#;
    assert_eq!(after(&Policy::default(), &[call]).progress, None);
}

#[test]
fn what_is_not_held_against_a_step_is_not_shown_as_a_loop() {
    let short = [("look a", "error"), ("look b", "no")].map(|(approach, outcome)| {
        format!(r#"{{"type":"step","session":"s","approach":"{approach}","outcome":"{outcome}"}}"#)
    });
    let state = after(&Policy::default(), &[&short[0], &short[1]]);
    assert_ne!(state.progress, Some(StepProgress::Stuck), "{state:?}");
}
