//! Migration tools of every language: resets, drops, and schema pushes that accept data loss.

use sprag_core::{Reach, Verb};

use super::{add, is_test_environment, names_test};
use crate::args::Args;
use crate::walk::Walker;

/// Stands for any one word in a [`Reset`].
const ANY: &str = "*";

/// A command that resets a database: program, its first words, an option that it needs.
type Reset = (&'static str, &'static [&'static str], &'static str);

const RESETS: [Reset; 76] = [
    ("prisma", &["migrate", "reset"], ""),
    ("prisma", &["db", "push"], "--accept-data-loss"),
    ("prisma", &["db", "push"], "--force-reset"),
    ("drizzle-kit", &["push"], "--force"),
    ("drizzle-kit", &["drop"], ""),
    ("alembic", &["downgrade", "base"], ""),
    ("flask", &["db", "downgrade", "base"], ""),
    ("aerich", &["downgrade"], "-d"),
    ("artisan", &["migrate:fresh"], ""),
    ("artisan", &["migrate:refresh"], ""),
    ("artisan", &["migrate:reset"], ""),
    ("artisan", &["db:wipe"], ""),
    ("rails", &["db:drop"], ""),
    ("rails", &["db:reset"], ""),
    ("rails", &["db:drop:all"], ""),
    ("rails", &["db:migrate:reset"], ""),
    ("rails", &["db:schema:load"], ""),
    ("rails", &["db:setup"], ""),
    ("rails", &["db:purge"], ""),
    ("rails", &["db:purge:all"], ""),
    ("rails", &["db:truncate_all"], ""),
    ("rails", &["db:seed:replant"], ""),
    ("rake", &["db:drop"], ""),
    ("rake", &["db:reset"], ""),
    ("rake", &["db:migrate:reset"], ""),
    ("rake", &["db:schema:load"], ""),
    ("rake", &["db:purge"], ""),
    ("manage.py", &["flush"], ""),
    ("manage.py", &["reset_db"], ""),
    ("manage.py", &["sqlflush"], "--execute"),
    ("manage.py", &["migrate", ANY, "zero"], ""),
    ("django-admin", &["flush"], ""),
    ("django-admin", &["migrate", ANY, "zero"], ""),
    ("sequelize", &["db:drop"], ""),
    ("sequelize", &["db:migrate:undo:all"], ""),
    ("sequelize-cli", &["db:drop"], ""),
    ("sequelize-cli", &["db:migrate:undo:all"], ""),
    ("knex", &["migrate:rollback"], "--all"),
    ("knex", &["migrate:rollback"], "all"),
    ("typeorm", &["schema:drop"], ""),
    ("typeorm", &["schema:sync"], ""),
    ("mikro-orm", &["schema:drop"], "--run"),
    ("mikro-orm", &["schema:fresh"], "--run"),
    ("mikro-orm", &["migration:fresh"], ""),
    ("flyway", &["clean"], ""),
    ("liquibase", &["dropAll"], ""),
    ("liquibase", &["drop-all"], ""),
    ("goose", &["reset"], ""),
    ("goose", &["down-to", "0"], ""),
    ("dbmate", &["drop"], ""),
    ("migrate", &["drop"], ""),
    ("migrate", &["down"], "-all"),
    ("atlas", &["schema", "clean"], ""),
    ("diesel", &["database", "reset"], ""),
    ("diesel", &["database", "drop"], ""),
    ("sqlx", &["database", "drop"], ""),
    ("sqlx", &["database", "reset"], ""),
    ("mix", &["ecto.drop"], ""),
    ("mix", &["ecto.reset"], ""),
    ("sea-orm-cli", &["migrate", "fresh"], ""),
    ("sea-orm-cli", &["migrate", "reset"], ""),
    ("sea-orm-cli", &["migrate", "refresh"], ""),
    ("payload", &["migrate:fresh"], ""),
    ("payload", &["migrate:reset"], ""),
    ("wp", &["db", "reset"], ""),
    ("wp", &["db", "drop"], ""),
    ("wp", &["site", "empty"], ""),
    ("drush", &["sql:drop"], ""),
    ("drush", &["sql-drop"], ""),
    ("console", &["doctrine:database:drop"], "--force"),
    ("console", &["doctrine:schema:drop"], "--force"),
    ("refinery", &["drop"], ""),
    ("dotnet", &["ef", "database", "drop"], ""),
    ("dotnet", &["ef", "database", "update", "0"], ""),
    ("dotnet-ef", &["database", "drop"], ""),
    ("dotnet-ef", &["database", "update", "0"], ""),
];

/// Options that take a value and stand before the subcommand.
#[rustfmt::skip]
const VALUED: [&str; 26] = [
    "--settings", "--schema", "--config", "-c", "-x", "-n", "--name", "--env", "-e", "-d",
    "--database", "-path", "-source", "-database", "-dir", "--url", "-u", "--migrations-dir",
    "--connection", "--dataSource", "-f", "--knexfile", "--database-url", "-m", "-dataSource",
    "--cwd",
];

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.program == "supabase" {
        super::cloud::run(walker, args);
    } else {
        reset(walker, args);
    }
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
    let tasks = matches!(args.program, "rails" | "rake");
    let found = RESETS.iter().find(|(program, first, option)| {
        let named = *program == args.program;
        // `rails db:drop db:create db:migrate` runs all of them; `dbmate` and `flyway` take options first.
        let words_match =
            starts_with(&words, first) || tasks && first.iter().all(|task| words.contains(task));
        let option_given = option.is_empty() || args.has(option) || args.long(option);
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
