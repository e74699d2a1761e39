//! Steps with their results: who tries, and whether anything comes of it.

use sprag_core::Decision::{Block, Warn};

use super::Explanation;

pub(super) const STAGNATION: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.stagnation"],
    per: None,
    why: "The plainest loop: the same thing again, the same answer again. Of some two hundred bug reports \
          that one person sorted for one popular agent, repeating an identical failing call was the \
          second biggest group.",
    trips: "Steps repeat an approach whose outcome has not changed since its last time, and nothing else \
            brought news in between: a warning at a streak of `warn`, a block at `block`. Whoever makes \
            the very same call right after the warning counts twice. In the informed classifier time \
            stamps, ids, durations and the like in a result are not news, and looks with a lull \
            before them are waiting: at least 30 s, and long for this session.",
    resets: "Any step that brings news. In the plain classifier a new approach with an outcome already seen \
             ends this streak too, and starts progress.stuck's. A user's message sets it to zero.",
    tune: "`sprag policy set progress.stagnation '{ warn = 5, block = 10 }'` for agents that watch \
           something. `sprag policy set progress.classifier plain` judges exact results only.",
    odd: &[
        "A verdict on a step never takes the result away: the message is put next to it.",
        "Rounds of several calls that all answer what they answered before count as well.",
        "A check after a new change, and a second look at something read, are forgiven.",
    ],
};

pub(super) const STUCK: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.stuck", "progress.empty"],
    per: None,
    why: "Trying harder looks like progress. In one session 127 of 153 tool calls failed, most of them with \
          the same exit code, each a little different from the one before; it spent 14.6 million tokens \
          that way before something outside cut it off.",
    trips: "New approaches end in a failure that is known, or, asked in other words, in the long answer \
            that the step before had: a warning at `progress.stuck.warn`, a block at \
            `progress.stuck.block`. Empty findings (`[]`, no matches, an exit code without a word) and \
            failures in nearly the same words are judged by `progress.empty`, more patiently: looking in \
            many places is how things are found. A round of calls in which nothing is new but wording, \
            numbers and ids ends after about 22 steps.",
    resets: "Any step that brings news. In the plain classifier repeating a known approach ends this streak \
             too, and starts progress.stagnation's. A user's message sets it to zero.",
    tune: "`sprag policy set progress.stuck '{ warn = 8, block = 15 }'`; for searching agents raise \
           `progress.empty` instead.",
    odd: &[
        "Acknowledgements and silence are not counted: a batch of writes is work (informed classifier).",
        "The same text as an error and as a success are two outcomes.",
        "Of reports that count their findings (`2 errors`) each third counts, of things looked for by \
         path, URL or id each second: that is how a sweep looks.",
    ],
};

pub(super) const RECURRENCE: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.recurrence"],
    per: None,
    why: "Edit, test, the same failure; another edit, the same failure. Each edit is new and answers \
          something new, so a plain streak is reset every time and never fires. Only the test that keeps \
          coming back unchanged shows that the edits change nothing.",
    trips: "One approach comes back with an unchanged outcome that often while other work is done in \
            between: a warning at `warn`, a block at `block`. A program run again and again whose \
            answers differ in numbers only counts half; one that fails at the end of each run blocks on \
            the 12th in a row. The known failures of one program are also counted together, however it is \
            called: a warning at four fifths of `block`, a block at it. A round of calls that is longer than the memory is known by samples. \
            Informed classifier only.",
    resets: "The approach answers something else. For what does not fail also a new change since its last \
             time (then it is a check), or more than 20 other steps in between. A user's message sets it to \
             zero.",
    tune: "`sprag policy set progress.recurrence '{ warn = 8, block = 20 }'` for long repairs with one slow \
           test. A program that is run many times in a row because it reports progress is better named a \
           poll, in a `[[tool]]` table of the policy.",
    odd: &[
        "It follows the most recently used approaches, 256 of them; of older ones 128 samples are kept.",
        "A look that neither fails nor comes up empty, between steps that bring news, is warned about \
         and never blocked.",
    ],
};

pub(super) const CHURN: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.churn"],
    per: None,
    why: "An agent that edited around one import line copied the comment behind it each time; a file of 5 \
          kilobytes grew to 5.5 megabytes in one session. Every edit succeeded and every answer was \
          different, so by outcomes alone it looked like steady progress.",
    trips: "The same change is made again with no new one since, whatever it answers: a warning on the Nth \
            time (`warn`), a block at `block`. Informed classifier only.",
    resets: "A change that was not made before is made, and does not fail. A user's message or a reset \
             clears it too.",
    tune: "`sprag policy set progress.churn '{ warn = 6, block = 12 }'`. A tool that is taken for a change and \
           is none can be named for what it is in a `[[tool]]` table of the policy.",
    odd: &[
        "The same change after a new one (`git add .` between edits) is not counted.",
        "Keys and clicks sent to a program are runs, not changes: sending them again is how one gets on.",
    ],
};

pub(super) const PROBE: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.probe"],
    per: None,
    why: "A model that had lost its way tried whether its shell was still there: `echo s1`, `echo s2`, 290 times \
          in a row. Every command was new and every answer too, so no comparison of answers found anything.",
    trips: "Calls in a row that only print what they are given: a shell command made of `echo`, `printf`, `true`, \
            `:`, `pwd` and `date` alone, without a redirection or another command in it; or a call that changes \
            nothing and answers its own argument, from the second time on. `warn` many warn, `block` many block. \
            Informed classifier only.",
    resets: "Any other step ends the row. A user's message or a reset clears it too.",
    tune: "`sprag policy set progress.probe '{ warn = 40, block = 80 }'`. An agent that is made of echoes, such as \
           a test of the guard itself, may have the rule off.",
    odd: &[
        "A command that prints nothing is not a probe, and a script that prints its arguments is not one.",
        "A look at the clock after a lull waits, and does not count.",
        "Calls that were made before the first of their results came count once.",
    ],
};
