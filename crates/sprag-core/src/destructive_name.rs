//! Which calls destroy, by the tool's name, or by its server's word if the policy trusts that.
//!
//! The digester asks to decide whether a target may be kept in clear, the rules ask to count; both must
//! get the same answer.
//!
//! A plain word such as `delete` matches a name that has it as its first, second or last word, unless
//! the first word reads or undoes: `volumeDelete` destroys, `list_trash` and `undo_delete` do not. A
//! glob such as `delete_*` matches the whole name in snake case.

use crate::observation::Hints;
use crate::policy::DestructiveLimits;
use crate::snake_name::{SnakeName, snake_chars};

/// A first word that says that nothing is destroyed.
const HARMLESS_FIRST: [&str; 10] = [
    "get", "list", "search", "read", "find", "restore", "undo", "is", "can", "undelete",
];

/// Names that have a destructive word and destroy nothing.
const HARMLESS: [&str; 1] = ["drag_and_drop"];

/// Longer names are cut.
const NAME_BYTES: usize = 96;

/// Whether a call of `tool` is destructive under `limits`.
#[must_use]
pub fn is_destructive(tool: &str, hints: Hints, limits: &DestructiveLimits) -> bool {
    if limits.trust_hints && hints.destructive == Some(true) {
        return true;
    }
    let name = SnakeName::<NAME_BYTES>::new(tool);
    let first = name.as_str().chars().next().unwrap_or('_');
    limits.tools.iter().any(|glob| {
        if is_word(glob.as_str()) {
            has_word(name.as_str(), glob.as_str())
        } else {
            glob.may_start_with(first) && glob.matches_chars(snake_chars(tool))
        }
    })
}

/// Whether an entry of the policy is a plain word.
fn is_word(entry: &str) -> bool {
    entry.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn has_word(name: &str, word: &str) -> bool {
    let mut words = name.split('_').filter(|part| !part.is_empty());
    let (first, second) = (words.next(), words.next());
    let last = words.next_back().or(second);
    [first, second, last].contains(&Some(word))
        && !first.is_some_and(|first| HARMLESS_FIRST.contains(&first))
        && !HARMLESS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::Glob;

    #[test]
    fn a_destructive_name_is_known_in_every_spelling() {
        let limits = DestructiveLimits::default();
        for (tool, destructive) in [
            ("delete_asset", true),
            ("deleteAsset", true),
            ("DropTable", true),
            ("truncate-table", true),
            ("delete.asset", true),
            ("delete", true),
            ("trash_message", true),
            ("volumeDestroy", true),
            ("bucket_delete_all", true),
            ("s3_bucket_objects_purge", true),
            ("undelete_asset", false),
            ("get_deleted", false),
            ("list_trash", false),
            ("undo_delete", false),
            ("drag_and_drop", false),
            ("dropdown_select", false),
            ("remove_filter", false),
        ] {
            let found = is_destructive(tool, Hints::default(), &limits);
            assert_eq!(found, destructive, "{tool}");
        }
    }

    #[test]
    fn a_glob_of_the_policy_matches_the_whole_name() {
        let limits = DestructiveLimits {
            tools: ["delete_*"].map(Glob::new).into(),
            ..DestructiveLimits::default()
        };
        let destroys = |tool| is_destructive(tool, Hints::default(), &limits);
        assert!(destroys("deleteAsset") && !destroys("volume_delete") && !destroys("delete"));
    }

    #[test]
    fn a_servers_hint_counts_only_where_the_policy_trusts_it() {
        let hints = Hints {
            destructive: Some(true),
            ..Hints::default()
        };
        let mut limits = DestructiveLimits::default();
        assert!(!is_destructive("clean_up", hints, &limits));
        limits.trust_hints = true;
        assert!(is_destructive("clean_up", hints, &limits));
        assert!(!is_destructive("clean_up", Hints::default(), &limits));
    }
}
