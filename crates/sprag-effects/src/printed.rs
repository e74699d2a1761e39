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
            "base64" => {
                let fields = self.fields(simple.words.get(1..)?);
                let decodes = |field: &Field| matches!(field.raw(), "-d" | "-D" | "--decode");
                let files = fields.iter().any(|field| !field.raw().starts_with('-'));
                if files || !fields.iter().any(decodes) {
                    return None;
                }
                self.redirects(&command.redirects);
                decoded(self.input.as_ref()?.raw()).map(Field::literal)
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

/// The text that Base64 stands for; none if it is not one.
fn decoded(text: &str) -> Option<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    for byte in digits.take_while(|byte| *byte != b'=') {
        let value = ALPHABET.iter().position(|known| *known == byte)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
        bits &= (1 << count) - 1;
    }
    String::from_utf8(bytes).ok()
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
