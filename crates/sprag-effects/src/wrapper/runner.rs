//! Runners: programs of which a subcommand runs another program (`npm exec`, `poetry run`, `aws-vault exec`).
//!
//! Scripts of a package are not read.

use super::{inner, set_all};
use crate::args::Args;
use crate::walk::Walker;

/// Options that take a value and stand before the program.
#[rustfmt::skip]
const VALUED: [&str; 22] = [
    "--prefix", "--filter", "-C", "--cwd", "--with", "--package", "-p", "-n", "--name", "--env",
    "--path", "--projectId", "--project", "--environment", "-s", "--service", "--using", "--node",
    "--duration", "--region", "--workspace-folder", "-e",
];

/// The program, the subcommands that run what follows, and how many words stand before that.
const RUNNERS: [(&str, &[&str], usize); 36] = [
    ("npm", &["exec", "x"], 0),
    ("pnpm", &["exec", "x", "dlx"], 0),
    ("yarn", &["exec", "dlx", "run"], 0),
    ("bun", &["x"], 0),
    ("poetry", &["run"], 0),
    ("uv", &["run"], 0),
    ("pipenv", &["run"], 0),
    ("rye", &["run"], 0),
    ("hatch", &["run"], 0),
    ("pdm", &["run"], 0),
    ("bundle", &["exec"], 0),
    ("mise", &["exec", "x"], 0),
    ("conda", &["run"], 0),
    ("mamba", &["run"], 0),
    ("micromamba", &["run"], 0),
    ("pixi", &["run"], 0),
    ("devbox", &["run"], 0),
    ("asdf", &["exec"], 0),
    ("rbenv", &["exec"], 0),
    ("pyenv", &["exec"], 0),
    ("nodenv", &["exec"], 0),
    ("nvm", &["exec"], 1),
    ("fnm", &["exec"], 0),
    ("volta", &["run"], 0),
    ("aws-vault", &["exec"], 1),
    ("chamber", &["exec"], 1),
    ("teller", &["run"], 0),
    ("infisical", &["run"], 0),
    ("railway", &["run"], 0),
    ("lerna", &["exec"], 0),
    ("nx", &["exec"], 0),
    ("toolbox", &["run"], 0),
    ("distrobox", &["enter"], 1),
    ("devcontainer", &["exec"], 0),
    ("ddev", &["exec"], 0),
    ("lando", &["ssh"], 0),
];

/// Subcommands of any program that run what stands behind `--`. Behind a `run` may stand the arguments of what
/// is run (`cargo run -- rm x`).
const VERBS: [&str; 4] = ["exec", "shell", "enter", "ssh"];

/// Tools that migrate or wipe, as scripts of a package are called that run them.
#[rustfmt::skip]
const SCRIPTS: [&str; 14] = [
    "prisma", "typeorm", "knex", "sequelize", "sequelize-cli", "drizzle-kit", "mikro-orm",
    "rimraf", "del-cli", "supabase", "wrangler", "firebase", "cdk", "serverless",
];

/// Runs a runner; false if `args` is not one.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let words = args.words(&["--prefix", "--filter", "-C", "--cwd", "-w", "--workspace"]);
    let first = words.first().copied().unwrap_or_default();
    let listed = RUNNERS.iter().find(|(name, ..)| *name == args.program);
    let skip = match (args.program, listed) {
        ("npm" | "pnpm" | "yarn" | "bun", _) if is_script(&words) => 1,
        (_, Some((_, verbs, more))) if verbs.contains(&first) => 1 + more,
        // `yarn prisma …` and `ddev drush …` run the binary of that name.
        ("yarn", _) if first == "workspace" => 2,
        ("yarn" | "pnpm" | "ddev" | "lando", _) if !matches!(first, "" | "delete" | "destroy") => 0,
        ("symfony", _) if first == "console" => 0,
        ("nix", _) => return behind(walker, args, &["-c", "--command"]),
        ("xterm" | "konsole" | "alacritty" | "kitty" | "gnome-terminal", _) => {
            return behind(walker, args, &["-e", "-x", "--"]);
        }
        _ => return false,
    };
    let at = inner(args, &VALUED, skip);
    let fields = args.skip(at);
    walker.apart(|walker| {
        set_all(walker, args.fields.get(..at).unwrap_or_default());
        if is_script(&words) {
            let script = words.get(1).copied().unwrap_or_default();
            let mut argv = vec![crate::expand::Field::literal(script)];
            argv.extend(
                fields
                    .iter()
                    .filter(|field| field.raw() != "--" && field.raw() != script)
                    .cloned(),
            );
            walker.wrapped(&argv);
        } else {
            match fields {
                [only] if only.raw().contains(' ') => walker.nested_text(only),
                fields => walker.wrapped(fields),
            }
        }
    });
    true
}

/// `npm run typeorm -- schema:drop`.
fn is_script(words: &[&str]) -> bool {
    matches!(words, ["run" | "run-script", script, ..] if SCRIPTS.contains(script))
}

/// A program that nobody listed, with a subcommand that runs what stands behind `--`.
pub(crate) fn unlisted(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let first = args.fields.first().map_or("", |field| field.raw());
    VERBS.contains(&first) && behind(walker, args, &["--"])
}

/// Runs what stands behind the first of `marks`; false if none is given.
fn behind(walker: &mut Walker<'_>, args: &Args<'_>, marks: &[&str]) -> bool {
    let at = args.iter().position(|field| marks.contains(&field.raw()));
    let Some(at) = at else {
        return false;
    };
    let fields = args.skip(at + 1);
    walker.apart(|walker| match fields {
        [only] if only.raw().contains(' ') => walker.nested_text(only),
        fields => walker.wrapped(fields),
    });
    true
}
