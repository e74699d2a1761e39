//! Programs that do something on many machines at once: `ansible`, `salt`, `pssh` and their kin.

use sprag_core::{Reach, Verb};

use super::{add, noun, unless_test};
use crate::args::Args;
use crate::builtin::joined;
use crate::expand::Field;
use crate::reach::Site;
use crate::scratch::is_test_name;
use crate::walk::Walker;
use crate::wrapper::away;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "ansible" => ansible(walker, args),
        "salt" | "salt-call" | "salt-ssh" => salt(walker, args),
        _ => shells(walker, args),
    }
}

/// `ansible hosts -m module -a arguments`.
fn ansible(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
    const VALUED: [&str; 14] = [
        "-m", "--module-name", "-a", "--args", "-i", "--inventory", "-u", "--user", "-l",
        "--limit", "-e", "--extra-vars", "-f", "--forks",
    ];
    if args.long("--check") || args.short('C') {
        return;
    }
    let hosts = args.words(&VALUED).first().copied().unwrap_or_default();
    let module = args
        .value(&["-m", "--module-name"])
        .map_or_else(|| "command".to_owned(), |field| field.raw().to_owned());
    let module = module.rsplit('.').next().unwrap_or(&module);
    let Some(text) = args.value(&["-a", "--args"]) else {
        return;
    };
    let site = match hosts {
        "localhost" | "127.0.0.1" => Site::Local,
        _ => Site::Remote,
    };
    away(walker, site, is_test_name(hosts), |walker| match module {
        "shell" | "command" | "raw" => walker.nested_text(&text),
        _ => absent(walker, module, text.raw()),
    });
}

/// A module that makes something absent: a path, or a thing that the module is named after.
fn absent(walker: &mut Walker<'_>, module: &str, text: &str) {
    let pair = |name: &str| {
        text.split_whitespace().find_map(|word| {
            let (key, value) = word.split_once('=')?;
            (key == name).then_some(value.trim_matches(['"', '\'']))
        })
    };
    if pair("state") != Some("absent") {
        return;
    }
    let by = format!("ansible {module}");
    let path = ["path", "dest", "name"].into_iter().find_map(pair);
    if module == "file" {
        let path = Field::literal(path.unwrap_or_default());
        walker.path_effect(Verb::Delete, &by, &path, true);
        return;
    }
    let name = ["name", "db", "instance_ids", "path"]
        .into_iter()
        .find_map(pair)
        .unwrap_or_default();
    let judged = noun::judge(module);
    if judged.reach == Reach::Sweeping {
        let reach = unless_test(name, Reach::Sweeping);
        let kind = module.rsplit('_').next().unwrap_or(module);
        let kind = if kind == "db" { "database" } else { kind };
        let target = format!("{kind} {name}");
        add(walker, Verb::Destroy, reach, &by, target.trim_end());
    }
}

/// `salt target function arguments`.
fn salt(walker: &mut Walker<'_>, args: &Args<'_>) {
    let operands = args.operands(&["-N", "-G", "-L", "-E", "-C", "-t", "-b", "--timeout"]);
    let at = operands
        .iter()
        .position(|field| field.raw().contains('.') && !field.raw().contains([' ', '/', '*']));
    let Some((function, rest)) = at.and_then(|at| operands.get(at..)?.split_first()) else {
        return;
    };
    let Some(first) = rest.first() else {
        return;
    };
    let site = match args.program {
        "salt-call" => Site::Local,
        _ => Site::Remote,
    };
    away(walker, site, false, |walker| match function.raw() {
        "cmd.run" | "cmd.shell" | "cmd.run_all" | "cmd.run_stdout" => walker.nested_text(first),
        "file.remove" | "file.absent" => {
            walker.path_effect(Verb::Delete, "salt file.remove", first, true);
        }
        "mysql.db_remove" | "postgres.db_remove" => {
            let target = format!("database {}", first.shown());
            let reach = unless_test(first.raw(), Reach::Sweeping);
            add(walker, Verb::Drop, reach, "salt db_remove", &target);
        }
        _ => {}
    });
}

/// `pssh`, `pdsh`, `clush`, `tsh ssh`: a command behind options.
fn shells(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
    const VALUED: [&str; 14] = [
        "-h", "--hosts", "-H", "--host", "-l", "--user", "-p", "-t", "-o", "-e", "-w", "-g", "-x",
        "--par",
    ];
    let operands = args.operands(&VALUED);
    // `tsh ssh host command`.
    let skip = if args.program == "tsh" { 2 } else { 0 };
    if args.program == "tsh" && operands.first().is_none_or(|word| word.raw() != "ssh") {
        return;
    }
    let rest: Vec<Field> = operands.into_iter().skip(skip).cloned().collect();
    let text = joined(&rest);
    away(walker, Site::Remote, false, |walker| {
        walker.nested_text(&text)
    });
}
