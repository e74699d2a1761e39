//! Tool calls before they run: repeated ones, and those that destroy.

use sprag_core::Decision::{Deny, Kill, Warn};

use super::Explanation;

pub(super) const IDENTICAL: Explanation = Explanation {
    verdicts: &[Deny],
    keys: &["call.max_identical", "call.window"],
    per: None,
    why: "An agent that ran the same documentation search over and over burned three million tokens before \
          anyone looked. The tool was fine, the call was fine, and the answer had not changed since the \
          first time.",
    trips: "The same server, tool and arguments were already called `call.max_identical` times within \
            `call.window`. Arguments are compared in canonical form: the order of keys and the way a \
            number is written don't matter.",
    resets: "By itself, as the window slides; `retry_after_ms` says when. Refused calls are not counted.",
    tune: "`sprag policy set call.max_identical 60` for agents that poll fast, or shorten `call.window`. \
           It is the wide net; progress.stagnation, which sees results, catches loops much sooner.",
    odd: &[
        "It looks among the session's last 256 calls.",
        "A patient poller is refused now and then and never blocked: see session.defiance.",
    ],
};

pub(super) const REPEAT: Explanation = Explanation {
    verdicts: &[Warn],
    keys: &["call.repeat"],
    per: None,
    why: "Some callers only ask before a call and never report what came of it. Nothing can be said of \
          progress then, but one agent that listed the same directory six times running could have been \
          told so on the fourth.",
    trips: "On the Nth equal call in a row (`call.repeat`) and each one after, of a tool of which the session \
            never reported a step. Once, too, if two to four calls were made in turn N times.",
    resets: "Any other call starts a new run, and so does a lull of 30 s. The first step of a tool that is \
             reported ends this rule for that tool: the progress rules know better.",
    tune: "`sprag policy set call.repeat 8`, or better: report steps, so that the progress rules can judge.",
    odd: &["It only warns, and only counts calls that were allowed."],
};

pub(super) const VOLUME: Explanation = Explanation {
    verdicts: &[Kill],
    keys: &["destructive.max_calls", "destructive.window"],
    per: None,
    why: "A clean-up agent whose delete was answered with an error took the next asset, and the next. What \
          is deleted can't be reviewed afterwards, so this is the one place where the third strike is \
          the last, and a person has to look before it goes on.",
    trips: "On the Nth destructive call (`destructive.max_calls`) within `destructive.window`, whatever it \
            was aimed at. Destructive is a tool whose bare name, in snake case, matches \
            `destructive.tools`, or that its server marks so where `destructive.trust_hints` is on.",
    resets: "The window slides, so slow deletes of different things pass. The kill itself stays until an \
             operator resets the session.",
    tune: "Raise it for those whose job it is: `sprag policy set destructive.max_calls 50 --agent \
           bulk-cleaner`; destructive.target still stops its loops. With `destructive.scope = \"agent\"` \
           all sessions of an agent are counted together.",
    odd: &[
        "What a shell command or an SQL text deletes is not seen: the rule reads tool names. Use \
         access.denied for those tools.",
        "`deleteAsset`, `delete-asset` and `delete.asset` are all `delete_asset`.",
    ],
};

pub(super) const TARGET: Explanation = Explanation {
    verdicts: &[Warn, Kill],
    keys: &["destructive.max_same_target", "destructive.window"],
    per: None,
    why: "Deleting the same thing again is never work: either it is gone, or deleting does not help. An \
          agent that was told `asset still exists` after each delete kept deleting the same table, \
          because trying again was its only idea.",
    trips: "One target was already in `destructive.max_same_target` destructive calls within \
            `destructive.window`: kill. The last call that passes is warned. The target is the whole set \
            of the call's target fields (`destructive.targets`); a list of ids is one target per element.",
    resets: "The window slides. The kill itself stays until an operator resets the session.",
    tune: "`sprag policy set destructive.max_same_target 3` where deletes are retried on flaky back ends; 1 \
           kills on the second try. Name your own id fields: `sprag policy set destructive.targets \
           '[\"asset_id\", \"bucket\"]'`.",
    odd: &[
        "`schema=a, table=t` and `schema=b, table=t` are two targets.",
        "A call without any target field has no target, and only destructive.volume counts it.",
    ],
};
