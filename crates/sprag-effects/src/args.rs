//! The arguments of a program: flags, values of options, operands.

use crate::expand::Field;

/// A program's bare name and its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args<'a> {
    pub(crate) program: &'a str,
    pub(crate) fields: &'a [Field],
}

impl<'a> Args<'a> {
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &'a Field> + Clone + use<'a> {
        self.fields.iter()
    }

    /// Whether `word` is an argument, before `--` or after it.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.iter().any(|field| field.raw() == word)
    }

    pub(crate) fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// Whether the option `long` is given, with a value or without.
    pub(crate) fn long(&self, long: &str) -> bool {
        self.options().any(|text| {
            text.strip_prefix(long)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }

    /// Whether the letter `short` stands in a row of one-letter options.
    pub(crate) fn short(&self, short: char) -> bool {
        self.options()
            .any(|text| !text.starts_with("--") && text.contains(short))
    }

    fn options(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.iter()
            .map(Field::raw)
            .take_while(|text| *text != "--")
            .filter(|text| text.len() > 1 && text.starts_with('-'))
    }

    /// Whether it only explains itself or shows what it would do.
    pub(crate) fn is_help(&self) -> bool {
        let help = |text: &str| matches!(text, "--help" | "-help" | "--version");
        self.options().any(help)
            || self
                .fields
                .first()
                .is_some_and(|first| first.raw() == "help")
    }

    /// Whether a dry run is asked for in one of the usual ways.
    pub(crate) fn is_dry_run(&self) -> bool {
        #[rustfmt::skip]
    const WAYS: [&str; 14] = [
        "--dry-run", "--dryrun", "--dry_run", "--no-act", "--simulate", "--just-print",
        "--whatif", "--what-if", "-WhatIf", "--preview", "--noop", "--pretend", "--check-only",
        "-dry-run",
    ];
        let off = |text: &str| text.ends_with("=none") || text.ends_with("=false");
        self.options()
            .any(|text| WAYS.iter().any(|way| text.starts_with(way)) && !off(text))
    }

    /// The value of the first option of `names` that is given.
    pub(crate) fn value(&self, names: &[&str]) -> Option<Field> {
        let mut fields = self.iter();
        while let Some(field) = fields.next() {
            let text = field.raw();
            for name in names {
                if text == *name {
                    return fields.next().cloned();
                }
                let Some(rest) = text.strip_prefix(name) else {
                    continue;
                };
                if let Some(value) = rest.strip_prefix('=') {
                    return Some(Field::literal(value));
                }
                if name.len() == 2 && !name.starts_with("--") {
                    return Some(Field::literal(rest));
                }
            }
        }
        None
    }

    /// All values of the options `names`.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<Field> {
        let mut values = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            let rest = Args {
                program: self.program,
                fields: self.fields.get(at..).unwrap_or_default(),
            };
            let starts = names.iter().any(|name| field.raw().starts_with(name));
            if starts {
                values.extend(rest.value(names));
            }
        }
        values
    }

    /// All values of the options `names`, also of those that stand last in a row of letters: `-tAc text`.
    /// `valued` are the options that take a value.
    pub(crate) fn values_among(&self, names: &[&str], valued: &[&str]) -> Vec<Field> {
        let mut values = self.values(names);
        for pair in self.fields.windows(2) {
            if let [option, value] = pair
                && let Some(last) = last_of_row(option.raw(), valued)
                && names.contains(&last.as_str())
            {
                values.push(value.clone());
            }
        }
        values
    }

    /// What is not an option, nor the value of one of the options `valued`.
    pub(crate) fn operands(&self, valued: &[&str]) -> Vec<&'a Field> {
        let mut operands = Vec::new();
        let mut fields = self.iter();
        let mut options = true;
        while let Some(field) = fields.next() {
            let text = field.raw();
            if options && text == "--" {
                options = false;
            } else if options && text.len() > 1 && text.starts_with('-') {
                if takes_next(text, valued) {
                    fields.next();
                }
            } else {
                operands.push(field);
            }
        }
        operands
    }

    /// The operands as words, for subcommands.
    pub(crate) fn words(&self, valued: &[&str]) -> Vec<&'a str> {
        self.operands(valued).into_iter().map(Field::raw).collect()
    }

    /// The arguments from `at` on, under another program's name.
    pub(crate) fn skip(&self, at: usize) -> &'a [Field] {
        self.fields.get(at..).unwrap_or_default()
    }
}

/// Whether the argument after the option `text` is its value.
pub(crate) fn takes_next(text: &str, valued: &[&str]) -> bool {
    valued.contains(&text) || last_of_row(text, valued).is_some()
}

/// The last option of a row of letters (`-c` of `-tAc`), if it takes a value and none before it does.
fn last_of_row(text: &str, valued: &[&str]) -> Option<String> {
    let letters = text.strip_prefix('-')?;
    let (before, last) = letters.split_at_checked(letters.len().checked_sub(1)?)?;
    let takes = |letter: &str| valued.contains(&format!("-{letter}").as_str());
    let row = !before.is_empty()
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !valued.contains(&text);
    let first = row
        && takes(last)
        && !before
            .chars()
            .any(|letter| takes(letter.encode_utf8(&mut [0; 4])));
    first.then(|| format!("-{last}"))
}
