//! `output.repeat` and `output.chant`: a model that only repeats its own words.
//!
//! A model may loop without calling anything: it says the same after each automatic "continue", or one answer
//! says the same sentence until the tokens run out. No call shows it, and it is paid for all the same.
//!
//! Trips when: `repeat`: the same words 3 times in a row warn, 5 times block. `chant`: an answer that repeats
//! itself warns, and the third in a session blocks.
//! Resets when: `repeat`: a call is made, a user speaks, a scheduled run starts. `chant`: the session is reset.
//! Bounded by: three numbers.
//! Odd cases: an answer without words changes nothing; in a blocked session nothing is judged, because a blocked
//! agent should sum up. What counts as an answer that repeats itself is said in `chant.rs`.

use crate::cell::Said;
use crate::finding::{Finding, Findings};
use crate::observation::Output;
use crate::policy::{Limits, MAX_LIMIT};
use crate::rule::RuleId;
use crate::rules::text::raise_hint;
use crate::verdict::Decision;

/// The chant of a session that blocks it.
const LAST_CHANT: u16 = 3;

/// Judges one answer and remembers it.
pub(crate) fn judge(output: &Output, said: &mut Said, limits: &Limits, found: &mut Findings) {
    if let Some(text) = &output.text {
        let words = text.prefix();
        said.times = match said.words == words && said.times > 0 {
            true => said.times.saturating_add(1),
            false => 1,
        };
        said.words = words;
        judge_repeat(said.times, limits, found);
    }
    if output.chant > 0 {
        said.chants = said.chants.saturating_add(1);
        judge_chant(output.chant, said.chants, limits, found);
    }
}

fn judge_repeat(times: u16, limits: &Limits, found: &mut Findings) {
    let (warn, block) = (
        limits.output.repeat.warn.get(),
        limits.output.repeat.block.get(),
    );
    let times = u32::from(times);
    let decision = match times {
        _ if times >= block => Decision::Block,
        _ if times >= warn => Decision::Warn,
        _ => return,
    };
    found.add(limits, RuleId::OutputRepeat, || {
        let seen = format!("The same words {times} times in a row, and no call in between");
        let message = match decision {
            Decision::Block => format!("{seen}. Stop here: no further calls are let through. Say what is missing, and end your turn."),
            _ => format!("{seen} ({times}/{block} before block). Do something else, or say what is missing and end your turn."),
        };
        Finding::new(RuleId::OutputRepeat, decision, message)
            .why(seen)
            .with("times", times)
            .with("warn", warn)
            .with("block", block)
            .hint_if(raise_hint("output.repeat.block", block, times.saturating_add(1), MAX_LIMIT))
    });
}

fn judge_chant(copies: u16, chants: u16, limits: &Limits, found: &mut Findings) {
    let decision = match chants >= LAST_CHANT {
        true => Decision::Block,
        false => Decision::Warn,
    };
    found.add(limits, RuleId::OutputChant, || {
        let how = match copies {
            1 => "said hardly a new line".to_owned(),
            copies => format!("said the same {copies} times over"),
        };
        let seen = format!("An answer repeated itself: it {how}");
        let message = match decision {
            Decision::Block => format!("{seen}. It is the {chants}. of this session: no further calls are let through. Say what is missing, and end your turn."),
            _ => format!("{seen} ({chants}/{LAST_CHANT} before block). Stop that text, and go on with the task or say what is missing."),
        };
        Finding::new(RuleId::OutputChant, decision, message)
            .why(seen)
            .with("copies", copies)
            .with("chants", chants)
            .with("block", LAST_CHANT)
            .hint("sprag explain output.chant")
    });
}
