//! The examples under each `--help`: what a person would type, and what for.

mod orders;
mod policy;
mod server;

pub(crate) use orders::{CALM, PANIC, PAUSE, RESUME};
pub(crate) use policy::{
    POLICY, POLICY_CHECK, POLICY_IMPORT, POLICY_SCHEMA, POLICY_SET, POLICY_SHOW,
};
pub(crate) use server::{HEALTH, OPEN, TOKEN, TOKEN_ADD, TOKEN_LIST, TOKEN_REVOKE, TOKEN_SHOW};

pub(crate) const SPRAG: &str = "\
Start here:
  sprag scan                           the loops that your agents already ran
  sprag rules                          what is watched, and with which limits
  sprag explain flow.depth             why a rule exists and how to tune it
  sprag decide < events.jsonl          judge recorded events
  sprag test scenarios.json            test a policy before an agent meets it
  sprag policy set flow.max_depth 6    change a limit
  sprag install claude                 guard a coding agent

Verdicts, from mild to final: allow, warn, ask, deny, block, kill.";

pub(crate) const DECIDE: &str = "\
One line in, one line out, flushed at once. The time of an event is its `at` (milliseconds since
1970), else the clock. A line that is not an event is answered with
{\"error\":{\"line\":N,\"message\":\"…\"}} and the stream goes on; empty lines are skipped.

Examples:
  echo '{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"delete_asset\",\"args\":{\"id\":\"x\"}}' | sprag decide
  sprag decide --policy strict.toml < run.jsonl | jq -c 'select(.verdict != \"allow\")'
  my-agent --events | sprag decide --strict

Exit code: 0 at the end of the input; 2 if --strict stopped, or the policy can't be used.";

#[cfg(unix)]
pub(crate) const RUN: &str = "\
The client is started with the gateway on a free port of this machine, and ends with it. No file
is changed. A base URL that is already set becomes the upstream. One line at the end says what was
seen, spent and stopped.

Examples:
  sprag run claude
  sprag run claude -p \"fix the tests\"
  sprag run codex exec \"fix the tests\"
  sprag run --stop error -- python agent.py     any program that uses an official SDK

Exit code: the client's own; 127 if it is not there, 126 if it can't be started. With
--stop error, 1 if something was stopped and the client took it for success.";

pub(crate) const GATEWAY: &str = "\
Clients go to /anthropic, /openai and /gemini here instead of the API. Anthropic Messages, OpenAI
Responses, OpenAI Chat Completions and Gemini's generateContent are judged; everything else passes
untouched. Keys pass and are never logged or stored.

All gateways, hooks and wrappers of a machine share one guard: a running `sprag serve`, else the store.

Examples:
  sprag gateway
  sprag gateway --listen 127.0.0.1:8000 --upstream openai=http://127.0.0.1:11434
  sprag gateway env claude                      the settings for a client

See also: sprag run CLIENT starts a client with a gateway of its own.";

pub(crate) const GATEWAY_ENV: &str = "\
Examples:
  eval \"$(sprag gateway env claude)\"
  sprag gateway env codex";

pub(crate) const MCP: &str = "\
The client starts this in the server's place. Messages pass as they are; only calls of tools and
their results are looked at. A refused call is answered with an error that its agent can read; a
warning stands next to the real result. Standard error is the server's own, with lines of ours that
start with `sprag mcp:`.

All wrappers of a machine share one guard: a running `sprag serve`, else the store.

Servers over HTTP: with --listen this stands before them. The client goes to the same path here.
--config names several, each with a path of its own:
  [[upstream]]
  path = \"/github\"
  url = \"https://api.example.com/mcp\"

Examples:
  sprag mcp -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  sprag mcp --name catalog --fail closed -- ./catalog-server --port none
  sprag mcp --private -- ./my-server           to try it out: nothing is kept
  sprag mcp install claude                     put it before all servers of a client
  sprag mcp --listen 127.0.0.1:7728 --upstream https://api.example.com/mcp
  sprag mcp --listen 127.0.0.1:7728 --config mcp.toml

Exit code: the server's own; 127 if it is not there, 126 if it can't be started.";

#[cfg(unix)]
pub(crate) const MCP_INSTALL: &str = "\
Shows the change first and asks. Only the lines that start a server change; the file as it was is
kept beside it. Servers that are reached over the network stay as they are.

Examples:
  sprag mcp install claude                     .mcp.json of this folder and ~/.claude.json
  sprag mcp install codex catalog --yes        one server, without asking
  sprag mcp install cursor --dry-run           only look
  sprag mcp install zed --inspect              also start each server and name its destructive tools
  sprag mcp install gemini --raise 50          its agents may delete more in a minute";

#[cfg(unix)]
pub(crate) const MCP_UNINSTALL: &str = "\
The reverse of install: every other byte stays.

Examples:
  sprag mcp uninstall claude
  sprag mcp uninstall codex catalog --yes";

pub(crate) const TEST: &str = "\
A scenario file is an array of
  {\"name\": \"the third delete kills\",
   \"policy\": {\"destructive\": {\"max_calls\": 3}},
   \"events\": [{\"event\": {\"type\": \"call\", …}, \"expect\": {\"verdict\": \"allow\"}}, …],
   \"overall\": {\"stop_by\": 3}}

`policy` is what differs from the default, or from --policy. `expect` is a part of the verdict:
only the fields it names are compared. `overall` may hold silent, no_stop (true), and warn_by,
stop_by, not_before (the number of an event, counted from 1). An event without `at` happens one
second after the one before it.

Examples:
  sprag test scenarios.json
  sprag test --policy policy.toml --filter delete scenarios/*.json
  sprag test --json scenarios.json | jq '.scenarios[] | select(.passed | not)'

Exit code: 0 if all passed; 1 if one failed; 2 if a file can't be used.";

pub(crate) const EVAL: &str = "\
A trace file has one event a line, as in `sprag decide`, with the run it is of (`trace`) and the
number of its step (`seq`) besides. labels.jsonl has one line a run: {\"trace\":…, \"source\":…,
\"outcome\": 1, 0 or null, \"time\": \"recorded\" or \"synthetic\", \"kind\":…, \"stuck_seq\":…,
\"reader\": {\"verdict\":…}, \"human_step_repetition\":…, \"annotated_resource_abuse\": […]}.
Each run is judged from nothing. Where times are made up, flow.duration, flow.rate, flow.chatter,
inbox.rate and budget.time are left out. Lines that are not events are skipped and counted.

Examples:
  sprag eval traces/
  sprag eval traces/ --compare plain --leave-one-out
  sprag eval traces/ --list loops
  sprag eval traces/ --policy strict.toml --stops stops.jsonl --json | jq .all.saved

Exit code: 0 whatever the figures are; 2 if something can't be read.";

pub(crate) const TUNE: &str = "\
Each limit is tried at a few settings with all other rules off. The one that fits is the tightest
that stops no session that finished: in labelled traces a run that succeeded, in the log of a store
a session that was not stopped, in a list of events a session that no operator killed. Where even the tightest setting fires on nothing, nothing is suggested. A
history is no promise: set what is suggested to shadow first.

Examples:
  sprag tune
  sprag log export > log.jsonl && sprag tune log.jsonl
  sprag tune events.jsonl
  sprag tune traces/ --policy policy.toml
  sprag tune events.jsonl --json | jq -r .policy";

pub(crate) const RULES: &str = "\
Examples:
  sprag rules
  sprag rules --agent bulk-cleaner
  sprag rules --json | jq -r '.[] | select(.mode != \"enforce\") | .rule'";

pub(crate) const EFFECTS: &str = "\
Examples:
  sprag effects 'rm -rf build && psql -c \"drop table x\"'
  sprag effects 'rm -rf ..' --cwd /srv/app/src --root /srv/app
  sprag effects --sql 'DELETE FROM users' --json";

pub(crate) const EXPLAIN: &str = "\
Examples:
  sprag explain flow.depth
  sprag explain destructive.target";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  sprag completions bash > ~/.local/share/bash-completion/completions/sprag
  sprag completions zsh > ~/.zfunc/_sprag
  sprag completions fish > ~/.config/fish/completions/sprag.fish";

pub(crate) const CHECK: &str = "\
One line in, one line out, flushed at once, as `sprag decide` does it; but everything is
remembered in the store, logged, and shared with every other process that uses it. The time is
now. A changed policy file takes effect while it runs.

Events of an agent may be calls, steps, usage, and messages from it. A user's message, a
dispatch, a spawn and a return need --as relay or hook; a kill and a reset --as operator.

Examples:
  sprag check < events.jsonl
  sprag check --as relay --capture preview < events.jsonl

Exit code: 0 at the end of the input; 2 if --strict stopped, or store or policy can't be used.";

pub(crate) const SESSIONS: &str = "\
Examples:
  sprag sessions list --state killed
  sprag sessions show s1
  sprag sessions kill s1 --why 'deletes what it should not'
  sprag sessions reset s1 --why 'the tool is fixed'";

pub(crate) const SESSIONS_LIST: &str = "\
Examples:
  sprag sessions list
  sprag sessions list --state blocked --agent cleaner
  sprag sessions list --json | jq -r '.[] | select(.refused > 0) | .session'";

pub(crate) const SESSIONS_SHOW: &str = "\
Examples:
  sprag sessions show s1
  sprag sessions show s1 --json | jq '.rules.gauges'";

pub(crate) const SESSIONS_KILL: &str = "\
The kill is on disk when this returns. From then on everything in the session and in its
sub-agents (SESSION/…) is refused, in every process, until a reset.

Examples:
  sprag sessions kill s1 --why 'deletes what it should not'";

pub(crate) const SESSIONS_RESET: &str = "\
Marks, streaks, windows and counts of the session are cleared, and its next generation starts.

Examples:
  sprag sessions reset s1 --why 'the tool is fixed'";

pub(crate) const APPROVALS: &str = "\
A rule in mode `ask` asks a person instead of refusing. Each question has a code and stays open for
ten minutes (`ask.expires`).

Examples:
  sprag approvals
  sprag approve k7f3wq2m";

pub(crate) const APPROVE: &str = "\
The agent may then make the same call again; nothing else is allowed by it. With --scope session
the same on the same target may run as long as the session lasts.

Examples:
  sprag approve k7f3wq2m
  sprag approve k7f3wq2m --scope session --why 'its job today'";

pub(crate) const DECLINE: &str = "\
The same call is then refused until the user speaks or ten minutes have passed. The agent is told
who declined it, and why.

Examples:
  sprag decline k7f3wq2m --why 'production'";

pub(crate) const LOG: &str = "\
Examples:
  sprag log tail -f
  sprag log show 17
  sprag log verify
  sprag log export > events.jsonl
  sprag log prune --max-age 7d";

pub(crate) const LOG_TAIL: &str = "\
Examples:
  sprag log tail
  sprag log tail -f --session s1
  sprag log tail -n 100 --json | jq 'select(.verdict.verdict == \"kill\")'";

pub(crate) const LOG_SHOW: &str = "\
Examples:
  sprag log show 17
  sprag log show 17 --json | jq .verdict.evidence";

pub(crate) const LOG_EXPORT: &str = "\
Examples:
  sprag log export > events.jsonl
  sprag log export --session s1 --source https://example.org/agents
  sprag log export --after 1000 | jq -c 'select(.type == \"dev.sprag.kill\")'";

pub(crate) const LOG_ARCHIVE: &str = "\
The file becomes a store of its own with the same records under the same numbers: every command
that reads a store reads it with --db FILE. Run it again and it copies what is new.

Examples:
  sprag log archive archive.db --redis redis://127.0.0.1:6379
  sprag verify --db archive.db";

pub(crate) const LOG_PRUNE: &str = "\
Before the oldest records go, the cells that they left behind are written down and enter the
chain, so that what is left still verifies.

Examples:
  sprag log prune
  sprag log prune --max-age 7d --max-bytes 64M";

pub(crate) const VERIFY: &str = "\
Checks the number and the hash of every record, recomputes every verdict under its own policy, and
compares the cells in the store with those that the log makes. The first bad place is named.

Examples:
  sprag verify
  sprag verify --json | jq .bad

Exit code: 0 if the log is sound; 1 if it is not; 2 if it can't be read.";

pub(crate) const REPLAY: &str = "\
Without --policy a log is folded under the policies it was judged under and must give the verdicts
that it holds; a trace is judged as a guard would that stops nobody.

With --policy (and --diff) it is a what-if: a session that would have been blocked or killed would
not have gone on, so its later events are skipped and counted as saved. Where a refused call would
now be allowed, nobody knows its result; that is said.

Examples:
  sprag replay --session s1 --state
  sprag replay run.jsonl.gz --fired
  sprag replay --policy strict.toml --fired
  sprag replay run.jsonl --diff policy.toml strict.toml
  sprag replay --case c1234 --policy team.toml

Exit code: 0; 1 if a log, folded again, gave other verdicts, or a case would still be stopped; 2 if
something can't be read.";

pub(crate) const SERVE: &str = "\
The server owns the store: hooks, wrappers and commands go through its socket while it runs. On the
first start an operator token is made beside the store, and the link that carries it is printed.

Without a token, who comes from this machine is an agent. To listen elsewhere there must be tokens
for those who come, and TLS: --tls-cert and --tls-key, or --behind-tls-proxy.

With --upstream it also stands before an agent server: what agents say to each other is judged, and
passed on where it is let through. --demo plays examples instead, in a store of their own.

Examples:
  sprag serve
  sprag serve --demo
  sprag serve --upstream http://127.0.0.1:9000
  sprag serve --listen 127.0.0.1:0 --db trial.db
  sprag serve --listen 0.0.0.0:7727 --tls-cert cert.pem --tls-key key.pem --host guard.example
  curl -s localhost:7727/v1/check -H 'content-type: application/json' \\
    -d '{\"type\":\"call\",\"session\":\"s1\",\"tool\":\"read\"}'";

pub(crate) const HOOK: &str = "\
Agent CLIs start this themselves; `sprag install` tells them to. It asks a running `sprag serve`, else
the store. If there is no verdict (the payload can't be read, the server does not answer) it follows
--fail and leaves a line for `sprag doctor`; a session that was stopped stays stopped.

Examples:
  sprag hook --client claude < payload.json
  sprag hook --client copilot --event preToolUse --fail closed < payload.json

Exit code: 0, whatever the answer is; it is in the output.";

pub(crate) const INSTALL: &str = "\
Shows what would change and asks. Other hooks, comments and the layout of the file stay as they are. The
file as it was is kept in ~/.local/state/sprag/backups. Doing it again changes nothing.

Examples:
  sprag install claude
  sprag install --all
  sprag install codex --shadow
  sprag install copilot --project --yes
  sprag install gemini --fail closed

Clients: claude, codex, gemini, copilot, cursor, opencode. `sprag doctor` tries them.";

pub(crate) const UNINSTALL: &str = "\
Examples:
  sprag uninstall claude
  sprag uninstall copilot --project --yes
  sprag uninstall --all                        hooks and MCP wrappers, of every client";

pub(crate) const DOCTOR: &str = "\
Looks at every agent CLI that is found here: are the hooks there and complete, would the client run
them, do they start this program, when did they fire last. Then at policy, store and server, and at
what went wrong in hooks lately.

Examples:
  sprag doctor
  sprag doctor --json | jq '.problems'

Exit code: 0 if nothing is wrong; 1 if something is.";

pub(crate) const AGENT_TOOLS: &str = "\
For an agent server that starts one of these for each session, as an MCP server over stdio. The agent
gets send_agent_message and create_agent_session; both go through the relay of `sprag serve`, with
the sender and the flow filled in. A refusal is a tool error with the reason.

Examples:
  sprag agent-tools --session coder-1
  sprag agent-tools --session coder-1 --server http://127.0.0.1:7727";
