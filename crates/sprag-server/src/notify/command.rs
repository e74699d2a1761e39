//! Delivery to a program on this machine.
//!
//! No shell: names come from agents. The facts are in `SPRAG_*` variables and the whole alert is JSON on
//! stdin. A run is not tried again, because a program that fails in the middle may have done half of it.

use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use sprag::SECRET_VARIABLES;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use super::alert::Alert;

/// How much of what the program complains about is kept.
const MAX_COMPLAINT: u64 = 4096;
/// How long the complaint is waited for once the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A program with its arguments.
#[derive(Debug)]
pub(super) struct NotifyCommand {
    name: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl NotifyCommand {
    /// None where `words` is empty.
    pub(super) fn new(words: Vec<String>, timeout: Duration) -> Option<Self> {
        let mut words = words.into_iter();
        Some(Self {
            name: words.next()?,
            arguments: words.collect(),
            timeout,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs it once. An error says what went wrong.
    pub(super) async fn run(&self, alert: &Alert) -> Result<(), String> {
        let mut command = Command::new(&self.name);
        for secret in SECRET_VARIABLES {
            command.env_remove(secret);
        }
        command
            .args(&self.arguments)
            .envs(facts(alert))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .map_err(|error| format!("it can't be started: {error}"))?;
        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        match timeout(self.timeout, talk(&mut child, &alert.body)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                // Its children would hold what it opened, so they go with it.
                if let Some(group) = group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait().await;
                Err(format!(
                    "it ran for longer than {} s and was stopped",
                    self.timeout.as_secs_f64()
                ))
            }
        }
    }
}

async fn talk(child: &mut Child, body: &str) -> Result<(), String> {
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let tell = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input has what it needs in its variables.
            let _ = stdin.write_all(body.as_bytes()).await;
        }
    };
    let mut complaint = Vec::new();
    let status = {
        let mut hear = pin!(hear(stderr, &mut complaint));
        let end = async { tokio::join!(tell, child.wait()).1 };
        let (status, heard) = tokio::select! {
            status = end => (status, false),
            () = &mut hear => (child.wait().await, true),
        };
        // What it started and left behind may hold its stderr for ever.
        if !heard {
            let _ = timeout(LAST_WORDS, hear).await;
        }
        status
    };
    let status = status.map_err(|error| format!("its end can't be waited for: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&complaint);
    let said = crate::log_lines::safe_sentence(complaint.trim());
    Err(if said.is_empty() {
        format!("it ended with {status}")
    } else {
        format!("it ended with {status}: {said}")
    })
}

/// Reads the start of what the program complains about, and throws the rest away.
async fn hear(stderr: Option<ChildStderr>, complaint: &mut Vec<u8>) {
    if let Some(mut stderr) = stderr {
        let _ = (&mut stderr)
            .take(MAX_COMPLAINT)
            .read_to_end(complaint)
            .await;
        let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    }
}

fn facts(alert: &Alert) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("SPRAG_VERDICT", alert.verdict.to_string()),
        ("SPRAG_SESSION", alert.session.clone()),
        ("SPRAG_GENERATION", alert.generation.to_string()),
        ("SPRAG_TEXT", alert.text.clone()),
        ("SPRAG_SEQ", alert.seq.to_string()),
        ("SPRAG_AT", sprag::rfc3339(alert.at)),
    ];
    let why = alert.why.replace('\0', "");
    facts.push(("SPRAG_WHY", why));
    let rule = alert.rule.map(|rule| rule.to_string());
    facts.extend(rule.map(|rule| ("SPRAG_RULE", rule)));
    let code = alert.approval.as_ref().map(ToString::to_string);
    facts.extend(code.map(|code| ("SPRAG_APPROVAL", code)));
    facts.extend(alert.link.clone().map(|link| ("SPRAG_LINK", link)));
    facts.extend(alert.agent.clone().map(|agent| ("SPRAG_AGENT", agent)));
    facts.extend(
        alert
            .by
            .clone()
            .map(|by| ("SPRAG_BY", by.replace('\0', ""))),
    );
    facts
}
