//! The vectors: what the engine must answer, fixed as data before the engine was written.
//!
//! They are never edited to make an engine pass.

use sprag_review::scenario::{parse, run};

/// Runs a file and tells every scenario that failed.
#[cfg(test)]
fn check(text: &str, scenarios: usize) {
    let parsed = parse(text.as_bytes()).expect("the vectors are scenarios");
    assert_eq!(parsed.len(), scenarios);
    let failed: Vec<String> = parsed
        .iter()
        .map(run)
        .filter(|outcome| !outcome.passed)
        .map(|outcome| format!("{outcome:#?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn tool_calls_are_judged_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/calls.json"),
        29,
    );
}

#[test]
fn messages_in_a_flow_are_judged_as_the_vectors_say() {
    check(include_str!("../../sprag-core/tests/vectors/flow.json"), 46);
}

#[test]
fn inboxes_are_judged_as_the_vectors_say() {
    check(include_str!("../../sprag-core/tests/vectors/inbox.json"), 5);
}

#[test]
fn steps_are_judged_as_the_vectors_say() {
    check(include_str!("../../sprag-core/tests/vectors/steps.json"), 8);
}

#[test]
fn spending_is_judged_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/spend.json"),
        11,
    );
}

#[test]
fn talk_that_gets_on_and_deletes_that_a_user_sees_are_judged_as_the_vectors_say() {
    check(include_str!("../../sprag-core/tests/vectors/news.json"), 22);
}

#[test]
fn storms_of_sub_agents_and_honest_delegation_are_told_apart_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/storms.json"),
        25,
    );
}

#[test]
fn empty_probes_are_told_apart_from_work_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/probes.json"),
        11,
    );
}

#[test]
fn what_models_say_is_judged_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/outputs.json"),
        10,
    );
}

#[test]
fn runs_of_one_task_are_judged_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/reruns.json"),
        11,
    );
}

#[test]
fn loops_and_honest_work_are_told_apart_as_the_suite_says() {
    check(
        include_str!("../../sprag-core/tests/vectors/suite.json"),
        25,
    );
}

#[test]
fn what_commands_destroy_is_judged_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/effects.json"),
        22,
    );
}

#[test]
fn questions_to_a_person_are_asked_and_answered_as_the_vectors_say() {
    check(
        include_str!("../../sprag-core/tests/vectors/approvals.json"),
        28,
    );
}
