//! Git: what throws work away, and what overwrites or removes branches that others use.

use sprag_core::{Effect, Reach, Verb};

use super::{add, add_replaceable};
use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let mut at = 0;
    let mut repository = Field::literal(".");
    // Options of git itself stand before the subcommand.
    while let Some(field) = args.fields.get(at) {
        match field.raw() {
            "-C" => {
                if let Some(folder) = args.fields.get(at + 1) {
                    repository = folder.clone();
                }
                at += 2;
            }
            "-c" | "--git-dir" | "--work-tree" | "--namespace" => at += 2,
            text if text.starts_with('-') => at += 1,
            _ => break,
        }
    }
    let Some(subcommand) = args.fields.get(at) else {
        return;
    };
    let args = Args {
        program: subcommand.raw(),
        fields: args.skip(at + 1),
    };
    if args.is_help() || args.has("-h") {
        return;
    }
    let reach = reach_of(walker, &repository);
    match args.program {
        "push" => push(walker, &args),
        "branch" | "tag" | "update-ref" | "symbolic-ref" => refs(walker, &args, reach),
        "worktree" => worktree(walker, &args),
        "rm" => removed(walker, &args, &repository),
        _ => thrown_away(walker, &args, reach),
    }
}

/// Where the repository is: scratch, elsewhere or the workspace.
fn reach_of(walker: &Walker<'_>, repository: &Field) -> Reach {
    let reach = walker.judge(repository, false).reach;
    match walker.site {
        crate::reach::Site::Local => reach.min(Reach::Outside),
        _ => reach,
    }
}

fn thrown_away(walker: &mut Walker<'_>, args: &Args<'_>, reach: Reach) {
    #[rustfmt::skip]
    const VALUED: [&str; 7] = [
        "-m", "--message", "-s", "--source", "--pathspec-from-file", "-e", "--exclude",
    ];
    let words = args.words(&VALUED);
    let forced = args.short('f') || args.long("--force");
    let found = match args.program {
        "reset" if args.has("--hard") => {
            all_of(Verb::Reset, "git reset --hard", "the working tree")
        }
        "clean" => clean(args),
        "checkout" => checkout(args),
        "switch" if args.has("--discard-changes") || forced => all_of(
            Verb::Reset,
            "git switch --discard-changes",
            "the working tree",
        ),
        "restore" => restore(args, &words),
        "stash" => stash(&words),
        "filter-branch" | "filter-repo" if !args.is_dry_run() => {
            all_of(Verb::Reset, "git filter-branch", "the history")
        }
        "reflog" if matches!(words.first(), Some(&("expire" | "delete"))) => {
            all_of(Verb::Delete, "git reflog expire", "the reflog")
        }
        "gc" if args.has_any(&["--prune=now", "--prune=all"]) => {
            all_of(Verb::Delete, "git gc --prune", "unreachable commits")
        }
        "submodule" if words.first() == Some(&"deinit") && forced => {
            let paths = words.get(1..).unwrap_or_default().join(" ");
            all_of(Verb::Delete, "git submodule deinit", &paths)
        }
        _ => None,
    };
    if let Some((verb, by, target)) = found {
        add(walker, verb, reach, by, &target);
    }
}

fn all_of(verb: Verb, by: &'static str, target: &str) -> Option<(Verb, &'static str, String)> {
    Some((verb, by, target.to_owned()))
}

fn stash(words: &[&str]) -> Option<(Verb, &'static str, String)> {
    match words {
        ["drop"] => all_of(Verb::Delete, "git stash drop", "stash"),
        ["drop", name, ..] => all_of(Verb::Delete, "git stash drop", &format!("stash {name}")),
        ["clear", ..] => all_of(Verb::Delete, "git stash clear", "all stashes"),
        _ => None,
    }
}

fn clean(args: &Args<'_>) -> Option<(Verb, &'static str, String)> {
    let forced = args.short('f') || args.long("--force");
    let dry = args.short('n') || args.is_dry_run() || args.short('i');
    if !forced || dry {
        return None;
    }
    let paths = args.words(&["-e", "--exclude"]);
    let target = if paths.is_empty() {
        "untracked files".to_owned()
    } else {
        format!("untracked files in {}", paths.join(" "))
    };
    Some((Verb::Delete, "git clean", target))
}

/// `checkout -- path`, `checkout .`, `checkout -f`: a branch alone throws nothing away.
fn checkout(args: &Args<'_>) -> Option<(Verb, &'static str, String)> {
    let found = |target: String| Some((Verb::Reset, "git checkout", target));
    if args.has_any(&[
        "-b", "-B", "--orphan", "--track", "-t", "--detach", "-p", "--patch",
    ]) {
        return None;
    }
    if let Some(at) = args.iter().position(|field| field.raw() == "--") {
        let paths: Vec<_> = args.skip(at + 1).iter().map(Field::shown).collect();
        return if paths.is_empty() {
            None
        } else {
            found(paths.join(" "))
        };
    }
    let paths: Vec<&str> = args
        .words(&["--conflict"])
        .into_iter()
        .filter(|word| is_path(word))
        .collect();
    if !paths.is_empty() {
        return found(paths.join(" "));
    }
    if args.short('f') || args.long("--force") {
        return found("the working tree".to_owned());
    }
    None
}

/// Whether a word is rather a path than a branch.
fn is_path(word: &str) -> bool {
    #[rustfmt::skip]
  const ENDINGS: [&str; 34] = [
      "rs", "py", "js", "ts", "tsx", "jsx", "go", "java", "c", "h", "cpp", "hpp", "cs", "rb",
      "php", "swift", "kt", "md", "json", "toml", "yaml", "yml", "lock", "txt", "html", "css",
      "scss", "sql", "sh", "vue", "svelte", "xml", "ini", "cfg",
  ];
    let ending = word.rsplit_once('.').map(|(_, ending)| ending);
    word == "."
        || word.starts_with("./")
        || word.starts_with("../")
        || word.starts_with(":/")
        || word.contains('*')
        || word.ends_with('/')
        || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

fn restore(args: &Args<'_>, words: &[&str]) -> Option<(Verb, &'static str, String)> {
    let staged_only =
        (args.long("--staged") || args.short('S')) && !(args.long("--worktree") || args.short('W'));
    if staged_only || words.is_empty() || args.has_any(&["-p", "--patch"]) {
        return None;
    }
    Some((Verb::Reset, "git restore", words.join(" ")))
}

/// Branches on which others build.
fn is_protected(branch: &str) -> bool {
    let name = branch.trim_start_matches("refs/heads/");
    matches!(name, "main" | "master" | "trunk" | "develop" | "production")
        || name.starts_with("release/")
}

fn push(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.is_dry_run() || args.short('n') {
        return;
    }
    let words = args.words(&["-o", "--push-option", "--repo", "--receive-pack", "--exec"]);
    let forced = args.short('f')
        || args.iter().any(|field| {
            let text = field.raw();
            text == "--force"
                || text.starts_with("--force-with-lease")
                || text == "--force-if-includes"
        });
    let globs = words.iter().skip(1).any(|word| word.ends_with("heads/*"));
    let all = args.has_any(&["--all", "--branches"]) || globs;
    if args.long("--mirror") || all && (forced || args.long("--prune")) {
        let by = if args.long("--mirror") {
            "git push --mirror"
        } else {
            "git push --force"
        };
        let remote = words.first().copied().unwrap_or("origin");
        add(
            walker,
            Verb::Reset,
            Reach::Sweeping,
            by,
            &format!("all branches of {remote}"),
        );
        return;
    }
    let deletes = args.long("--delete") || args.short('d');
    for word in words.iter().skip(1) {
        let spec = word.trim_start_matches('+');
        let (source, branch) = spec.split_once(':').unwrap_or((spec, spec));
        let removes = deletes || source.is_empty() && spec.contains(':');
        let overwrites = forced || word.starts_with('+');
        if !(removes || overwrites) || branch.is_empty() || branch == "HEAD" {
            continue;
        }
        let (verb, by) = if removes {
            (Verb::Delete, "git push --delete")
        } else {
            (Verb::Reset, "git push --force")
        };
        let target = format!("branch {}", branch.trim_start_matches("refs/heads/"));
        if is_protected(branch) {
            add(walker, verb, Reach::Sweeping, by, &target);
        } else {
            add_replaceable(walker, verb, Reach::Shared, by, &target);
        }
    }
}

fn refs(walker: &mut Walker<'_>, args: &Args<'_>, reach: Reach) {
    let forced = args.short('D')
        || (args.short('d') || args.long("--delete")) && (args.short('f') || args.long("--force"));
    let (by, deletes) = match args.program {
        "branch" => ("git branch -D", forced),
        "tag" => ("git tag -d", args.short('d') || args.long("--delete")),
        _ => ("git update-ref -d", args.short('d')),
    };
    // A branch that only follows a remote one is fetched again.
    if !deletes || args.short('r') {
        return;
    }
    let names = args.words(&[]);
    let names = if args.program == "update-ref" {
        names.get(..1).unwrap_or_default().to_vec()
    } else {
        names
    };
    for name in names {
        let target = format!(
            "{} {}",
            if args.program == "tag" {
                "tag"
            } else {
                "branch"
            },
            name.trim_start_matches("refs/heads/")
        );
        if is_protected(name) && args.program != "tag" && reach != Reach::Scratch {
            add(walker, Verb::Delete, Reach::Sweeping, by, &target);
        } else {
            add_replaceable(walker, Verb::Delete, reach, by, &target);
        }
    }
}

/// `worktree remove --force`; without force git keeps what is not committed.
fn worktree(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.operands(&[]);
    let forced = args.short('f') || args.long("--force");
    if forced && words.first().is_some_and(|word| word.raw() == "remove") {
        for path in words.iter().skip(1) {
            let judged = walker.judge(path, false);
            walker.effect(Effect {
                verb: Verb::Delete,
                reach: judged.reach.min(Reach::Outside),
                vital: false,
                replaceable: false,
                by: "git worktree remove".into(),
                target: judged.target.into(),
            });
        }
    }
}

/// `git rm -f`; without force only what is committed goes.
fn removed(walker: &mut Walker<'_>, args: &Args<'_>, repository: &Field) {
    let forced = args.short('f') || args.long("--force");
    if !forced || args.has("--cached") || args.short('n') || args.is_dry_run() {
        return;
    }
    let reach = reach_of(walker, repository);
    for path in args.operands(&[]) {
        let judged = walker.judge(path, false);
        let reach = if judged.reach == Reach::Scratch {
            Reach::Scratch
        } else {
            reach
        };
        add(walker, Verb::Delete, reach, "git rm", &judged.target);
    }
}
