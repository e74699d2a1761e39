//! Arguments that are words of the library: help and completions list all of them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sprag::Words;

/// Takes any word of `T`.
pub(super) fn word<T: Words>() -> impl TypedValueParser<Value = T> {
    word_of(|_| true)
}

/// Takes the words of `T` that `fits`.
pub(super) fn word_of<T: Words>(fits: fn(&str) -> bool) -> impl TypedValueParser<Value = T> {
    let known = T::WORDS.iter().filter(move |(word, _)| fits(word));
    let values =
        known.map(|(word, help)| PossibleValue::new(*word).help(help.trim_end_matches('.')));
    PossibleValuesParser::new(values).try_map(|word| word.parse::<T>())
}
