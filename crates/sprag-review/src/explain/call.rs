//! Tool calls before they run: repeated ones, and those that destroy.

use sprag_core::Decision::{Ask, Deny, Kill, Warn};

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
            number is written don't matter. Of tools whose results nobody reports, also twice as many calls \
            within the window that are the same two to four in turn.",
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

pub(super) const SWEEPING: Explanation = Explanation {
    verdicts: &[Ask, Deny],
    keys: &[
        "destructive.scratch",
        "destructive.protected",
        "destructive.allow",
    ],
    per: None,
    why: "Of two dozen public reports of data that agents destroyed, none came through a tool called \
          `delete`. They were `rm -rf \"$HOME\"`, `terraform destroy`, `prisma migrate reset`, `DROP \
          DATABASE`, and a `curl` that deleted a volume. Nobody had been asked.",
    trips: "A command, an SQL text or an HTTP call would take a whole place where data lives: the project's \
            root or its `.git`, a database, a schema or all rows of a table, a bucket, a volume, a namespace, \
            a stack, a protected branch. A person is asked at the first time. `/`, homes, system \
            directories and devices are refused.",
    resets: "At once: each call is judged by itself. An approval lifts it for that call.",
    tune: "`sprag policy set destructive.allow '[\"prisma migrate reset\"]'` lets a program with its subcommand \
           run unasked; `destructive.scratch` names more places that may go, `destructive.protected` places of \
           which nothing may go unasked. `sprag effects 'COMMAND'` prints what is seen.",
    odd: &[
        "Commands are parsed, not searched: text in quotes, here-documents and commit messages is data, unless \
         the program that receives it executes it.",
        "A variable that nobody set counts as empty: `rm -rf \"$DIR/\"` is `rm -rf /`. Write `${DIR:?}`.",
        "Test databases, dry runs, build outputs and temporary places are scratch, and never judged.",
    ],
};

pub(super) const VOLUME: Explanation = Explanation {
    verdicts: &[Warn, Ask, Kill],
    keys: &["destructive.max_calls", "destructive.window"],
    per: None,
    why: "A clean-up agent whose delete was answered with an error took the next asset, and the next. What \
          is deleted can't be reviewed afterwards, so this is the one place where the third strike is \
          the last, and a person has to look before it goes on.",
    trips: "On the Nth destructive call (`destructive.max_calls`) within `destructive.window`, whatever it \
            was aimed at. Destructive is a tool whose bare name, in snake case, matches \
            `destructive.tools`, or that its server marks so where `destructive.trust_hints` is on. If a user \
            takes part in the session and each call is on something else, that person is asked instead.",
    resets: "The window slides, so slow deletes of different things pass; a user's message starts the counts \
             again, unless something was declined. The kill itself stays until an \
             operator resets the session.",
    tune: "Raise it for those whose job it is: `sprag policy set destructive.max_calls 50 --agent \
           bulk-cleaner`; destructive.target still stops its loops. With `destructive.scope = \"agent\"` \
           all sessions of an agent are counted together.",
    odd: &[
        "Commands, SQL and HTTP calls that destroy something outside of the workspace are counted by \
         themselves: a warning on the second, and a person is asked on the third.",
        "Things that are made again (a pod, an image, a branch, rows picked by a condition) are not counted here.",
        "Approved for the session, a tool may go on with other things.",
        "A word that names a thing or a gesture destroys nothing: `drop_pin`, `trash_can_level`, \
         `browser_drag_and_drop`; nor does one after a reading word: `gmail_list_trash`.",
        "`deleteAsset`, `delete-asset` and `delete.asset` are all `delete_asset`.",
    ],
};

pub(super) const TARGET: Explanation = Explanation {
    verdicts: &[Warn, Deny, Kill],
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
        "What a command destroys outside of the workspace is refused the third time, not killed.",
        "In the workspace (`git reset --hard`, `rm -rf data`) a first time is never judged: the third one with \
         nothing new in between is warned about, the fifth refused.",
    ],
};
