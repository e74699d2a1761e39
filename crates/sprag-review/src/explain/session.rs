//! The gates, and what happens to a session that goes on against them.

use sprag_core::Decision::{Block, Deny, Kill, Warn};

use super::Explanation;

pub(super) const KILLED: Explanation = Explanation {
    verdicts: &[Deny, Kill],
    keys: &[],
    per: None,
    why: "A stop that the stopped one can lift is no stop. An agent that was killed for deleting in a loop \
          must stay dead through retries, reconnects and restarts until a person has looked at it.",
    trips: "Any event of a session that was killed, by a rule or by an operator, or whose parent session \
            was (a kill of `a` reaches `a/b`), is answered `kill` with code session_killed_loop_guard. \
            An event that names a generation from before the last reset is answered `kill` with code \
            session_stale_generation. Someone who writes to a killed session is told `deny`, not `kill`.",
    resets: "Only an operator's reset. It starts the session's next generation with clean counts; time \
             alone never lifts a kill, and neither does a user's message.",
    tune: "This gate has no limit and no mode: it always enforces. Tune the rule that killed; its name \
           and evidence are in the verdict of the kill.",
    odd: &[
        "Where several agents share one identity no kill mark is ever set: the call that would have \
         killed is denied instead, so that one agent's loop does not stop its neighbours.",
        "An event that names a generation newer than the session's is an error, not a verdict.",
    ],
};

pub(super) const PANIC: Explanation = Explanation {
    verdicts: &[Warn, Deny],
    keys: &[],
    per: None,
    why: "When agents run away on many machines at once, nobody has the time to find out which. One order has to \
          reach all of them, through every adapter, without taking anything from the people who sort it out.",
    trips: "While a panic is in force, every call and every message of an agent is answered `deny` with code \
            `panic`, and every step `warn`. Users' words, orders and answers pass. Nothing counts for defiance or \
            budgets.",
    resets: "`sprag calm --why \"…\"`; if a file called `panic` beside the store keeps it in force, remove the file.",
    tune: "This gate has no limit and no mode: it always enforces, and `sprag pause` does not lift it. `sprag panic \
           --why \"…\"` puts it in force.",
    odd: &[
        "What was spent is still counted, and a sub-agent may still return.",
        "Processes that share a store in Redis learn of it with their next event, at the latest after a second.",
    ],
};

pub(super) const ACCESS: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["access.allow", "access.deny"],
    per: None,
    why: "The cheapest loop is the one that can't start. In July 2025 a coding agent wiped a company's \
          production database during a code freeze that it had been told of in capital letters: words in \
          a prompt are advice, a list of tools is not.",
    trips: "A tool call matches a glob in `access.deny`, or `access.allow` is not empty and none of its \
            globs matches. A glob with a slash is on `server/tool`, one without is on the bare tool of \
            any server. Deny wins.",
    resets: "At once: the next call is judged afresh. Nothing is remembered, except that each refusal \
             counts for session.defiance and budget.actions.",
    tune: "`sprag policy set access.deny '[\"shell/*\", \"rm_*\"]'`, and per agent with `--agent reviewer`. \
           Prefer a short allow list for agents with one job.",
    odd: &[
        "It sees tool names, not what a shell command or an SQL text does. Deny the shell tool itself \
         where that matters.",
        "In shadow it tells what it would have refused and lets the call go on to the other rules.",
    ],
};

pub(super) const OWN: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &[],
    per: None,
    why: "An agent that may run commands may run `sprag approve` too, and models do what the message in \
          front of them names. A yes that the asked one gives itself is worth nothing.",
    trips: "A command runs `sprag approve`, `decline`, `sessions reset`, `sessions kill`, `pause`, `calm`, \
            `policy set`, `token` or `uninstall`, also inside `sh -c`, `xargs` or `$(…)`; or a call \
            writes the guard's own folder or the file in which a client finds its hooks.",
    resets: "At once: the next call is judged afresh. Each refusal counts for session.defiance and \
             budget.actions.",
    tune: "`sprag policy set access.self off --agent ops` for an agent whose work is the guard. \
           `ask` asks a person instead.",
    odd: &[
        "Words are not orders: a search for `sprag approve`, a commit message or an echo about it pass.",
        "It is a fence, not a wall: a script that the agent wrote can run the same command unseen. What \
         an agent under the same user can do is told in SECURITY.md.",
    ],
};

pub(super) const BLOCKED: Explanation = Explanation {
    verdicts: &[Warn, Deny],
    keys: &["session.human_unblocks"],
    per: None,
    why: "An agent that loops should stop acting but still be able to say where it stands. A hard kill \
          loses the summary that the user needs; a warning alone is talked over. A block is the middle: \
          hands off, mouth free.",
    trips: "A blocked session makes a tool call: `deny` with code session_blocked_loop_guard. A step that \
            still arrives (the call ran before the block) is recorded and answered `warn`, its result \
            untouched.",
    resets: "An operator's reset; a user's message that carries `unblock: true` (the hooks of agent CLIs \
             set it when a person types); or any user's message where `session.human_unblocks` is on.",
    tune: "`sprag policy set session.human_unblocks true` where a person sits in front of the agent and \
           can judge. To block less often tune the rule that blocked: progress.*, budget.* or \
           session.defiance.",
    odd: &[
        "Messages of a blocked session are still judged by the message rules and allowed by this one.",
        "Going on with calls against the block counts for session.defiance, which kills in the end.",
    ],
};

pub(super) const DEFIANCE: Explanation = Explanation {
    verdicts: &[Block, Kill],
    keys: &["session.max_refused"],
    per: None,
    why: "A refusal is a result like any other to a model that is stuck. One local model, denied `git log` \
          through a shell, sent the identical call some forty times until its iteration cap and ended \
          with an empty answer. Somebody has to notice that no is not being heard.",
    trips: "Refused calls in a row, whatever refused them: the session is blocked on the Nth \
            (`session.max_refused`) and killed on the 2Nth. At most one refusal is counted per second, so \
            one tight burst is one; refusals by call.identical count at most once per its window, so a \
            patient poller is refused and not killed.",
    resets: "An allowed or warned call sets the count to zero. So does a reset.",
    tune: "`sprag policy set session.max_refused 20` for agents that explore what they may do. Below 5, \
           honest agents that try two or three ways around a missing permission get blocked.",
    odd: &[
        "Only calls count. A message that is refused is judged by the flow rules and nothing more.",
        "It also counts the refusals of the gates, which is how an agent that hammers on its own block \
         is killed in the end.",
    ],
};

pub(super) const RERUN: Explanation = Explanation {
    verdicts: &[Warn],
    keys: &["session.rerun"],
    per: Some("in 24 hours"),
    why: "A daemon started a fresh session on the same stuck item whenever the last one had ended, 40 times in one \
          night. No session was long, none repeated itself, and the same answer was paid for 40 times.",
    trips: "A message from outside opens a session, and `session.rerun` of the last 8 runs of the agent with the same \
            opening words, within 24 hours, did the same steps with the same results. A run counts if it has at \
            least two steps, one of them not a read, and its session was quiet for a minute.",
    resets: "A run that does something else, or gets another result, ends the row. It warns once in 24 hours a task.",
    tune: "`sprag policy set session.rerun 8`. A job that is meant to do the same every time, such as a deployment \
           that changes nothing, may have the rule off: `sprag policy set session.rerun off --agent deployer`.",
    odd: &[
        "Noise in arguments and results (times, ids) does not make a run another one.",
        "It never refuses the user's words.",
        "Sessions that are opened with the same greeting and then do nothing are not runs.",
    ],
};
