//! Tokens that come with the start of a server: from a file that a container's platform mounts, or a variable.
//!
//! Replicas that share a store have no folder in common, so a token that all of them accept must be given to each.
//! It has the form of a token that Sprag makes: the edge knows it by that form and never passes it on to a server
//! behind this one.

use sprag::Role;

use super::error::TokenError;
use super::secret::hash;

/// The digits of 256 bits.
const DIGITS: usize = 64;

/// A token that was given at the start. Only its hash is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenToken {
    pub(super) role: Role,
    pub(super) hash: [u8; 32],
}

impl GivenToken {
    /// The token in `text`, for a holder with this role; `source` is where the text comes from.
    ///
    /// # Errors
    /// Returns an error if the text does not have the form of a token of this role.
    pub fn new(role: Role, text: &str, source: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let digits = text.strip_prefix(&format!("sprag_{role}_"));
        let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !digits.is_some_and(|digits| digits.len() == DIGITS && is_hex(digits)) {
            return Err(TokenError::Form {
                source_name: source.to_owned(),
                role,
            });
        }
        Ok(Self {
            role,
            hash: hash(text),
        })
    }

    /// Whether it lets agents in.
    pub(crate) fn is_for_agents(&self) -> bool {
        self.role == Role::Agent
    }

    /// The name of its holder: the same on every replica.
    pub(super) const fn name(&self) -> &'static str {
        self.role.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_token_of_its_role_that_nobody_can_guess_is_taken() {
        let digits = "0123456789abcdef".repeat(4);
        let given = |text: &str| GivenToken::new(Role::Agent, text, "$SPRAG_AGENT_TOKEN");
        assert!(given(&format!("sprag_agent_{digits}\n")).is_ok());
        for wrong in [
            String::new(),
            "secret".to_owned(),
            digits.clone(),
            format!("sprag_operator_{digits}"),
            format!("sprag_agent_{digits}0"),
            format!("sprag_agent_{}g", &"0".repeat(63)),
        ] {
            let refused = given(&wrong).unwrap_err().to_string();
            assert_eq!(
                refused,
                "$SPRAG_AGENT_TOKEN holds no token: it must be sprag_agent_ and 64 hexadecimal digits; \
                 make one: echo \"sprag_agent_$(openssl rand -hex 32)\"",
                "{wrong}"
            );
        }
    }
}
