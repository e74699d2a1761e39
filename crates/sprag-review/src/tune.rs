//! Which limits fit, by a user's own history?
//!
//! Defaults are made for everybody and fit nobody exactly. A team knows its own agents only by what
//! they did, so this module replays that under a small grid of settings for each limit, all other
//! rules off, and tells how often the rule would have fired, and on what. The setting that fits is
//! the tightest that stops none of the sessions that *finished*: it stays out of the way of what
//! works and is as near as can be to what does not.
//!
//! **Finished** is, in labelled traces, a run that succeeded and did not run away; in a log of the
//! guard, a session that was not stopped; in a plain list of events, a session that no operator
//! killed, since nobody says more there.
//!
//! **No evidence, no advice.** Where even the tightest setting fires on nothing, or nothing finished that the
//! rule could have fired on, nothing is known, and no line is written. Where even the loosest stops a finished session, the rule should only tell
//! (`shadow`). A history is no promise: try what is suggested in shadow first.

mod grid;
mod history;
mod judged_log;
mod knob;

pub use grid::{Advice, SettingRow, Tuned, tune};
pub use history::History;
pub use judged_log::JudgedLog;
pub use knob::{KNOBS, Knob};
