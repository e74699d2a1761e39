//! Single observations, and the drafts and policies that tests decide them with.

use std::sync::Arc;

use sprag_core::{
    Answer, Approach, ApprovalScope, Call, Decision, Digest, Field, Hints, Id, Identity, Message,
    MessageKind, Observation, Observed, Order, Policy, Source, Timestamp, ToolKind, Verdict,
};
use sprag_store::{ActivePolicy, Draft};

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// A policy under which a person is asked about much.
pub(crate) fn asking_policy() -> Arc<ActivePolicy> {
    let text = "[rules]\n\"destructive.*\" = \"ask\"\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"status\"]\n";
    Arc::new(ActivePolicy::new(Policy::from_toml(text).unwrap()))
}

/// What a person says to the question that `verdict` asks, if it asks one.
pub(crate) fn answer(to: &Observation, verdict: &Verdict, number: u32) -> Option<Observation> {
    if verdict.decision != Decision::Ask {
        return None;
    }
    let answer = Answer {
        session: to.what.session().clone(),
        approval: verdict.approval.clone()?,
        scope: if number.is_multiple_of(5) {
            ApprovalScope::Session
        } else {
            ApprovalScope::Once
        },
        by: Some("ops".into()),
        why: None,
    };
    let what = match number % 3 {
        0 => return None,
        1 => Observed::Approve(answer),
        _ => Observed::Decline(answer),
    };
    Some(Observation::new(to.at, what))
}

pub(crate) fn policy() -> Arc<ActivePolicy> {
    Arc::new(ActivePolicy::new(Policy::default()))
}

pub(crate) fn draft(observation: Observation, policy: &Arc<ActivePolicy>) -> Draft {
    Draft {
        observation,
        policy: Arc::clone(policy),
        captured: None,
    }
}

pub(crate) fn order(session: &str) -> Order {
    Order {
        session: id(session),
        by: Some("ops@host".into()),
        why: Some("enough".into()),
    }
}

pub(crate) fn kill(at: u64, session: &str) -> Observation {
    Observation::new(Timestamp(at), Observed::Kill(order(session)))
}

pub(crate) fn reset(at: u64, session: &str) -> Observation {
    Observation::new(Timestamp(at), Observed::Reset(order(session)))
}

/// A call that nothing objects to until it is repeated.
pub(crate) fn call(at: u64, session: &str, what: u64) -> Observation {
    Observation::new(
        Timestamp(at),
        Observed::Call(Call {
            turn: None,
            effects: Vec::new(),
            unparsed: false,
            orders_guard: false,
            path_reach: None,
            root: None,
            dialog: false,
            session: id(session),
            agent: None,
            flow: None,
            id: None,
            use_id: None,
            approach: approach(what, "read"),
            hints: Hints::default(),
            generation: None,
            identity: Identity::Exact,
            via: sprag_core::Via::default(),
            family: None,
        }),
    )
}

pub(crate) fn user_message(at: u64, to: &str) -> Observation {
    Observation::new(
        Timestamp(at),
        Observed::Message(Message {
            from: None,
            to: id(to),
            source: Source::User,
            flow: None,
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
        }),
    )
}

pub(crate) fn digest(number: u64) -> Digest {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    Digest::from_bytes(bytes)
}

pub(crate) fn approach(number: u64, tool: &str) -> Approach {
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
        server: Some(id("catalog")),
        tool: Some(id(tool)),
        exact: digest(number),
        normal: digest(number / 2),
        kind: ToolKind::Run,
        fields: vec![Field {
            name: "asset_id".into(),
            digest: digest(number % 5),
            text: None,
        }],
        oversized: false,
    }
}
