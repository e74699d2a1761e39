//! The numbers that a message names are those of a model that keeps the whole history and counts.
//!
//! Random sessions of a few tools and answers are played to the guard. Each message is read as a person
//! would read it, and what it claims is counted again from the events alone.

use std::collections::HashMap;

use serde_json::{Value, json};
use sprag::{Decision, Event, Judge, Policy, Timestamp, Verdict};

use crate::session::Numbers;

/// One call that was let through, with its result.
#[derive(Clone, PartialEq)]
struct Done {
    at: u64,
    tool: &'static str,
    arg: u64,
    result: String,
    failed: bool,
}

/// A session and everything that happened in it.
struct Session {
    judge: Judge,
    at: u64,
    calls: u64,
    /// Calls that were let through, and when.
    made: Vec<(u64, &'static str, u64)>,
    done: Vec<Done>,
    /// Calls and steps since the user spoke.
    actions: u64,
    /// How many steps there were when the user last spoke.
    spoken: usize,
    /// How many calls had been let through then.
    made_before: usize,
    checked: usize,
}

const READ: &str = "Read";
const RUN: &str = "runner";
const EDIT: &str = "edit_file";
const DELETE: &str = "delete_asset";

impl Session {
    fn new(policy: &Value) -> Self {
        Self {
            judge: Judge::new(Policy::from_value(policy).unwrap()),
            at: 1_760_000_000_000,
            calls: 0,
            made: Vec::new(),
            done: Vec::new(),
            actions: 0,
            spoken: 0,
            made_before: 0,
            checked: 0,
        }
    }

    fn tell(&mut self, event: &Value) -> Verdict {
        let event = Event::parse(event.to_string().as_bytes()).unwrap();
        self.judge.judge(&event, Timestamp(self.at)).unwrap()
    }

    /// Makes a call with its result; false once the session is stopped.
    fn act(&mut self, tool: &'static str, arg: u64, result: String, failed: bool) -> bool {
        self.calls += 1;
        self.actions += 1;
        let id = format!("c{}", self.calls);
        let args = if tool == DELETE {
            json!({ "asset_id": format!("t{arg}") })
        } else {
            json!({ "file_path": format!("f{arg}") })
        };
        let verdict = self
            .tell(&json!({"type": "call", "session": "s", "id": id, "tool": tool, "args": args}));
        self.check(&verdict, tool, arg);
        if verdict.decision >= Decision::Block {
            return false;
        }
        if verdict.refuses() {
            return true;
        }
        self.made.push((self.at, tool, arg));
        let at = self.at;
        self.done.push(Done {
            at,
            tool,
            arg,
            result: result.clone(),
            failed,
        });
        let verdict = self.tell(&json!({"type": "step", "session": "s", "id": id, "result": result, "is_error": failed}));
        self.check(&verdict, tool, arg);
        verdict.decision < Decision::Block
    }

    fn user(&mut self) {
        self.tell(&json!({"type": "message", "to": "s", "content": "go on"}));
        self.actions = 0;
        self.spoken = self.done.len();
        self.made_before = self.made.len();
    }

    /// Counts again what the message claims.
    fn check(&mut self, verdict: &Verdict, tool: &str, arg: u64) {
        let Some(message) = verdict
            .message
            .as_deref()
            .filter(|_| verdict.decision > Decision::Allow)
        else {
            return;
        };
        self.checked += 1;
        let evidence = verdict.evidence.as_ref().unwrap();
        let proof = |key: &str| evidence.get(key).and_then(Value::as_u64);
        if let Some((count, block)) = fraction(message, " before block") {
            assert_eq!(Some(count), proof("streak"), "{message}");
            assert_eq!(Some(block), proof("block"), "{message}");
            assert!(count < block, "{message}");
        }
        if verdict
            .rule
            .is_some_and(|rule| rule.as_str().starts_with("progress."))
        {
            let blocks = proof("streak") >= proof("block");
            assert_eq!(verdict.decision == Decision::Block, blocks, "{message}");
        }
        self.check_rows(message);
        self.check_counts(message, tool, arg);
    }

    /// `gave the same answer 4 times in a row`, `in 7 steps`, `10 answers differed from known ones`.
    fn check_rows(&self, message: &str) {
        if message.contains(" times in a row and failed each time") {
            let runs = number_before(message, " times in a row and");
            let row = self.row(|done| done.failed).min(self.since_user());
            assert_eq!(row, runs, "{message}");
        } else if message.contains(" in ways that were known, however it was called") {
            let said = number_before(message, " times in ways that were known");
            let tool = self.done.last().unwrap().tool;
            let failed = |done: &&Done| done.failed && done.tool == tool;
            let since = &self.done[self.spoken..];
            assert!(
                since.iter().filter(failed).count() as u64 >= said,
                "{message}"
            );
        } else if message.contains("numbers or ids only") {
            let answers = number_before(message, " answers differed from known ones");
            let words = |done: &Done| done.result.replace(|c: char| c.is_ascii_digit(), "");
            let known = |(at, done): &(usize, &Done)| {
                let same = |other: &Done| {
                    (other.tool, other.arg) == (done.tool, done.arg) && words(other) == words(done)
                };
                self.done[..*at].iter().any(same)
            };
            let alike = self.done.iter().enumerate().filter(known).count() as u64;
            assert!(alike >= answers, "{message}");
        } else if message.contains(" times in a row") && message.contains("gave the same") {
            let said = number_before(message, " times in a row");
            let last = self.done.last().unwrap().result.clone();
            assert_eq!(self.row(|done| done.result == last), said, "{message}");
        } else if message.contains("gave the same") {
            let said = number_before(message, " times in ");
            let steps = number_before(message, " steps");
            let last = self.done.last().unwrap();
            let span = &self.done[self.done.len() - usize::try_from(steps).unwrap()..];
            let same = |done: &&Done| {
                (done.tool, done.arg, &done.result) == (last.tool, last.arg, &last.result)
            };
            assert!(
                same(&&span[0]),
                "{message}: the first of {steps} steps is another"
            );
            assert!(span.iter().filter(same).count() as u64 >= said, "{message}");
        }
    }

    /// Actions, deletes, equal calls, changes made again and attempts.
    fn check_counts(&self, message: &str, tool: &str, arg: u64) {
        if let Some(rest) =
            message.strip_suffix(" (max 30): make no further calls, summarise and ask the user.")
        {
            assert_eq!(
                number_before(rest, " actions since"),
                self.actions,
                "{message}"
            );
        }
        if message.contains(" deletes") {
            self.check_deletes(message, arg);
        }
        if message.contains("with the same arguments within") {
            let same = |(at, made, with): &&(u64, &str, u64)| {
                (*made, *with) == (tool, arg) && self.at - at < 60_000
            };
            let count = self.made.iter().filter(same).count() as u64;
            assert_eq!(
                number_before(message, " times with the same"),
                count,
                "{message}"
            );
        }
        if message.contains("a change that was already made") {
            let said = number_before(message, " times since").max(1);
            assert!(said <= self.made_again(), "{message}");
        }
        if message.contains("attempts") || message.contains("steps repeated") {
            let word = if message.contains("attempts") {
                " attempts"
            } else {
                " steps repeated"
            };
            assert!(
                number_before(message, word) <= (self.done.len() - self.spoken) as u64,
                "{message}"
            );
        }
    }

    /// `3 deletes in 12s (t1, t2, t3)`, `3 deletes on asset_id=t1 in 12s`, since the user spoke.
    fn check_deletes(&self, message: &str, arg: u64) {
        let inside: Vec<&(u64, &str, u64)> = self
            .made
            .iter()
            .skip(self.made_before)
            .filter(|(at, tool, _)| *tool == DELETE && self.at - at < 60_000)
            .collect();
        let said = number_before(message, " deletes");
        let one = message.contains(" on asset_id=");
        let counted: Vec<_> = inside
            .iter()
            .filter(|(_, _, with)| !one || *with == arg)
            .collect();
        assert_eq!(said, counted.len() as u64 + 1, "{message}");
        let since = counted.first().map_or(self.at, |(at, ..)| *at);
        assert!(
            message.contains(&format!(" in {}s", (self.at - since) / 1000)),
            "{message}"
        );
        if one {
            assert!(
                message.contains(&format!("on asset_id=t{arg} in")),
                "{message}"
            );
        } else {
            let mut names: Vec<String> = inside
                .iter()
                .map(|(_, _, with)| format!("t{with}"))
                .collect();
            names.push(format!("t{arg}"));
            assert!(
                message.contains(&format!("({})", names.join(", "))),
                "{message}"
            );
        }
    }

    /// How often changes that had been made were made again, since the last new one and the user's word.
    fn made_again(&self) -> u64 {
        let mut last: HashMap<(&str, u64), usize> = HashMap::new();
        let (mut changed, mut again) = (0, 0);
        for (at, done) in self.done.iter().enumerate() {
            if at == self.spoken {
                again = 0;
            }
            if !matches!(done.tool, EDIT | DELETE) {
                continue;
            }
            match last.insert((done.tool, done.arg), at) {
                None => (changed, again) = (at, 0),
                Some(before) if changed > before => {}
                Some(_) => again += 1,
            }
        }
        again
    }

    /// How many of the last steps are of the last approach and `fit`, since the user spoke.
    fn row(&self, fit: impl Fn(&Done) -> bool) -> u64 {
        let last = self.done.last().unwrap();
        let row = self
            .done
            .iter()
            .rev()
            .take_while(|done| (done.tool, done.arg) == (last.tool, last.arg) && fit(done));
        // The first repeat after a user's word counts from that word on.
        (row.count() as u64).min(self.since_user() + 1)
    }

    /// How many steps there were since the user spoke.
    fn since_user(&self) -> u64 {
        (self.done.len() - self.spoken) as u64
    }
}

/// The number that stands right before `words`.
fn number_before(message: &str, words: &str) -> u64 {
    let before = message.split(words).next().unwrap_or_default();
    let digits = before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// `(3/5 before block)`.
fn fraction(message: &str, words: &str) -> Option<(u64, u64)> {
    let (before, _) = message.split_once(words)?;
    let (left, right) = before.rsplit_once('(')?.1.split_once('/')?;
    Some((left.parse().ok()?, right.parse().ok()?))
}

fn play(seed: u64) -> usize {
    let mut numbers = Numbers::new(seed);
    let policy = json!({
        "destructive": {"max_calls": 2 + numbers.below(4), "max_same_target": 1 + numbers.below(4)},
        "call": {"max_identical": 6 + numbers.below(9)},
        "budget": {"actions": 30, "strict": true},
    });
    let mut session = Session::new(&policy);
    // How restless the session is: how many tools, arguments and answers it mixes.
    let (tools, args, answers) = (
        1 + numbers.below(4),
        1 + numbers.below(3),
        1 + numbers.below(3),
    );
    let counts = numbers.below(3) == 0;
    for _ in 0..60 {
        session.at += 200 + numbers.below(if counts { 14_000 } else { 4_000 });
        let tool = [READ, RUN, EDIT, DELETE][usize::try_from(numbers.below(tools)).unwrap()];
        let arg = numbers.below(args);
        let failed = tool == RUN && numbers.below(2) == 0;
        let words = ["the moss is green", "the lake is calm", "rain is near"];
        let result = if failed {
            "out of paper"
        } else {
            words[usize::try_from(numbers.below(answers)).unwrap()]
        };
        let result = match counts && !failed && numbers.below(9) > 0 {
            true => format!("{result} {}", 10 + numbers.below(90)),
            false => result.to_owned(),
        };
        if !session.act(tool, arg, result, failed) {
            break;
        }
        if numbers.below(25) == 0 {
            session.user();
        }
    }
    session.checked
}

#[test]
fn messages_name_the_numbers_of_a_model_that_counts() {
    let checked: usize = (1..=1_500).map(play).sum();
    assert!(checked > 1_000, "only {checked} messages were read");
}
