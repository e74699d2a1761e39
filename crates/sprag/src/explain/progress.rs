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
    trips: "Consecutive steps repeat an approach whose outcome has not changed since its last time: a \
            warning at a streak of `warn`, a block at `block`. In the informed classifier time stamps, \
            ids, durations and the like in a result are not news, and calls far apart in time count as \
            waiting.",
    resets: "A new outcome. In the plain classifier a new approach with an outcome already seen ends this \
             streak too, and starts progress.stuck's. A user's message or a reset clears it.",
    tune: "`sprag policy set progress.stagnation '{ warn = 5, block = 10 }'` for agents that watch \
           something. `sprag policy set progress.classifier plain` judges exact results only.",
    odd: &[
        "A verdict on a step never takes the result away: the message is put next to it.",
        "Cycles of several calls with unchanged outcomes count as well.",
    ],
};

pub(super) const STUCK: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.stuck", "progress.empty"],
    per: None,
    why: "Trying harder looks like progress. In one session 127 of 153 tool calls failed, most of them with \
          the same exit code, each a little different from the one before; it spent 14.6 million tokens \
          that way before something outside cut it off.",
    trips: "New approaches bring the same telling outcome: a warning at `progress.stuck.warn`, a block at \
            `progress.stuck.block`. The same empty finding (`[]`, no matches) is judged by \
            `progress.empty`, more patiently: looking in many places is how things are found.",
    resets: "A new outcome. In the plain classifier repeating a known approach ends this streak too, and \
             starts progress.stagnation's. A user's message or a reset clears it.",
    tune: "`sprag policy set progress.stuck '{ warn = 8, block = 15 }'`; for searching agents raise \
           `progress.empty` instead.",
    odd: &[
        "A batch over distinct targets with the same short acknowledgement is work (informed classifier).",
        "The same text as an error and as a success are two outcomes.",
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
            between: a warning at `warn`, a block at `block`. Informed classifier only.",
    resets: "The approach brings another outcome: its count starts anew. A user's message or a reset \
             clears all of them.",
    tune: "`sprag policy set progress.recurrence '{ warn = 8, block = 20 }'` for long repairs with one slow \
           test. Looking at a state between pieces of work (`git status`) is already judged mildly.",
    odd: &["It follows the most recently used approaches, 256 of them; older ones are forgotten."],
};

pub(super) const CHURN: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["progress.churn"],
    per: None,
    why: "An agent that edited around one import line copied the comment behind it each time; a file of 5 \
          kilobytes grew to 5.5 megabytes in one session. Every edit succeeded and every answer was \
          different, so by outcomes alone it looked like steady progress.",
    trips: "The same change is applied again, whatever it answers: a warning at `warn`, a block at `block`. \
            Informed classifier only.",
    resets: "A user's message or a reset; and the change is forgotten once 256 other approaches were used \
             since.",
    tune: "`sprag policy set progress.churn '{ warn = 6, block = 12 }'`. Tools that look like a change but \
           are not can be told apart in the policy's list of tools.",
    odd: &["Running the same program again is not a change by itself: its outcome decides."],
};
