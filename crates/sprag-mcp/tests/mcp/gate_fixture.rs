//! A gate with a guard of its own, and short words to send through it.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use sprag::{Decision, Event, FailMode, Guard, Id, NoVerdict, Policy, Sender, TestClock, Verdict};
use sprag_mcp::{
    ClientAction, Gate, GateOptions, OnKill, RequestScope, ServerAction, VerdictSource,
};

/// A gate, the guard behind it, and what it told people.
pub(crate) struct GateFixture {
    pub(crate) gate: Gate,
    pub(crate) scope: RequestScope,
    pub(crate) guard: Guard,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

pub(crate) fn options() -> GateOptions {
    GateOptions {
        session: Id::new("s1").unwrap(),
        shared: false,
        agent: None,
        server: None,
        unnamed: Id::new("unnamed").unwrap(),
        mark: "m".to_owned(),
        fail: FailMode::Open,
        on_kill: OnKill::Refuse,
    }
}

impl GateFixture {
    pub(crate) fn new() -> Self {
        Self::with(options(), "")
    }

    pub(crate) fn with(options: GateOptions, policy: &str) -> Self {
        let policy = Policy::from_toml(policy).unwrap();
        let guard = Guard::builder().policy(policy).build().unwrap();
        Self::over(options, guard.clone(), Box::new(guard))
    }

    /// A gate whose guard has a clock that the test moves.
    pub(crate) fn with_clock(clock: Arc<TestClock>) -> Self {
        Self::over_guard(Guard::builder().clock(clock).build().unwrap())
    }

    /// Another gate of the same guard.
    pub(crate) fn over_guard(guard: Guard) -> Self {
        Self::over(options(), guard.clone(), Box::new(guard))
    }

    /// A gate whose guard never answers.
    pub(crate) fn without_guard(options: GateOptions, is_stopped: bool) -> Self {
        Self::over(
            options,
            Guard::in_memory().unwrap(),
            Box::new(UnreachableGuard(is_stopped)),
        )
    }

    fn over(options: GateOptions, guard: Guard, source: Box<dyn VerdictSource>) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let log = move |what: std::fmt::Arguments<'_>| heard.lock().unwrap().push(what.to_string());
        let gate = Gate::new(options, source, Box::new(log));
        Self {
            scope: gate.scope(),
            gate,
            guard,
            told,
        }
    }

    /// Sends a message up; it must go on as it is.
    pub(crate) fn up(&self, message: &str) {
        assert_eq!(
            self.gate.from_client(&self.scope, message.as_bytes()),
            ClientAction::Pass,
            "{message}"
        );
    }

    /// Sends a message up that must not go on whole: what goes on, and what its sender is told.
    pub(crate) fn stopped(&self, message: &str) -> (Option<String>, Option<String>) {
        match self.gate.from_client(&self.scope, message.as_bytes()) {
            ClientAction::Pass => panic!("it passed: {message}"),
            ClientAction::Stop { onward, answer } => {
                let text =
                    |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
                (text(onward), text(answer))
            }
        }
    }

    /// Sends a call that must be refused, and what the agent reads.
    pub(crate) fn refused(&self, message: &str) -> String {
        let (onward, answer) = self.stopped(message);
        assert_eq!(onward, None);
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Sends a message down; it must go on as it is.
    pub(crate) fn down(&self, message: &str) {
        assert_eq!(
            self.gate.from_server(&self.scope, message.as_bytes()),
            ServerAction::Pass,
            "{message}"
        );
    }

    /// Sends a message down that must get a word: what comes of it.
    pub(crate) fn worded(&self, message: &str) -> String {
        match self.gate.from_server(&self.scope, message.as_bytes()) {
            ServerAction::Pass => panic!("no word: {message}"),
            ServerAction::Replace(bytes) => String::from_utf8(bytes).unwrap(),
        }
    }

    /// The calls that the guard judged, by session, and how many of them.
    pub(crate) fn records(&self) -> Vec<Value> {
        let page = self.guard.records(&sprag::LogQuery::default()).unwrap();
        let records = page.items.iter().map(sprag::record_json);
        records
            .filter(|record| !record["event"].is_null())
            .collect()
    }
}

pub(crate) fn call(id: u32, tool: &str, args: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
    )
}

pub(crate) fn text_result(id: u32, text: &str) -> String {
    format!(
        r#"{{"result":{{"content":[{{"type":"text","text":"{text}"}}]}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

struct UnreachableGuard(bool);

impl VerdictSource for UnreachableGuard {
    fn check(&self, _: Option<&Sender>, _: Event) -> Result<Verdict, NoVerdict> {
        let stopped = Verdict::new(Decision::Kill);
        Err(NoVerdict::Unreachable {
            why: "nobody listens".to_owned(),
            stopped: self.0.then(|| Box::new(stopped)),
        })
    }
}
