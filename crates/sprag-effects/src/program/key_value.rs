//! Databases without SQL: MongoDB, Redis, Memcached and etcd.

use sprag_core::{Reach, Verb};

use super::database::database_name;
use super::{add, add_replaceable, is_test_environment};
use crate::args::Args;
use crate::scratch::is_test_name;
use crate::walk::Walker;

/// `mongosh --eval`: calls on `db` by name.
pub(super) fn mongo(walker: &mut Walker<'_>, args: &Args<'_>) {
    let mut texts = args.values(&["--eval"]);
    texts.extend(walker.input.take());
    let operands = args.operands(&[
        "--eval",
        "--host",
        "--port",
        "-u",
        "-p",
        "--username",
        "--password",
        "--authenticationDatabase",
    ]);
    let name = operands
        .first()
        .map(|field| database_name(&field.shown()))
        .unwrap_or_default();
    for text in texts {
        let used = text
            .raw()
            .lines()
            .find_map(|line| line.trim().strip_prefix("use "));
        let name = used.map_or(name.as_str(), |name| name.trim_end_matches(';').trim());
        let mut picked = String::new();
        for (call, argument) in crate::script::calls(text.raw()) {
            let last = call.rsplit('.').next().unwrap_or(&call);
            if matches!(last, "getCollection" | "collection") {
                picked = crate::script::first_string(&argument).unwrap_or_default();
                continue;
            }
            let plain = call
                .trim_end_matches(last)
                .trim_end_matches('.')
                .trim_start_matches("db.");
            let chained = call.starts_with('.');
            let collection = if chained { picked.as_str() } else { plain };
            document_call(walker, name, collection, (last, &argument));
        }
    }
}

/// One call on a collection, or on the database `name`.
fn document_call(
    walker: &mut Walker<'_>,
    name: &str,
    collection: &str,
    (call, argument): (&str, &str),
) {
    let all = argument.trim().is_empty() || argument.replace(' ', "").starts_with("{}");
    let (verb, reach, target) = match call {
        "dropDatabase" => (Verb::Drop, Reach::Sweeping, format!("database {name}")),
        "drop" => (
            Verb::Drop,
            Reach::Shared,
            format!("collection {collection}"),
        ),
        "deleteMany" | "remove" if all => {
            let target = format!("all documents of {collection}");
            (Verb::Delete, Reach::Sweeping, target)
        }
        "deleteMany" | "deleteOne" | "remove" | "findOneAndDelete" => (
            Verb::Delete,
            Reach::Shared,
            format!("documents of {collection}"),
        ),
        _ => return,
    };
    let test = is_test_name(name) || is_test_environment(walker);
    let picks = reach == Reach::Shared && verb == Verb::Delete;
    let reach = if test { Reach::Scratch } else { reach };
    if picks {
        add_replaceable(walker, verb, reach, "mongosh", target.trim());
    } else {
        add(walker, verb, reach, "mongosh", target.trim());
    }
}

pub(super) fn redis(walker: &mut Walker<'_>, args: &Args<'_>) {
    let mut words: Vec<String> = args
        .words(&[
            "-h", "-p", "-a", "-n", "-u", "-s", "--user", "--pass", "-r", "-i", "-t",
        ])
        .into_iter()
        .map(str::to_owned)
        .collect();
    if words.is_empty()
        && let Some(input) = walker.input.take()
    {
        words = input
            .raw()
            .lines()
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    }
    let Some(command) = words.first().map(|word| word.to_ascii_uppercase()) else {
        return;
    };
    match command.as_str() {
        "FLUSHALL" | "FLUSHDB" => {
            add(
                walker,
                Verb::Delete,
                Reach::Sweeping,
                &format!("{} {}", args.program, command.to_ascii_lowercase()),
                "all keys",
            );
        }
        "EVAL" => evaluated(
            walker,
            args.program,
            words.get(1).map_or("", String::as_str),
        ),
        "DEL" | "UNLINK" if words.iter().any(|word| word == "*") => {
            let by = format!("{} del", args.program);
            add(walker, Verb::Delete, Reach::Sweeping, &by, "all keys");
        }
        "DEL" | "UNLINK" => {
            let keys = words.get(1..).unwrap_or_default().join(" ");
            add_replaceable(
                walker,
                Verb::Delete,
                Reach::Shared,
                &format!("{} del", args.program),
                &crate::expand::show(&keys),
            );
        }
        _ => {}
    }
}

/// A script in Lua that flushes, or deletes every key that it lists.
fn evaluated(walker: &mut Walker<'_>, program: &str, script: &str) {
    let script = script.to_ascii_lowercase();
    let flushes = script.contains("flushall") || script.contains("flushdb");
    let lists = script.contains("'keys'") && script.contains("'*'");
    let deletes = ["'del'", "'unlink'"];
    if flushes || lists && deletes.iter().any(|word| script.contains(word)) {
        let by = format!("{program} eval");
        add(walker, Verb::Delete, Reach::Sweeping, &by, "all keys");
    }
}

/// What is sent to a port of Memcached by hand.
pub(super) fn memcached(walker: &mut Walker<'_>) {
    let Some(input) = walker.input.take() else {
        return;
    };
    let flushes = |line: &str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        word.eq_ignore_ascii_case("flush_all") || word.eq_ignore_ascii_case("flushall")
    };
    if input.raw().lines().any(flushes) {
        add(
            walker,
            Verb::Delete,
            Reach::Sweeping,
            "flush_all",
            "all keys",
        );
    }
}

/// `etcdctl del key`; with an empty prefix all keys go.
pub(super) fn etcd(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&["--endpoints", "--cacert", "--cert", "--key", "--user"]);
    let (Some(&"del"), Some(key)) = (words.first(), words.get(1)) else {
        return;
    };
    let range = args.long("--prefix") || args.long("--from-key");
    if range && key.trim_matches('/').is_empty() {
        add(
            walker,
            Verb::Delete,
            Reach::Sweeping,
            "etcdctl del",
            "all keys",
        );
    } else {
        let key = crate::expand::show(key);
        add_replaceable(walker, Verb::Delete, Reach::Shared, "etcdctl del", &key);
    }
}
