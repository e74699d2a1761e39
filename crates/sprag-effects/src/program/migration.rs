//! Migration tools of every language: resets, drops, and schema pushes that accept data loss.

mod resets;

use sprag_core::{Reach, Verb};

use super::{add, is_test_environment, names_test};
use crate::args::Args;
use crate::sql::{self, Database, Flavour};
use crate::walk::Walker;

use resets::{ANY, RESETS};

/// Options that take a value and stand before the subcommand.
#[rustfmt::skip]
const VALUED: [&str; 26] = [
    "--settings", "--schema", "--config", "-c", "-x", "-n", "--name", "--env", "-e", "-d",
    "--database", "-path", "-source", "-database", "-dir", "--url", "-u", "--migrations-dir",
    "--connection", "--dataSource", "-f", "--knexfile", "--database-url", "-m", "-dataSource",
    "--cwd",
];

/// Whether `program` is a migration tool.
pub(super) fn is_one(program: &str) -> bool {
    program == "supabase" || RESETS.iter().any(|(name, ..)| *name == program)
}

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.program == "prisma" && sends_sql(walker, args) {
        return;
    }
    let before = walker.found.list.len();
    if args.program != "supabase" {
        reset(walker, args);
    }
    // Two programs are called `atlas`.
    let other = matches!(args.program, "supabase" | "atlas");
    if other && walker.found.list.len() == before {
        super::cloud::run(walker, args);
    }
}

/// `prisma db execute --stdin`; a file is not read.
fn sends_sql(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let words = args.words(&VALUED);
    if !words.starts_with(&["db", "execute"]) {
        return false;
    }
    let input = walker.input.take().filter(|_| args.long("--stdin"));
    if let Some(text) = input {
        let database = Database {
            by: "prisma db execute".to_owned(),
            scratch: is_test(walker, args),
            name: None,
            flavour: Flavour::Any,
        };
        sql::run(walker, text.raw(), &database);
    }
    true
}

/// `php artisan`, `python manage.py`, `python -m alembic`, `ruby bin/rails`: the script is the program.
pub(super) fn script(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let at = match args.fields.first().map(|field| field.raw()) {
        Some("-m") => 1,
        Some(text) if !text.starts_with('-') => 0,
        _ => return false,
    };
    let Some(file) = args.fields.get(at) else {
        return false;
    };
    let name = file.raw().rsplit('/').next().unwrap_or_default();
    let name = if name == "django" {
        "django-admin"
    } else {
        name
    };
    let inner = Args {
        program: name,
        fields: args.skip(at + 1),
    };
    let known = RESETS.iter().any(|(program, ..)| *program == name);
    if known && !inner.is_help() {
        reset(walker, &inner);
    }
    known
}

/// `manage.py shell -c`, `rails runner` and `artisan tinker`: the code they are given; false if it is not one.
fn console(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let words = args.operands(&["-e", "--environment", "-c", "--command", "-i", "--settings"]);
    let verb = words.first().map_or("", |field| field.raw());
    let text = match (args.program, verb) {
        ("manage.py" | "django-admin", "shell" | "shell_plus") => args.value(&["-c", "--command"]),
        ("rails", "runner" | "r") => words.get(1).map(|field| (*field).clone()),
        ("rails", "console" | "c") => None,
        ("artisan", "tinker") => args.value(&["--execute"]),
        _ => return false,
    };
    if let Some(text) = text.or_else(|| walker.input.take()) {
        super::interpreter::code(walker, &format!("{} {verb}", args.program), text.raw());
    }
    true
}

fn reset(walker: &mut Walker<'_>, args: &Args<'_>) {
    if console(walker, args) {
        return;
    }
    let dry =
        args.is_dry_run() || args.long("--sql") || args.long("--pretend") || args.long("--dry");
    if dry {
        return;
    }
    let words = args.words(&VALUED);
    // Tasks that run one after the other, in any order.
    let tasks = matches!(args.program, "rails" | "rake" | "gradle" | "mvn");
    let tasks = tasks || args.program == "goose";
    let found = RESETS.iter().find(|(program, first, option)| {
        let named = *program == args.program;
        // `rails db:drop db:create db:migrate` runs all of them; `dbmate` and `flyway` take options first.
        let words_match =
            starts_with(&words, first) || tasks && first.iter().all(|task| words.contains(task));
        let option_given = option.is_empty() || args.has(option) || is_given(args, option);
        named && words_match && option_given
    });
    let Some((program, first, option)) = found else {
        return;
    };
    let named: Vec<&str> = first.iter().copied().filter(|word| *word != ANY).collect();
    let by = format!(
        "{program} {}{}",
        named.join(" "),
        if option.starts_with("--") {
            format!(" {option}")
        } else {
            String::new()
        }
    );
    let test = is_test(walker, args);
    let reach = if test {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    let url = args
        .value(&["--url", "-u", "--database-url", "-url"])
        .map(|field| field.shown());
    let name = url.map(|url| {
        url.rsplit('/')
            .next()
            .unwrap_or_default()
            .split('?')
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    let target = match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("database {name}"),
        None => "the project's database".to_owned(),
    };
    add(walker, Verb::Reset, reach, &by, &target);
}

/// Whether an option is given, with its value if that matters.
fn is_given(args: &Args<'_>, option: &str) -> bool {
    match option.split_once('=') {
        Some((name, wanted)) => args
            .value(&[name])
            .is_some_and(|field| field.raw() == wanted),
        None => args.long(option),
    }
}

fn starts_with(words: &[&str], first: &[&str]) -> bool {
    words.len() >= first.len()
        && words
            .iter()
            .zip(first)
            .all(|(word, wanted)| *wanted == ANY || word == wanted)
}

fn is_test(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let named = args.values(&[
        "--env",
        "-e",
        "--settings",
        "--url",
        "-u",
        "--database",
        "-database",
        "--schema",
        "--config",
        "--database-url",
        "-url",
        "--connection",
        "--environment",
        "-x",
    ]);
    is_test_environment(walker)
        || named.iter().any(|field| names_test(field.raw()))
        || args
            .words(&[])
            .iter()
            .any(|word| matches!(*word, "RAILS_ENV=test" | "test"))
}
