//! The price table that ships: list prices of the models in use at its date, in US dollars a million
//! tokens, for ordinary requests. Not in it: discounts, batches, priority tiers, the higher prices that
//! some makers ask for very long prompts, and the hour-long cache of Claude.

use super::Price;
use crate::glob::Glob;

/// The day whose public list prices the table holds.
pub const PRICES_DATE: &str = "2026-10-27";

/// Normal name, input, output, cache read, cache write; in thousandths of a dollar a million tokens.
/// If a maker has no price of its own for cache writes, it is the one of input.
type Row = (&'static str, u32, u32, u32, u32);

const TABLE: &[Row] = &[
    ("*claude-fable-5-1*", 10_000, 50_000, 250, 12_500),
    ("*claude-mythos-5-1*", 10_000, 50_000, 250, 12_500),
    ("*claude-fable-5*", 10_000, 50_000, 1_000, 12_500),
    ("*claude-mythos-5*", 10_000, 50_000, 1_000, 12_500),
    ("*claude-opus-5-5*", 4_000, 20_000, 200, 5_000),
    ("*claude-opus-5*", 5_000, 25_000, 500, 6_250),
    ("*claude-opus-4-?", 5_000, 25_000, 500, 6_250),
    ("*claude-opus-4-1", 15_000, 75_000, 1_500, 18_750),
    ("*claude-opus-4-0", 15_000, 75_000, 1_500, 18_750),
    ("*claude-opus-4", 15_000, 75_000, 1_500, 18_750),
    ("*claude-sonnet-5-5*", 2_000, 10_000, 100, 2_500),
    ("*claude-sonnet-5*", 2_000, 10_000, 200, 2_500),
    ("*claude-sonnet-4*", 3_000, 15_000, 300, 3_750),
    ("*claude-3-?-sonnet*", 3_000, 15_000, 300, 3_750),
    ("*claude-haiku-5-5*", 100, 500, 10, 125),
    ("*claude-haiku-4-5*", 1_000, 5_000, 100, 1_250),
    ("*claude-3-5-haiku*", 800, 4_000, 80, 1_000),
    ("gpt-6-1-sol", 2_000, 10_000, 100, 2_500),
    ("gpt-6-1-terra", 1_000, 5_000, 50, 1_250),
    ("gpt-6-sol", 2_000, 10_000, 200, 2_500),
    ("gpt-6-luna", 100, 500, 10, 125),
    ("gpt-5-5", 5_000, 30_000, 500, 5_000),
    ("gpt-5-4", 2_500, 15_000, 250, 2_500),
    ("gpt-5-4-mini", 750, 4_500, 75, 750),
    ("gpt-5-3-codex", 1_750, 14_000, 175, 1_750),
    ("gpt-5-2", 1_750, 14_000, 175, 1_750),
    ("gpt-5-2-codex", 1_750, 14_000, 175, 1_750),
    ("gpt-5-1", 1_250, 10_000, 125, 1_250),
    ("gpt-5-1-codex*", 1_250, 10_000, 125, 1_250),
    ("gpt-5", 1_250, 10_000, 125, 1_250),
    ("gpt-5-codex", 1_250, 10_000, 125, 1_250),
    ("gpt-5-mini", 250, 2_000, 25, 250),
    ("gpt-5-nano", 50, 400, 5, 50),
    ("gemini-3-8-flash", 750, 3_750, 75, 750),
    ("gemini-3-7-flash", 750, 3_750, 75, 750),
    ("gemini-3-6-flash", 750, 3_750, 75, 750),
    ("gemini-3-5-flash-lite", 300, 2_500, 30, 300),
    ("gemini-3-1-flash-lite*", 250, 1_500, 25, 250),
    ("gemini-3-1-pro*", 2_000, 12_000, 200, 2_000),
    ("gemini-3-pro*", 2_000, 12_000, 200, 2_000),
    ("gemini-3-flash*", 500, 3_000, 50, 500),
    ("gemini-2-5-pro", 1_250, 10_000, 125, 1_250),
    ("gemini-2-5-flash", 300, 2_500, 30, 300),
    ("gemini-2-5-flash-lite", 100, 400, 10, 100),
];

/// The price of a model by its normal name.
pub(super) fn price(name: &str) -> Option<Price> {
    let literal = |row: &&Row| Glob::new(row.0).literal_chars();
    let matching = TABLE.iter().filter(|row| Glob::new(row.0).matches(name));
    let (_, input, output, cache_read, cache_write) = *matching.max_by_key(literal)?;
    let micros = |thousandths: u32| u64::from(thousandths) * 1_000;
    Some(Price {
        input: micros(input),
        output: micros(output),
        cache_read: micros(cache_read),
        cache_write: micros(cache_write),
    })
}
