//! What a rule said, in a line.

use serde_json::Value;
use sprag_core::{Decision, Evidence, Message, Observed, RuleId, Verdict};
use tracing::Level;

use super::safe::{safe, safe_sentence};

/// The finding that a line tells: what decided, or else what would have.
pub(super) struct VerdictLine<'a> {
    pub(super) rule: RuleId,
    decision: Decision,
    message: &'a str,
    evidence: Option<&'a Evidence>,
    pub(super) shadow: bool,
}

impl<'a> VerdictLine<'a> {
    pub(super) fn of(verdict: &'a Verdict) -> Option<Self> {
        if let (Some(rule), Some(message)) = (verdict.rule, &verdict.message) {
            return Some(Self {
                rule,
                decision: verdict.decision,
                message,
                evidence: verdict.evidence.as_ref(),
                shadow: false,
            });
        }
        let would = verdict.would.as_ref()?;
        Some(Self {
            rule: would.rule,
            decision: would.decision,
            message: &would.message,
            evidence: Some(&would.evidence),
            shadow: true,
        })
    }

    /// A gate tells of a stop that happened before.
    fn is_new_stop(&self) -> bool {
        self.decision >= Decision::Block && self.rule != RuleId::SessionKilled
    }

    pub(super) fn level(&self) -> Level {
        match self.decision {
            _ if self.shadow => Level::INFO,
            Decision::Block | Decision::Kill if self.is_new_stop() => Level::ERROR,
            _ => Level::WARN,
        }
    }

    pub(super) fn text(&self, what: &Observed) -> String {
        let tag = if self.rule.family() == "flow" {
            "[RECURSION]"
        } else {
            "[LoopGuard]"
        };
        let head = match (self.decision, self.shadow) {
            (Decision::Warn | Decision::Allow, false) => "Warning".to_owned(),
            (Decision::Warn | Decision::Allow, true) => "Would have warned".to_owned(),
            (_, shadow) => {
                let (did, would) = self.verbs();
                let verb = if shadow { would } else { did };
                format!("{verb} {}", self.object(what))
            }
        };
        let why = match (what, self.rule.family()) {
            (Observed::Message(message), "flow" | "inbox" | "conversation") => {
                self.why_not_said(message)
            }
            _ => None,
        };
        let why = why.unwrap_or_else(|| self.why_in_general(what));
        format!("{tag} {head}: {why}")
    }

    fn verbs(&self) -> (&'static str, &'static str) {
        match self.decision {
            Decision::Kill if self.is_new_stop() => ("Killed", "Would have killed"),
            Decision::Block => ("Blocked", "Would have blocked"),
            Decision::Ask => ("Asked about", "Would have asked about"),
            _ => ("Rejected", "Would have rejected"),
        }
    }

    /// What was refused: the call, the message, or the whole session.
    fn object(&self, what: &Observed) -> String {
        let session = safe(what.session().as_str());
        if self.is_new_stop() {
            return format!("session {session}");
        }
        match what {
            Observed::Message(message) => {
                let noun = if self.rule.family() == "flow" {
                    "call"
                } else {
                    "message"
                };
                let from = message
                    .from
                    .as_ref()
                    .map_or_else(|| "outside".to_owned(), |from| safe(from.as_str()));
                format!("{noun} {from}→{}", safe(message.to.as_str()))
            }
            Observed::Call(call) => {
                let tool = call.approach.tool.as_ref().map_or("", |tool| tool.as_str());
                match &call.approach.server {
                    Some(server) => {
                        format!(
                            "call {}/{} of session {session}",
                            safe(server.as_str()),
                            safe(tool)
                        )
                    }
                    None => format!("call {} of session {session}", safe(tool)),
                }
            }
            what => format!("{} of session {session}", what.kind()),
        }
    }

    /// The reasons for refusing a message, in the words that people know from other guards.
    fn why_not_said(&self, message: &Message) -> Option<String> {
        if self.decision < Decision::Deny {
            return None;
        }
        let max = self.number("max").unwrap_or_default();
        Some(match self.rule {
            RuleId::FlowCorrelation => "no correlation ID".to_owned(),
            RuleId::FlowSelfCall => "self-calls are not allowed".to_owned(),
            RuleId::FlowDepth => {
                format!("chain depth {} exceeds max {max}", self.number("depth")?)
            }
            RuleId::FlowSessions => {
                format!("{} sessions exceeds max {max}", self.number("sessions")?)
            }
            RuleId::FlowDuration => format!(
                "flow age {}s exceeds max {}s",
                self.number("age_ms")?.div_ceil(1000),
                self.number("max_ms")?.div_ceil(1000)
            ),
            RuleId::FlowRate => format!("call rate exceeds max {max}/minute"),
            RuleId::FlowTotal => {
                format!(
                    "{} calls exceeds max {max}",
                    self.number("count")?.saturating_add(1)
                )
            }
            RuleId::FlowRevisits => {
                format!("{} revisits exceeds max {max}", self.number("revisits")?)
            }
            RuleId::FlowSpawns => match self.number("open") {
                Some(open) => format!("{open} open sub-agents exceeds max {max}"),
                None => format!("sub-agents start more than {max} others a minute"),
            },
            RuleId::FlowEcho => format!(
                "the same message {} times and nothing new came back",
                self.number("count")?
            ),
            RuleId::FlowUnattended => format!(
                "{} messages from agents since a user last took part exceeds max {max}",
                self.number("count")?
            ),
            RuleId::InboxRate => format!(
                "{} messages within a minute in the inbox of session {}, max {max}/minute",
                self.number("count")?,
                safe(message.to.as_str())
            ),
            RuleId::ConversationLength => {
                let conversation = message.conversation.as_ref();
                let conversation = conversation.map_or_else(String::new, |id| {
                    format!(" in conversation {}", safe(id.as_str()))
                });
                format!(
                    "{} messages{conversation} exceeds max {max}",
                    self.number("count")?
                )
            }
            _ => return None,
        })
    }

    /// The rule's own words, without what it tells the agent to do.
    fn why_in_general(&self, what: &Observed) -> String {
        let said = self
            .message
            .strip_prefix("Agent call rejected: ")
            .or_else(|| self.message.strip_prefix("Message rejected: "))
            .or_else(|| self.message.strip_prefix("Call rejected: "))
            .unwrap_or(self.message);
        let first = said.split_once(". ").map_or(said, |(first, _)| first);
        let said = safe_sentence(first.trim_end_matches('.'));
        let names_session = self.decision.refuses() || self.rule.family() == "flow";
        let whose = if names_session {
            String::new()
        } else {
            format!("session {}: ", safe(what.session().as_str()))
        };
        let rule = if self.rule.family() == "flow" {
            String::new()
        } else {
            format!(" ({})", self.rule)
        };
        format!("{whose}{said}{rule}")
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.evidence?.get(key).and_then(Value::as_u64)
    }
}
