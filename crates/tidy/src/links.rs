//! Relative links in Markdown lead somewhere: to a file of the tree, and to a heading in it.

use std::collections::BTreeMap;

use crate::tree::{Tree, Violation, extension};

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts_in(&["md"])
        .flat_map(|(path, text)| {
            prose(text).flat_map(move |(number, line)| {
                targets(&without_code(line))
                    .into_iter()
                    .filter_map(|target| dead(tree, path, &target))
                    .map(|advice| Violation::new(path, number, advice))
                    .collect::<Vec<_>>()
            })
        })
        .collect()
}

/// The lines outside of fenced code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, None) => true,
            (None, Some(_)) => {
                fence = mark;
                false
            }
            (Some(_), _) => {
                if fence == mark {
                    fence = None;
                }
                false
            }
        }
    })
}

/// A line without its `code`; a backtick without a partner is text.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
    parts
        .iter()
        .enumerate()
        .filter(|(place, _)| place.is_multiple_of(2) || *place >= closed)
        .map(|(_, part)| *part)
        .collect()
}

/// Where the links of a line lead: `[a](target)`, `[a]: target`, `href="target"`, `src="target"`.
fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [("](", ')'), ("href=\"", '"'), ("src=\"", '"')] {
        found.extend(
            line.split(open)
                .skip(1)
                .filter_map(|after| after.split(close).next()),
        );
    }
    if let Some((_, target)) = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
    {
        found.push(target);
    }
    found
        .into_iter()
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).replace("%20", " "))
        .collect()
}

/// What is wrong with a link from `path` to `target`.
fn dead(tree: &Tree, path: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(file) = resolve(path, file) else {
        return Some(format!(
            "the link `{target}` leaves the repository; name a file in it"
        ));
    };
    if !tree.has(&file) {
        return Some(format!(
            "the link `{target}` leads nowhere; there is no `{file}`"
        ));
    }
    let is_dead = !heading.is_empty()
        && extension(&file) == "md"
        && !anchors(tree.text(&file)?)
            .iter()
            .any(|anchor| anchor == heading);
    is_dead.then(|| format!("the link `{target}` leads nowhere; `{file}` has no such heading"))
}

/// The path from the root; none where it would leave the tree.
fn resolve(from: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = match link.starts_with('/') {
        true => Vec::new(),
        false => from
            .rsplit_once('/')
            .map_or(Vec::new(), |(folder, _)| folder.split('/').collect()),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of a page, as code hosts make them from headings.
fn anchors(text: &str) -> Vec<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let mut found = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            let slug = slug(title.trim());
            let count = seen.entry(slug.clone()).or_default();
            found.push(match *count {
                0 => slug,
                again => format!("{slug}-{again}"),
            });
            *count += 1;
        }
        for named in ["id=\"", "name=\""] {
            let ids = line.split(named).skip(1);
            found.extend(
                ids.filter_map(|after| after.split('"').next())
                    .map(ToOwned::to_owned),
            );
        }
    }
    found
}

fn slug(title: &str) -> String {
    title
        .split("](")
        .zip(std::iter::once(false).chain(std::iter::repeat(true)))
        .map(|(part, is_after_link)| match is_after_link {
            true => part.split_once(')').map_or(part, |(_, rest)| rest),
            false => part,
        })
        .flat_map(str::chars)
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => character.is_alphanumeric().then_some(character),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::told;

    fn found(page: &str) -> Vec<String> {
        let tree: Tree = [
            ("docs/page.md", page),
            (
                "README.md",
                "# Sprag\n\n## The rules, all\n## Again\n## Again\n<a id=\"here\"></a>\n",
            ),
            ("src/a.rs", ""),
        ]
        .into_iter()
        .collect();
        told(&check(&tree))
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        let page = "# Own `title` & [more](../README.md)\n\
            [a](../README.md) ![b](../src/a.rs \"title\") [c](#own-title--more) [d](../src)\n\
            [e](../README.md#the-rules-all) [f](../README.md#again-1) [g](../README.md#here)\n\
            [h](https://example.org/x) [i](mailto:a@example.org) [j](/README.md) <img src=\"../src/a.rs\">\n\
            [k]: ../README.md#sprag\n";
        assert_eq!(found(page), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_no_file_is_found_in_each_way_to_write_it() {
        for link in [
            "[a](gone.md)",
            "![a](gone.md \"t\")",
            "[a]: gone.md",
            "<a href=\"gone.md\">",
            "[a](<gone.md>)",
        ] {
            assert_eq!(
                found(&format!("ok\n{link}\n")),
                ["docs/page.md:2: the link `gone.md` leads nowhere; there is no `docs/gone.md`"]
            );
        }
    }

    #[test]
    fn a_link_to_no_heading_is_found() {
        assert_eq!(
            found("[a](../README.md#gone) [b](#gone)"),
            [
                "docs/page.md:1: the link `../README.md#gone` leads nowhere; `README.md` has no such heading",
                "docs/page.md:1: the link `#gone` leads nowhere; `docs/page.md` has no such heading",
            ]
        );
        assert_eq!(found("[a](../README.md#again-2)").len(), 1);
    }

    #[test]
    fn a_link_out_of_the_repository_is_found() {
        assert_eq!(
            found("[a](../../other/a.md)"),
            [
                "docs/page.md:1: the link `../../other/a.md` leaves the repository; name a file in it"
            ]
        );
    }

    #[test]
    fn code_holds_no_links() {
        assert!(
            found("```\n[a](gone.md)\n```\n~~~\n```\n[a](gone.md)\n~~~\nsee `[a](gone.md)`\n")
                .is_empty()
        );
        assert_eq!(found("a ` b [a](gone.md)\n").len(), 1);
        assert_eq!(found("```\n```\n[a](gone.md)\n").len(), 1);
    }
}
