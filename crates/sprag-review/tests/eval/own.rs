//! Eight small runs whose every figure can be checked by hand.

use std::path::Path;

use serde_json::{Value, json};
use sprag_core::Policy;
use sprag_review::eval::{
    EvalPolicy, EvalReport, Flaw, Metric, Replayed, StopLine, read_labels, replay, trace_files,
};
use sprag_review::tune::{Advice, History, tune};

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/eval")
}

fn replayed(policies: &[Value]) -> (Vec<Replayed>, Vec<Flaw>) {
    let (files, labels) = trace_files(&[fixtures()]).unwrap();
    let labels = read_labels(&labels[0]).unwrap();
    let policies: Vec<EvalPolicy> = policies
        .iter()
        .map(|document| EvalPolicy::new(document).unwrap())
        .collect();
    replay(&files, &labels, &policies, None, &|| {}).unwrap()
}

fn report(policy: Value) -> EvalReport {
    EvalReport::of(&replayed(&[policy]).0, 0).unwrap()
}

#[test]
fn each_run_is_stopped_where_it_should_be() {
    let (runs, _) = replayed(&[json!({})]);
    let stops: Vec<String> = runs
        .iter()
        .map(|one| serde_json::to_string(&StopLine::from(&one.runs[0])).unwrap())
        .collect();
    insta::assert_snapshot!(stops.join("\n"), @r#"
    {"trace":"shop:fills-the-shelves","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"shop:gave-up","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"shop:same-drawer","warn_seq":4,"stop_seq":5,"rule":"progress.stagnation"}
    {"trace":"shop:sold-then-rang","warn_seq":5,"stop_seq":6,"rule":"progress.stagnation"}
    {"trace":"shop:waits-for-delivery","warn_seq":null,"stop_seq":null,"rule":null}
    {"trace":"talk:asks-again","warn_seq":5,"stop_seq":null,"rule":"call.repeat"}
    {"trace":"talk:nods","warn_seq":5,"stop_seq":null,"rule":"flow.echo"}
    {"trace":"talk:plans","warn_seq":null,"stop_seq":null,"rule":null}
    "#);
}

#[test]
fn figures_are_so_many_of_so_many() {
    let report = report(json!({}));
    let figures: Vec<String> = Metric::ALL
        .iter()
        .map(|&metric| {
            let score = report.all.score(metric);
            format!("{metric} {}/{} {:?}", score.hits, score.of, score.traces)
        })
        .collect();
    insta::assert_snapshot!(figures.join("\n"), @r#"
    false_stops 0/2 []
    loops 2/2 ["shop:same-drawer", "shop:sold-then-rang"]
    loops_saved 2/2 ["shop:same-drawer", "shop:sold-then-rang"]
    long_loops 0/0 []
    call_loops 0/0 []
    runaways 2/2 ["shop:same-drawer", "shop:sold-then-rang"]
    legit 0/1 []
    dead_env 0/0 []
    warned_successes 0/2 []
    warned 4/8 ["shop:same-drawer", "shop:sold-then-rang", "talk:asks-again", "talk:nods"]
    repetition 1/1 ["talk:asks-again"]
    no_repetition 0/1 []
    abuse 1/1 ["talk:asks-again"]
    no_abuse 0/1 []
    repeat 1/1 ["talk:asks-again"]
    no_repeat 0/0 []
    echo 1/1 ["talk:nods"]
    no_echo 0/1 []
    "#);
    insta::assert_json_snapshot!((&report.all.delay, report.all.saved), @r#"
    [
      {
        "median": 2.0,
        "all": [
          2,
          2
        ]
      },
      {
        "calls": 4,
        "of": 19
      }
    ]
    "#);
}

#[test]
fn a_success_that_loops_afterwards_may_be_stopped() {
    let all = report(json!({})).all;
    assert!(
        all.score(Metric::Runaways)
            .traces
            .contains(&"shop:sold-then-rang".to_owned())
    );
    assert_eq!(
        (
            all.score(Metric::FalseStops).hits,
            all.score(Metric::FalseStops).of
        ),
        (0, 2)
    );
}

#[test]
fn a_source_that_is_left_out_is_in_no_figure() {
    let report = report(json!({}));
    assert_eq!(report.without["talk"], report.sources["shop"]);
    assert_eq!(
        report.all.runs,
        report.sources["shop"].runs + report.sources["talk"].runs
    );
}

#[test]
fn a_family_gets_what_its_own_rules_found() {
    let report = report(json!({}));
    let families: Vec<&String> = report.families.keys().collect();
    assert_eq!(families, ["call", "flow", "progress"]);
    assert_eq!(report.families["progress"].score(Metric::Loops).hits, 2);
    assert_eq!(report.families["flow"].score(Metric::Loops).hits, 0);
    assert_eq!(report.families["flow"].score(Metric::Echo).hits, 1);
}

#[test]
fn a_policy_that_stops_everything_stops_the_work_too() {
    let strict = json!({ "access": { "deny": ["*"] } });
    let (runs, _) = replayed(&[json!({}), strict]);
    let report = EvalReport::of(&runs, 1).unwrap();
    assert_eq!(report.all.score(Metric::FalseStops).hits, 2);
    let wrong = report
        .wrong
        .iter()
        .filter(|wrong| wrong.metric == Metric::FalseStops);
    let traces: Vec<&str> = wrong.map(|wrong| wrong.run.trace.as_str()).collect();
    assert_eq!(
        traces,
        ["shop:fills-the-shelves", "shop:waits-for-delivery"]
    );
    assert_eq!(EvalReport::of(&runs, 2), None);
}

#[test]
fn a_line_that_is_no_event_is_counted() {
    let (_, flaws) = replayed(&[json!({})]);
    assert_eq!(flaws.len(), 1);
    assert_eq!(flaws[0].why, "tool: an id must not be empty");
}

#[test]
fn limits_are_tuned_to_what_finished() {
    let (files, labels) = trace_files(&[fixtures()]).unwrap();
    let labels = read_labels(&labels[0]).unwrap();
    let history = History::read(&files, &labels, &Policy::default()).unwrap();
    assert_eq!(history.size(), (8, 3));
    let tuned = tune(&history, &json!({}), &|| {}).unwrap();
    let of = |key: &str| tuned.iter().find(|one| one.key == key).unwrap();
    assert_eq!(of("destructive.max_calls").advice, Advice::NoEvidence);
    assert_eq!(of("progress.stagnation").advice, Advice::Set(3));
    assert_eq!(of("progress.stagnation").rows[0].stopped, 2);
    assert_eq!(
        of("progress.stagnation").line.as_deref(),
        Some("progress.stagnation = { warn = 2, block = 3 }")
    );
    assert_eq!(
        of("flow.chatter").advice,
        Advice::NoEvidence,
        "made-up times are not judged"
    );
}
