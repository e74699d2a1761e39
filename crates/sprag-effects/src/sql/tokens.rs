//! Statements as tokens, and names in them.

use sqlparser::ast::{ObjectName, TableFactor, TableWithJoins};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// The statements between `;`.
pub(super) fn statements(tokens: &[Token]) -> Vec<&[Token]> {
    tokens
        .split(|token| matches!(token, Token::SemiColon))
        .filter(|statement| first_word(statement).is_some())
        .collect()
}

pub(super) fn words(tokens: &[Token]) -> impl Iterator<Item = &sqlparser::tokenizer::Word> {
    tokens.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word),
        _ => None,
    })
}

pub(super) fn first_word(tokens: &[Token]) -> Option<Keyword> {
    words(tokens).next().map(|word| word.keyword)
}

/// The deepest level of parentheses.
pub(super) fn depth(tokens: &[Token]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    for token in tokens {
        match token {
            Token::LParen => level += 1,
            Token::RParen => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

pub(super) fn table_name(table: &TableWithJoins) -> Option<&ObjectName> {
    match &table.relation {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}

/// A name without quotes.
pub(super) fn plain(name: &ObjectName) -> String {
    name.to_string().replace(['"', '`', '[', ']'], "")
}
