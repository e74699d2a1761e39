//! What `--help` of the commands around the server shows.

pub(crate) const OPEN: &str = "\
The link works once, and for a minute. It holds no token: the page exchanges its code for a token of its
own, which ends after 12 hours and stands in `sprag token list` until then.

Examples:
  sprag open
  sprag open --no-browser";

pub(crate) const TOKEN: &str = "\
Roles: an agent asks about its own calls, steps and messages; a hook or a relay also tells what users
and sub-agents do; an operator sees everything, kills, resets and changes the policy.

Examples:
  sprag token add --role relay --name chat
  sprag token list
  sprag token revoke chat";

pub(crate) const TOKEN_ADD: &str = "\
The token is printed once; only its hash is kept. A running server knows it at once.

Examples:
  sprag token add --role agent --name build-farm
  sprag token add --role operator --name alice";

pub(crate) const TOKEN_LIST: &str = "\
Examples:
  sprag token list
  sprag token list --json";

pub(crate) const TOKEN_REVOKE: &str = "\
Examples:
  sprag token revoke build-farm";

pub(crate) const TOKEN_SHOW: &str = "\
Only tokens that are files beside the store can be shown. A server that can be reached from elsewhere
makes the agents' token at its first start, unless there is one already.

Examples:
  sprag token show agent
  podman exec sprag sprag token show operator";

pub(crate) const HEALTH: &str = "\
Asks the running server over its socket, as a container's health check does.

Examples:
  sprag health
  sprag health --socket /run/sprag/sprag.sock

Exit code: 0 if it can decide and remember; 1 if it runs and can't, or does not run.";
