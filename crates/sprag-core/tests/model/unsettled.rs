//! Corners where the text and the engine do not say the same, or not yet.
//!
//! Each constant is true for what the text says (as the model reads it) and false for what the
//! engine does. Whoever settles a corner, in the engine or in the text, takes its constant out of
//! here and out of the one place that asks for it.

/// `also` lists the *other* rules that fired. The engine lists the rule that decides once more
/// where it fired for two purses (a session's tokens and its flow's).
pub(crate) const ALSO_NAMES_ONLY_OTHERS: bool = false;

/// `would` is what rules in shadow would have done; for a shared identity that is a `deny` (on a
/// step a `warn`). The engine tells `block` and `kill` there.
pub(crate) const WOULD_KNOWS_SHARED_IDENTITIES: bool = false;

/// On steps in blocked sessions `budget.actions` only kills. The engine, where `session.blocked` is
/// in shadow or off, warns and even answers a step with `deny`.
pub(crate) const STEPS_OF_BLOCKED_SESSIONS_ARE_ONLY_KILLED: bool = false;

/// Past 100 % of tokens, cost or time every usage and step says `block`, and only a call of a
/// session that is blocked already nothing further. The engine says nothing further on any of them.
pub(crate) const ONLY_CALLS_OF_BLOCKED_SESSIONS_ARE_SPARED: bool = false;

/// An idle day ends a session's dispatches. The engine lets the first message after it inherit.
pub(crate) const IDLE_SESSIONS_LEND_NO_FLOW: bool = false;

/// An idle day ends an alias. The engine still takes the first event after it for the old session.
pub(crate) const IDLE_ALIASES_NAME_NO_SESSION: bool = false;

/// The step counter outlives an idle day, so `call.repeat` stays silent where a step was *ever*
/// reported. The engine asks again after an idle day and after a reset.
pub(crate) const STEPS_ARE_REMEMBERED_FOR_EVER: bool = false;

/// The step of a call that was refused counts nothing, also where a killed parent refused it. The
/// engine does not keep such calls.
pub(crate) const CALLS_OF_KILLED_SESSIONS_ARE_PENDING: bool = false;

/// A return touches nothing of a flow. The engine renews the flow's time.
pub(crate) const RETURNS_LEAVE_THE_FLOW_ALONE: bool = false;

/// A window holds all that happened in it, whoever's limit it is judged by. The engine keeps as many
/// times as the last writer's limit needs, and undercounts for one with a higher limit
/// (`flow.chatter`, `flow.rate`, `inbox.rate`). Not in the model: while this is false, the random
/// policies give everyone the same limits there.
pub(crate) const WINDOWS_SERVE_EVERY_LIMIT: bool = false;
