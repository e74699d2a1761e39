//! Hosters and services whose commands do not follow the pattern of verb and noun.

use sprag_core::{Reach, Verb};

use super::{add, add_replaceable, unless_test};
use crate::args::Args;
use crate::expand::Field;
use crate::scratch::is_test_name;
use crate::sql::{self, Database, Flavour};
use crate::walk::Walker;

/// A verb, how far it reaches, the subcommand and the target.
type Loss = (Verb, Reach, &'static str, String);

/// Options that say how many backups restic keeps.
const KEPT_COUNTS: [&str; 12] = [
    "--keep-last",
    "--keep-hourly",
    "--keep-daily",
    "--keep-weekly",
    "--keep-monthly",
    "--keep-yearly",
    "-l",
    "-H",
    "-d",
    "-w",
    "-m",
    "-y",
];
/// A policy that keeps so many only removes what is old.
const ENOUGH_BACKUPS: u32 = 3;

/// Commands that the pattern of verb and noun does not fit; true if `words` is one.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>, words: &[&str]) -> bool {
    match (args.program, words) {
        ("gh", _) => return github(walker, args, words),
        ("heroku", ["run", ..])
        | ("fly" | "flyctl", ["ssh", "console", ..])
        | ("gcloud", ["compute", "ssh", ..]) => {
            remote(walker, args);
            return true;
        }
        _ if sends_sql(walker, args, words) => return true,
        _ if is_sent(walker, args, words) => return true,
        ("lxc" | "incus", ["exec", ..]) => {
            let at = args.iter().position(|field| field.raw() == "--");
            let inner = at.map_or_else(Vec::new, |at| args.skip(at + 1).to_vec());
            crate::wrapper::away(walker, crate::reach::Site::Container, false, |walker| {
                walker.wrapped(&inner);
            });
            return true;
        }
        // Only forgets how to reach them.
        ("argocd", ["repo" | "repocreds" | "cluster" | "context" | "cert", ..]) => return true,
        // It keeps everything unless it prunes too.
        ("restic", ["forget", ..]) if !args.long("--prune") => return true,
        ("railway", ["down", ..]) => {
            let target = "the latest deployment";
            add_replaceable(walker, Verb::Destroy, Reach::Shared, "railway down", target);
            return true;
        }
        _ => {}
    }
    let Some((verb, reach, subcommand, target)) = loss(args, words) else {
        return false;
    };
    let by = format!("{} {subcommand}", args.program);
    add(walker, verb, reach, &by, target.trim_end());
    true
}

/// Commands that an agent on a machine of a cloud is sent, or an allocation runs; false if it is none of these.
fn is_sent(walker: &mut Walker<'_>, args: &Args<'_>, words: &[&str]) -> bool {
    use crate::reach::Site;
    let texts: Vec<Field> = match (args.program, words) {
        ("az", ["vm", "run-command", "invoke", ..]) => args.values(&["--scripts"]),
        ("aws", ["ssm", "send-command", ..]) => {
            let given = args.values(&["--parameters"]);
            let texts = given.iter().flat_map(|field| commands(field.raw()));
            texts.map(Field::literal).collect()
        }
        ("nomad", ["alloc", "exec", ..]) => {
            let inner = behind_allocation(args);
            crate::wrapper::away(walker, Site::Container, false, |walker| {
                walker.wrapped(&inner);
            });
            return true;
        }
        _ => return false,
    };
    crate::wrapper::away(walker, Site::Remote, false, |walker| {
        for text in texts {
            walker.nested_text(&text);
        }
    });
    true
}

/// The commands of `commands=["a","b"]` or `{"commands":["a"]}`.
fn commands(parameters: &str) -> Vec<String> {
    let Some((_, rest)) = parameters.split_once("commands") else {
        return Vec::new();
    };
    let rest = rest.trim_start_matches(['"', ':', '=', ' ']);
    match crate::script::strings_of_list(rest) {
        Some(all) => all,
        None => vec![rest.to_owned()],
    }
}

/// The command of `nomad alloc exec -task t a1b2 command`.
fn behind_allocation(args: &Args<'_>) -> Vec<Field> {
    let operands = args.operands(&["-task", "-job", "-i", "-t", "-e", "-namespace", "-address"]);
    let first = operands.get(3).copied();
    let at = args.iter().position(|field| Some(field) == first);
    at.map_or_else(Vec::new, |at| args.skip(at).to_vec())
}

/// SQL that is given to the CLI of a hoster; false if `words` is not such a command.
fn sends_sql(walker: &mut Walker<'_>, args: &Args<'_>, words: &[&str]) -> bool {
    let (name, option): (&str, &[&str]) = match (args.program, words) {
        ("wrangler", ["d1", "execute", name, ..]) => (name, &["--command"]),
        ("heroku", ["pg:psql", ..]) => ("", &["-c", "--command"]),
        ("gcloud", ["spanner", "databases", "execute-sql", name, ..]) => (name, &["--sql"]),
        ("aws", ["rds-data" | "redshift-data", "execute-statement", ..]) => ("", &["--sql"]),
        ("aws", ["athena", "start-query-execution", ..]) => ("", &["--query-string"]),
        _ => return false,
    };
    let local = args.program == "wrangler" && !args.long("--remote");
    let database = Database {
        by: format!(
            "{} {}",
            args.program,
            words.get(..2).unwrap_or(words).join(" ")
        ),
        scratch: local || is_test_name(name),
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        flavour: Flavour::Any,
    };
    for text in args.values(option) {
        sql::run(walker, text.raw(), &database);
    }
    true
}

fn loss(args: &Args<'_>, words: &[&str]) -> Option<Loss> {
    hosted(args, words)
        .or_else(|| kept(args, words))
        .or_else(|| run_or_queued(args, words))
        .or_else(|| azure_storage(args, words))
}

/// Databases and projects at a hoster.
fn hosted(args: &Args<'_>, words: &[&str]) -> Option<Loss> {
    let linked = args.long("--linked") || args.long("--db-url");
    let all_or_shared = |all: bool| if all { Reach::Sweeping } else { Reach::Shared };
    Some(match (args.program, words) {
        ("supabase", ["db", "reset", ..]) if linked => {
            let target = "the linked database".to_owned();
            (Verb::Reset, Reach::Sweeping, "db reset", target)
        }
        ("supabase", ["db", "reset", ..]) => {
            let target = "the local database".to_owned();
            (Verb::Reset, Reach::Workspace, "db reset", target)
        }
        ("vercel", ["rm" | "remove", name, ..]) => {
            let reach = unless_test(name, Reach::Sweeping);
            (Verb::Destroy, reach, "remove", format!("project {name}"))
        }
        ("firebase", ["firestore:delete", paths @ ..]) => {
            let all = args.long("--all-collections");
            let target = if all {
                "all collections".to_owned()
            } else {
                paths.join(" ")
            };
            (Verb::Delete, all_or_shared(all), "firestore:delete", target)
        }
        ("firebase", ["database:remove", path, ..]) => {
            let reach = all_or_shared(path.trim_matches('/').is_empty());
            (Verb::Delete, reach, "database:remove", (*path).to_owned())
        }
        ("heroku", ["pg:reset", rest @ ..]) => {
            let target = format!("database {}", rest.first().unwrap_or(&""));
            (Verb::Reset, Reach::Sweeping, "pg:reset", target)
        }
        _ => return None,
    })
}

/// Whether a retention policy keeps several backups. What a nightly job removes then is routine.
fn keeps_enough(args: &Args<'_>) -> bool {
    let counts = args.values(&KEPT_COUNTS);
    let kept: u32 = counts
        .iter()
        .filter_map(|count| count.raw().parse::<u32>().ok())
        .fold(0, u32::saturating_add);
    kept >= ENOUGH_BACKUPS && !args.long("--unsafe-allow-remove-all")
}

/// Backups, secrets and keys.
fn kept(args: &Args<'_>, words: &[&str]) -> Option<Loss> {
    Some(match (args.program, words) {
        ("restic", ["forget", ..]) if keeps_enough(args) => {
            let target = "old backups".to_owned();
            (Verb::Delete, Reach::Shared, "forget --prune", target)
        }
        ("restic", ["forget", ..]) => {
            let target = "backups".to_owned();
            (Verb::Delete, Reach::Sweeping, "forget --prune", target)
        }
        ("borg", ["delete", name, ..]) => {
            let target = format!("backup {name}");
            (Verb::Delete, Reach::Sweeping, "delete", target)
        }
        ("borg", ["prune", ..]) => {
            let target = "old backups".to_owned();
            (Verb::Delete, Reach::Shared, "prune", target)
        }
        ("vault" | "consul", _) => {
            let operands = args.words(&[]);
            let deletes = |word: &&str| matches!(*word, "delete" | "destroy");
            let at = operands.iter().position(deletes)?;
            let path = operands.get(at + 1).copied().unwrap_or_default();
            let all = path.trim_matches('/').is_empty() && args.long("-recurse");
            let reach = if all { Reach::Sweeping } else { Reach::Shared };
            (Verb::Delete, reach, "delete", path.to_owned())
        }
        _ => return None,
    })
}

/// Jobs of a scheduler and topics of a broker.
fn run_or_queued(args: &Args<'_>, words: &[&str]) -> Option<Loss> {
    match (args.program, words) {
        ("nomad", ["job", "stop", ..] | ["stop", ..]) if args.long("-purge") => {
            let operands = args.words(&[]);
            let target = format!("job {}", operands.last().copied().unwrap_or_default());
            Some((Verb::Destroy, Reach::Shared, "job stop -purge", target))
        }
        ("kafka-topics" | "kafka-topics.sh", _) if args.long("--delete") => {
            let name = args.value(&["--topic"]).map(|field| field.shown());
            let target = format!("topic {}", name.unwrap_or_default());
            Some((Verb::Delete, Reach::Shared, "--delete", target))
        }
        _ => None,
    }
}

/// A container of blobs is what others call a bucket.
fn azure_storage(args: &Args<'_>, words: &[&str]) -> Option<Loss> {
    let (verb, names, subcommand): (_, &[&str], _) = match (args.program, words) {
        ("az", ["storage", "container", "delete", ..]) => {
            (Verb::Destroy, &["-n", "--name"], "storage container delete")
        }
        ("az", ["storage", "blob", "delete-batch", ..]) => (
            Verb::Delete,
            &["-s", "--source"],
            "storage blob delete-batch",
        ),
        _ => return None,
    };
    let name = args.value(names).map(|field| field.shown());
    let name = name.unwrap_or_default();
    let whole = if args.long("--pattern") {
        Reach::Shared
    } else {
        Reach::Sweeping
    };
    let reach = unless_test(&name, whole);
    Some((verb, reach, subcommand, format!("container {name}")))
}

/// Commands of `gh`; a repository follows the pattern.
fn github(walker: &mut Walker<'_>, args: &Args<'_>, words: &[&str]) -> bool {
    match words {
        ["api", ..] => {
            api(walker, args);
            true
        }
        ["repo", ..] => false,
        ["release", "delete", name, ..] => {
            let target = format!("release {name}");
            add(
                walker,
                Verb::Delete,
                Reach::Sweeping,
                "gh release delete",
                &target,
            );
            true
        }
        ["issue", "delete", name, ..] => {
            add(walker, Verb::Delete, Reach::Shared, "gh issue delete", name);
            true
        }
        [kind, "delete", name, ..] => {
            let by = format!("gh {kind} delete");
            add_replaceable(walker, Verb::Delete, Reach::Shared, &by, name);
            true
        }
        _ => true,
    }
}

/// `gh api -X DELETE path` and GraphQL.
fn api(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
    const VALUED: [&str; 10] = [
        "-X", "--method", "-f", "-F", "--field", "--raw-field", "-H", "--header", "-q", "--jq",
    ];
    let words = args.words(&VALUED);
    let path = words.get(1).copied().unwrap_or_default();
    let method = args
        .value(&["-X", "--method"])
        .map(|field| field.raw().to_ascii_uppercase());
    if method.as_deref() == Some("DELETE") {
        super::http::delete(walker, "gh api", path.trim_start_matches('/'));
    } else if path == "graphql" {
        for field in args.values(&["-f", "-F", "--field", "--raw-field"]) {
            super::http::graphql(walker, "gh api", field.raw());
        }
    }
}

/// A command that runs on a hoster's machine.
fn remote(walker: &mut Walker<'_>, args: &Args<'_>) {
    use crate::reach::Site;
    let inner = match args.value(&["-C", "--command"]) {
        Some(text) => vec![text],
        None if args.has("--") => {
            let at = args.iter().position(|field| field.raw() == "--");
            args.skip(at.unwrap_or(0) + 1).to_vec()
        }
        None => {
            let at = args
                .iter()
                .position(|field| field.raw() == "run")
                .unwrap_or(0);
            let rest = Args {
                program: "run",
                fields: args.skip(at + 1),
            };
            let skip = rest
                .iter()
                .position(|field| !field.raw().starts_with('-'))
                .unwrap_or(0);
            // The value of `-a` stands before the command.
            let app = usize::from(
                skip > 0
                    && rest
                        .fields
                        .get(skip - 1)
                        .is_some_and(|field| matches!(field.raw(), "-a" | "--app" | "-r")),
            );
            rest.skip(skip + app).to_vec()
        }
    };
    crate::wrapper::away(walker, Site::Container, false, |walker| {
        match inner.as_slice() {
            [only] => walker.nested_text(only),
            all => walker.wrapped(all),
        }
    });
}
