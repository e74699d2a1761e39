//! Brace expansion: `{a,b}` and `{1..3}`.
//!
//! Bounded by: [`MAX_WORDS`]; more, sequences with padding or steps, and braces that make names of variables
//! are unknown.

use crate::shell::{Operation, Part, Word};

/// The most words that one word becomes.
const MAX_WORDS: usize = 128;

/// A character without quotes, or a part that braces leave alone.
#[derive(Debug, Clone)]
enum Atom {
    Bare(char),
    Other(Part),
    Unknown,
}

/// The words that `word` becomes; none if no brace stands in it, or `Err` if they are not known.
pub(super) fn expand(word: &Word) -> Option<Result<Vec<Word>, NotKnown>> {
    let braces = |part: &Part| matches!(part, Part::Bare(text) if text.contains('{'));
    if !word.parts.iter().any(braces) {
        return None;
    }
    let mut atoms = Vec::new();
    for part in &word.parts {
        match part {
            Part::Bare(text) => atoms.extend(text.chars().map(Atom::Bare)),
            other => atoms.push(Atom::Other(other.clone())),
        }
    }
    Some(expand_atoms(&atoms, 0).map(|all| all.into_iter().map(word_of).collect()))
}

/// There are more words than are looked at, or the braces make names of variables.
#[derive(Debug)]
pub(super) struct NotKnown;

fn expand_atoms(atoms: &[Atom], depth: usize) -> Result<Vec<Vec<Atom>>, NotKnown> {
    if depth > 16 {
        return Err(NotKnown);
    }
    for (at, atom) in atoms.iter().enumerate() {
        if !matches!(atom, Atom::Bare('{')) {
            continue;
        }
        let Some((close, commas)) = matching(atoms, at) else {
            continue;
        };
        let inside = atoms.get(at + 1..close).unwrap_or_default();
        let choices = if commas.is_empty() {
            match sequence(inside) {
                Some(choices) => choices,
                None => continue,
            }
        } else {
            split(atoms, at, close, &commas)
                .into_iter()
                .map(|choice| expand_atoms(choice, depth + 1))
                .collect::<Result<Vec<_>, _>>()?
                .concat()
        };
        let before = atoms.get(..at).unwrap_or_default();
        let rests = expand_atoms(atoms.get(close + 1..).unwrap_or_default(), depth + 1)?;
        // `$a{b,c}` is `$ab $ac`, and `{$a,b$}c` is `$ac b$c`: the braces come first, and make another name.
        let ends = || choices.iter().filter_map(|choice| choice.last());
        let joins = before.last().is_some_and(names_more)
            || close + 1 < atoms.len() && ends().any(names_more);
        if joins {
            return Err(NotKnown);
        }
        if choices.len().saturating_mul(rests.len()) > MAX_WORDS {
            return Err(NotKnown);
        }
        let mut all = Vec::with_capacity(choices.len() * rests.len());
        for choice in &choices {
            for rest in &rests {
                all.push([before, choice, rest].concat());
            }
        }
        return Ok(all);
    }
    Ok(vec![atoms.to_vec()])
}

/// Whether what follows `atom` may become part of a variable's name.
fn names_more(atom: &Atom) -> bool {
    match atom {
        Atom::Other(Part::Param(param)) => !param.quoted && param.operation == Operation::None,
        atom => matches!(atom, Atom::Bare('$')),
    }
}

/// The brace that closes the one at `open`, and the commas between them.
fn matching(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let mut level = 0_usize;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Bare('{') => level += 1,
            Atom::Bare('}') if level == 1 => return Some((at, commas)),
            Atom::Bare('}') => level -= 1,
            Atom::Bare(',') if level == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

fn split<'a>(atoms: &'a [Atom], open: usize, close: usize, commas: &[usize]) -> Vec<&'a [Atom]> {
    let mut from = open + 1;
    let mut choices = Vec::with_capacity(commas.len() + 1);
    for end in commas.iter().copied().chain([close]) {
        choices.push(atoms.get(from..end).unwrap_or_default());
        from = end + 1;
    }
    choices
}

/// `1..3` or `a..c`; with padding or a step it is unknown.
fn sequence(inside: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut text = String::new();
    for atom in inside {
        match atom {
            Atom::Bare(character) => text.push(*character),
            _ => return None,
        }
    }
    let (from, to) = text.split_once("..")?;
    let unknown = || Some(vec![vec![Atom::Unknown]]);
    if let (Ok(first), Ok(last)) = (from.parse::<i32>(), to.parse::<i32>()) {
        let padded =
            |number: &str| number.trim_start_matches('-').starts_with('0') && number.len() > 1;
        let plain = !padded(from) && !padded(to) && !from.starts_with('+') && !to.starts_with('+');
        if !plain || first > last || last.abs_diff(first) > 64 {
            return unknown();
        }
        let numbers = (first..=last).map(|n| n.to_string().chars().map(Atom::Bare).collect());
        return Some(numbers.collect());
    }
    let single = |text: &str| {
        let mut all = text.chars();
        all.next()
            .filter(|c| c.is_ascii_alphabetic() && all.next().is_none())
    };
    if let (Some(first), Some(last)) = (single(from), single(to)) {
        if first > last || first.is_ascii_uppercase() != last.is_ascii_uppercase() {
            return unknown();
        }
        return Some(
            (first..=last)
                .map(|letter| vec![Atom::Bare(letter)])
                .collect(),
        );
    }
    // `{1..9..2}` and the like are a sequence too.
    let steps = to.contains("..");
    if steps { unknown() } else { None }
}

fn word_of(atoms: Vec<Atom>) -> Word {
    let mut parts: Vec<Part> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Bare(character), Some(Part::Bare(text))) => text.push(character),
            (Atom::Bare(character), _) => parts.push(Part::Bare(character.to_string())),
            (Atom::Other(part), _) => parts.push(part),
            (Atom::Unknown, _) => parts.push(Part::Quoted(super::UNKNOWN.to_string())),
        }
    }
    Word { parts }
}
