//! Texts that SQL executes: blocks (`DO $$ … $$`), `EXEC('…')`, `EXECUTE IMMEDIATE '…'`, `PREPARE s FROM '…'`.
//!
//! A block is a program. It is not run: each of its statements counts, and text that it puts together is known
//! as far as it is written.

use sprag_core::{Effect, Reach, Verb};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use super::Database;
use crate::walk::Walker;

/// The most texts of one script.
const MAX_TEXTS: usize = 64;

/// A text that is executed.
#[derive(Debug)]
pub(super) enum Executed {
    /// Statements as they are.
    Text(String),
    /// A program with statements in it.
    Block(String),
}

/// Whether a statement that begins with `first` executes texts.
pub(super) fn executes(first: Keyword, tokens: &[Token]) -> bool {
    match first {
        Keyword::DO => tokens.iter().any(|token| block(token).is_some()),
        Keyword::EXEC | Keyword::EXECUTE | Keyword::PREPARE => runs_text(tokens),
        _ => false,
    }
}

/// Whether the first text is what is executed, not an argument of a procedure: `EXEC log 'text'`.
fn runs_text(tokens: &[Token]) -> bool {
    let Some(end) = tokens.iter().position(|token| text(token).is_some()) else {
        return false;
    };
    let mut words = super::tokens::words(tokens.get(..end).unwrap_or_default());
    let prepares = words
        .next()
        .is_some_and(|first| first.keyword == Keyword::PREPARE);
    let mut words: Vec<&str> = words.map(|word| word.value.as_str()).collect();
    if prepares && !words.is_empty() {
        words.remove(0);
    }
    const LEADS: [&str; 6] = [
        "immediate",
        "sp_executesql",
        "format",
        "concat",
        "from",
        "stmt",
    ];
    let leads = |word: &&str| LEADS.iter().any(|lead| word.eq_ignore_ascii_case(lead));
    words.iter().all(leads)
}

/// The texts that a statement executes. What is joined to one is unknown.
pub(super) fn executed(tokens: &[Token]) -> Vec<Executed> {
    if let Some(body) = tokens.iter().find_map(block) {
        return vec![Executed::Block(body)];
    }
    let all = tokens.iter().filter_map(text).take(MAX_TEXTS);
    let joined: Vec<String> = all.collect();
    // `EXECUTE 'DROP TABLE ' || name || ' CASCADE'`
    vec![Executed::Text(placed(&joined.join(" unknown ")))]
}

/// Walks what was executed, and what that executes.
pub(super) fn run(walker: &mut Walker<'_>, texts: Vec<Executed>, database: &Database) {
    for text in texts {
        if walker.wrappers >= crate::walk::MAX_WRAPPERS {
            return;
        }
        walker.wrappers += 1;
        match text {
            Executed::Text(text) => super::run(walker, &text, database),
            Executed::Block(body) if drops_all(&body) => {
                let reach = if database.scratch {
                    Reach::Scratch
                } else {
                    Reach::Sweeping
                };
                walker.effect(Effect {
                    verb: Verb::Drop,
                    reach,
                    vital: false,
                    replaceable: false,
                    by: database.by.as_str().into(),
                    target: "all tables".into(),
                });
            }
            Executed::Block(body) => super::run(walker, &flattened(&body), database),
        }
        walker.wrappers -= 1;
    }
}

/// Whether a block goes through the catalogue and drops or empties what it finds there.
fn drops_all(body: &str) -> bool {
    const CATALOGUES: [&str; 4] = [
        "pg_tables",
        "information_schema.tables",
        "sys.tables",
        "pg_class",
    ];
    let body = body.to_ascii_lowercase();
    let drops = ["drop table", "truncate", "delete from"];
    CATALOGUES.iter().any(|name| body.contains(name))
        && drops.iter().any(|words| body.contains(words))
        && body.contains("execute")
}

fn block(token: &Token) -> Option<String> {
    match token {
        Token::DollarQuotedString(body) => Some(body.value.clone()),
        _ => None,
    }
}

fn text(token: &Token) -> Option<String> {
    match token {
        Token::SingleQuotedString(text)
        | Token::NationalStringLiteral(text)
        | Token::EscapedStringLiteral(text)
        | Token::DoubleQuotedString(text) => Some(text.clone()),
        _ => None,
    }
}

/// A text of `format` with a word for each value.
fn placed(text: &str) -> String {
    ["%I", "%L", "%s"]
        .iter()
        .fold(text.to_owned(), |text, place| {
            text.replace(place, "unknown")
        })
}

/// A block as a row of statements: words that only lead to one (`BEGIN`, `THEN`, `LOOP`) end what is before.
fn flattened(body: &str) -> String {
    #[rustfmt::skip]
    const LEADS: [&str; 6] = ["begin", "then", "else", "loop", "exception", "declare"];
    let mut flat = String::with_capacity(body.len() + 16);
    let mut quoted = false;
    for piece in body.split_inclusive('\'') {
        if quoted {
            flat.push_str(piece);
        } else {
            for word in piece.split_inclusive(char::is_whitespace) {
                let bare = word.trim().to_ascii_lowercase();
                if LEADS.contains(&bare.as_str()) {
                    flat.push_str(";\n");
                } else {
                    flat.push_str(word);
                }
            }
        }
        quoted = !quoted;
    }
    flat
}
