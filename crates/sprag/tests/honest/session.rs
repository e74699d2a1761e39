//! Plays acts to a guard under the default policy, and reports what it did.

use serde_json::{Value, json};
use sprag::{Decision, Event, Judge, Policy, Timestamp, Verdict};

/// A twin must be stopped by this call.
pub(crate) const STOPPED_BY: usize = 40;

/// One call with its result.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// How long after the last result it is made.
    pub(crate) after_ms: u64,
    pub(crate) takes_ms: u64,
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) result: Value,
    pub(crate) is_error: bool,
}

impl Look {
    pub(crate) fn new(after_ms: u64, tool: &str, args: Value, result: impl Into<Value>) -> Self {
        Self {
            after_ms,
            takes_ms: 400,
            tool: tool.to_owned(),
            args,
            result: result.into(),
            is_error: false,
        }
    }

    pub(crate) fn shell(after_ms: u64, command: &str, result: impl Into<Value>) -> Self {
        Self::new(after_ms, "Bash", json!({ "command": command }), result)
    }

    pub(crate) fn takes(mut self, takes_ms: u64) -> Self {
        self.takes_ms = takes_ms;
        self
    }

    pub(crate) fn failing(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// What a session does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Call(Look),
    /// Calls made at once; the results come afterwards.
    Together(Vec<Look>),
    /// A message from outside: who sends it, and how long after the last event.
    Opens(&'static str, u64),
}

impl From<Look> for Act {
    fn from(look: Look) -> Self {
        Self::Call(look)
    }
}

/// What the guard did to a run.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) warned: Vec<(usize, String)>,
    pub(crate) stopped: Option<(usize, String)>,
}

struct Player {
    judge: Judge,
    at: u64,
    calls: usize,
    outcome: Outcome,
}

impl Player {
    fn tell(&mut self, event: &Value) -> Verdict {
        let event = Event::parse(event.to_string().as_bytes()).unwrap();
        self.judge.judge(&event, Timestamp(self.at)).unwrap()
    }

    fn note(&mut self, verdict: &Verdict) {
        let text = format!(
            "{} {}: {}",
            verdict.decision,
            verdict.rule.map_or("", |rule| rule.as_str()),
            verdict.message.as_deref().unwrap_or_default()
        );
        match verdict.decision {
            Decision::Allow => {}
            Decision::Warn => self.outcome.warned.push((self.calls, text)),
            _ => {
                let calls = self.calls;
                self.outcome.stopped.get_or_insert((calls, text));
            }
        }
    }

    fn call(&mut self, look: &Look) -> String {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let verdict = self.tell(&json!({
            "type": "call", "session": "s", "id": id, "tool": look.tool, "args": look.args,
        }));
        self.note(&verdict);
        id
    }

    fn step(&mut self, id: &str, look: &Look) {
        let verdict = self.tell(&json!({
            "type": "step", "session": "s", "id": id, "result": look.result, "is_error": look.is_error,
        }));
        self.note(&verdict);
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Call(look) => {
                self.at += look.after_ms;
                let id = self.call(look);
                self.at += look.takes_ms;
                self.step(&id, look);
            }
            Act::Together(looks) => {
                self.at += looks.first().map_or(0, |look| look.after_ms);
                let ids: Vec<String> = looks.iter().map(|look| self.call(look)).collect();
                for (id, look) in ids.iter().zip(looks) {
                    self.at += 10;
                    self.step(id, look);
                }
            }
            Act::Opens(source, after_ms) => {
                self.at += after_ms;
                self.tell(&json!({
                    "type": "message", "to": "s", "source": source, "content": "go on", "kind": "say",
                }));
            }
        }
    }
}

/// Plays `acts` until they end or the session is stopped.
pub(crate) fn play(acts: &[Act]) -> Outcome {
    let mut player = Player {
        judge: Judge::new(Policy::default()),
        at: 1_760_000_000_000,
        calls: 0,
        outcome: Outcome::default(),
    };
    for act in acts {
        player.act(act);
        if player.outcome.stopped.is_some() {
            break;
        }
    }
    player.outcome
}

/// Collects what went wrong in many cases, so that one run shows all of it.
#[derive(Default)]
pub(crate) struct Report {
    cases: usize,
    wrong: Vec<String>,
}

impl Report {
    pub(crate) fn honest(&mut self, name: &str, acts: &[Act]) {
        self.cases += 1;
        let outcome = play(acts);
        if let Some((call, text)) = outcome.stopped {
            self.wrong
                .push(format!("stopped: {name} at call {call}: {text}"));
        } else if outcome.warned.len() > 1 {
            let (call, text) = &outcome.warned[1];
            let warned = outcome.warned.len();
            self.wrong
                .push(format!("warned {warned}: {name} at call {call}: {text}"));
        }
    }

    pub(crate) fn twin(&mut self, name: &str, acts: &[Act]) {
        self.twin_after(0, name, acts);
    }

    /// Of a twin whose first `before` calls are honest.
    pub(crate) fn twin_after(&mut self, before: usize, name: &str, acts: &[Act]) {
        self.cases += 1;
        let outcome = play(acts);
        match outcome.stopped {
            Some((_, text)) if text.starts_with("block") && outcome.warned.is_empty() => {
                self.wrong.push(format!("unwarned: {name}: {text}"));
            }
            Some((call, _)) if call <= before + STOPPED_BY => {}
            Some((call, text)) => self
                .wrong
                .push(format!("late: {name} at call {call}: {text}")),
            None => self.wrong.push(format!("missed: {name}")),
        }
    }

    pub(crate) fn check(self, at_least: usize) {
        assert!(self.cases >= at_least, "only {} cases", self.cases);
        assert!(self.wrong.is_empty(), "{self}");
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wrong, cases) = (self.wrong.len(), self.cases);
        write!(f, "{wrong} of {cases} cases:\n{}", self.wrong.join("\n"))
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).unwrap()]
    }

    /// A word that no list has.
    pub(crate) fn word(&mut self) -> String {
        const ONSETS: [&str; 12] = [
            "br", "kl", "v", "zw", "qu", "tr", "m", "sn", "pl", "dr", "g", "fl",
        ];
        const ENDS: [&str; 10] = [
            "ax", "oon", "ib", "ulk", "est", "orv", "im", "ank", "oz", "elt",
        ];
        format!(
            "{}{}{}{}",
            self.pick(&ONSETS),
            self.pick(&ENDS),
            self.pick(&ONSETS),
            self.pick(&ENDS)
        )
    }
}
