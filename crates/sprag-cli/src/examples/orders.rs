//! What `--help` of the orders to everyone who shares a store shows.

pub(crate) const PAUSE: &str = "\
Every rule goes to shadow, whatever the policy says: verdicts tell in `would` what they would have
been. It holds for every process that uses the store, ends by itself, and the log tells it.

Examples:
  sprag pause
  sprag pause --for 20m --why 'release day'";

pub(crate) const PANIC: &str = "\
Calls and messages of agents are refused with code `panic`, on every process that uses the store and
through every adapter. Users' words pass, and nothing is counted. A pause does not lift it. A file
called `panic` beside the store does the same; its first line is the reason.

Examples:
  sprag panic --why 'agents delete tickets'";

pub(crate) const CALM: &str = "\
Examples:
  sprag calm --why 'the key was revoked'";

pub(crate) const RESUME: &str = "\
Examples:
  sprag resume";
