//! Tool calls: which of their arguments are commands or SQL, and which paths they aim at.

use serde_json::Value;
use sprag_core::{CallText, Effects, Reach};

use crate::expand::Field;
use crate::reach::{Places, Site};
use crate::scratch::is_test_name;
use crate::sql::{self, Database, Flavour};
use crate::walk::Walker;

/// Under which names a command stands.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "commands"];
/// Under which names the folder of a command stands.
const FOLDERS: [&str; 6] = [
    "cwd",
    "workdir",
    "working_directory",
    "workingDirectory",
    "directory",
    "dir",
];
/// Under which names SQL stands.
const SQL: [&str; 5] = ["sql", "query", "statement", "queries", "sql_query"];
/// Words of names of tools and servers that run a shell.
#[rustfmt::skip]
const SHELLS: [&str; 16] = [
    "bash", "shell", "sh", "terminal", "exec", "execute", "command", "run", "cmd", "zsh",
    "process", "powershell", "local", "unified", "container", "ssh",
];
/// Words of names of tools and servers that speak SQL.
#[rustfmt::skip]
const DATABASES: [&str; 22] = [
    "sql", "postgres", "postgresql", "pg", "mysql", "mariadb", "sqlite", "database", "db",
    "supabase", "snowflake", "bigquery", "clickhouse", "duckdb", "neon", "planetscale",
    "redshift", "mssql", "cockroach", "oracle", "warehouse", "turso",
];

pub(crate) fn effects(call: &CallText<'_>) -> Effects {
    let path = paths(call);
    let mut effects = texts(call);
    effects.path = path;
    effects.orders_guard |= is_near_guard(call.args) && writes_guard(call);
    effects
}

/// Words of which one stands in every path that is the guard's or a client's hooks: most calls name none
/// of them, and nothing is parsed for those. A file system may not tell `Settings` from `settings`.
#[rustfmt::skip]
const NEAR_GUARD: [&str; 7] = [
    "sprag", "ettings.", "hooks.json", "config.toml", "config.json", ".token", "*** Begin Patch",
];

fn is_near_guard(args: &str) -> bool {
    NEAR_GUARD.iter().any(|word| args.contains(word))
}

/// Whether a file tool writes what is the guard's, or a script does.
fn writes_guard(call: &CallText<'_>) -> bool {
    let Ok(Value::Object(args)) = serde_json::from_str::<Value>(call.args) else {
        return false;
    };
    let places = Places::new(call.cwd, call.root.or(call.cwd));
    let mut walker = Walker::new(&places);
    if let Some(code) = args.get("code").and_then(Value::as_str) {
        walker.run(&["python", "-c", code].map(Field::literal));
    }
    walker.found.orders_guard || crate::guard::writes_guard(&words(call.tool), &args, &places)
}

/// Arguments that name a path.
#[rustfmt::skip]
const PATHS: [&str; 12] = [
    "path", "file_path", "filePath", "filepath", "file", "filename", "target_file", "directory",
    "folder", "dir", "paths", "files",
];

/// How far the paths among the arguments reach; a tool's name alone is never sweeping.
fn paths(call: &CallText<'_>) -> Option<Reach> {
    call.root.or(call.cwd)?;
    if !PATHS.iter().any(|name| call.args.contains(name)) {
        return None;
    }
    let Ok(Value::Object(args)) = serde_json::from_str::<Value>(call.args) else {
        return None;
    };
    let places = Places::new(call.cwd, call.root);
    let mut texts: Vec<&str> = Vec::new();
    for name in PATHS {
        match args.get(name) {
            Some(Value::String(text)) => texts.push(text),
            Some(Value::Array(all)) => texts.extend(all.iter().filter_map(Value::as_str).take(64)),
            _ => {}
        }
    }
    let judge = |text: &&str| {
        let field = Field::literal(*text);
        places
            .judge(&field, &places.start, false, Site::Local)
            .reach
    };
    texts.iter().map(judge).max()
}

/// What the commands and the SQL among the arguments destroy.
fn texts(call: &CallText<'_>) -> Effects {
    let database = speaks_sql(call);
    let text = call.args;
    // Most calls are neither: nothing is parsed for them.
    let shell = COMMANDS.iter().any(|name| text.contains(name)) && runs_commands(call);
    if !shell && !database {
        return Effects::default();
    }
    let Ok(Value::Object(args)) = serde_json::from_str::<Value>(text) else {
        return Effects::default();
    };
    // Some servers take all of their arguments in one object.
    let inner = args
        .get("params")
        .and_then(Value::as_object)
        .unwrap_or(&args);
    let get = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| args.get(*name).or_else(|| inner.get(*name)))
    };
    let folder = get(&FOLDERS).and_then(Value::as_str);
    let places = Places::new(
        absolute(folder, call.cwd).as_deref(),
        call.root.or(call.cwd),
    );
    let mut walker = Walker::new(&places);
    if shell {
        match get(&COMMANDS) {
            Some(Value::String(command)) if is_powershell(call) => {
                crate::program::powershell(&mut walker, command, false);
            }
            Some(Value::String(command)) => walker.text(command),
            Some(Value::Array(words)) => argv(&mut walker, words),
            _ => {}
        }
    }
    if database {
        let database = described(call, inner);
        match get(&SQL) {
            Some(Value::String(text)) => sql::run(&mut walker, text, &database),
            Some(Value::Array(texts)) => {
                for text in texts.iter().filter_map(Value::as_str).take(64) {
                    sql::run(&mut walker, text, &database);
                }
            }
            _ => {}
        }
    }
    walker.finish()
}

/// A folder among the arguments, made absolute by the call's own.
fn absolute(folder: Option<&str>, cwd: Option<&str>) -> Option<String> {
    match (folder, cwd) {
        (Some(folder), _) if folder.starts_with('/') => Some(folder.to_owned()),
        (Some(folder), Some(cwd)) => Some(format!("{cwd}/{folder}")),
        (_, cwd) => cwd.map(str::to_owned),
    }
}

/// A command as a list of words, or as a list of commands.
fn argv(walker: &mut Walker<'_>, words: &[Value]) {
    let texts: Vec<&str> = words.iter().filter_map(Value::as_str).take(256).collect();
    let fields: Vec<Field> = texts.iter().map(|text| Field::literal(*text)).collect();
    let commands = texts.first().is_some_and(|first| first.contains(' '));
    if commands {
        for text in texts {
            walker.text(text);
        }
    } else {
        walker.run(&fields);
    }
}

fn words(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut lower = false;
    for character in name.chars() {
        let starts = character.is_ascii_uppercase() && lower;
        lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        if starts || !character.is_ascii_alphanumeric() {
            all.push(String::new());
        }
        if character.is_ascii_alphanumeric()
            && let Some(last) = all.last_mut()
        {
            last.push(character.to_ascii_lowercase());
        }
    }
    all
}

fn runs_commands(call: &CallText<'_>) -> bool {
    let named = words(call.tool)
        .iter()
        .any(|word| SHELLS.contains(&word.as_str()));
    named
        || call.server.is_some_and(|server| {
            words(server)
                .iter()
                .any(|word| matches!(word.as_str(), "shell" | "bash" | "terminal" | "ssh"))
        })
}

/// Whether a tool runs PowerShell and no other shell.
fn is_powershell(call: &CallText<'_>) -> bool {
    let named = |name: &str| {
        let words = words(name);
        words
            .iter()
            .any(|word| word == "powershell" || word == "pwsh")
    };
    named(call.tool) || call.server.is_some_and(named)
}

fn speaks_sql(call: &CallText<'_>) -> bool {
    SQL.iter().any(|name| call.args.contains(name))
        && [Some(call.tool), call.server]
            .into_iter()
            .flatten()
            .any(|name| {
                words(name).iter().any(|word| {
                    DATABASES.contains(&word.as_str())
                        || word.ends_with("sql")
                        || word.ends_with("db")
                })
            })
}

fn described(call: &CallText<'_>, args: &serde_json::Map<String, Value>) -> Database {
    let name = [
        "database",
        "db",
        "dbname",
        "db_path",
        "branch",
        "project_id",
    ]
    .iter()
    .find_map(|name| args.get(*name)?.as_str());
    let server = call.server.unwrap_or_default();
    let flavour = match words(&format!("{server} {}", call.tool))
        .iter()
        .map(String::as_str)
        .find(|word| DATABASES.contains(word))
    {
        Some("mysql" | "mariadb" | "planetscale") => Flavour::MySql,
        Some("sqlite" | "turso") => Flavour::Sqlite,
        Some("postgres" | "postgresql" | "pg" | "supabase" | "neon" | "redshift") => {
            Flavour::Postgres
        }
        Some("snowflake") => Flavour::Snowflake,
        Some("bigquery") => Flavour::BigQuery,
        Some("clickhouse") => Flavour::ClickHouse,
        Some("mssql") => Flavour::MsSql,
        _ => Flavour::Any,
    };
    Database {
        by: call.tool.to_owned(),
        scratch: is_test_name(server)
            || name.is_some_and(|name| is_test_name(name) || name.starts_with("/tmp/")),
        name: name.map(str::to_owned).filter(|name| name.len() < 80),
        flavour,
    }
}
