//! Code that is passed to an interpreter and works on a database: calls of object-relational mappers that take
//! all rows of a table, and SQL in strings.

use sprag_core::{Reach, Verb};

use super::database::database_name;
use super::{add, is_test_environment, names_test};
use crate::expand::Field;
use crate::script::{calls, first_string, without_strings};
use crate::sql::{self, Database, Flavour};
use crate::walk::Walker;

/// Calls that open a database, by the last part of their name.
#[rustfmt::skip]
const OPENS: [&str; 9] = [
    "connect", "create_engine", "Database", "DatabaseSync", "createConnection", "createPool", "Pool",
    "Client", "PDO",
];

/// Calls that send SQL, by the last part of their name.
#[rustfmt::skip]
const SENDS: [&str; 14] = [
    "execute", "executescript", "executemany", "query", "raw", "exec", "exec_driver_sql", "text",
    "prepare", "statement", "run", "$executeRawUnsafe", "$queryRawUnsafe", "unsafe",
];

/// What stands right after the name of a model if all of its rows go, in code without strings and blanks.
const EMPTIES: [&str; 8] = [
    ".objects.all().delete()",
    ".delete_all",
    ".destroy_all",
    ".deleteMany()",
    ".deleteMany({})",
    "::truncate()",
    ".destroy({truncate:true})",
    ".destroy({where:{}})",
];

/// Notes what the code `text` destroys in a database.
pub(super) fn run(walker: &mut Walker<'_>, by: &str, text: &str) {
    let database = opened(walker, by, text);
    let mut code = without_strings(text);
    code.retain(|character| !character.is_whitespace() || character == '\n');
    let reach = if database.scratch {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    for end in EMPTIES {
        for (at, _) in code.match_indices(end) {
            let before = code.get(..at).unwrap_or_default();
            let after = code
                .get(at + end.len()..)
                .and_then(|rest| rest.chars().next());
            let ends = after.is_none_or(|next| !is_name(next));
            // A chain picks rows (`User.where(…).delete_all`), but not before a call with a filter of its own.
            let filters = end.starts_with(".deleteMany");
            if let Some(model) = model(before, filters).filter(|_| ends) {
                add(
                    walker,
                    Verb::Delete,
                    reach,
                    by,
                    &format!("all rows of {model}"),
                );
            }
        }
    }
    if code.contains(".drop_all(") {
        add(walker, Verb::Drop, reach, by, "all tables");
    }
    let flushes = [".flushall(", ".flushdb(", ".flushAll(", ".flushDb("];
    if flushes.iter().any(|call| code.contains(call)) {
        add(walker, Verb::Delete, reach, by, "all keys");
    }
    if code.contains(".drop_database(") || code.contains(".dropDatabase(") {
        add(walker, Verb::Drop, reach, by, "a database");
    }
    picked_rows(walker, by, &code, database.scratch);
    for (call, arguments) in calls(text) {
        let last = call.rsplit(['.', ':']).next().unwrap_or(&call);
        if SENDS.contains(&last)
            && let Some(statement) = first_string(&arguments).filter(|text| is_statement(text))
        {
            sql::run(walker, &statement, &database);
        }
    }
}

/// Rows that a query of Django picks: `Order.objects.filter(…).delete()`.
fn picked_rows(walker: &mut Walker<'_>, by: &str, code: &str, scratch: bool) {
    let picks = code
        .find(".objects.filter(")
        .or_else(|| code.find(".objects.get("));
    let Some(at) = picks.filter(|at| {
        code.get(*at..)
            .is_some_and(|rest| rest.contains(").delete()"))
    }) else {
        return;
    };
    let model = model(code.get(..at).unwrap_or_default(), false).unwrap_or("a model");
    let reach = if scratch {
        Reach::Scratch
    } else {
        Reach::Shared
    };
    let target = format!("rows of {model}");
    super::add_replaceable(walker, Verb::Delete, reach, by, &target);
}

/// The name right before a call; in a chain only if `chained`.
fn model(before: &str, chained: bool) -> Option<&str> {
    let name = before
        .rsplit(|character: char| !is_name(character) && !matches!(character, '.' | ':'))
        .next()?;
    let last = name.rsplit(['.', ':']).next()?;
    let chain = name.is_empty() || name.starts_with(['.', ':']);
    match last.chars().next() {
        Some(first) if first.is_alphabetic() && (chained || !chain) => Some(last),
        None if chained => Some("a collection"),
        _ => None,
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    [
        "delete", "drop", "truncate", "update", "alter", "with", "begin",
    ]
    .iter()
    .any(|word| first.eq_ignore_ascii_case(word))
}

/// The database that the code opens, as far as it says which.
fn opened(walker: &Walker<'_>, by: &str, text: &str) -> Database {
    let named = calls(text).into_iter().find_map(|(call, arguments)| {
        let last = call.rsplit(['.', ':']).next().unwrap_or(&call);
        OPENS
            .contains(&last)
            .then(|| first_string(&arguments))
            .flatten()
    });
    let scratch = named.as_deref().is_some_and(|name| {
        let file = !name.contains("://");
        names_test(name)
            || name.contains(":memory:")
            || file && walker.judge(&Field::literal(name), false).reach == Reach::Scratch
    });
    Database {
        by: by.to_owned(),
        scratch: scratch || is_test_environment(walker),
        name: named.map(|name| database_name(&name)),
        flavour: Flavour::Any,
    }
}
