//! What MCP clients and servers say to each other, and the settings in which clients name their servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use sprag::{Decision, Event, FailMode, Id, NoVerdict, Sender, Verdict};
use sprag_mcp::install::{self, McpClient, Wrapper};
use sprag_mcp::{ClientAction, Gate, GateOptions, OnKill, ServerAction, VerdictSource};

/// A guard that counts what it is asked and warns of everything.
struct Counting(Arc<AtomicU64>);

impl VerdictSource for Counting {
    fn check(&self, _: Option<&Sender>, _: Event) -> Result<Verdict, NoVerdict> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Verdict::new(Decision::Warn).with_message("careful"))
    }
}

/// A gate before a guard that warns of everything and counts in `asked` what it is asked.
///
/// # Panics
/// Never: a plain name is an id.
#[must_use]
pub fn counting_gate(asked: &Arc<AtomicU64>) -> Gate {
    let id = |name| Id::new(name).expect("a plain name is an id");
    let options = GateOptions {
        session: id("s1"),
        shared: false,
        agent: None,
        server: None,
        unnamed: id("unnamed"),
        mark: "m".to_owned(),
        fail: FailMode::Open,
        on_kill: OnKill::Refuse,
    };
    Gate::new(
        options,
        Box::new(Counting(Arc::clone(asked))),
        Box::new(|_| {}),
    )
}

/// Lines that begin with `<` come from the server, others from the client. No call that a reader understands passes
/// unjudged, and a message that was JSON stays JSON.
pub(crate) fn mcp_message(data: &[u8]) {
    let asked = Arc::default();
    let gate = counting_gate(&asked);
    let scope = gate.scope();
    for line in data.split(|byte| *byte == b'\n') {
        if let Some(message) = line.strip_prefix(b"<") {
            if let ServerAction::Replace(new) = gate.from_server(&scope, message) {
                assert_eq!(is_json(&new), is_json(message));
            }
            continue;
        }
        let message = line.strip_prefix(b">").unwrap_or(line);
        let before = asked.load(Ordering::Relaxed);
        match gate.from_client(&scope, message) {
            ClientAction::Pass => {
                let is_judged = asked.load(Ordering::Relaxed) > before;
                assert!(is_judged || !is_new_call(message), "unjudged");
            }
            ClientAction::Stop { onward, answer } => {
                for bytes in onward.iter().chain(&answer) {
                    assert!(is_json(bytes));
                }
            }
        }
    }
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok()
}

/// Whether a reader that takes the last of two equal keys would run a tool for it. A further round of a call that
/// was judged already is not asked about again.
fn is_new_call(message: &[u8]) -> bool {
    let Ok(read) = serde_json::from_slice::<Value>(message) else {
        return false;
    };
    let member = |value: &Value, name: &str| value.get(name).cloned().unwrap_or_default();
    let params = member(&read, "params");
    member(&read, "method") == "tools/call"
        && member(&params, "name").is_string()
        && member(&params, "inputResponses").is_null()
        && member(&params, "requestState").is_null()
}

/// The wrapper that was put before servers is found there, and taking it out gives the text back to the byte.
pub(crate) fn mcp_settings(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let client = match first {
        b'x' => McpClient::Codex,
        b'g' => McpClient::Gemini,
        b'p' => McpClient::Copilot,
        b'o' => McpClient::Opencode,
        _ => McpClient::ClaudeCode,
    };
    let wrapper = Wrapper {
        program: "/usr/bin/sprag".to_owned(),
        options: vec!["--agent".to_owned(), "a b".to_owned()],
    };
    let Ok(before) = install::entries(client, text) else {
        return;
    };
    let wrapped =
        install::install(client, text, &[], &wrapper).expect("what can be read is changed");
    let entries = install::entries(client, &wrapped).expect("what was written can be read");
    assert_eq!(entries.len(), before.len());
    let launches = |entries: &[install::ServerEntry]| -> Vec<_> {
        let launches = entries.iter().filter_map(|entry| entry.launch.as_ref());
        launches
            .map(|launch| (launch.inner().0.to_owned(), launch.inner().1.to_vec()))
            .collect()
    };
    assert_eq!(launches(&entries), launches(&before));
    assert!(
        entries
            .iter()
            .filter_map(|entry| entry.launch.as_ref())
            .all(|launch| launch.is_wrapped())
    );
    if before
        .iter()
        .filter_map(|entry| entry.launch.as_ref())
        .all(|launch| !launch.is_wrapped())
    {
        let back = install::uninstall(client, &wrapped, &[]).expect("it can be taken out");
        assert_eq!(back, text);
    }
}
