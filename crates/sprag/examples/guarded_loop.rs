//! An agent's loop under guard: ask before each call, report what came of it, do what the verdict says.
//!
//! The agent here is stuck: it deletes an asset, is told that it is still there, and deletes it again.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use serde_json::json;
use sprag::{Decision, Event, Guard, GuardError};

fn main() -> Result<(), GuardError> {
    let guard = Guard::in_memory()?;
    for turn in 1.. {
        let id = turn.to_string();
        let call = Event::call("s1", "delete_asset")?.id(&id)?;
        let verdict = guard.check(call.args(json!({"asset_id": "fact_sales"})))?;
        let message = verdict.message.as_deref().unwrap_or_default();
        println!("turn {turn}: {} {message}", verdict.decision);
        if verdict.refuses() {
            assert_eq!((turn, verdict.decision), (3, Decision::Kill));
            break;
        }
        let result = "asset still exists"; // what the tool answered
        let step = Event::step("s1")?.id(&id)?.result(result).is_error(true);
        guard.check(step)?;
    }
    Ok(())
}
