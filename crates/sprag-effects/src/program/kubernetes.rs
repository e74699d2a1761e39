//! Clusters: `kubectl` and `helm`.

use sprag_core::{Reach, Verb};

use super::{add, add_replaceable, is_test_environment, noun};
use crate::args::Args;
use crate::expand::Field;
use crate::mount::Mounts;
use crate::reach::Site;
use crate::scratch::is_test_name;
use crate::walk::Walker;
use crate::wrapper::away;

/// Options that take a value.
#[rustfmt::skip]
const VALUED: [&str; 22] = [
    "-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-l", "--selector",
    "-f", "--filename", "-c", "--container", "-o", "--output", "--kube-context", "--grace-period",
    "--timeout", "--field-selector", "-k", "--cascade", "--server", "--as",
];

/// Whether the context, the namespace or the environment is one for tests.
fn is_test(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let named = args.values(&[
        "--context",
        "--kube-context",
        "-n",
        "--namespace",
        "--cluster",
        "--kubeconfig",
    ]);
    named.iter().any(|field| is_test_name(field.raw())) || is_test_environment(walker)
}

pub(super) fn kubectl(walker: &mut Walker<'_>, args: &Args<'_>) {
    let test = is_test(walker, args);
    let operands = args.operands(&VALUED);
    let words: Vec<&str> = operands
        .iter()
        .map(|field| field.raw())
        .filter(|word| *word != "kubectl")
        .collect();
    match words.as_slice() {
        ["exec" | "rsh", ..] => exec(walker, args, test),
        // A pod of its own, but what it reaches is not.
        ["run", ..] if args.has("--") => {
            let before =
                std::mem::replace(&mut walker.mounts, Mounts::new(Vec::new(), String::new()));
            exec(walker, args, test);
            walker.mounts = before;
        }
        ["delete", rest @ ..] if !args.is_dry_run() => delete(walker, args, rest, test),
        ["drain", node, ..] if !args.is_dry_run() => {
            let reach = if test { Reach::Scratch } else { Reach::Shared };
            add_replaceable(
                walker,
                Verb::Delete,
                reach,
                "kubectl drain",
                &format!("node {node}"),
            );
        }
        ["replace", ..] if args.long("--force") && !args.is_dry_run() => {
            let reach = if test { Reach::Scratch } else { Reach::Shared };
            let file = args
                .value(&["-f", "--filename"])
                .map(|field| field.shown())
                .unwrap_or_default();
            add_replaceable(walker, Verb::Reset, reach, "kubectl replace --force", &file);
        }
        _ => {}
    }
}

fn delete(walker: &mut Walker<'_>, args: &Args<'_>, rest: &[&str], test: bool) {
    let namespace = args
        .value(&["-n", "--namespace"])
        .map(|field| format!(" in {}", field.shown()))
        .unwrap_or_default();
    let all = args.long("--all") || args.long("--all-namespaces") || args.short('A');
    for (kind, name) in named(args, rest) {
        let mut judged = noun::judge(&kind);
        if kind == "all" || all && !judged.replaceable {
            judged.reach = Reach::Sweeping;
            judged.replaceable = false;
        }
        if test || is_test_name(&name) && kind.starts_with(['n', 'p']) {
            judged.reach = Reach::Scratch;
        }
        let target = format!("{kind} {name}{namespace}");
        if judged.replaceable {
            add_replaceable(
                walker,
                Verb::Delete,
                judged.reach,
                "kubectl delete",
                &target,
            );
        } else {
            add(
                walker,
                Verb::Delete,
                judged.reach,
                "kubectl delete",
                &target,
            );
        }
    }
}

/// Kinds with the names that are deleted; `*` if none is given.
fn named(args: &Args<'_>, rest: &[&str]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    match rest.split_first() {
        Some((first, names)) if first.contains('/') => {
            for name in [first].into_iter().chain(names) {
                let (kind, name) = name.split_once('/').unwrap_or((name, ""));
                found.push((kind.to_owned(), name.to_owned()));
            }
        }
        Some((kinds, names)) => {
            for kind in kinds.split(',') {
                found.push((
                    kind.to_owned(),
                    if names.is_empty() {
                        "*".to_owned()
                    } else {
                        names.join(" ")
                    },
                ));
            }
        }
        None => {
            let file = args
                .value(&["-f", "--filename", "-k"])
                .map(|field| field.shown());
            found.extend(file.map(|file| ("file".to_owned(), file)));
        }
    }
    found
}

/// `kubectl exec pod -- command`.
fn exec(walker: &mut Walker<'_>, args: &Args<'_>, test: bool) {
    let at = args.iter().position(|field| field.raw() == "--");
    let inner: Vec<Field> = match at {
        Some(at) => args.skip(at + 1).to_vec(),
        None => {
            let third = args.operands(&VALUED).get(2).copied();
            let at = args.iter().position(|field| Some(field) == third);
            at.map_or_else(Vec::new, |at| args.skip(at).to_vec())
        }
    };
    away(walker, Site::Container, test, |walker| {
        walker.wrapped(&inner)
    });
}

pub(super) fn helm(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&VALUED);
    if args.is_dry_run() {
        return;
    }
    if let [verb @ ("uninstall" | "delete" | "del" | "un"), names @ ..] = words.as_slice() {
        let _ = verb;
        for name in names {
            let scratch = is_test(walker, args) || is_test_name(name);
            let reach = if scratch {
                Reach::Scratch
            } else {
                Reach::Sweeping
            };
            add(
                walker,
                Verb::Destroy,
                reach,
                "helm uninstall",
                &format!("release {name}"),
            );
        }
    }
}
