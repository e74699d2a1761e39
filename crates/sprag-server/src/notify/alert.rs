//! One stop, question or notice, as people are told of it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::Value;
use sprag::cloud_event;
use sprag_core::{Decision, Id, Identity, Millis, Observed, RuleId, Timestamp, effects_in_words};
use sprag_store::Record;

use super::Channel;
use crate::approval_link::LinkSigner;
use crate::log_lines::safe;

/// A stop, a question or a notice that is worth telling.
#[derive(Debug, Clone)]
pub(crate) struct Alert {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) session: String,
    pub(crate) agent: Option<String>,
    pub(crate) generation: u32,
    /// Kill, block or ask; of a notice, allow.
    pub(crate) verdict: Decision,
    /// The code of the question.
    pub(crate) approval: Option<Id>,
    /// Until when the question can be answered.
    pub(crate) until: Timestamp,
    /// Where a person answers the question.
    pub(crate) link: Option<String>,
    /// On how many ways it failed; all of them count together.
    pub(crate) failures: Arc<AtomicUsize>,
    pub(crate) rule: Option<RuleId>,
    /// The operator, of a kill by hand.
    pub(crate) by: Option<String>,
    pub(crate) why: String,
    /// What the call destroys, if its reason does not say so.
    pub(crate) destroys: String,
    /// One sentence.
    pub(crate) text: String,
    /// The id of the CloudEvent.
    pub(crate) id: String,
    /// What is delivered.
    pub(crate) body: String,
}

impl Alert {
    /// The alert of a record; none if it is neither a new stop nor a question nor a notice.
    pub(crate) fn of(record: &Record, operator_kills: bool) -> Option<Self> {
        let what = &record.observation()?.what;
        let verdict = &record.verdict;
        let (decision, by, why) = match what {
            Observed::Kill(order) if operator_kills => {
                let by = order.by.as_deref().unwrap_or("an operator").to_owned();
                let why = order.why.as_deref().unwrap_or_default().to_owned();
                (Decision::Kill, Some(by), why)
            }
            Observed::Kill(_)
            | Observed::Reset(_)
            | Observed::Approve(_)
            | Observed::Decline(_) => return None,
            what if is_new_stop(verdict.decision, verdict.rule) && is_exact(what) => {
                let why = verdict.message.clone().unwrap_or_default();
                (verdict.decision, None, why)
            }
            Observed::Call(_) if verdict.decision == Decision::Ask => {
                let evidence = verdict.evidence.as_ref();
                let words = |key: &str| evidence.and_then(|all| all.get(key)?.as_str());
                let call = words("call").unwrap_or_default();
                let why = words("why").unwrap_or_default();
                (Decision::Ask, None, format!("{call}: {why}"))
            }
            _ => (Decision::Allow, None, verdict.notice.clone()?),
        };
        let destroys = match what {
            Observed::Call(call) => effects_in_words(&call.effects)
                .into_iter()
                .filter(|words| !why.contains(words.as_str()))
                .collect::<Vec<_>>()
                .join(", "),
            _ => String::new(),
        };
        Some(Self {
            destroys,
            seq: record.seq,
            at: record.at,
            session: what.session().to_string(),
            agent: what.agent().map(ToString::to_string),
            generation: verdict.generation,
            verdict: decision,
            approval: verdict.approval.clone(),
            until: record
                .at
                .plus(Millis(verdict.expires_ms.unwrap_or_default())),
            link: None,
            failures: Arc::default(),
            rule: verdict.rule,
            by,
            why,
            text: String::new(),
            id: String::new(),
            body: String::new(),
        })
    }

    /// Writes the sentence and the body, once it is known that somebody will be told.
    pub(crate) fn finish(&mut self, record: &Record, source: &str, folded: u64) {
        self.text = self.sentence(folded);
        let mut event = cloud_event(record, source);
        if let Some(fields) = event.as_object_mut() {
            fields.insert("text".to_owned(), self.text.as_str().into());
            if folded > 0 {
                fields.insert("folded".to_owned(), folded.into());
            }
            // What was captured may be private: whoever may read it looks into the log.
            if let Some(Value::Object(data)) = fields.get_mut("data") {
                data.remove("captured");
            }
            if let Some(Value::String(id)) = fields.get("id") {
                self.id.clone_from(id);
            }
        }
        self.body = event.to_string();
    }

    /// The alert as one channel tells it: a question has a link that is good for this channel.
    pub(crate) fn on(&self, channel: Channel, links: Option<&LinkSigner>) -> Self {
        let mut alert = self.clone();
        let asked = self
            .approval
            .as_ref()
            .filter(|_| self.verdict == Decision::Ask);
        let (Some(links), Some(code)) = (links, asked) else {
            return alert;
        };
        let link = links.link(code, channel, self.until);
        alert.text = format!("{}, or open {link}", alert.text);
        if let Ok(Value::Object(mut event)) = serde_json::from_str(&self.body) {
            event.insert("text".to_owned(), alert.text.as_str().into());
            event.insert("link".to_owned(), link.as_str().into());
            alert.body = Value::Object(event).to_string();
        }
        alert.link = Some(link);
        alert
    }

    fn sentence(&self, folded: u64) -> String {
        if let (Decision::Ask, Some(code)) = (self.verdict, &self.approval) {
            return self.question(code, folded);
        }
        let did = match self.verdict {
            Decision::Allow => return self.notice(),
            Decision::Kill => "killed",
            _ => "blocked",
        };
        let who = self.by.as_deref().map_or_else(|| "Sprag".to_owned(), safe);
        let session = safe(&self.session);
        let agent = self
            .agent
            .as_deref()
            .map_or_else(String::new, |agent| format!(" (agent {})", safe(agent)));
        let why = self.why.strip_prefix("session_killed: loop_detected, ");
        let why = why.unwrap_or(&self.why);
        let first = why.split_once(". ").map_or(why, |(first, _)| first);
        let why = crate::log_lines::safe_sentence(first.trim_end_matches('.'));
        let why = if why.is_empty() {
            why
        } else {
            format!(": {why}")
        };
        let destroys = self.loss();
        let folded = match folded {
            0 => String::new(),
            1 => " (and once more before)".to_owned(),
            more => format!(" (and {more} times more before)"),
        };
        format!("{who} {did} session {session}{agent}{why}{destroys}{folded}")
    }
}

impl Alert {
    /// ` (removes …)`.
    fn loss(&self) -> String {
        if self.destroys.is_empty() {
            return String::new();
        }
        format!(" ({})", crate::log_lines::safe_sentence(&self.destroys))
    }

    fn notice(&self) -> String {
        let session = safe(&self.session);
        let agent = self.agent.as_deref().map(safe);
        let agent = agent.map_or_else(String::new, |agent| format!(" (agent {agent})"));
        let notice = crate::log_lines::safe_sentence(&self.why);
        format!("Session {session}{agent}: {notice}")
    }

    fn question(&self, code: &Id, folded: u64) -> String {
        let session = safe(&self.session);
        let agent = self.agent.as_deref().map(safe);
        let agent = agent.map_or_else(String::new, |agent| format!(" (agent {agent})"));
        let why = crate::log_lines::safe_sentence(self.why.trim_end_matches('.'));
        let more = match folded {
            0 => String::new(),
            more => format!(" (and {more} questions more before)"),
        };
        let destroys = self.loss();
        format!(
            "Sprag asks about a call of session {session}{agent}: {why}{destroys}. `sprag approve {code}` or `sprag decline {code}`{more}"
        )
    }
}

/// The gates tell of stops that happened before.
fn is_new_stop(decision: Decision, rule: Option<RuleId>) -> bool {
    decision >= Decision::Block && rule != Some(RuleId::SessionKilled)
}

/// Where many stand behind one id nothing is marked, and nothing is told.
fn is_exact(what: &Observed) -> bool {
    let identity = match what {
        Observed::Message(message) => message.identity,
        Observed::Call(call) => call.identity,
        Observed::Step(step) => step.identity,
        Observed::Usage(usage) => usage.identity,
        Observed::Output(output) => output.identity,
        _ => return true,
    };
    identity == Identity::Exact
}
