//! Which calls destroy, by the tool's name, or by its server's word if the policy trusts that.
//!
//! The digester asks to decide whether a target may be kept in clear, the rules ask to count; both must
//! get the same answer.
//!
//! A plain word such as `delete` matches a name that has it as its first, second or last word, unless
//! a word before it reads or undoes, or the word next to it makes it the name of a thing or a gesture:
//! `volumeDelete` destroys, `gmail_list_trash`, `undo_delete`, `drop_pin` and `browser_drag_and_drop` do
//! not. A glob such as `delete_*` matches the whole name in snake case.

use crate::observation::Hints;
use crate::policy::DestructiveLimits;
use crate::snake_name::{SnakeName, snake_chars};

/// A word that says that what comes after it is only read, tried or undone.
const READS: [&str; 31] = [
    "get", "list", "search", "read", "find", "restore", "undo", "is", "can", "undelete", "show",
    "view", "count", "check", "has", "was", "describe", "fetch", "preview", "simulate", "estimate",
    "inspect", "query", "cancel", "abort", "prevent", "recover", "revert", "open", "browse",
    "watch",
];

/// Words that join a read to what is destroyed after it: `find_one_and_delete`.
const JOINS: [&str; 2] = ["and", "then"];

/// What a destructive word is part of the name of, if this word comes after it.
const THINGS_AFTER: [(&str, &[&str]); 7] = [
    (
        "",
        &["status", "preview", "progress", "permission", "allowed"],
    ),
    (
        "drop",
        &[
            "down", "off", "pin", "shadow", "cap", "zone", "rate", "point", "target", "in", "shot",
        ],
    ),
    (
        "trash",
        &["can", "bin", "day", "level", "count", "size", "collection"],
    ),
    (
        "truncate",
        &["text", "string", "middle", "words", "output", "title"],
    ),
    (
        "erase",
        &["highlight", "selection", "stroke", "lines", "drawing"],
    ),
    ("wipe", &["lens", "screen", "transition"]),
    (
        "delete",
        &[
            "word",
            "char",
            "character",
            "backward",
            "forward",
            "selection",
        ],
    ),
];

/// The same for the word before it.
const DROPS: [&str; 7] = ["drag", "air", "rain", "price", "voltage", "pressure", "mic"];

/// Longer names are cut.
const NAME_BYTES: usize = 96;

/// Whether a call of `tool` is destructive under `limits`.
#[must_use]
pub fn is_destructive(tool: &str, hints: Hints, limits: &DestructiveLimits) -> bool {
    if limits.trust_hints && hints.destructive == Some(true) {
        return true;
    }
    if !may_match(tool, limits) {
        return false;
    }
    let name = SnakeName::<NAME_BYTES>::new(tool);
    let name = name.as_str();
    let first = name.chars().next().unwrap_or('_');
    has_word(name, |part| {
        let entries = &limits.tools;
        entries.iter().any(|glob| glob.as_str() == part) && is_word(part)
    }) || limits.tools.iter().any(|glob| {
        glob.may_start_with(first)
            && !is_word(glob.as_str())
            && glob.matches_chars(snake_chars(tool))
    })
}

/// Whether an entry of the policy starts like a word in the name of `tool`, or with any letter. It is asked on every
/// call, and nearly every tool has no such word.
fn may_match(tool: &str, limits: &DestructiveLimits) -> bool {
    if !tool.is_ascii() {
        return true;
    }
    let letter = |byte: u8| 1_u32 << (byte & 31);
    let (mut starts, mut is_start) = (0, true);
    for byte in tool.bytes() {
        if is_start || byte.is_ascii_uppercase() {
            starts |= letter(byte);
        }
        is_start = matches!(byte, b'_' | b'-' | b'.');
    }
    let mut entries = limits.tools.iter();
    entries.any(|glob| match glob.as_str().as_bytes().first() {
        Some(b'*' | b'?') | None => true,
        Some(first) => !first.is_ascii() || starts & letter(*first) != 0,
    })
}

/// Whether an entry of the policy is a plain word.
fn is_word(entry: &str) -> bool {
    entry.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a word that destroys stands where it makes the name one that destroys.
fn has_word(name: &str, destroys: impl Fn(&str) -> bool) -> bool {
    let words = || name.split('_').filter(|part| !part.is_empty());
    let mut rest = words().enumerate().peekable();
    while let Some((at, word)) = rest.next() {
        let may_count = at < 2 || rest.peek().is_none();
        if may_count && destroys(word) && !is_read(words().take(at)) && !is_thing(words(), at, word)
        {
            return true;
        }
    }
    false
}

/// Whether the words before a destructive one say that nothing is destroyed.
fn is_read<'n>(before: impl Iterator<Item = &'n str>) -> bool {
    let (mut reads, mut latest) = (false, "");
    for part in before {
        reads |= READS.contains(&part);
        latest = part;
    }
    reads && !JOINS.contains(&latest)
}

/// Whether the destructive word at `at` is only part of the name of a thing or a gesture.
fn is_thing<'n>(mut words: impl Iterator<Item = &'n str> + Clone, at: usize, word: &str) -> bool {
    let drops = word == "drop" && words.clone().take(at).any(|part| DROPS.contains(&part));
    let after = words.nth(at + 1).unwrap_or_default();
    let named =
        |(of, things): &(&str, &[&str])| (of.is_empty() || *of == word) && things.contains(&after);
    drops || THINGS_AFTER.iter().any(named)
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
    fn a_destructive_word_in_the_name_of_a_thing_or_a_gesture_destroys_nothing() {
        let limits = DestructiveLimits::default();
        let innocent = "browser_drag_and_drop dragAndDrop drag_and_drop_file mouse_drag_drop drag-drop \
            drop_pin drop_down_select select_drop_down dropdown airdrop air_drop map_drop_pin undelete \
            get_deleted_items gmail_list_trash drive_get_trash list_trash trash_can_level trash_day \
            erase_highlight erase_selection truncate_text truncate_string drop_shadow set_drop_shadow \
            drop_off_passenger price_drop preview_delete check_delete_status delete_status delete_preview \
            can_delete is_deleted has_trash count_trash show_trash cancel_delete undo_drop restore_trash \
            wipe_lens wipe_transition delete_word delete_backward deleteSelection search_trash \
            editor.deleteCharacter file_drop_zone simulate_purge estimate_wipe raindrop backdrop_set";
        for tool in innocent.split_whitespace() {
            let found = is_destructive(tool, Hints::default(), &limits);
            assert!(!found, "{tool}");
        }
    }

    #[test]
    fn what_is_stored_and_lost_is_known_by_its_name() {
        let limits = DestructiveLimits::default();
        let lost = "delete_email mail_trash trash_message empty_trash drop_table table_drop dropDatabase \
            drop_collection truncate_table purge_queue queue_purge wipe_device wipeDisk destroy_stack \
            stack_destroy erase_disk delete_event calendar_delete_event delete_file bucket_delete_all \
            find_one_and_delete findOneAndDelete get_and_delete search_then_purge delete_row delete_lines \
            delete_user bulk_delete force_delete s3.deleteObject repo-delete delete_branch gmail_delete \
            erase_backup dropIndex volume_destroy delete_history delete_text delete_all_events";
        for tool in lost.split_whitespace() {
            let found = is_destructive(tool, Hints::default(), &limits);
            assert!(found, "{tool}");
        }
    }

    #[test]
    fn spellings_of_remove_are_left_to_hints() {
        let limits = DestructiveLimits::default();
        for (tool, destructive) in [("remove_member", false), ("remove_all_files", false)] {
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
