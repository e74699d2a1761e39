//! Programs that change files which they name: in place, by copying, moving or linking, or as their output.

use super::own_path::Own;
use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

/// Programs that change files that they name.
#[rustfmt::skip]
const WRITERS: [&str; 19] = [
    "rm", "tee", "truncate", "unlink", "shred", "chmod", "chown", "chattr", "sqlite3", "rmdir",
    "touch", "sponge", "patch", "ed", "ex", "setfacl", "sd", "mount", "split",
];
/// Programs whose changes reach all that lies below a folder.
const WHOLE: [&str; 4] = ["chmod", "chown", "chattr", "mount"];
/// Options under which any program is told the file that it writes.
#[rustfmt::skip]
const OUTPUTS: [&str; 6] = [
    "--output", "--output-document", "--output-file", "--out", "-out", "--outfile",
];
/// Programs whose `-o` or `-O` is the file that they write.
const SHORT_OUTPUTS: [&str; 7] = ["curl", "wget", "jq", "sort", "gpg", "pandoc", "openssl"];
/// Options under which a program is told the folder that it writes into.
const OUTPUT_FOLDERS: [(&str, &[&str]); 3] = [
    ("curl", &["--output-dir"]),
    ("wget", &["-P", "--directory-prefix"]),
    ("patch", &["-d", "--directory"]),
];

/// Whether a program changes one of the guard's own files.
pub(super) fn writes(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let own = |field: &Field| walker.is_guards(field);
    match args.program {
        "cp" | "gcp" | "install" | "rsync" | "scp" | "mv" | "gmv" | "ln" | "ditto" => {
            return copies(walker, args);
        }
        "git" => return git(walker, args),
        "dd" => {
            let into = |field: &Field| {
                let path = field.raw().strip_prefix("of=");
                path.is_some_and(|path| own(&Field::literal(path)))
            };
            return args.iter().any(into);
        }
        "apply_patch" => {
            let input = walker.input.iter().chain(args.fields);
            let patches = |text: &Field| super::file_tool::patches_guard(walker.places, text.raw());
            return input.into_iter().any(patches);
        }
        "docker" | "podman" | "nerdctl" => return mounts(walker, args),
        _ => {}
    }
    if edits(args) && args.operands(&[]).into_iter().any(own) {
        return true;
    }
    let whole = WHOLE.contains(&args.program) && !args.is_help();
    if whole && (args.short('R') || matches!(args.program, "mount" | "chattr")) {
        let folder = |field: &Field| walker.loses(field);
        if args.operands(&[]).into_iter().any(folder) {
            return true;
        }
    }
    outputs(walker, args)
}

/// Whether the program changes the files that it names.
fn edits(args: &Args<'_>) -> bool {
    match args.program {
        "sed" | "gsed" => args.long("--in-place") || args.short('i'),
        "perl" | "ruby" => args.short('i'),
        "awk" | "gawk" => args.has("inplace"),
        "yq" => args.long("--inplace") || args.long("--in-place") || args.short('i'),
        // With commands of its own an editor needs no person.
        "vim" | "vi" | "nvim" => args.iter().any(|field| {
            let text = field.raw();
            text.starts_with('+') || text.starts_with("-c") || matches!(text, "-es" | "-Es" | "-s")
        }),
        "emacs" => args.has_any(&["--batch", "-batch"]),
        program => WRITERS.contains(&program),
    }
}

fn outputs(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let short: &[&str] = match SHORT_OUTPUTS.contains(&args.program) {
        true => &["-o", "-O"],
        false => &[],
    };
    let files = args.values(&OUTPUTS).into_iter().chain(args.values(short));
    if files.into_iter().any(|file| walker.is_guards(&file)) {
        return true;
    }
    let folders = OUTPUT_FOLDERS
        .iter()
        .find(|(name, _)| *name == args.program);
    folders.is_some_and(|(_, names)| {
        let mut folders = args.values(names).into_iter();
        folders.any(|folder| walker.is_guards_folder(&folder))
    })
}

/// Options of programs that copy, with a value.
fn valued(program: &str) -> &'static [&'static str] {
    match program {
        "rsync" => &["-e", "--rsh", "--exclude", "--include", "--filter", "-f"],
        "scp" => &["-P", "-i", "-o", "-F", "-J", "-l"],
        "install" => &["-t", "--target-directory", "-m", "--mode", "-o", "-g"],
        _ => &["-t", "--target-directory", "-S", "--suffix"],
    }
}

/// `cp a b folder`, `cp -t folder a b`, `rsync a/ folder/`, `mv`, `ln`.
fn copies(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let rsync = args.program == "rsync";
    if args.is_dry_run() || args.is_help() || (rsync && args.short('n')) {
        return false;
    }
    let mut sources = args.operands(valued(args.program));
    let into = match args.program {
        "rsync" | "scp" => None,
        _ => args.value(&["-t", "--target-directory"]),
    };
    let Some(into) = into.or_else(|| sources.pop().cloned()) else {
        return false;
    };
    let moved = |source: &&Field| match args.program {
        "mv" | "gmv" => walker.loses(source),
        "ln" => walker.is_guards(source),
        // The program under another name.
        _ => walker.own(source) == Some(Own::Program),
    };
    if sources.iter().any(moved) {
        return true;
    }
    let text = into.raw();
    let colon = text
        .split('/')
        .next()
        .is_some_and(|host| host.contains(':'));
    if matches!(args.program, "rsync" | "scp") && colon {
        return false;
    }
    let whole = args.long("--no-target-directory")
        || (args.short('T') && !rsync)
        || (args.program == "ln" && args.short('n'))
        || (args.program == "ditto");
    walker.is_guards(&into)
        || (whole && walker.is_guards_folder(&into))
        || sources
            .iter()
            .any(|source| lands(walker, &into, source, rsync))
}

/// Whether `source`, copied into the folder `into`, takes the place of what is the guard's.
fn lands(walker: &Walker<'_>, into: &Field, source: &Field, rsync: bool) -> bool {
    let raw = source.raw();
    let contents = raw.ends_with("/.")
        || raw == "."
        || (rsync && raw.ends_with('/'))
        || (source.globs && raw.ends_with("/*"));
    if contents {
        return walker.is_guards_folder(into);
    }
    let name = raw.trim_end_matches('/').rsplit('/').next().unwrap_or(raw);
    let mut there = Field::literal(format!("{}/{name}", into.raw()));
    there.globs = source.globs;
    walker.is_guards(&there) || walker.is_guards_folder(&there)
}

/// `git checkout old -- .claude/settings.json`, `git clone … ~/.claude`.
fn git(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let mut operands = args
        .operands(&["-C", "-c", "--git-dir", "--work-tree"])
        .into_iter();
    let Some(command) = operands.next() else {
        return false;
    };
    let repository = args.value(&["-C"]).unwrap_or_else(|| Field::literal("."));
    let place = |field: &Field| match field.raw().starts_with('/') {
        true => field.clone(),
        false => Field::literal(format!("{}/{}", repository.raw(), field.raw())),
    };
    let staged = args.long("--staged") && !args.long("--worktree");
    match command.raw() {
        "clone" => operands.skip(1).any(|field| walker.is_guards_folder(field)),
        "checkout" | "restore" | "rm" | "mv" | "reset" | "clean" | "stash" | "switch" => {
            let looks = staged || args.has("--cached") || args.is_dry_run();
            let words = ["list", "show"];
            let lists = command.raw() == "stash" && args.has_any(&words);
            !looks
                && !lists
                && (walker.is_guards_folder(&repository)
                    || operands.any(|field| walker.is_guards(&place(field))))
        }
        _ => false,
    }
}

/// `docker run -v ~/.local/state/sprag:/s`: what runs there can change it.
fn mounts(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let volumes = args.values(&["-v", "--volume"]);
    let read_only = |text: &str| text.ends_with(":ro");
    volumes.iter().any(|volume| {
        let place = volume.raw().split(':').next().unwrap_or_default();
        !read_only(volume.raw()) && walker.own(&Field::literal(place)) == Some(Own::Store)
    })
}
