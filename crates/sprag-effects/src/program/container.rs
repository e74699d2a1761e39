//! Containers: what they hold is replaceable, what their volumes hold is not.

use sprag_core::{Reach, Verb};

use super::{add, add_replaceable, unless_test};
use crate::args::Args;
use crate::expand::Field;
use crate::mount::Mounts;
use crate::reach::Site;
use crate::scratch::is_test_name;
use crate::walk::Walker;
use crate::wrapper::away;

/// Options of `docker`, `run` and `exec` that take a value.
#[rustfmt::skip]
const VALUED: [&str; 44] = [
    "-H", "--host", "--context", "-c", "-e", "--env", "--env-file", "-u", "--user", "-w",
    "--workdir", "-v", "--volume", "--mount", "-p", "--publish", "--name", "--network", "--net",
    "--entrypoint", "-h", "--hostname", "-l", "--label", "-m", "--memory", "--cpus", "--platform",
    "--pull", "--restart", "-f", "--file", "--project-name", "--profile", "--project-directory",
    "--index", "--gpus", "--ipc", "--add-host", "--ulimit", "--shm-size", "--cap-add",
    "--security-opt", "--tmpfs",
];

/// Options of `docker` itself that take a value.
#[rustfmt::skip]
const GLOBAL: [&str; 7] = [
    "-H", "--host", "--context", "--log-level", "--config", "--filter", "--format",
];

/// Options of `docker compose` that take a value.
#[rustfmt::skip]
const COMPOSE: [&str; 12] = [
    "-H", "--host", "--context", "-f", "--file", "-p", "--project-name", "--profile",
    "--env-file", "--project-directory", "-t", "--timeout",
];

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let first = args.words(&GLOBAL).first().copied().unwrap_or_default();
    let compose = args.program.ends_with("-compose");
    let words = match first {
        "run" | "exec" | "container" => args.words(&VALUED),
        _ if compose || first == "compose" => args.words(&COMPOSE),
        _ => args.words(&GLOBAL),
    };
    let by = args.program.trim_end_matches("-compose");
    match words.as_slice() {
        _ if compose => compose_command(walker, args, by, &words),
        ["compose", rest @ ..] => compose_command(walker, args, by, rest),
        ["container", "exec", ..] => inside(walker, args, 2),
        ["exec", ..] => inside(walker, args, 1),
        ["container", "run", ..] => fresh(walker, args, 2),
        ["run", ..] => fresh(walker, args, 1),
        ["system" | "volume", "prune", ..] => prune(walker, args, by, &words),
        ["system", "reset", ..] => {
            let target = "all containers, images and volumes";
            add(
                walker,
                Verb::Delete,
                Reach::Sweeping,
                &format!("{by} system reset"),
                target,
            );
        }
        // A cache of builds.
        ["builder" | "buildx", "prune", ..] => {}
        ["image" | "container" | "network", "prune", ..] => {
            add_replaceable(
                walker,
                Verb::Delete,
                Reach::Shared,
                &format!("{by} prune"),
                words.first().unwrap_or(&""),
            );
        }
        ["volume", "rm" | "remove", names @ ..] => destroyed(walker, by, "volume", names),
        ["rm", names @ ..] => removed(walker, by, "container", names),
        ["container", "rm" | "remove", ..] => {
            let names = args.words(&GLOBAL);
            removed(walker, by, "container", names.get(2..).unwrap_or_default());
        }
        ["rmi", names @ ..] | ["image", "rm", names @ ..] => removed(walker, by, "image", names),
        ["stack", "rm" | "down", names @ ..] => destroyed(walker, by, "stack", names),
        ["service", "rm", names @ ..] => removed(walker, by, "service", names),
        ["machine", "rm", names @ ..] => destroyed(walker, by, "machine", names),
        _ => {}
    }
}

/// What holds data of its own.
fn destroyed(walker: &mut Walker<'_>, by: &str, kind: &str, names: &[&str]) {
    for name in names {
        let reach = unless_test(name, Reach::Sweeping);
        let target = format!("{kind} {name}");
        add(
            walker,
            Verb::Delete,
            reach,
            &format!("{by} {kind} rm"),
            &target,
        );
    }
}

fn removed(walker: &mut Walker<'_>, by: &str, kind: &str, names: &[&str]) {
    for name in names {
        let reach = if is_test_name(name) {
            Reach::Scratch
        } else {
            Reach::Shared
        };
        let target = format!("{kind} {}", crate::expand::show(name));
        add_replaceable(walker, Verb::Delete, reach, &format!("{by} rm"), &target);
    }
}

fn prune(walker: &mut Walker<'_>, args: &Args<'_>, by: &str, words: &[&str]) {
    let volumes = words.first() == Some(&"volume") || args.long("--volumes");
    if volumes {
        add(
            walker,
            Verb::Delete,
            Reach::Sweeping,
            &format!("{by} prune --volumes"),
            "unused volumes",
        );
    } else {
        add_replaceable(
            walker,
            Verb::Delete,
            Reach::Shared,
            &format!("{by} prune"),
            "unused containers and images",
        );
    }
}

fn compose_command(walker: &mut Walker<'_>, args: &Args<'_>, by: &str, words: &[&str]) {
    let test = args
        .values(&["-p", "--project-name", "-f", "--file", "--profile"])
        .iter()
        .any(|field| is_test_name(field.raw()));
    match words.first() {
        Some(&"down")
            if args.short('v') && args_after_down(args)
                || words.first() == Some(&"down") && args.long("--volumes") =>
        {
            let reach = if test {
                Reach::Scratch
            } else {
                Reach::Sweeping
            };
            add(
                walker,
                Verb::Delete,
                reach,
                &format!("{by} compose down --volumes"),
                "the project's volumes",
            );
        }
        Some(&"rm") if args.short('v') => {
            add_replaceable(
                walker,
                Verb::Delete,
                Reach::Shared,
                &format!("{by} compose rm"),
                "containers with their volumes",
            );
        }
        Some(verb @ (&"exec" | &"run")) => compose_inside(walker, args, verb, test),
        _ => {}
    }
}

/// A command in a container of a service. What its databases hold is in volumes, whichever asks for it.
fn compose_inside(walker: &mut Walker<'_>, args: &Args<'_>, verb: &str, test: bool) {
    let at = args.iter().position(|field| field.raw() == verb);
    let rest = Args {
        program: verb,
        fields: args.skip(at.unwrap_or(0) + 1),
    };
    let inner = behind(&rest, 1);
    let service = rest.words(&VALUED).first().copied().unwrap_or_default();
    let test = test || is_test_name(service);
    away(walker, Site::Container, test, |walker| {
        walker.wrapped(&inner)
    });
}

/// `-v` after `down` means volumes; before it, it is not an option of `down`.
fn args_after_down(args: &Args<'_>) -> bool {
    let at = args
        .iter()
        .position(|field| field.raw() == "down")
        .unwrap_or(0);
    Args {
        program: "down",
        fields: args.skip(at),
    }
    .short('v')
}

/// The command behind `words` operands.
fn behind(args: &Args<'_>, words: usize) -> Vec<Field> {
    let mut at = 0;
    let mut left = words;
    while let Some(field) = args.fields.get(at) {
        let text = field.raw();
        if text.len() > 1 && text.starts_with('-') {
            at += 1 + usize::from(VALUED.contains(&text));
        } else if left > 0 {
            left -= 1;
            at += 1;
        } else {
            break;
        }
    }
    args.skip(at).to_vec()
}

/// A command in a container that runs already.
fn inside(walker: &mut Walker<'_>, args: &Args<'_>, words: usize) {
    let name = args
        .words(&VALUED)
        .get(words)
        .copied()
        .unwrap_or_default()
        .to_owned();
    let inner = behind(args, words + 1);
    let from_env = is_test_name(&name);
    away(walker, Site::Container, from_env, |walker| {
        walker.wrapped(&inner)
    });
}

/// Whether `docker run -d` or `docker create` starts a container that nothing outlives.
pub(crate) fn is_fresh_container(args: &Args<'_>) -> bool {
    let words = args.words(&VALUED);
    let starts = matches!(
        words.as_slice(),
        ["run" | "create", ..] | ["container", "run" | "create", ..]
    );
    starts && mounts(args).is_empty()
}

/// What is mounted: the folder or volume outside, and the place inside.
fn mounts(args: &Args<'_>) -> Vec<(Field, String)> {
    let mut mounts = Vec::new();
    for mount in args.values(&["-v", "--volume"]) {
        let mut parts = mount.raw().split(':');
        if let (Some(outside), Some(inside)) = (parts.next(), parts.next()) {
            mounts.push((Field::literal(outside), inside.to_owned()));
        }
    }
    for mount in args.values(&["--mount"]) {
        let pair = |names: [&str; 3]| {
            mount.raw().split(',').find_map(|part| {
                let (key, value) = part.split_once('=')?;
                names.contains(&key).then(|| value.to_owned())
            })
        };
        let outside = pair(["source", "src", "from"]);
        if let (Some(outside), Some(inside)) = (outside, pair(["target", "dst", "destination"])) {
            mounts.push((Field::literal(outside), inside));
        }
    }
    mounts
}

/// A command in a fresh container: only what is mounted outlives it.
fn fresh(walker: &mut Walker<'_>, args: &Args<'_>, words: usize) {
    let mut inner = behind(args, words + 1);
    let connects = args.has_any(&["--network", "--net"])
        || args.iter().any(|field| field.raw().starts_with("--net"));
    if let Some(entry) = args.value(&["--entrypoint"]) {
        inner.insert(0, entry);
    }
    let mounts = mounts(args);
    let folder = args.value(&["-w", "--workdir"]);
    let outside = walker.environment.folder.clone();
    let scratch = mounts.is_empty() && !connects;
    away(walker, Site::Container, scratch, |walker| {
        if let Some(folder) = folder {
            walker.environment.folder = folder.raw().to_owned();
        }
        let before = std::mem::replace(&mut walker.mounts, Mounts::new(mounts, outside));
        walker.wrapped(&inner);
        walker.mounts = before;
    });
}
