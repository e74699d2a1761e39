//! Depth by parents, held against the stack that everyone knows.

use serde_json::json;
use sprag_core::{Id, Identity, Message, MessageKind, Observation, Observed, Source, Timestamp};

use super::engine::{CasePolicy, ENGINES, Start};
use super::rng::Rng;
use super::samples::Samples;

/// A call to a session on the stack pops back to it, any other pushes.
fn collapsed(stack: &[Id], to: &Id) -> Vec<Id> {
    let kept = stack.iter().position(|session| session == to);
    let mut stack = stack[..kept.unwrap_or(stack.len())].to_vec();
    stack.push(to.clone());
    stack
}

fn say(at: u64, from: &Id, to: &Id, flow: &Id) -> Observation {
    let message = Message {
        from: Some(from.clone()),
        to: to.clone(),
        source: Source::default(),
        flow: Some(flow.clone()),
        conversation: None,
        agent: None,
        to_agent: None,
        content: None,
        wording: None,
        kind: MessageKind::Say,
        unblock: false,
        generation: None,
        identity: Identity::Exact,
        use_id: None,
        task: None,
        family: None,
    };
    Observation::new(Timestamp(at), Observed::Message(message))
}

/// A chain where each speaks only when spoken to. What is refused does not move it.
fn follows_the_stack(engine: Start, seed: u64, samples: &Samples) {
    let mut rng = Rng::new(seed);
    let max_depth = *rng.pick(&[2, 3, 4, 4096]);
    let policy = CasePolicy::new(json!({
        "flow": {"max_depth": max_depth},
        "rules": {"*": "off", "flow.depth": "enforce"},
    }));
    let receivers: Vec<&Id> = (0..30).map(|_| rng.pick(&samples.sessions)).collect();
    let mut stack = vec![rng.pick(&samples.sessions).clone()];
    let mut events = Vec::new();
    let mut expected = Vec::new();
    for (at, to) in (0..).step_by(1000).zip(receivers) {
        let from = stack.last().expect("a stack is never empty");
        events.push(say(at, from, to, &samples.flows[0]));
        let after = collapsed(&stack, to);
        let is_refused = after.len() > max_depth;
        expected.push((u32::try_from(after.len()).ok(), is_refused));
        if !is_refused {
            stack = after;
        }
    }
    let told: Vec<_> = super::engine::answers(engine, &policy, &events)
        .into_iter()
        .map(|answer| answer.expect("an answer"))
        .map(|verdict| (verdict.depth, verdict.decision.refuses()))
        .collect();
    assert_eq!(told, expected, "seed {seed}, events {events:#?}");
}

#[test]
fn collapse_by_parent_equals_the_plain_stack_on_every_sequential_chain() {
    let samples = Samples::new();
    for engine in ENGINES {
        for seed in 0..5_000 {
            follows_the_stack(*engine, seed, &samples);
        }
    }
}
