//! Budgets: the last line, for whatever no pattern catches.

use sprag_core::Decision::{Block, Deny, Kill, Warn};

use super::Explanation;

pub(super) const ACTIONS: Explanation = Explanation {
    verdicts: &[Warn, Deny, Block, Kill],
    keys: &["budget.actions", "budget.strict"],
    per: None,
    why: "Some loops are new each time round: one agent went on for 94 minutes and 613 calls, healthy to \
          every detector, and produced nothing. Whatever it does and however clever it is about it, a \
          session has to end somewhere between two words of its user.",
    trips: "Calls, messages sent and steps without a call since a user last wrote to the session, or last \
            started a flow that reached it, refused ones included: a warning once at 80 % of \
            `budget.actions`, a block past 100 % (messages are refused then too), a kill past 200 %.",
    resets: "A user's message to the session, or a later flow of a user that reaches it, starts the count \
             anew. So does a reset.",
    tune: "`sprag policy set budget.actions 5000 --agent migrator`. Where no user was ever seen it only \
           warns; `sprag policy set budget.strict true` makes it hold for unattended agents too.",
    odd: &[
        "A blocked session's further actions are denied, not blocked again.",
        "What the gate of killed sessions refuses is not an action.",
    ],
};

pub(super) const TOKENS: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["budget.tokens"],
    per: None,
    why: "Calls are not what is paid for. An agent can stay under every count and still re-read a context of \
          hundreds of thousands of tokens at each of them; the repetition that nobody saw cost one team \
          162 million tokens.",
    trips: "Tokens reported with `usage`, per session with its sub-agents, per flow (all its sessions) or per \
            agent and UTC day: a warning on crossing 80 %, a block of the session that trips it at 100 %. \
            Tokens that came from the provider's cache are left out.",
    resets: "A reset renews the session's amount only. The flow's ends with the flow (a day of silence), the \
             agent's at midnight UTC; until then they block again right after a reset.",
    tune: "Off until you set an amount: `sprag policy set budget.tokens.session 2000000`, likewise `.flow` \
           and `.agent_day`. Start with twice what a good run needs.",
    odd: &[
        "It knows what it is told: without `usage` events it never trips.",
        "A sub-agent is blocked when the session above it has used up its amount.",
    ],
};

pub(super) const COST: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["budget.cost_usd"],
    per: None,
    why: "Sub-agents that started sub-agents ran up more than 600 dollars before their user saw it: the \
          only fence had been the provider's credit limit. Money is the measure that everybody \
          understands, so it should be one that stops.",
    trips: "The cost of `usage`, per session with its sub-agents, per flow (all its sessions) or per agent and \
            UTC day: a warning on crossing 80 %, a block of the session that trips it at 100 %. The cost is \
            `cost_usd` where the event has it, else what its `model` costs by `[prices]` of the policy or by \
            the price table that ships.",
    resets: "A reset renews the session's amount only. The flow's ends with the flow (a day of silence), the \
             agent's at midnight UTC; until then they block again right after a reset.",
    tune: "Off until you set an amount, in US dollars: `sprag policy set budget.cost_usd.session 5`, likewise \
           `.flow` and `.agent_day`.",
    odd: &[
        "A model without a known price counts tokens only, and a session is warned about it once. Name its \
         price in the policy: `[prices]`, `\"my-model*\" = { input = 3.0, output = 15.0 }`, in US dollars a \
         million tokens.",
        "The shipped table holds list prices of one day: no discounts, batches or subscriptions.",
    ],
};

pub(super) const TIME: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["budget.time"],
    per: None,
    why: "A polling loop that tested only for success waited on a query that was mistyped and could never \
          succeed. It cost no tokens worth counting and called nothing too often; it just held the \
          machine, and the person who waited for it.",
    trips: "Time since the session's first event, since the start of the flow's chain, or since the agent's \
            first event of the UTC day: a warning on crossing 80 %, a block of the session that trips it \
            at 100 %. It is looked at when a call, step or usage arrives.",
    resets: "A reset for the session's time; a fresh chain for the flow's; midnight UTC for the agent's.",
    tune: "Off until you set one: `sprag policy set budget.time.session 2h`, likewise `.flow` and \
           `.agent_day`.",
    odd: &["A session that does nothing trips nothing: no timer runs, only events are judged."],
};
