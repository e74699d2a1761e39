//! The shape and size of a flow: who may call whom, how deep, how wide, how long, how often.

use sprag_core::Decision::{Deny, Warn};

use super::Explanation;

pub(super) const CORRELATION: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &[],
    per: None,
    why: "Agents that wake each other by message look, one message at a time, like business as usual. Only \
          the thread back to the user's action that caused it all shows that the hundredth message is \
          still about the first request. A message without that thread can't be counted for anything.",
    trips: "An agent's message names no flow, and its sender has no running dispatch to inherit one from.",
    resets: "At once: a message that names a flow, or is sent while a dispatch runs, is judged normally.",
    tune: "Send `flow` with every agent's message, or report `dispatch_start` and `dispatch_end` around the \
           work so that it is inherited. Where neither can be had: `sprag policy set flow.correlation off`; \
           every rule that needs no flow still judges.",
    odd: &[
        "Users, applets and schedulers need no flow: their message starts one.",
        "Of several running dispatches the latest is inherited.",
    ],
};

pub(super) const SELF_CALL: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &[],
    per: None,
    why: "The shortest loop there is. Chat bridges hand a bot its own reply as new input, the bot answers \
          it, and so on; nearly every chat framework has had that bug once.",
    trips: "An agent's message has the same session as sender and receiver.",
    resets: "At once: the next message is judged afresh. The attempt still keeps its flow alive.",
    tune: "There is nothing to count, only a mode: `sprag policy set flow.self_call off` for designs where \
           a session queues work to itself on purpose. The flow's rate and total then bound it.",
    odd: &["`a` and `a/b` are two sessions: a sub-agent that answers its parent is no self-call."],
};

pub(super) const DEPTH: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_depth"],
    per: None,
    why: "Delegation is cheap to write and dear to run: five research agents that were allowed to start \
          agents of their own became 361 in one evening and ate a five-hour quota in minutes. Each hop \
          also loses a little of what was asked, and takes longer to say no.",
    trips: "The call stack after this message is longer than `flow.max_depth`. The stack is collapsed: a \
            call to a session that is already on the sender's path goes back to it, any other goes one \
            deeper. 1→2→1→3 has depth 2, and a coordinator that asks six agents in parallel has depth 2 too.",
    resets: "A message further up the path is judged by its own depth: one refused branch stops nobody \
             else. The paths start afresh when the flow was silent for `flow.max_duration`.",
    tune: "`sprag policy set flow.max_depth 6`. But needing more than 5 is a design smell: the agent at the \
           bottom no longer knows what the user asked, and the one on top can't tell what it is paying \
           for. Let the coordinator call the workers side by side (depth 2) before you raise it.",
    odd: &[
        "Refused messages leave no trace on the path.",
        "`spawn` of a sub-agent counts as a level, its `return` never does.",
    ],
};

pub(super) const SESSIONS: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_sessions"],
    per: None,
    why: "Breadth runs away like depth does. Someone asked for 3 research agents and 24 ran; only 4 results \
          ever came back, four fifths of the tokens were spent on work that nobody read.",
    trips: "Distinct sessions that exchanged messages in one flow, both ends of this message included, \
            exceed `flow.max_sessions`. Those that came in with a message that said something new count half.",
    resets: "When the flow was silent for `flow.max_duration` its next message starts with an empty list.",
    tune: "`sprag policy set flow.max_sessions 20` for wide fan-outs; set it for the coordinator alone with \
           `--agent coordinator`. Flow rules go by the sender's policy.",
    odd: &[
        "Sub-agents that are started with `spawn` and end with `return` don't count; flow.depth and \
         budget.actions bound those.",
        "The user's own messages never enter the list.",
    ],
};

pub(super) const DURATION: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_duration"],
    per: None,
    why: "Whoever asked has long gone to lunch; the agents still discuss. A loop that waits politely \
          between rounds stays under every rate, and only its age gives it away.",
    trips: "An agent sends a message that brings nothing new, and for `flow.max_duration` nothing new was said \
            or done in the flow. New is a content that was not said in the flow before, apart from ids, times \
            and counters; done is a step that one of the two reported since it last took part.",
    resets: "When no agent tried to send in this flow for `flow.max_duration`, the next message starts a \
             fresh chain. Attempts count even when refused, so hammering on a timed-out flow keeps it \
             closed. A user's message that names the flow starts its time anew.",
    tune: "`sprag policy set flow.max_duration 30m` for flows with slow tools. Long jobs are better split: \
           let the user's or the scheduler's next message start the next flow.",
    odd: &[
        "Messages without `content` say nothing new: send it (only a digest is kept), or report steps.",
        "However new the words are, flow.total ends the flow.",
        "Resuming after a break longer than the limit works by itself: that is a fresh chain.",
        "It only looks at messages between agents; budget.time bounds sessions that work alone.",
    ],
};

pub(super) const RATE: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_calls_per_minute"],
    per: Some("per minute"),
    why: "A hook that asked a model for lessons after every task also fired after every sub-task, and made \
          35,000 calls in three days to hear that there was nothing to learn. Bursts are where money \
          goes fastest, so they are refused first.",
    trips: "Agents' messages in one flow within the last 60 s, this one included, exceed \
            `flow.max_calls_per_minute`. Those that say something new count half.",
    resets: "By itself, as the window slides: the verdict's `retry_after_ms` says when. Refused messages are \
             not counted, so trying early costs nothing but the refusal.",
    tune: "`sprag policy set flow.max_calls_per_minute 60` for busy teams of agents, after a look at \
           `flow.max_calls`, which is reached that much sooner.",
    odd: &["It counts the whole flow, not each pair: ten agents share one window."],
};

pub(super) const TOTAL: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_calls"],
    per: None,
    why: "A slow exchange never trips a rate. A reviewer and a developer who send one request for changes \
          each few seconds are polite, busy, and still going a hundred messages later over one small fix.",
    trips: "Agents' messages in one flow, this one included, exceed `flow.max_calls`.",
    resets: "When the flow was silent for `flow.max_duration` the count starts again at zero.",
    tune: "`sprag policy set flow.max_calls 300`. If one user action honestly needs hundreds of messages, \
           ask whether agents are passing data by message that belongs in a file.",
    odd: &[
        "A user's message that names the flow renews its time, not its total.",
        "flow.unattended counts across flows, for loops that open a new flow each round.",
    ],
};

pub(super) const REVISITS: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_revisits"],
    per: None,
    why: "Depth collapses when a call goes back, so 1→2→1→2→1 never gets deep. A planner that sends the \
          same worker back for one more round, again and again, is seen by this count only.",
    trips: "Allowed returns to one session of the flow, this one included, exceed `flow.max_revisits`.",
    resets: "When the flow was silent for `flow.max_duration` all counts start afresh.",
    tune: "It is off by default, because review loops are honest work. Switch it on with `sprag policy set \
           flow.revisits enforce` (or `shadow`, to see first), and set the number with `sprag policy set \
           flow.max_revisits 4`.",
    odd: &["A return is judged by who is on the sender's path, so parallel branches don't add up."],
};

pub(super) const SPAWNS: Explanation = Explanation {
    verdicts: &[Warn, Deny],
    keys: &[
        "flow.spawns.deny",
        "flow.spawns.root_deny",
        "flow.spawns.per_minute",
    ],
    per: None,
    why: "Two agents that may start agents start five each, and those start five each: 312 sub-agents in 94 \
          seconds, each of them sure that its part was too large for one. Nobody sees the sum, and the \
          session that began it may have answered long ago.",
    trips: "Asked before a sub-agent starts. A start by a sub-agent warns past `flow.spawns.warn` open \
            sub-agents of the flow and is refused past `flow.spawns.deny`; a start by the session at the top \
            goes by `root_warn` and `root_deny`. A start by a sub-agent is also refused if sub-agents, two or \
            more of them, started `per_minute` others within 60 seconds.",
    resets: "A sub-agent that returns is not open any more, and one without an event for 30 minutes counts as \
             ended. What a session started before it was reset does not count.",
    tune: "`sprag policy set flow.spawns.deny 100` for teams that delegate on purpose, or for one agent with \
           `--agent planner`. Let the coordinator start the workers itself: it may have 200 at once.",
    odd: &[
        "Under an agent CLI's hooks the flow is the client's session: sub-agents outlive the request that they were started for.",
        "The call of the client's agent tool is the start; the sub-agent's `spawn` takes its place and counts nothing.",
        "A call that has its result, and named no sub-agent, has ended.",
        "A kill reaches every sub-agent that has not returned, and those that they started.",
    ],
};
