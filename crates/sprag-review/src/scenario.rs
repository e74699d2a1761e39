//! Scenarios: events with the verdicts they must get, as JSON.
//!
//! A policy is only as good as what it does to real histories. A scenario says so in data: a policy
//! (what differs from the default), events, what each must get, and what must hold for the whole.
//! The same format fixes the semantics of the engine and lets people test their own policies
//! before an agent meets them.
//!
//! ```json
//! [{"name": "the third delete kills",
//!   "policy": {"destructive": {"max_calls": 3}},
//!   "events": [{"event": {"type": "call", "session": "s1", "tool": "delete_asset"}, "expect": {"verdict": "allow"}}],
//!   "overall": {"no_stop": true}}]
//! ```
//!
//! - `expect` is a partial match of the verdict: objects field by field, everything else equal.
//! - `overall` may hold `silent`, `no_stop`, `warn_by`, `stop_by` and `not_before` ([`Overall`]).
//! - An event without `at` happens one second after the one before it, so a run needs no clock.
//! - Further fields (`source`, a comment) are ignored, unless they look like a misspelt one.

mod error;
mod excerpt;
mod expectation;
mod format;
mod object_fields;
mod overall;
mod run;

pub use error::{ScenarioError, ScenarioProblem};
pub use expectation::Mismatch;
pub use format::{Scenario, ScenarioEvent, parse, parse_over};
pub use overall::{Overall, OverallFailure};
pub use run::{EventFailure, EventResult, ScenarioOutcome, UnmetDemand, run};
