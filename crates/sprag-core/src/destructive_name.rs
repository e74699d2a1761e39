//! Which calls destroy: decided by the tool's name, or by its server's hint if the policy trusts it.
//!
//! The digester asks to decide whether a target may be kept in clear, the rules ask to count; both must
//! get the same answer.

use crate::observation::Hints;
use crate::policy::DestructiveLimits;
use crate::snake_name::snake_chars;

/// Whether a call of `tool` is destructive under `limits`.
#[must_use]
pub fn is_destructive(tool: &str, hints: Hints, limits: &DestructiveLimits) -> bool {
    if limits.trust_hints && hints.destructive == Some(true) {
        return true;
    }
    let first = tool.chars().next().map_or('_', |c| c.to_ascii_lowercase());
    limits
        .tools
        .iter()
        .filter(|glob| !first.is_ascii_alphanumeric() || glob.may_start_with(first))
        .any(|glob| glob.matches_chars(snake_chars(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destructive_name_is_known_in_every_spelling() {
        let limits = DestructiveLimits::default();
        for (tool, destructive) in [
            ("delete_asset", true),
            ("deleteAsset", true),
            ("DropTable", true),
            ("truncate-table", true),
            ("delete.asset", true),
            ("undelete_asset", false),
            ("delete", false),
            ("get_deleted", false),
        ] {
            let found = is_destructive(tool, Hints::default(), &limits);
            assert_eq!(found, destructive, "{tool}");
        }
    }

    #[test]
    fn a_servers_hint_counts_only_where_the_policy_trusts_it() {
        let hints = Hints {
            destructive: Some(true),
            ..Hints::default()
        };
        let mut limits = DestructiveLimits::default();
        assert!(!is_destructive("purge", hints, &limits));
        limits.trust_hints = true;
        assert!(is_destructive("purge", hints, &limits));
        assert!(!is_destructive("purge", Hints::default(), &limits));
    }
}
