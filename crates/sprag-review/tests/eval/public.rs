//! The figures that are promised, on recorded runs that nobody here wrote.
//!
//! The runs are not part of the repository: their licences differ. Where they lie beside it, the
//! promise is checked; elsewhere the test says loudly that it checked nothing, and fails in CI.

use std::path::{Path, PathBuf};

use serde_json::json;
use sprag::Millis;
use sprag_review::eval::{
    EvalPolicy, EvalReport, Figures, Metric, read_labels, replay, trace_files,
};

fn score(figures: &Figures, metric: Metric) -> (usize, usize) {
    let score = figures.score(metric);
    (score.hits, score.of)
}

/// Where the recorded runs lie, if they do.
pub(crate) fn recorded_runs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if folder.exists() {
        return Some(folder);
    }
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        !ci,
        "no recorded runs beside the repository, and CI must check them"
    );
    println!("SKIPPED: no recorded runs beside the repository; no figure was checked");
    None
}

fn report(folder: &Path, pace: Option<Millis>) -> EvalReport {
    let (files, labels) = trace_files(&[folder.to_owned()]).unwrap();
    let labels = read_labels(&labels[0]).unwrap();
    let policy = EvalPolicy::new(&json!({})).unwrap();
    let (runs, flaws) = replay(&files, &labels, &[policy], pace, &|| {}).unwrap();
    assert_eq!((runs.len(), flaws.len()), (5235, 1));
    EvalReport::of(&runs, 0).unwrap()
}

#[test]
fn a_slow_model_is_stopped_in_every_long_loop_too() {
    let Some(folder) = recorded_runs() else {
        return;
    };
    for pace in [60_000, 120_000] {
        let all = report(&folder, Some(Millis(pace))).all;
        let (loops, of) = score(&all, Metric::LongLoops);
        assert!(of > 0 && loops == of, "{loops} of {of} at {pace} ms a step");
        assert_eq!(score(&all, Metric::FalseStops), (0, 195));
        assert_eq!(score(&all, Metric::Legit), (0, 18));
    }
}

#[test]
fn the_default_policy_does_on_public_runs_what_it_promises() {
    let Some(folder) = recorded_runs() else {
        return;
    };
    let report = report(&folder, None);
    let all = &report.all;
    assert_eq!(score(all, Metric::FalseStops), (0, 195));
    let (loops, of) = score(all, Metric::LoopsSaved);
    assert!(of == 29 && loops >= 28, "{loops} of {of}");
    assert!(
        all.delay.median.is_some_and(|median| median <= 2.0),
        "{:?}",
        all.delay
    );
    let (runaways, of) = score(all, Metric::Runaways);
    assert!(of == 11 && runaways >= 10, "{runaways} of {of}");
    assert_eq!(score(all, Metric::Legit), (0, 18));
    let (warned, of) = score(all, Metric::WarnedSuccesses);
    assert!(of == 195 && warned <= 4, "{warned} of {of}");

    let (repeats, of) = score(all, Metric::Repeat);
    assert!(of == 3 && repeats >= 2, "{repeats} of {of}");
    let (others, of) = score(all, Metric::NoRepeat);
    assert!(of == 10 && others <= 1, "{others} of {of}");

    let chats = &report.sources["mast_ag2"];
    let (echoes, of) = score(chats, Metric::Echo);
    assert!(echoes * 100 >= of * 95, "{echoes} of {of}");
    let (others, of) = score(chats, Metric::NoEcho);
    assert!(others * 100 <= of, "{others} of {of}");
}
