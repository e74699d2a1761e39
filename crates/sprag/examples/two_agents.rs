//! Two agents that talk: a user starts a flow, the agents answer each other in it, and the guard ends
//! what no longer gets anywhere.
//!
//! The program that carries the messages is the relay: it alone may say that a user spoke.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use sprag::{Event, Guard, GuardError, Role};

fn main() -> Result<(), GuardError> {
    let guard = Guard::in_memory()?;
    let asked = Event::message("planner")?.content("Please plan the release.");
    let verdict = guard.check_as(Role::Relay, asked)?;
    let flow = verdict
        .flow
        .map(|flow| flow.to_string())
        .unwrap_or_default();
    let (mut from, mut to) = ("planner", "coder");
    for number in 1.. {
        let message = Event::message(to)?.from(from)?.flow(&flow)?;
        let verdict = guard.check(message.content("After you!"))?;
        let text = verdict.message.as_deref().unwrap_or_default();
        println!("{number}: {from} to {to}: {} {text}", verdict.decision);
        if verdict.refuses() {
            assert!(number < 20, "it ends soon");
            break;
        }
        std::mem::swap(&mut from, &mut to);
    }
    Ok(())
}
