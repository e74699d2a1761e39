//! What takes the guard off the machine or ends its server. Hooks that find no program let everything pass.

use super::orders::PROGRAMS;
use crate::args::Args;
use crate::expand::Field;

fn is_own(name: &str) -> bool {
    PROGRAMS.contains(&name) || matches!(name, "sprag-cli" | "sprag.service")
}

/// Whether it takes the guard's program off the machine.
pub(super) fn removes_program(args: &Args<'_>) -> bool {
    #[rustfmt::skip]
    const MANAGERS: [&str; 19] = [
        "cargo", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "brew", "apt",
        "apt-get", "dnf", "conda", "yum", "zypper", "apk", "snap", "mise",
    ];
    let removes = |field: &Field| {
        matches!(
            field.raw(),
            "uninstall" | "remove" | "rm" | "un" | "purge" | "r" | "del"
        )
    };
    let operands = args.operands(&[]);
    let verb = match args.program {
        "dpkg" => args.has_any(&["-r", "-P", "--remove", "--purge"]),
        "rpm" => args.short('e') || args.long("--erase"),
        "pacman" => args.short('R'),
        program => {
            MANAGERS.contains(&program) && operands.iter().take(2).any(|field| removes(field))
        }
    };
    verb && operands.into_iter().any(|field| is_own(field.raw()))
}

/// Whether it ends the guard's server.
pub(super) fn stops_server(args: &Args<'_>) -> bool {
    let operands = args.operands(&["-s", "--signal", "-u", "-U", "-t", "--time"]);
    let words: Vec<&str> = operands.iter().map(|field| field.raw()).collect();
    let named = || words.iter().any(|word| is_own(word));
    match args.program {
        "pkill" | "killall" => words
            .iter()
            .any(|word| word.split([' ', '/']).any(|part| PROGRAMS.contains(&part))),
        // The number of a process that was looked up by its name.
        "kill" => words.iter().any(|word| word.ends_with("sprag")),
        "systemctl" | "brew" | "service" | "rc-service" => {
            named()
                && words
                    .iter()
                    .any(|word| matches!(*word, "stop" | "disable" | "mask" | "kill"))
        }
        "launchctl" => {
            let verb = words.first().copied().unwrap_or_default();
            let ends = matches!(verb, "unload" | "bootout" | "remove" | "stop" | "disable");
            ends && words.iter().any(|word| word.contains("sprag"))
        }
        "docker" | "podman" | "nerdctl" => match words.as_slice() {
            ["stop" | "kill" | "rm" | "pause", names @ ..]
            | ["container", "stop" | "kill" | "rm" | "pause", names @ ..] => {
                names.contains(&"sprag")
            }
            _ => false,
        },
        _ => false,
    }
}
