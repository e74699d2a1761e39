//! `find`: what it removes itself, and what it runs for each file.
//!
//! What is picked by name, age or size is never a whole place; what is picked by everything, or by a
//! condition that is turned around, is.

use sprag_core::Verb;

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

/// Conditions that pick by something else than a name.
#[rustfmt::skip]
const OTHER_PICKS: [&str; 17] = [
    "-regex", "-iregex", "-mtime", "-mmin", "-size", "-newer", "-empty", "-atime", "-ctime",
    "-cmin", "-amin", "-user", "-perm", "-links", "-inum", "-group", "-samefile",
];

/// What `find` finds.
struct Found {
    fields: Vec<Field>,
    /// Whole places, not what is picked in them.
    whole: bool,
}

/// Notes what a `find` removes.
pub(crate) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let found = found(args);
    for field in &found.fields {
        if args.has("-delete") {
            walker.path_effect(Verb::Delete, "find -delete", field, found.whole);
        }
        for (at, option) in args.fields.iter().enumerate() {
            if matches!(option.raw(), "-exec" | "-execdir" | "-ok" | "-okdir") {
                exec(walker, args.skip(at + 1), field, found.whole);
            }
        }
    }
}

/// What a `find` prints, one path a line.
pub(crate) fn printed(args: &Args<'_>) -> Field {
    let mut text = Field::default();
    for field in found(args).fields {
        text.append(&field);
        text.push("\n");
    }
    text
}

fn found(args: &Args<'_>) -> Found {
    let mut starts: Vec<Field> = args
        .iter()
        .skip_while(|field| matches!(field.raw(), "-L" | "-H" | "-P"))
        .take_while(|field| !field.raw().starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    if starts.is_empty() {
        starts.push(Field::literal("."));
    }
    let names = names(args);
    let links = args
        .value(&["-type"])
        .is_some_and(|kind| !matches!(kind.raw(), "f" | "d"));
    // What stands right in a folder is all of it, if whole folders are removed.
    let shallow = args.has("-maxdepth") && !removes_folders(args);
    let picks = !names.is_empty() || links || shallow || args.has_any(&OTHER_PICKS);
    let mut fields = Vec::new();
    for start in starts.iter().take(8) {
        if !picks {
            fields.push(start.clone());
        } else if names.is_empty() {
            fields.push(below(start, Field::unknown().raw()));
        }
        for name in names.iter().take(8) {
            fields.push(below(start, name));
        }
    }
    Found {
        fields,
        whole: !picks,
    }
}

/// Whether it runs a recursive `rm` for what is found, folders included.
fn removes_folders(args: &Args<'_>) -> bool {
    let files = args.value(&["-type"]).is_some_and(|kind| kind.raw() != "d");
    let at = args.iter().position(|field| field.raw() == "rm");
    let rest = at.map_or(&[][..], |at| args.skip(at + 1));
    let row = |text: &str| text.starts_with('-') && text.contains(['r', 'R']);
    !files && rest.first().is_some_and(|options| row(options.raw()))
}

/// The names that are picked, without those that pick everything or are turned around.
fn names(args: &Args<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut before = "";
    let mut fields = args.iter().map(Field::raw);
    while let Some(text) = fields.next() {
        if matches!(text, "-name" | "-iname" | "-path" | "-ipath" | "-wholename") {
            let name = fields.next().unwrap_or_default();
            let name = name
                .trim_start_matches("./")
                .trim_start_matches("*/")
                .trim_end_matches("/*");
            let turned = matches!(before, "!" | "-not");
            if !turned && name != "*" && !name.is_empty() {
                names.push(name.to_owned());
            }
        }
        before = text;
    }
    names
}

fn below(start: &Field, name: &str) -> Field {
    let mut field = start.clone();
    field.push("/");
    field.push(name);
    field.globs = false;
    field
}

/// Runs what stands behind `-exec` for what was found; of a `whole` place, that is everything in it.
fn exec(walker: &mut Walker<'_>, rest: &[Field], found: &Field, whole: bool) {
    let mut inner: Vec<Field> = rest
        .iter()
        .take_while(|field| !matches!(field.raw(), ";" | "+"))
        .map(|field| match field.raw() {
            "{}" => found.clone(),
            text if text.contains("{}") => Field::literal(text.replace("{}", found.raw())),
            _ => field.clone(),
        })
        .collect();
    let removes = inner.first().is_some_and(|program| program.raw() == "rm");
    if whole && removes {
        inner.insert(1, Field::literal("-r"));
    }
    walker.wrapped(&inner);
}
