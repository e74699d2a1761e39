//! What models say, where somebody reports it.

use sprag_core::Decision::{Block, Warn};

use super::Explanation;

pub(super) const CHANT: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["output.chant"],
    per: None,
    why: "A model may fall into one sentence and say it until its tokens run out. No call shows it, and the bill \
          for one such answer can be higher than for a day of work.",
    trips: "One answer, reported as `output`, holds `output.chant` copies of a unit of up to 256 bytes in a row, at \
            least 400 bytes in all, or hardly a new line among 200; code, tables and markup aside. It is a warning, \
            and the third in a session blocks. A gateway also ends the answer.",
    resets: "A reset of the session forgets its chants. Until then each further one blocks.",
    tune: "`sprag policy set output.chant 20` for models that write litanies on purpose. It holds for all sessions \
           alike, because an answer is read before anybody looks up whose it is.",
    odd: &[
        "Dumps of bytes, rules and rows of dots need far more copies.",
        "Nothing of the words is kept but a digest.",
    ],
};

pub(super) const REPEAT: Explanation = Explanation {
    verdicts: &[Warn, Block],
    keys: &["output.repeat"],
    per: None,
    why: "A harness that answers every pause with \"continue\" can keep a model for hours that has nothing more to \
          do: it says that it is done, again and again, and each time costs the whole context.",
    trips: "The model says the same words, layout aside, in a row, with no call and no user in between: a warning \
            at `output.repeat.warn`, a block at `output.repeat.block`.",
    resets: "A call that is let through, a user's message, and the start of a scheduled run.",
    tune: "`sprag policy set output.repeat '{ warn = 10, block = 20 }'` for agents that only ever answer.",
    odd: &[
        "An answer without words changes nothing.",
        "In a blocked session nothing is judged: a blocked agent should sum up.",
    ],
};
