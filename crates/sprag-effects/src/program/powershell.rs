//! PowerShell and `cmd`: the commands that remove, as far as they are written out.
//!
//! Not a parser of either language: a text is cut into commands at line ends, `;`, `|` and `&&`, and each is
//! read as words. Blocks (`{ … }`) and calculations are not run; a variable that the text does not set is
//! unknown. Programs of the system behind it are looked at like in any other shell.

use sprag_core::{Reach, Verb};

use super::{add, add_replaceable, http, noun, unless_test};
use crate::args::Args;
use crate::expand::{Field, HOME, UNKNOWN};
use crate::walk::Walker;

/// The most commands of a text.
const MAX_COMMANDS: usize = 256;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let windows = args.program == "cmd";
    let marks: &[&str] = if windows {
        &["/c", "/C", "/k", "/K", "/s"]
    } else {
        &["-c", "-Command", "-command", "--command", "/c", "-C"]
    };
    let at = args.iter().position(|field| marks.contains(&field.raw()));
    let text = match at {
        Some(at) => Some(crate::builtin::joined(args.skip(at + 1))),
        None => {
            let plain = args.fields.first().filter(|_| args.fields.len() == 1);
            let text = plain.filter(|field| field.raw().contains(' '));
            text.cloned().or_else(|| walker.input.take())
        }
    };
    if let Some(text) = text {
        script(walker, text.raw(), windows);
    }
}

/// Notes what a script removes.
pub(crate) fn script(walker: &mut Walker<'_>, text: &str, windows: bool) {
    if walker.wrappers >= crate::walk::MAX_WRAPPERS || !walker.spend(4 * text.len()) {
        return;
    }
    walker.wrappers += 1;
    // What `Get-ChildItem` lists, for what stands behind its pipe.
    let mut listed: Option<Field> = None;
    for command in commands(text, windows).iter().take(MAX_COMMANDS) {
        one(walker, command, &mut listed, windows);
    }
    walker.wrappers -= 1;
}

/// A command: its words, and whether a pipe leads into it.
struct CommandWords {
    words: Vec<Field>,
    piped: bool,
}

/// The commands of a text.
fn commands(text: &str, windows: bool) -> Vec<CommandWords> {
    let mut all = Vec::new();
    let mut open = CommandWords {
        words: Vec::new(),
        piped: false,
    };
    let mut word: Option<String> = None;
    let mut globs = false;
    let mut quote: Option<char> = None;
    let escape = if windows { '^' } else { '`' };
    let mut characters = text.chars().peekable();
    while let Some(next) = characters.next() {
        match quote {
            Some(mark) if next == mark => quote = None,
            Some(_) => word.get_or_insert_default().push(next),
            None if next == '"' || next == '\'' && !windows => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            None if next == escape => word.get_or_insert_default().extend(characters.next()),
            None if next == '#' && word.is_none() && !windows => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            None if next.is_whitespace() || matches!(next, ';' | '|' | '&' | '{' | '}' | ',') => {
                if let Some(word) = word.take() {
                    open.words
                        .push(field(&word, std::mem::take(&mut globs), windows));
                }
                let ends = matches!(next, '\n' | ';' | '|' | '{' | '}') || next == '&';
                if ends && !open.words.is_empty() {
                    all.push(std::mem::replace(
                        &mut open,
                        CommandWords {
                            words: Vec::new(),
                            piped: next == '|',
                        },
                    ));
                }
            }
            None => {
                globs |= matches!(next, '*' | '?');
                word.get_or_insert_default().push(next);
            }
        }
    }
    if let Some(word) = word {
        open.words.push(field(&word, globs, windows));
    }
    if !open.words.is_empty() {
        all.push(open);
    }
    all
}

/// A word with its variables and in the form of other paths.
fn field(word: &str, globs: bool, windows: bool) -> Field {
    let lower = word.to_ascii_lowercase();
    let place = |names: &[&str], value: &str| {
        names.iter().find_map(|name| {
            let rest = lower.strip_prefix(name)?;
            let rest = word.get(word.len() - rest.len()..)?;
            Some(format!("{value}{rest}"))
        })
    };
    let home = [
        "$home",
        "${home}",
        "$env:userprofile",
        "$env:home",
        "%userprofile%",
        "~",
    ];
    let temporary = ["$env:temp", "$env:tmp", "$env:tmpdir", "%temp%", "%tmp%"];
    let here = ["$pwd.path", "$pwd", "${pwd}", "%cd%"];
    let mut text = place(&home, HOME.encode_utf8(&mut [0; 4]))
        .or_else(|| place(&temporary, "/tmp"))
        .or_else(|| place(&here, "."))
        .unwrap_or_else(|| word.to_owned());
    let variable = if windows { '%' } else { '$' };
    if let Some(at) = text.find(variable) {
        text.truncate(at);
        text.push(UNKNOWN);
    }
    // An option of `cmd` starts with a slash, so only what looks like a path is turned around.
    if text.contains('\\') {
        text = text.replace('\\', "/");
    }
    let drive = text.as_bytes().get(1) == Some(&b':')
        && text.starts_with(|first: char| first.is_ascii_alphabetic());
    if drive {
        text = format!(
            "/{}",
            text.get(2..).unwrap_or_default().trim_start_matches('/')
        );
    }
    let mut field = Field::literal(text);
    field.globs = globs;
    field
}

fn one(walker: &mut Walker<'_>, command: &CommandWords, listed: &mut Option<Field>, windows: bool) {
    let Some((program, fields)) = command.words.split_first() else {
        return;
    };
    let name = program.raw().to_ascii_lowercase();
    let before = listed.take().filter(|_| command.piped);
    let has = |starts: &str| {
        let option = |field: &Field| field.raw().to_ascii_lowercase().starts_with(starts);
        fields.iter().any(option)
    };
    match name.as_str() {
        "remove-item" | "ri" | "rm" | "rmdir" | "rd" | "del" | "erase" => {
            if !has("-whatif") {
                let recursive = has(if windows { "/s" } else { "-r" });
                removed(walker, &name, (fields, before), recursive, windows);
            }
        }
        "get-childitem" | "gci" | "ls" | "dir" | "get-item" => {
            let mut path = operands(fields, windows).into_iter().next();
            if let Some(path) = path.as_mut().filter(|path| !path.globs) {
                path.push("/*");
                path.globs = true;
            }
            *listed = path.or_else(|| Some(Field::literal("*")));
        }
        "where-object" | "where" | "?" | "foreach-object" | "%" | "sort-object"
        | "select-object" => {
            // What is picked of a list is not all of it.
            *listed = before.map(|mut field| {
                field.push(UNKNOWN.encode_utf8(&mut [0; 4]));
                field
            });
        }
        "set-location" | "cd" | "sl" | "chdir" | "push-location" => {
            moved(walker, operands(fields, windows).first());
        }
        "invoke-restmethod" | "irm" | "invoke-webrequest" | "iwr" => request(walker, fields),
        "invoke-expression" | "iex" => {
            if let Some(text) = fields.first() {
                script(walker, text.raw(), windows);
            }
        }
        "clear-disk" | "format-volume" | "initialize-disk" => {
            let target = fields.last().map(Field::shown).unwrap_or_default();
            let reach = Reach::Sweeping;
            add(
                walker,
                Verb::Format,
                reach,
                &name,
                &format!("disk {target}"),
            );
        }
        name if name.starts_with("remove-") && !has("-whatif") => cmdlet(walker, program, fields),
        "write-host" | "write-output" | "echo" | "rem" => {}
        _ => walker.wrapped(&command.words),
    }
}

/// Goes to another folder.
fn moved(walker: &mut Walker<'_>, folder: Option<&Field>) {
    if let Some(folder) = folder {
        let path = walker.places.path(folder.raw(), &walker.environment.folder);
        walker.environment.folder = path.text();
    }
}

/// Removes the paths among `fields`; without one, what the pipe lists.
fn removed(
    walker: &mut Walker<'_>,
    name: &str,
    (fields, listed): (&[Field], Option<Field>),
    recursive: bool,
    windows: bool,
) {
    let operands = operands(fields, windows);
    let piped = operands.is_empty().then_some(listed).flatten();
    for path in operands.into_iter().chain(piped) {
        walker.path_effect(Verb::Delete, name, &path, recursive);
    }
}

/// The paths of a command: what is no option, nor the value of one that names something else.
fn operands(fields: &[Field], windows: bool) -> Vec<Field> {
    let mut found = Vec::new();
    let mut skips = false;
    for field in fields {
        let text = field.raw().to_ascii_lowercase();
        if windows && text.starts_with('/') && text.len() <= 3 {
            continue;
        }
        if !windows && text.starts_with('-') {
            skips = [
                "-filter",
                "-include",
                "-exclude",
                "-erroraction",
                "-ea",
                "-depth",
            ]
            .contains(&text.as_str());
            continue;
        }
        if !std::mem::take(&mut skips) {
            found.push(field.clone());
        }
    }
    found
}

/// `Invoke-RestMethod -Method Delete -Uri …`
fn request(walker: &mut Walker<'_>, fields: &[Field]) {
    let after = |name: &str| {
        let at = fields
            .iter()
            .position(|field| field.raw().eq_ignore_ascii_case(name))?;
        fields.get(at + 1).map(Field::raw)
    };
    let deletes = after("-Method").is_some_and(|method| method.eq_ignore_ascii_case("delete"));
    let url = after("-Uri").or_else(|| {
        let urls = fields.iter().map(Field::raw);
        urls.into_iter().find(|text| text.contains("://"))
    });
    if let Some(url) = url.filter(|_| deletes) {
        http::delete(walker, "Invoke-RestMethod", url);
    }
}

/// `Remove-AzResourceGroup -Name rg`, `Remove-EC2Instance -InstanceId i-1`: verb and noun in one name.
fn cmdlet(walker: &mut Walker<'_>, program: &Field, fields: &[Field]) {
    let noun = program.raw().split_once('-').map_or("", |(_, noun)| noun);
    let vendors = [
        "az", "ec2", "rds", "s3", "gcs", "gce", "vm", "ad", "ddb", "sql", "k8s", "cfn",
    ];
    let mut words = noun::words(noun);
    let vendor = words
        .first()
        .is_some_and(|first| vendors.iter().any(|vendor| first.starts_with(vendor)));
    if !vendor {
        return;
    }
    if words.len() > 1 {
        words.remove(0);
    }
    let kind = words.join("-");
    let judged = noun::judge(&kind);
    let named = fields.windows(2).find_map(|pair| match pair {
        [option, value] => {
            let option = option.raw().to_ascii_lowercase();
            let names =
                option.starts_with('-') && (option.ends_with("name") || option.ends_with("id"));
            names.then(|| value.shown())
        }
        _ => None,
    });
    let first = || fields.first().filter(|field| !field.raw().starts_with('-'));
    let name = named
        .or_else(|| first().map(Field::shown))
        .unwrap_or_default();
    let reach = unless_test(&name, judged.reach);
    let target = format!("{kind} {name}");
    let by = program.shown();
    if judged.replaceable {
        add_replaceable(walker, Verb::Destroy, reach, &by, target.trim_end());
    } else {
        add(walker, Verb::Destroy, reach, &by, target.trim_end());
    }
}
