//! From a word to its fields: braces, `~`, parameters, substitutions, word splitting.

use super::brace;
use super::environment::Value;
use super::field::{Field, HOME, UNKNOWN};
use super::trim::trimmed;
use crate::shell::{AssignedValue, Assignment, Operation, Param, Part, Word};
use crate::walk::Walker;

/// The most fields of one word.
const MAX_FIELDS: usize = 256;

/// SplitFields under construction: the last one may still grow.
#[derive(Default)]
struct SplitFields {
    done: Vec<Field>,
    open: Option<Field>,
}

impl SplitFields {
    fn open(&mut self) -> &mut Field {
        self.open.get_or_insert_default()
    }

    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Takes a value without quotes: its blanks split it.
    fn split(&mut self, field: &Field) {
        let text = field.raw();
        let mut pieces = text.split([' ', '\t', '\n']).peekable();
        while let Some(piece) = pieces.next() {
            if !piece.is_empty() {
                let open = self.open();
                open.push(piece);
                open.globs |= field.globs || piece.contains(['*', '?', '[']);
                open.present = field.present;
            }
            if pieces.peek().is_some() {
                self.close();
            }
        }
    }
}

impl Walker<'_> {
    /// The arguments that `words` become.
    pub(crate) fn fields(&mut self, words: &[Word]) -> Vec<Field> {
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            let from = fields.len();
            self.expand_into(word, &mut fields);
            let new = fields.get(from..).unwrap_or_default();
            if !self.spend(new.iter().map(|field| field.raw().len()).sum()) {
                break;
            }
        }
        fields.truncate(MAX_FIELDS * 4);
        fields
    }

    fn expand_into(&mut self, word: &Word, fields: &mut Vec<Field>) {
        match brace::expand(word) {
            None => fields.extend(self.split_word(word)),
            Some(Ok(words)) => {
                for word in &words {
                    fields.extend(self.split_word(word));
                }
            }
            Some(Err(_)) => {
                // What is substituted in it runs all the same.
                self.split_word(word);
                fields.push(Field::unknown());
            }
        }
    }

    /// The fields of a word without braces.
    fn split_word(&mut self, word: &Word) -> Vec<Field> {
        // Most words are plain.
        if let [Part::Quoted(text)] = word.parts.as_slice() {
            return vec![Field::literal(text.as_str())];
        }
        let mut fields = SplitFields::default();
        for (at, part) in word.parts.iter().enumerate() {
            self.add_part(part, at == 0, true, &mut fields);
        }
        fields.close();
        fields.done.truncate(MAX_FIELDS);
        fields.done
    }

    /// The one field that a word becomes where words are not split: assignments, here-documents.
    pub(crate) fn one_field(&mut self, word: &Word) -> Field {
        let mut fields = SplitFields::default();
        for (at, part) in word.parts.iter().enumerate() {
            self.add_part(part, at == 0, false, &mut fields);
        }
        fields.close();
        let mut all = fields.done.into_iter();
        let mut one = all.next().unwrap_or_default();
        for more in all {
            one.push(" ");
            one.append(&more);
        }
        self.spend(one.raw().len());
        one
    }

    fn add_part(&mut self, part: &Part, first: bool, split: bool, fields: &mut SplitFields) {
        match part {
            Part::Bare(text) => {
                let rest = if first {
                    self.tilde(text, fields)
                } else {
                    text
                };
                if !rest.is_empty() {
                    let open = fields.open();
                    open.push(rest);
                    open.globs |= rest.contains(['*', '?', '[']);
                }
            }
            Part::Quoted(text) => fields.open().push(text),
            Part::Param(param) => self.add_param(param, split, fields),
            Part::Substitution { list, quoted } => {
                let value = self.substitution(list);
                if *quoted || !split {
                    fields.open().append(&value);
                } else {
                    fields.split(&value);
                }
            }
            Part::Process(list) => {
                self.substitution(list);
                fields.open().push(UNKNOWN.encode_utf8(&mut [0; 4]));
            }
            Part::Arithmetic(word) => {
                self.one_field(word);
                fields.open().push(UNKNOWN.encode_utf8(&mut [0; 4]));
            }
            Part::ArrayArgument(words) => {
                let all = self.fields(words);
                let name = fields.open().raw().trim_end_matches(['=', '+']).to_owned();
                self.environment.set(&name, Value::Known(all));
            }
        }
    }

    /// Takes `~` or `~user` from the start of a word, and returns the rest.
    fn tilde<'t>(&self, text: &'t str, fields: &mut SplitFields) -> &'t str {
        let Some(after) = text.strip_prefix('~') else {
            return text;
        };
        let end = after.find('/').unwrap_or(after.len());
        let (who, rest) = after.split_at_checked(end).unwrap_or((after, ""));
        match who {
            "+" if !self.environment.folder.is_empty() => {
                fields.open().push(&self.environment.folder)
            }
            "+" => fields.open().push("."),
            "-" => fields.open().push(UNKNOWN.encode_utf8(&mut [0; 4])),
            name if name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) =>
            {
                fields.open().push(HOME.encode_utf8(&mut [0; 4]));
            }
            _ => return text,
        }
        rest
    }

    fn add_param(&mut self, param: &Param, split: bool, fields: &mut SplitFields) {
        let values = self.param(param);
        let all = param.operation == Operation::All || &*param.name == "@";
        if param.quoted || !split {
            let mut first = true;
            for value in &values {
                if !first && all && split {
                    fields.close();
                } else if !first {
                    fields.open().push(" ");
                }
                let open = fields.open();
                open.append(value);
                open.globs = open.globs && !param.quoted;
                open.present |= param.quoted;
                first = false;
            }
            return;
        }
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                fields.close();
            }
            fields.split(value);
        }
    }

    /// What a parameter stands for: one field, or those of an array.
    fn param(&mut self, param: &Param) -> Vec<Field> {
        let value = self.environment.value(&param.name);
        let mut known = match value {
            Value::Known(known)
                if !self.spend(known.iter().map(|field| field.raw().len()).sum()) =>
            {
                return vec![Field::unknown()];
            }
            Value::Unknown => return self.unknown_param(&param.operation),
            Value::Known(known) => known,
        };
        let unset = known
            .first()
            .is_none_or(|first| first.raw().is_empty() || first.has_unset());
        match &param.operation {
            Operation::All => known,
            Operation::Default(word, assigns) if unset => {
                let default = self.operand(word, param.quoted);
                if *assigns {
                    self.environment
                        .set(&param.name, Value::Known(vec![default.clone()]));
                }
                vec![default]
            }
            Operation::Alternative(word) if !unset => vec![self.operand(word, param.quoted)],
            Operation::Alternative(_) => Vec::new(),
            Operation::Required if unset => vec![Field::unknown()],
            Operation::Trim(trim, word) if !unset && known.len() == 1 => {
                let pattern = self.one_field(word);
                let plain = word.parts.iter().all(|part| matches!(part, Part::Bare(_)));
                let known = known.first().filter(|_| plain || !pattern.globs);
                let value = known.and_then(|value| trimmed(value, *trim, &pattern));
                vec![value.unwrap_or_else(Field::unknown)]
            }
            Operation::Trim(_, word) | Operation::Other(word) => {
                self.one_field(word);
                let unset = known.first().is_some_and(Field::has_unset);
                if unset { known } else { vec![Field::unknown()] }
            }
            Operation::None if !matches!(&*param.name, "@" | "*") => {
                known.truncate(1);
                known
            }
            Operation::None | Operation::Default(..) | Operation::Required => known,
        }
    }

    /// The word of `${name:-word}`. Blanks in quotes would have to survive the splitting of the rest, so
    /// such a word is unknown.
    fn operand(&mut self, word: &Word, quoted: bool) -> Field {
        let field = self.one_field(word);
        let blank = |part: &Part| match part {
            Part::Quoted(text) => text.contains([' ', '\t', '\n']),
            Part::Param(param) => param.quoted,
            _ => false,
        };
        if !quoted && word.parts.iter().any(blank) {
            return Field::unknown();
        }
        field
    }

    fn unknown_param(&mut self, operation: &Operation) -> Vec<Field> {
        match operation {
            Operation::Default(word, _)
            | Operation::Alternative(word)
            | Operation::Trim(_, word)
            | Operation::Other(word) => {
                self.one_field(word);
            }
            Operation::None | Operation::All | Operation::Required => {}
        }
        vec![Field::unknown()]
    }

    /// Carries an assignment out.
    pub(crate) fn assign(&mut self, assignment: &Assignment) {
        let value = match &assignment.value {
            AssignedValue::Scalar(word) => vec![self.one_field(word)],
            AssignedValue::Array(words) => self.fields(words),
        };
        if assignment.partial {
            let array = matches!(assignment.value, AssignedValue::Array(_));
            self.assign_partly(&assignment.name, value, array);
        } else {
            self.environment.set(&assignment.name, Value::Known(value));
        }
    }

    fn assign_partly(&mut self, name: &str, value: Vec<Field>, array: bool) {
        let joined = match (self.environment.get(name), array) {
            (Some(Value::Known(before)), true) if before.len() < MAX_FIELDS => {
                Value::Known(before.iter().cloned().chain(value).collect())
            }
            _ => Value::Unknown,
        };
        self.environment.set(name, joined);
    }
}
