//! Who may tell the guard what.
//!
//! A guard that believed everything could be talked out of guarding: an agent that plays the user
//! renews its own budget, one that resets itself was never killed. So whoever hands in an event says
//! in which role it came, and the guard refuses what that role may not say. How the role was
//! established (a token, a socket, a place in the code) is the adapter's part.

use serde::{Deserialize, Serialize};

use crate::encoding::numbered_variants;
use crate::event::Event;
use crate::observation::{MessageKind, Observed, Via};

words! {
    "role",
    /// In which role an event comes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role {
        /// An agent, or whoever speaks for one: its calls, steps, usage, and what it says to others.
        Agent = "agent",
        /// A program that carries messages between users and agents and knows who wrote them.
        Relay = "relay",
        /// A hook of an agent's own client, which sees what its user types.
        Hook = "hook",
        /// A person with the operator token.
        Operator = "operator",
        /// A person who sees what an operator sees and changes nothing.
        Viewer = "viewer",
    }
}

numbered_variants!(Role, "role": 0 Agent, 1 Relay, 2 Hook, 3 Operator, 4 Viewer);

impl Role {
    /// Says which kind of adapter an event comes from. A hook is known by its role, and no agent may claim
    /// to be one: a second kind of adapter sees a tool use without its being counted again.
    pub const fn sets_via(self, what: &mut Observed) {
        if let Observed::Call(call) = what {
            // What only a hook can know: an agent that claimed it could let its own calls run.
            call.dialog &= matches!(self, Self::Hook);
        }
        let via = match what {
            Observed::Call(call) => &mut call.via,
            Observed::Step(step) => &mut step.via,
            _ => return,
        };
        *via = match (self, *via) {
            (Self::Hook, Via::Api) => Via::Hook,
            (Self::Agent, Via::Hook) => Via::Api,
            (_, claimed) => claimed,
        };
    }

    /// Whether `event` may come in this role; if not, what it is.
    ///
    /// # Errors
    /// The words for what this role may not say.
    pub fn may_tell(self, event: &Event) -> Result<(), &'static str> {
        if self == Self::Viewer {
            return Err("an event");
        }
        let (what, allowed) = match event {
            Event::Call(_) | Event::Step(_) | Event::Output(_) => return Ok(()),
            // Reservations are the gateway's. An agent's would take the budget from others.
            Event::Usage(usage) => ("a reservation", !usage.pending || self != Self::Agent),
            Event::Kill(_) => ("a kill", self == Self::Operator),
            Event::Reset(_) => ("a reset", self == Self::Operator),
            // Hooks and relays carry the answer of the person whom they asked.
            Event::Approve(_) => ("an approval", self != Self::Agent),
            Event::Decline(_) => ("a decline", self != Self::Agent),
            Event::DispatchStart(_) | Event::DispatchEnd(_) => ("a dispatch", self != Self::Agent),
            Event::Message(message) => match (message.kind, &message.from) {
                (MessageKind::Spawn, _) => ("a spawn", self != Self::Agent),
                (MessageKind::Return, _) => ("a return", self != Self::Agent),
                (MessageKind::Say, Some(_)) => return Ok(()),
                (MessageKind::Say, None) => ("a message without a sender", self != Self::Agent),
            },
        };
        if allowed { Ok(()) } else { Err(what) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [(&str, &str); 15] = [
        (r#"{"type":"call","session":"s","tool":"t"}"#, "arho"),
        (r#"{"type":"step","session":"s","result":"r"}"#, "arho"),
        (r#"{"type":"usage","session":"s"}"#, "arho"),
        (
            r#"{"type":"usage","session":"s","pending":true,"id":"r1"}"#,
            "rho",
        ),
        (r#"{"type":"output","session":"s","text":"t"}"#, "arho"),
        (r#"{"type":"message","from":"1","to":"2"}"#, "arho"),
        (r#"{"type":"message","to":"2"}"#, "rho"),
        (r#"{"type":"message","to":"2","source":"scheduler"}"#, "rho"),
        (
            r#"{"type":"message","from":"1","to":"2","kind":"spawn"}"#,
            "rho",
        ),
        (
            r#"{"type":"message","from":"1","to":"2","kind":"return"}"#,
            "rho",
        ),
        (
            r#"{"type":"dispatch_start","session":"s","flow":"f"}"#,
            "rho",
        ),
        (r#"{"type":"kill","session":"s"}"#, "o"),
        (r#"{"type":"reset","session":"s"}"#, "o"),
        (
            r#"{"type":"approve","session":"s","approval":"k7f3"}"#,
            "rho",
        ),
        (
            r#"{"type":"decline","session":"s","approval":"k7f3"}"#,
            "rho",
        ),
    ];

    #[test]
    fn each_role_may_tell_what_the_design_gives_it() {
        for (text, allowed) in EVENTS {
            let event = Event::parse(text.as_bytes()).unwrap();
            for role in Role::ALL {
                let initial = role.as_str().chars().next().unwrap();
                assert_eq!(
                    role.may_tell(&event).is_ok(),
                    allowed.contains(initial),
                    "{role}: {text}"
                );
            }
        }
    }
}
