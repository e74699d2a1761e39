//! What a command prints, as far as its text tells: it is what another one is given by a pipe or `$(…)`.

use crate::args::Args;
use crate::expand::{Field, UNKNOWN};
use crate::shell::{self, Command, Kind};
use crate::walk::Walker;

impl Walker<'_> {
    /// What a command prints into a pipe.
    pub(crate) fn printed(&mut self, command: &Command) -> Option<Field> {
        let Kind::Simple(simple) = &command.kind else {
            return None;
        };
        let name = simple.words.first()?;
        let [shell::Part::Bare(name)] = name.parts.as_slice() else {
            return None;
        };
        let name = name.clone();
        match name.as_str() {
            "echo" | "printf" => {
                let fields = self.fields(simple.words.get(1..)?);
                Some(crate::builtin::echoed(&name, &fields))
            }
            "cat" if simple.words.len() == 1 => {
                self.redirects(&command.redirects);
                self.input.clone()
            }
            // A filter prints some of what it reads; which, is as unknown as before.
            "grep" | "sort" | "uniq" | "head" | "tail" => {
                self.input.clone().filter(|input| !input.is_known())
            }
            "find" | "kubectl" | "redis-cli" => {
                let argv = self.fields(&simple.words);
                listed(&argv)
            }
            _ => None,
        }
    }
}

/// What a program that lists things prints, with a mark for what only its run would show.
pub(crate) fn listed(argv: &[Field]) -> Option<Field> {
    let (program, fields) = argv.split_first()?;
    let args = Args {
        program: program.raw(),
        fields,
    };
    match args.program {
        "find" => Some(crate::find::printed(&args)),
        "kubectl" => {
            let names = args.value(&["-o", "--output"])?.raw() == "name";
            let words = args.words(&["-n", "--namespace", "--context", "-l", "--selector", "-o"]);
            let [_, kind, ..] = words.as_slice() else {
                return None;
            };
            let reads = words.first() == Some(&"get") && names;
            reads.then(|| Field::literal(format!("{kind}/{UNKNOWN}")))
        }
        "redis-cli" => {
            let words = args.words(&["-h", "-p", "-a", "-n", "-u", "--pattern", "--count"]);
            match words.as_slice() {
                [] if args.has("--scan") => {
                    let pattern = args.value(&["--pattern"]);
                    Some(pattern.unwrap_or_else(|| Field::literal("*")))
                }
                [keys, pattern] if keys.eq_ignore_ascii_case("keys") => {
                    Some(Field::literal(*pattern))
                }
                _ => None,
            }
        }
        _ => None,
    }
}
