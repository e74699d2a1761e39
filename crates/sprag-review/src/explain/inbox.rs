//! Talk that is not work: two who only chat, echo, or fill an inbox, and what no user is behind.

use sprag_core::Decision::{Deny, Warn};

use super::Explanation;

pub(super) const CHATTER: Explanation = Explanation {
    verdicts: &[Warn],
    keys: &["flow.chatter"],
    per: Some("per minute"),
    why: "One handoff between two agents once led to six messages, five of which said that no reply was \
          needed. Each was polite and none did anything: that is what talk without work looks like.",
    trips: "On the Nth message (`flow.chatter`) between two sessions, either way, within 60 s, if they \
            say nothing new in their flow and neither reported a step in between. Once, until they calm down.",
    resets: "A step of either session empties the count; so does time, as the window slides.",
    tune: "`sprag policy set flow.chatter 12`, or `sprag policy set flow.chatter off` where agents talk \
           for a living and report no steps. It only warns.",
    odd: &[
        "Callers that never report steps see every lively exchange as chatter: report steps, or switch \
         it off.",
        "By order of events, not by time stamps: a step that arrives late counts when it arrives.",
    ],
};

pub(super) const ECHO: Explanation = Explanation {
    verdicts: &[Warn, Deny],
    keys: &["flow.echo"],
    per: None,
    why: "Two agents on a chat network were both told to answer empty signals with a pause sign. They sent \
          each other pause signs until one of the machines was switched off. Every message was correct \
          by the rules of its sender.",
    trips: "One sender repeats the same content to one receiver in one flow, with no step by either in \
            between: a warning on repetition `flow.echo.warn`, a refusal on `flow.echo.deny` if all \
            answers in between were the same too, or there were none. In a ring of any size, four times \
            `flow.echo.deny` messages of the flow in a row that each repeat what was said in it are refused too.",
    resets: "Other words, another flow, or a step of either session starts a new run.",
    tune: "`sprag policy set flow.echo '{ warn = 5, deny = 10 }'`. A heartbeat that says the same thing by \
           design is better sent as an applet's or a scheduler's message, which is never limited.",
    odd: &[
        "The same order in a new flow is no echo: every user may ask the same thing.",
        "Messages without content can't echo.",
        "Another request id or time in the same words makes no other content.",
    ],
};

pub(super) const UNATTENDED: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["flow.max_unattended"],
    per: None,
    why: "In 2025 a team of four agents was reported to have cost 47,000 dollars: two of them asked each \
          other to clarify and verify for eleven days. No error, normal latency, every rate in order. \
          What was missing was any person who still wanted the result.",
    trips: "Agents' messages into one session since a user last wrote to it, or last started a flow that \
            reached it, exceed `flow.max_unattended`.",
    resets: "A user's message to the session, or the first message that reaches it in a flow that a user \
             started later. New flows by agents or schedulers don't help: it outlives flows.",
    tune: "`sprag policy set flow.max_unattended 1000 --agent night-shift` for agents that are meant to run \
           without people. It goes by the receiver's policy.",
    odd: &[
        "A scheduler starts flows but attends nobody.",
        "A session idle for a day starts anew.",
    ],
};

pub(super) const RATE: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["inbox.max_messages_per_minute"],
    per: Some("per minute"),
    why: "Each sender may be within its limits and the receiver still drown: twenty agents with one \
          question each are twenty runs of the model behind one inbox, queued long after the answers \
          stopped mattering.",
    trips: "Agents' messages that arrived in one inbox within the last 60 s have reached \
            `inbox.max_messages_per_minute`, whatever became of them since (queued, running, done), and \
            from whatever flow. Those that say something new in their flow count half.",
    resets: "By itself, as the window slides; `retry_after_ms` says when. Refused messages don't count.",
    tune: "`sprag policy set inbox.max_messages_per_minute 30 --agent dispatcher`. For agents whose \
           sessions share one queue, `sprag policy set inbox.scope agent` counts them together. It goes \
           by the receiver's policy.",
    odd: &[
        "Users' messages always arrive, and are not counted.",
        "A sender that keeps on is refused each time, and nothing worse.",
    ],
};

pub(super) const CONVERSATION: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["conversation.max_messages"],
    per: None,
    why: "In tools where a mention wakes an agent, two agents that mention each other in every reply keep \
          a thread going for ever. Telling them in the prompt to stop was tried, and did not hold: a reply \
          that says `no reply needed` wakes the other as well.",
    trips: "Agents' messages in one tracked conversation since a user last wrote in it exceed \
            `conversation.max_messages`. Those that say something new in their flow count half.",
    resets: "A user's message in the conversation starts the count anew; so does a day of silence.",
    tune: "`sprag policy set conversation.max_messages 30` for threads where agents are expected to discuss. \
           It goes by the receiver's policy.",
    odd: &[
        "It needs the caller to send `conversation`; without that id only the flow and inbox rules judge.",
    ],
};
