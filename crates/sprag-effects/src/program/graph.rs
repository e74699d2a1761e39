//! Graph databases: Cypher, read as far as it deletes.

use sprag_core::{Reach, Verb};

use super::{add, add_replaceable, is_test_environment};
use crate::args::Args;
use crate::scratch::is_test_name;
use crate::script::without_strings;
use crate::walk::Walker;

/// `cypher-shell 'MATCH (n) DETACH DELETE n'`.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    const VALUED: [&str; 11] = [
        "-a",
        "--address",
        "-u",
        "--username",
        "-p",
        "--password",
        "-d",
        "--database",
        "-P",
        "--param",
        "--format",
    ];
    let name = args.value(&["-d", "--database"]).map(|field| field.shown());
    let test = name.is_some_and(|name| is_test_name(&name)) || is_test_environment(walker);
    let text = args.operands(&VALUED).first().copied().cloned();
    let Some(text) = text.or_else(|| walker.input.take()) else {
        return;
    };
    if !walker.spend(text.raw().len()) {
        return;
    }
    // A string is a value, never a clause.
    let code = without_strings(text.raw());
    for statement in code.split(';') {
        one(walker, statement, test);
    }
}

fn one(walker: &mut Walker<'_>, statement: &str, test: bool) {
    let words: Vec<String> = statement
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .collect();
    let has = |word: &str| words.iter().any(|known| known == word);
    let reach = |reach| if test { Reach::Scratch } else { reach };
    match words.first().map(String::as_str) {
        Some("DROP") if words.get(1).is_some_and(|word| word == "DATABASE") => {
            let name = statement.split_whitespace().nth(2).unwrap_or_default();
            let target = format!("database {name}");
            add(
                walker,
                Verb::Drop,
                reach(Reach::Sweeping),
                "cypher-shell",
                target.trim_end(),
            );
        }
        Some("EXPLAIN") | None => {}
        Some(_) if !has("DELETE") => {}
        Some(_) if has("WHERE") || has("LIMIT") || statement.contains('{') => {
            add_replaceable(
                walker,
                Verb::Delete,
                reach(Reach::Shared),
                "cypher-shell",
                "nodes",
            );
        }
        Some(_) => {
            let label = statement.split_once('(').and_then(|(_, rest)| {
                let inside = rest.split(')').next()?;
                inside.split_once(':').map(|(_, label)| label.trim())
            });
            let target = match label {
                Some(label) => format!("all nodes of {label}"),
                None => "all nodes".to_owned(),
            };
            add(
                walker,
                Verb::Delete,
                reach(Reach::Sweeping),
                "cypher-shell",
                &target,
            );
        }
    }
}
