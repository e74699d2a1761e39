//! The few names, calls and words that random histories are made of: few, so that they meet again.

use sprag_core::{
    Approach, Digest, DigestKey, Field, Id, ObservedEffect, Outcome, Reach, Tone, ToolKind, Verb,
    Wording,
};

/// Everything that events pick from, made once.
#[derive(Debug)]
pub(crate) struct Samples {
    pub(crate) sessions: Vec<Id>,
    pub(crate) agents: Vec<Id>,
    pub(crate) flows: Vec<Id>,
    pub(crate) conversations: Vec<Id>,
    pub(crate) call_ids: Vec<Id>,
    pub(crate) use_ids: Vec<Id>,
    pub(crate) contents: Vec<(Digest, Option<Wording>)>,
    /// Calls that change nothing.
    pub(crate) harmless: Vec<Approach>,
    /// Calls that the policies like to forbid.
    pub(crate) forbidden: Vec<Approach>,
    /// Calls that start a sub-agent.
    pub(crate) delegating: Vec<Approach>,
    /// Calls that destroy.
    pub(crate) destructive: Vec<Approach>,
    /// Program texts.
    pub(crate) programs: Vec<Approach>,
    pub(crate) outcomes: Vec<Outcome>,
    /// What commands destroy.
    pub(crate) effects: Vec<Vec<ObservedEffect>>,
}

impl Samples {
    pub(crate) fn new() -> Self {
        Self {
            sessions: ids(&["a", "b", "a/x", "c", "a/x/y", "d"]),
            agents: ids(&["w", "cleaner", "bulk-1"]),
            flows: ids(&["f0", "f1", "f2"]),
            conversations: ids(&["c0", "c1"]),
            call_ids: numbered("t", 80),
            use_ids: numbered("u", 6),
            contents: contents(),
            harmless: vec![
                call(None, "read", &[("p", "1")]),
                call(None, "read", &[("p", "2")]),
                call(Some("fs"), "read", &[("p", "1")]),
                call(None, "asset.list", &[("id", "1")]),
            ],
            forbidden: vec![
                call(None, "rm_all", &[]),
                call(Some("shell"), "exec", &[("id", "1")]),
                call(None, "run", &[("id", "1")]),
            ],
            delegating: delegating(),
            destructive: vec![
                call(None, "delete_asset", &[("asset_id", "1")]),
                call(None, "delete_asset", &[("asset_id", "2")]),
                call(Some("db"), "dropTable", &[("schema", "s"), ("table", "1")]),
                call(
                    Some("db"),
                    "drop-table",
                    &[("table", "1"), ("table", "2"), ("schema", "s")],
                ),
                call(None, "Truncate.All", &[("force", "yes")]),
                call(None, "asset.delete", &[("id", "1")]),
            ],
            programs: (0..9).map(|at| program(&format!("print({at})"))).collect(),
            outcomes: (0..3).map(|at| outcome(&format!("result {at}"))).collect(),
            effects: vec![
                vec![effect(Reach::Scratch, "build", "")],
                vec![effect(Reach::Workspace, "data", "")],
                vec![effect(Reach::Workspace, "data", "")],
                vec![
                    effect(Reach::Workspace, "data", ""),
                    effect(Reach::Outside, "/srv/a", ""),
                ],
                vec![effect(Reach::Outside, "/srv/a", "")],
                vec![
                    effect(Reach::Shared, "table a", ""),
                    effect(Reach::Shared, "table b", ""),
                ],
                vec![effect(Reach::Shared, "pod a", "replaceable")],
                vec![effect(Reach::Sweeping, "database a", "")],
                vec![effect(Reach::Sweeping, "/", "vital")],
            ],
        }
    }
}

/// Words, words with another id each time, words that count, and some that are said once.
fn contents() -> Vec<(Digest, Option<Wording>)> {
    let mut contents = ["continue", "any news?", "done", "page"]
        .map(|text| (digest(text), None))
        .to_vec();
    for (exact, normal, figure) in [
        ("request 7f", "request", 0),
        ("request 8a", "request", 0),
        ("attempt 1", "attempt 1", 1_000),
        ("attempt 2", "attempt 2", 2_000),
        ("attempt 18", "attempt 18", 18_000),
        ("attempt 19", "attempt 19", 19_000),
    ] {
        let is_counted = figure > 0;
        let wording = Wording {
            normal: digest(normal),
            words: u32::from(is_counted),
            figures: is_counted.then_some(figure).into_iter().collect(),
        };
        contents.push((digest(exact), Some(wording)));
    }
    contents
}

/// Calls that start a sub-agent.
fn delegating() -> Vec<Approach> {
    let calls = ["p", "q"].map(|prompt| Approach {
        delegates: true,
        ..call(None, "task", &[("prompt", prompt)])
    });
    calls.to_vec()
}

fn ids(names: &[&str]) -> Vec<Id> {
    names.iter().map(|name| id(name)).collect()
}

fn numbered(prefix: &str, count: usize) -> Vec<Id> {
    (0..count).map(|at| id(&format!("{prefix}{at}"))).collect()
}

pub(crate) fn id(name: &str) -> Id {
    Id::new(name).expect("a good id")
}

pub(crate) fn digest(text: &str) -> Digest {
    DigestKey::fixed().digest(&[text.as_bytes()])
}

/// A call of a tool with these scalar arguments; a name given twice is an array.
pub(crate) fn call(server: Option<&str>, tool: &str, args: &[(&str, &str)]) -> Approach {
    Approach {
        server: server.map(id),
        tool: Some(id(tool)),
        fields: args
            .iter()
            .map(|(name, value)| Field {
                name: (*name).into(),
                digest: digest(value),
                text: None,
            })
            .collect(),
        ..program(&format!("{server:?} {tool} {args:?}"))
    }
}

fn effect(reach: Reach, target: &str, kind: &str) -> ObservedEffect {
    ObservedEffect {
        verb: Verb::Delete,
        reach,
        vital: kind == "vital",
        replaceable: kind == "replaceable",
        by: "rm".into(),
        target: digest(target),
        text: Some(target.into()),
    }
}

/// A program text.
pub(crate) fn program(text: &str) -> Approach {
    Approach {
        server: None,
        tool: None,
        exact: digest(text),
        normal: digest(text),
        kind: ToolKind::default(),
        waits: false,
        moves: false,
        asks: false,
        aims: false,
        delegates: false,
        probes: false,
        argument: 0,
        about: Default::default(),
        label: None,
        fields: Vec::new(),
        oversized: false,
    }
}

pub(crate) fn outcome(text: &str) -> Outcome {
    Outcome {
        exact: digest(text),
        normal: digest(text),
        is_error: false,
        tone: Tone::default(),
        shape: 0,
        long: false,
        absent: false,
        ends_failing: false,
        weak: false,
        one_word: false,
        pending: false,
        words: Vec::new(),
        numbers: Vec::new(),
        said: 0,
        oversized: false,
    }
}
