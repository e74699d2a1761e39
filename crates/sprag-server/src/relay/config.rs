//! What a relay is told before it starts: where messages go, how they look, and whom to believe.

use reqwest::Url;
use sprag_core::words;

words! {
    "trust",
    /// Whether someone without a token may speak for the user.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum RelayTrust {
        /// No: a message without a sender needs a token of a relay, a hook or an operator.
        #[default]
        Token = "token",
        /// From this machine, yes: it belongs to whoever started the server. An agent that runs commands on the same
        /// machine can then play the user.
        Loopback = "loopback",
    }
}

/// What a relay is told before it starts.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The agent server behind; without one there is no relay.
    pub upstream: Option<Url>,
    /// Where sessions are, on both sides: `/api/sessions`.
    pub path: String,
    /// Who may speak for the user.
    pub trust: RelayTrust,
    /// What the fields of a message's body are called.
    pub fields: FieldNames,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            upstream: None,
            path: "/api/sessions".to_owned(),
            trust: RelayTrust::default(),
            fields: FieldNames::default(),
        }
    }
}

/// What the fields of a message's body are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldNames {
    /// What is said; the first that is there.
    pub content: Vec<String>,
    /// The flow's correlation id.
    pub correlation: String,
    /// The sending session.
    pub from: String,
    /// Who is behind a message that no agent sent.
    pub source: String,
    /// The receiver's kind of agent.
    pub agent: String,
    /// The sender's kind of agent.
    pub from_agent: String,
    /// The conversation.
    pub conversation: String,
    /// The id of a session that is to be made.
    pub session: String,
    /// The sender's generation.
    pub generation: String,
}

impl Default for FieldNames {
    fn default() -> Self {
        Self {
            content: vec!["prompt".to_owned(), "message".to_owned()],
            correlation: "correlationId".to_owned(),
            from: "fromSession".to_owned(),
            source: "source".to_owned(),
            agent: "agent".to_owned(),
            from_agent: "fromAgent".to_owned(),
            conversation: "conversationId".to_owned(),
            session: "sessionId".to_owned(),
            generation: "generation".to_owned(),
        }
    }
}

/// Why a field can't be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// Not `WHAT=NAME`.
    #[error("a field is written WHAT=NAME, as in from=sender")]
    Shape,
    /// No such field.
    #[error("the relay reads no {0:?}; it reads {KNOWN}")]
    Unknown(String),
}

const KNOWN: &str =
    "content, correlation, from, source, agent, from_agent, conversation, session, generation";

impl FieldNames {
    /// What all fields are called.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        let Self {
            content,
            correlation,
            from,
            source,
            agent,
            from_agent,
            conversation,
            session,
            generation,
        } = self;
        let others = [
            correlation,
            from,
            source,
            agent,
            from_agent,
            conversation,
            session,
            generation,
        ];
        content.iter().chain(others)
    }

    /// Calls a field by another name: `from=sender`, or `content=text,prompt` for the first that is there.
    ///
    /// # Errors
    /// Returns an error if there is no such field, or nothing that it could be called.
    pub fn rename(&mut self, pair: &str) -> Result<(), FieldError> {
        let (what, name) = pair.split_once('=').ok_or(FieldError::Shape)?;
        let (what, name) = (what.trim(), name.trim());
        let names = name.split(',').map(str::trim);
        if names.clone().any(str::is_empty) {
            return Err(FieldError::Shape);
        }
        let slot = match what {
            "content" => {
                self.content = names.map(str::to_owned).collect();
                return Ok(());
            }
            "correlation" => &mut self.correlation,
            "from" => &mut self.from,
            "source" => &mut self.source,
            "agent" => &mut self.agent,
            "from_agent" => &mut self.from_agent,
            "conversation" => &mut self.conversation,
            "session" => &mut self.session,
            "generation" => &mut self.generation,
            other => return Err(FieldError::Unknown(other.to_owned())),
        };
        *slot = name.to_owned();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_renamed_by_what_they_are_for() {
        let mut fields = FieldNames::default();
        fields.rename("from=sender").unwrap();
        fields.rename("content = text, prompt").unwrap();
        assert_eq!(fields.from, "sender");
        assert_eq!(fields.content, ["text", "prompt"]);
        assert_eq!(fields.correlation, "correlationId");
    }

    #[test]
    fn what_is_no_field_is_told() {
        let told = |pair| FieldNames::default().rename(pair).unwrap_err().to_string();
        insta::assert_snapshot!(told("from"), @"a field is written WHAT=NAME, as in from=sender");
        insta::assert_snapshot!(told("from="), @"a field is written WHAT=NAME, as in from=sender");
        insta::assert_snapshot!(told("form=x"), @r#"the relay reads no "form"; it reads content, correlation, from, source, agent, from_agent, conversation, session, generation"#);
    }
}
