//! Who hands an event in, and whose sessions are whose.
//!
//! A session id is a name that the caller chooses, so anyone who knows it could act in it: three deletes in another's
//! name would kill the other. So an event carries its [`Sender`], as the adapter established it, and a session
//! belongs to whoever opened it:
//!
//! - An agent acts in its own sessions only, by the name of its token. All who show no token are one agent.
//! - Hooks, relays, wrappers and operators speak for the agents of others and may act in any session. A session that
//!   one of them acts in belongs to all of them, and no agent's plain event can touch it from then on.
//!
//! The rule is judged once, when an event is [resolved](crate::resolve()), before anything is changed. What follows
//! from it is part of the fold, so a replay needs no second judgement.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::numbered_fields;
use crate::observation::{MessageKind, Observation, Observed};
use crate::role::Role;

/// Who handed an event in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// In which role.
    pub role: Role,
    /// The name of the token that proved it; none if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Id>,
}

numbered_fields!(Sender {
    1 role: Role,
    2 name: Option<Id>,
});

impl Sender {
    /// The holder of a token.
    #[must_use]
    pub const fn named(role: Role, name: Id) -> Self {
        let name = Some(name);
        Self { role, name }
    }

    /// Someone who shows no token.
    #[must_use]
    pub const fn anonymous(role: Role) -> Self {
        Self { role, name: None }
    }

    /// Whom the sessions that it opens belong to.
    #[must_use]
    pub fn owner(&self) -> Owner {
        match (self.role, &self.name) {
            (Role::Hook | Role::Relay | Role::Operator | Role::Viewer, _) => Owner::Adapters,
            (Role::Agent, None) => Owner::Anonymous,
            (Role::Agent, Some(name)) => Owner::Token(name.clone()),
        }
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.role),
            None => write!(f, "{} without a token", self.role),
        }
    }
}

/// Whom a session belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// Hooks, relays, wrappers and operators.
    Adapters,
    /// All who show no token.
    Anonymous,
    /// The agent with the token of this name.
    Token(Id),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adapters => f.write_str("a hook, a relay or an operator"),
            Self::Anonymous => f.write_str("callers without a token"),
            Self::Token(name) => write!(f, "the token {:?}", name.as_str()),
        }
    }
}

/// Someone acts in a session that belongs to somebody else. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "session {session} belongs to {owner}; {} may not act in it, use a session of your own or a token of role hook",
    shown(.sender)
)]
pub struct ForeignSession {
    /// The session, or the one above it.
    pub session: Id,
    /// Whom it belongs to.
    pub owner: Owner,
    /// Who acts.
    pub sender: Owner,
}

fn shown(sender: &Owner) -> String {
    match sender {
        Owner::Anonymous => "a caller without a token".to_owned(),
        other => other.to_string(),
    }
}

/// Whom the sessions of an event belong to once it was folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The acting session is claimed.
    pub(crate) session: bool,
    /// So is the one that a message goes to.
    pub(crate) peer: bool,
}

impl Claim {
    /// What `observation` claims for its sender. An order or an answer makes nobody an owner, and being written to makes the
    /// receiver nobody's, unless an adapter reports what a user said or that an agent was started.
    pub(crate) fn of(observation: &Observation) -> Self {
        match &observation.what {
            Observed::Kill(_)
            | Observed::Reset(_)
            | Observed::Approve(_)
            | Observed::Decline(_) => Self {
                session: false,
                peer: false,
            },
            Observed::Message(message) => Self {
                session: true,
                peer: message.from.is_none() || message.kind == MessageKind::Spawn,
            },
            _ => Self {
                session: true,
                peer: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    #[test]
    fn a_foreign_session_is_told_with_whose_it_is_and_what_to_do() {
        let foreign = ForeignSession {
            session: id("s1"),
            owner: Owner::Adapters,
            sender: Owner::Anonymous,
        };
        assert_eq!(
            foreign.to_string(),
            "session s1 belongs to a hook, a relay or an operator; a caller without a token may not act in it, \
             use a session of your own or a token of role hook"
        );
        let foreign = ForeignSession {
            owner: Owner::Token(id("build")),
            sender: Owner::Token(id("other")),
            ..foreign
        };
        assert_eq!(
            foreign.to_string(),
            "session s1 belongs to the token \"build\"; the token \"other\" may not act in it, \
             use a session of your own or a token of role hook"
        );
    }
}
