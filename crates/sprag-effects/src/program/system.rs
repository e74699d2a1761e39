//! Accounts, schedules and virtual machines of this machine.

use sprag_core::{Effect, Reach, Verb};

use super::add;
use crate::args::Args;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "crontab" if args.short('r') => {
            let by = "crontab -r";
            add(walker, Verb::Delete, Reach::Outside, by, "the crontab");
        }
        "userdel" | "deluser" => user(walker, args),
        "virsh" => machine(walker, args),
        _ => {}
    }
}

/// An account that goes with its home.
fn user(walker: &mut Walker<'_>, args: &Args<'_>) {
    let with_home = args.short('r') && args.program == "userdel"
        || args.long("--remove")
        || args.long("--remove-home")
        || args.long("--remove-all-files");
    let names = args.words(&["-R", "--root", "-P", "--prefix"]);
    if let (true, Some(name)) = (with_home, names.last()) {
        walker.effect(Effect {
            verb: Verb::Delete,
            reach: Reach::Sweeping,
            vital: true,
            replaceable: false,
            by: format!("{} with home", args.program).into(),
            target: format!("home of {name}").into(),
        });
    }
}

/// `virsh destroy` only switches a machine off.
fn machine(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&["-c", "--connect", "--pool", "--storage"]);
    let (Some(verb), Some(name)) = (words.first(), words.get(1)) else {
        return;
    };
    let storage = args.long("--remove-all-storage") || args.long("--storage");
    let kind = match *verb {
        "undefine" if storage => "machine",
        "vol-delete" | "vol-wipe" => "volume",
        "pool-delete" => "pool",
        _ => return,
    };
    let by = format!("virsh {verb}");
    let reach = super::unless_test(name, Reach::Sweeping);
    add(walker, Verb::Destroy, reach, &by, &format!("{kind} {name}"));
}
