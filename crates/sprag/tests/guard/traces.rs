//! Recorded runs of real agents, where the machine has them: a log of them replays to the same
//! verdicts, every time.

use std::path::{Path, PathBuf};

use sprag::replay::{
    LogRecording, RecordedForm, RecordedItem, Replay, ReplayOutcome, TraceRecording,
};
use sprag::{Guard, MemoryStore, Policy, Role, Verdict};

/// The trace files beside the repository: one of them, or all where `SPRAG_ALL_TRACES` is set.
fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(!is_set("CI"), "{} is not there", folder.display());
        eprintln!("skipped: {} is not there", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "gz"))
        .collect();
    paths.sort_by_key(|path| std::fs::metadata(path).unwrap().len());
    assert!(!paths.is_empty());
    if !is_set("SPRAG_ALL_TRACES") {
        paths.truncate(1);
    }
    paths
}

/// The events of a trace; lines that are none are left out, and few.
fn events(path: &Path) -> impl Iterator<Item = RecordedItem> {
    let pasts = TraceRecording::open(path).unwrap().map(Result::unwrap);
    let mut bad = 0;
    pasts.filter(move |past| {
        bad += u32::from(matches!(past, RecordedItem::Bad { .. }));
        assert!(bad < 10, "{past:?}");
        matches!(past, RecordedItem::Event(_))
    })
}

fn folded(path: &Path) -> Vec<Verdict> {
    let mut replay = Replay::plain(Policy::default());
    let seen = events(path).map(|past| replay.fold(&past).unwrap());
    seen.map(|seen| match seen {
        ReplayOutcome::Judged { verdict, .. } => *verdict,
        other => panic!("{other:?}"),
    })
    .collect()
}

/// Fresh flow ids are drawn; everything else is told.
fn comparable(mut verdict: Verdict, draws: bool) -> Verdict {
    if draws {
        verdict.flow = None;
    }
    verdict
}

#[test]
fn a_trace_gets_the_same_verdicts_twice_and_from_its_log() {
    for path in traces() {
        let once = folded(&path);
        assert!(once == folded(&path), "{}", path.display());
        let capacity = sprag_store::Capacity {
            marks: 100_000,
            sessions: 1 << 20,
            others: 1 << 20,
            records: 1 << 22,
        };
        let store = MemoryStore::with_capacity(capacity).unwrap();
        let guard = Guard::builder().store(store).build().unwrap();
        for (past, folded) in events(&path).zip(&once) {
            let RecordedItem::Event(event) = past else {
                panic!("a trace has no notes");
            };
            let RecordedForm::Raw(raw) = event.what else {
                panic!("a trace is raw");
            };
            let draws =
                matches!(&raw, sprag::Event::Message(m) if m.from.is_none() && m.flow.is_none());
            let guarded = guard.check_at(Role::Operator, raw, event.at).unwrap();
            let (guarded, folded) = (
                comparable(guarded, draws),
                comparable(folded.clone(), draws),
            );
            assert_eq!(guarded, folded, "{}:{}", path.display(), event.number);
        }
        let mut replay = Replay::own(guard.store()).unwrap();
        for past in LogRecording::all(guard.store()) {
            replay.fold(&past.unwrap()).unwrap();
        }
        let tally = replay.tally();
        assert_eq!(tally.events, once.len() as u64);
        assert_eq!((tally.different, tally.errors), (0, 0));
        let proof = guard.verify().unwrap();
        assert!(proof.is_sound(), "{:?}", proof.bad);
        assert_eq!(proof.recomputed, once.len() as u64);
        println!("{}: {} verdicts", path.display(), once.len());
    }
}
