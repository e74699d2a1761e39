//! The events that the benches fold: made by hand, so that only the engine is measured.

use sprag_core::{
    Approach, Call, Cells, Digest, Hints, Id, Identity, Observation, Observed, Outcome,
    SessionCell, Step, Timestamp, Tone, ToolKind,
};

/// A call as it comes over the wire, with 200 bytes of arguments.
pub const CALL_LINE: &str = r#"{"type":"call","session":"s1","tool":"edit","args":{"path":"src/engine/call.rs","old_string":"let limits = policy.limits_for(agent);","new_string":"let limits = policy.limits_for(agent, session);","replace_all":false,"line":42,"session":"build-7"}}"#;

/// A digest that stands for the number `n`.
#[must_use]
pub fn digest(n: u64) -> Digest {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n >> 7);
    let bytes = (u128::from(mixed) << 64) | u128::from(n);
    Digest::from_bytes(bytes.to_be_bytes())
}

/// An id of this bench. Its texts are all valid.
#[must_use]
pub fn id(text: &str) -> Id {
    match Id::new(text) {
        Ok(id) => id,
        Err(_) => id("invalid"),
    }
}

/// Approach number `n`: a read.
#[must_use]
pub fn approach(n: u64) -> Approach {
    Approach {
        waits: false,
        moves: false,
        asks: false,
        aims: false,
        delegates: false,
        probes: false,
        argument: 0,
        about: Default::default(),
        label: None,
        server: None,
        tool: Some(id("read_file")),
        exact: digest(n),
        normal: digest(n),
        kind: ToolKind::Read,
        fields: Vec::new(),
        oversized: false,
    }
}

/// A telling answer, number `n`.
#[must_use]
pub fn outcome(n: u64) -> Outcome {
    Outcome {
        exact: digest(n),
        normal: digest(n),
        is_error: false,
        tone: Tone::Telling,
        shape: 0,
        long: false,
        absent: false,
        ends_failing: false,
        one_word: false,
        pending: false,
        weak: false,
        words: Vec::new(),
        numbers: Vec::new(),
        said: 0,
        oversized: false,
    }
}

/// A call of approach number `n`, with nothing that it may be without.
#[must_use]
pub fn bare_call(session: Id, n: u64) -> Call {
    Call {
        session,
        agent: None,
        flow: None,
        id: None,
        use_id: None,
        approach: approach(n),
        hints: Hints::default(),
        turn: None,
        effects: Vec::new(),
        unparsed: false,
        orders_guard: false,
        path_reach: None,
        root: None,
        dialog: false,
        generation: None,
        identity: Identity::Exact,
        via: sprag_core::Via::default(),
        family: None,
    }
}

/// A step with answer number `n`, with nothing that it may be without.
#[must_use]
pub fn bare_step(session: Id, n: u64) -> Step {
    Step {
        session,
        agent: None,
        flow: None,
        id: None,
        use_id: None,
        approach: None,
        outcome: outcome(n),
        generation: None,
        identity: Identity::Exact,
        via: sprag_core::Via::default(),
        family: None,
    }
}

/// Call number `n` of a session, at `at`.
#[must_use]
pub fn call(session: &Id, n: u64, at: u64) -> Observation {
    let call = bare_call(session.clone(), n);
    Observation::new(Timestamp(at), Observed::Call(call))
}

/// Step number `n` of a session, at `at`: a new approach with a new outcome.
#[must_use]
pub fn step(session: &Id, n: u64, at: u64) -> Observation {
    let step = Step {
        approach: Some(approach(n)),
        ..bare_step(session.clone(), n ^ 0xffff_0000)
    };
    Observation::new(Timestamp(at), Observed::Step(step))
}

/// The cells of a call or step without flow and agent.
#[must_use]
pub fn session_cells() -> Cells {
    Cells {
        session: Some(Box::new(SessionCell::default())),
        ..Cells::default()
    }
}
