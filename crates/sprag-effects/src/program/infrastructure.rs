//! Infrastructure as code: `terraform destroy` and its kin.

use sprag_core::{Reach, Verb};

use super::cloud::is_test;
use super::{add, add_replaceable, unless_test};
use crate::args::Args;
use crate::expand::Field;
use crate::scratch::is_test_name;
use crate::walk::Walker;

pub(super) fn terraform(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
    const VALUED: [&str; 6] = [
        "-chdir", "-target", "-var", "-var-file", "-state", "--terragrunt-working-dir",
    ];
    let mut words = args.words(&VALUED);
    words.retain(|word| !matches!(*word, "run-all" | "run"));
    let program = args.program;
    let reach = if is_test(args) {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    match words.as_slice() {
        ["destroy", ..] => {
            let targets = args.values(&["-target", "--target"]);
            let targets: Vec<String> = targets.iter().map(Field::shown).collect();
            let all = "all resources".to_owned();
            let target = if targets.is_empty() {
                all
            } else {
                targets.join(" ")
            };
            add(
                walker,
                Verb::Destroy,
                reach,
                &format!("{program} destroy"),
                &target,
            );
        }
        ["apply", ..] if args.has_any(&["-destroy", "--destroy"]) => {
            let by = format!("{program} apply -destroy");
            add(walker, Verb::Destroy, reach, &by, "all resources");
        }
        ["state", "rm", names @ ..] if !args.is_dry_run() => {
            let by = format!("{program} state rm");
            add_replaceable(
                walker,
                Verb::Delete,
                reach.min(Reach::Shared),
                &by,
                &names.join(" "),
            );
        }
        ["workspace", "delete", name, ..] => {
            let reach = unless_test(name, Reach::Shared);
            add(
                walker,
                Verb::Delete,
                reach,
                &format!("{program} workspace delete"),
                name,
            );
        }
        _ => {}
    }
}

/// Tools with one command that takes a whole place.
pub(super) fn whole(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&[
        "-e",
        "--environment",
        "-f",
        "--file",
        "-l",
        "--selector",
        "-n",
    ]);
    let target = match (args.program, words.as_slice()) {
        ("kubeadm", ["reset", ..]) => "the cluster on this machine".to_owned(),
        ("helmfile", ["destroy" | "delete", ..]) => "all releases".to_owned(),
        ("npm", ["unpublish", names @ ..]) => {
            format!("release {}", names.join(" "))
        }
        ("kafka-delete-records" | "kafka-delete-records.sh", _) => "records of topics".to_owned(),
        ("ddev", ["delete", names @ ..]) | ("lando", ["destroy", names @ ..]) => {
            format!("project {}", names.join(" ")).trim_end().to_owned()
        }
        ("zappa", ["undeploy", name, ..]) => format!("stack {name}"),
        _ => return,
    };
    let named = args.values(&["-e", "--environment"]);
    let test = named.iter().any(|field| is_test_name(field.raw()))
        || words.iter().skip(1).any(|word| is_test_name(word));
    if !args.is_dry_run() {
        let reach = if test {
            Reach::Scratch
        } else {
            Reach::Sweeping
        };
        let by = format!("{} {}", args.program, words.first().unwrap_or(&""));
        add(walker, Verb::Destroy, reach, &by, &target);
    }
}

pub(super) fn stack(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&[
        "-s",
        "--stack",
        "-C",
        "--cwd",
        "--profile",
        "--app",
        "-a",
        "--stage",
    ]);
    let named = args
        .values(&["--stage"])
        .iter()
        .any(|field| is_test_name(field.raw()));
    if args.has("--preview-only") || args.is_dry_run() {
        return;
    }
    let scratch = is_test(args) || named || words.iter().skip(1).any(|word| is_test_name(word));
    let reach = if scratch {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    let destroys = match words.as_slice() {
        ["destroy" | "down" | "remove" | "dn", ..] => true,
        ["stack", "rm", ..] => true,
        _ => args.program.ends_with("nuke") && args.has("--no-dry-run"),
    };
    if destroys {
        let target = args
            .value(&["-s", "--stack"])
            .map(|field| field.shown())
            .or_else(|| {
                let at = if words.get(1) == Some(&"rm") { 2 } else { 1 };
                words.get(at).map(|word| (*word).to_owned())
            });
        let by = format!("{} {}", args.program, words.first().unwrap_or(&"nuke"));
        add(
            walker,
            Verb::Destroy,
            reach,
            &by,
            format!("stack {}", target.unwrap_or_default()).trim_end(),
        );
    }
}
