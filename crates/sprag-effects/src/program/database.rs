//! Clients of databases: the SQL they are given, and commands of their own.

use sprag_core::{Reach, Verb};

use super::{add, is_test_environment, key_value, names_test};
use crate::args::Args;
use crate::expand::Field;
use crate::scratch::is_test_name;
use crate::sql::{self, Database, Flavour};
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "dropdb" => dropdb(walker, args),
        "dropuser" => add(
            walker,
            Verb::Drop,
            Reach::Shared,
            "dropuser",
            &args.words(&["-h", "-p", "-U"]).join(" "),
        ),
        "mysqladmin" => mysqladmin(walker, args),
        "mongosh" | "mongo" => key_value::mongo(walker, args),
        "redis-cli" | "valkey-cli" => key_value::redis(walker, args),
        "bq" => bq(walker, args),
        "pg_restore" => restore(walker, args),
        "mongorestore" => mongorestore(walker, args),
        "etcdctl" => key_value::etcd(walker, args),
        "influx" if args.value(&["-execute"]).is_none() => super::cloud::run(walker, args),
        "cypher-shell" => super::graph::run(walker, args),
        "turso" if args.words(&[]).get(1) != Some(&"shell") => super::cloud::run(walker, args),
        _ => client(walker, args),
    }
}

/// How a client is told its SQL and its database.
struct Client {
    flavour: Flavour,
    text: &'static [&'static str],
    database: &'static [&'static str],
    valued: &'static [&'static str],
    /// The operand that names the database; the next one may be SQL.
    file: bool,
}

/// The clients, by how they are given their SQL.
#[rustfmt::skip]
const PSQL: Client = Client {
    flavour: Flavour::Postgres,
    text: &["-c", "--command"],
    database: &["-d", "--dbname"],
    valued: &["-h", "--host", "-p", "--port", "-U", "--username", "-F", "-R", "-T", "-L", "-c", "--command", "-d", "--dbname", "-v", "--set", "-f", "--file", "-o", "-P"],
    file: false,
};

#[rustfmt::skip]
const MYSQL: Client = Client {
    flavour: Flavour::MySql,
    text: &["-e", "--execute"],
    database: &["-D", "--database"],
    valued: &["-h", "--host", "-P", "--port", "-u", "--user", "-e", "--execute", "-D", "--database", "-S", "--socket"],
    file: false,
};

#[rustfmt::skip]
const FILE: Client = Client {
    flavour: Flavour::Sqlite,
    text: &["-cmd", "-c"],
    database: &[],
    valued: &["-cmd", "-separator", "-nullvalue", "-init", "-c"],
    file: true,
};

#[rustfmt::skip]
const CLICKHOUSE: Client = Client {
    flavour: Flavour::ClickHouse,
    text: &["-q", "--query"],
    database: &["-d", "--database"],
    valued: &["-q", "--query", "-d", "--database", "-h", "--host", "-u", "--user", "--port", "--password"],
    file: false,
};

#[rustfmt::skip]
const SQLCMD: Client = Client {
    flavour: Flavour::MsSql,
    text: &["-Q", "-q"],
    database: &["-d"],
    valued: &["-S", "-U", "-P", "-d", "-Q", "-q", "-i"],
    file: false,
};

/// `-execute` is one word.
#[rustfmt::skip]
const INFLUX: Client = Client {
    flavour: Flavour::Any,
    text: &["-execute"],
    database: &["-database"],
    valued: &["-execute", "-database", "-host", "-port", "-username", "-password"],
    file: false,
};

#[rustfmt::skip]
const QUERY: Client = Client {
    flavour: Flavour::Any,
    text: &["-e", "-q", "-Q", "-c", "-s", "-sql", "--query", "--execute", "--command"],
    database: &["--database", "-d"],
    valued: &["-u", "-n", "-p", "-h", "-U", "-w", "-i", "--server", "--catalog", "--schema"],
    file: false,
};

fn client_of(program: &str) -> Client {
    match program {
        "mysql" | "mariadb" | "mycli" => MYSQL,
        "sqlplus" | "isql" | "tsql" | "db2" | "bteq" | "nzsql" => Client {
            flavour: Flavour::Any,
            text: &[],
            database: &[],
            ..PSQL
        },
        "influx" => INFLUX,
        "beeline" | "hive" | "spark-sql" | "impala-shell" | "trino" | "presto" | "vsql"
        | "dolt" | "osql" | "mssql-cli" | "ksql" | "mclient" | "exaplus" => QUERY,
        "sqlite3" | "sqlite" | "litecli" => FILE,
        "duckdb" | "turso" => Client {
            flavour: Flavour::Any,
            ..FILE
        },
        "clickhouse-client" | "clickhouse" => CLICKHOUSE,
        "sqlcmd" => SQLCMD,
        "snowsql" => Client {
            flavour: Flavour::Snowflake,
            text: &["-q", "--query"],
            database: &["-d", "--dbname"],
            ..PSQL
        },
        "cqlsh" | "cockroach" | "usql" => Client {
            flavour: Flavour::Any,
            text: &["-e", "--execute", "-c", "--command"],
            ..PSQL
        },
        _ => PSQL,
    }
}

fn client(walker: &mut Walker<'_>, args: &Args<'_>) {
    let client = client_of(args.program);
    let valued = [client.valued, client.text, client.database].concat();
    let operands: Vec<&Field> = args
        .operands(&valued)
        .into_iter()
        .filter(|field| !matches!(field.raw(), "sql" | "db" | "shell" | "client") || client.file)
        .collect();
    let named = args
        .value(client.database)
        .or_else(|| operands.first().map(|field| (*field).clone()));
    let mut texts = args.values_among(client.text, &valued);
    if client.file {
        texts.extend(operands.iter().skip(1).map(|field| (*field).clone()));
    }
    let from_input = args
        .value(&["-f", "--file"])
        .is_none_or(|file| file.raw() == "-");
    if texts.is_empty() && from_input {
        texts.extend(walker.input.take());
    }
    if texts.is_empty() {
        return;
    }
    let database = database(walker, args.program, &client, named.as_ref());
    for text in texts {
        let drops_file = client.file && text.raw().trim_start().starts_with(".");
        if !drops_file {
            sql::run(walker, text.raw(), &database);
        }
    }
}

fn database(
    walker: &Walker<'_>,
    program: &str,
    client: &Client,
    named: Option<&Field>,
) -> Database {
    let text = named.map(Field::shown).unwrap_or_default();
    let scratch = if client.file {
        let memory = text.is_empty() || text.contains(":memory:") || text.contains("mode=memory");
        memory
            || names_test(&text)
            || named.is_some_and(|field| walker.judge(field, false).reach == Reach::Scratch)
    } else {
        let name = database_name(&text);
        is_test_name(&name) || is_test_environment(walker)
    };
    let name = if client.file {
        text
    } else {
        database_name(&text)
    };
    Database {
        by: program.to_owned(),
        scratch,
        name: Some(name).filter(|name| !name.is_empty() && name.len() < 80),
        flavour: client.flavour,
    }
}

/// The name of a database from a name, a connection string or a URL; never its password.
pub(super) fn database_name(text: &str) -> String {
    if let Some((_, rest)) = text.split_once("://") {
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        return path.split(['?', '#']).next().unwrap_or_default().to_owned();
    }
    if text.contains('=') {
        let name = text
            .split_whitespace()
            .find_map(|pair| pair.strip_prefix("dbname="));
        return name.unwrap_or_default().to_owned();
    }
    text.to_owned()
}

fn dropdb(walker: &mut Walker<'_>, args: &Args<'_>) {
    let names = args.words(&[
        "-h",
        "--host",
        "-p",
        "--port",
        "-U",
        "--username",
        "--maintenance-db",
    ]);
    let Some(name) = names.first() else {
        return;
    };
    drop_database(walker, "dropdb", name);
}

/// A whole database goes: sweeping, unless its name says that it is for tests.
fn drop_database(walker: &mut Walker<'_>, by: &str, name: &str) {
    let reach = if is_test_name(name) {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    let target = format!("database {name}");
    add(walker, Verb::Drop, reach, by, target.trim_end());
}

fn mysqladmin(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&["-u", "-h", "-P", "-S"]);
    let at = words.iter().position(|word| *word == "drop");
    if let Some(name) = at.and_then(|at| words.get(at + 1)) {
        drop_database(walker, "mysqladmin drop", name);
    }
}

fn bq(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&["--project_id", "--location", "--format", "--dataset_id"]);
    if args.is_dry_run() {
        return;
    }
    match words.split_first() {
        Some((&"query", texts)) => {
            let database = Database {
                by: "bq query".to_owned(),
                scratch: false,
                name: None,
                flavour: Flavour::BigQuery,
            };
            for text in texts {
                sql::run(walker, text, &database);
            }
        }
        Some((&"rm", names)) => {
            let target = names.last().copied().unwrap_or_default();
            let whole = args.short('d') || args.short('r') || !target.contains('.');
            let scratch = is_test_name(target);
            let reach = match (scratch, whole) {
                (true, _) => Reach::Scratch,
                (_, true) => Reach::Sweeping,
                _ => Reach::Shared,
            };
            add(walker, Verb::Drop, reach, "bq rm", target);
        }
        _ => {}
    }
}

/// `pg_restore --clean` drops what it restores.
fn restore(walker: &mut Walker<'_>, args: &Args<'_>) {
    if !(args.long("--clean") || args.short('c')) {
        return;
    }
    let Some(name) = args.value(&["-d", "--dbname"]) else {
        return;
    };
    let name = database_name(&name.shown());
    drop_database(walker, "pg_restore --clean", &name);
}

/// `mongorestore --drop` drops each collection before it restores it.
fn mongorestore(walker: &mut Walker<'_>, args: &Args<'_>) {
    if !args.long("--drop") || args.is_dry_run() {
        return;
    }
    let named = args.value(&["-d", "--db"]).map(|field| field.shown());
    let name = named.or_else(|| {
        let uri = args.value(&["--uri"])?;
        Some(database_name(&uri.shown())).filter(|name| !name.is_empty())
    });
    drop_database(walker, "mongorestore --drop", &name.unwrap_or_default());
}
