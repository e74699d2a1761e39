//! What SQL destroys.
//!
//! The text is cut into tokens once, and each statement whose first word can destroy something is parsed
//! on its own: one statement in a dialect that the parser does not know hides nothing in the others. A
//! parenthesis deeper than [`MAX_PARENTHESES`] is not parsed, since the parser goes back at each one.

mod block;
mod condition;
mod database;
mod text;
mod tokens;

use sprag_core::{Effect, Reach, Verb};
use sqlparser::ast::{
    AlterTableOperation, Delete, FromTable, Merge, MergeAction, MergeClause, ObjectName,
    ObjectType, Query, SetExpr, Statement, TableFactor, Update,
};
use sqlparser::dialect::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::scratch::is_test_name;
use crate::walk::Walker;

use condition::picks;
pub(crate) use database::{Database, Flavour};
use text::{has_brackets, readable};
use tokens::{depth, first_word, plain, statements, table_name, words};

/// The deepest parenthesis of a statement that is parsed.
const MAX_PARENTHESES: usize = 16;
/// The most tokens of a text.
const MAX_TOKENS: usize = 20_000;
/// The deepest recursion of the parser.
const MAX_RECURSION: usize = 48;

/// Notes what `text` destroys in `database`.
pub(crate) fn run(walker: &mut Walker<'_>, text: &str, database: &Database) {
    if text.len() > crate::shell::MAX_BYTES {
        walker.found.unparsed = true;
        return;
    }
    // To parse SQL costs more than to read a command.
    if !walker.spend(4 * text.len()) {
        return;
    }
    let text = readable(text);
    let flavour = match database.flavour {
        Flavour::Any if has_brackets(&text) => Flavour::MsSql,
        flavour => flavour,
    };
    let dialect = flavour.dialect();
    let Ok(tokens) = Tokenizer::new(dialect, &text).tokenize() else {
        walker.found.unparsed = true;
        return;
    };
    if tokens.len() > MAX_TOKENS {
        walker.found.unparsed = true;
        return;
    }
    let statements = statements(&tokens);
    // All of it is taken back.
    if statements
        .last()
        .is_some_and(|last| first_word(last) == Some(Keyword::ROLLBACK))
    {
        return;
    }
    let mut reader = SqlReader {
        walker,
        database,
        fresh: Vec::new(),
        inner: Vec::new(),
        scratch: database.scratch,
    };
    for statement in statements {
        reader.tokens(statement, dialect);
    }
    let texts = std::mem::take(&mut reader.inner);
    block::run(walker, texts, database);
}

struct SqlReader<'a, 'w> {
    walker: &'a mut Walker<'w>,
    database: &'a Database,
    /// Tables that the text itself created.
    fresh: Vec<String>,
    /// Texts that a statement executes.
    inner: Vec<block::Executed>,
    scratch: bool,
}

impl SqlReader<'_, '_> {
    fn tokens(&mut self, tokens: &[Token], dialect: &'static dyn Dialect) {
        let Some(first) = first_word(tokens) else {
            return;
        };
        if block::executes(first, tokens) {
            self.inner.extend(block::executed(tokens));
            return;
        }
        let destroys = |word: &sqlparser::tokenizer::Word| {
            matches!(
                word.keyword,
                Keyword::DELETE | Keyword::UPDATE | Keyword::DROP | Keyword::TRUNCATE
            )
        };
        let candidate = match first {
            Keyword::DELETE
            | Keyword::UPDATE
            | Keyword::DROP
            | Keyword::TRUNCATE
            | Keyword::CREATE
            | Keyword::USE => true,
            Keyword::WITH | Keyword::ALTER | Keyword::EXPLAIN | Keyword::MERGE => {
                words(tokens).any(destroys)
            }
            _ => false,
        };
        if !candidate {
            return;
        }
        if depth(tokens) > MAX_PARENTHESES {
            self.walker.found.unparsed = true;
            return;
        }
        let parsed = Parser::new(dialect)
            .with_recursion_limit(MAX_RECURSION)
            .with_tokens(tokens.to_vec())
            .parse_statement();
        match parsed {
            Ok(statement) => self.statement(&statement),
            // A table or a function that is made in a form of its own destroys nothing.
            Err(_) if first == Keyword::CREATE || first == Keyword::USE => {}
            Err(_) => self.unknown_form(tokens, first),
        }
    }

    /// A statement in a form that the parser does not know: only its first words are sure.
    fn unknown_form(&mut self, tokens: &[Token], first: Keyword) {
        self.walker.found.unparsed = true;
        let mut all = words(tokens).map(|word| word.value.as_str());
        let (Some(_), Some(kind)) = (all.next(), all.next()) else {
            return;
        };
        let skipped = ["if", "exists", "concurrently", "table", "only", "by"];
        let name = all
            .find(|word| !skipped.contains(&word.to_ascii_lowercase().as_str()))
            .unwrap_or("");
        if first == Keyword::DROP {
            let kind = kind.to_ascii_lowercase();
            match kind.as_str() {
                "table" => self.add(Verb::Drop, Reach::Shared, false, &format!("table {name}")),
                "database" | "schema" | "keyspace" => {
                    let scratch = is_test_name(name);
                    self.sweep(Verb::Drop, &format!("{kind} {name}"), scratch);
                }
                "owned" => {
                    let owner = name.to_owned();
                    self.sweep(Verb::Drop, &format!("all that {owner} owns"), false);
                }
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Drop {
                object_type,
                names,
                temporary,
                ..
            } => {
                for name in names {
                    self.dropped(*object_type, name, *temporary);
                }
            }
            Statement::Truncate(truncate) => {
                for table in &truncate.table_names {
                    self.sweep_table(Verb::Delete, &table.name);
                }
            }
            Statement::Delete(delete) => self.delete(delete),
            Statement::Update(update) => self.update(update),
            Statement::AlterTable(alter) => {
                for operation in &alter.operations {
                    self.altered(&alter.name, operation);
                }
            }
            Statement::CreateTable(create) => self.fresh.push(plain(&create.name)),
            Statement::Merge(merge) => self.merge(merge),
            Statement::Query(query) => self.query(query),
            Statement::Explain {
                analyze,
                statement,
                options,
                ..
            } => {
                let asked = options.as_ref().is_some_and(|options| {
                    options
                        .iter()
                        .any(|option| option.name.value.eq_ignore_ascii_case("analyze"))
                });
                if *analyze || asked {
                    self.statement(statement);
                }
            }
            Statement::Use(_) => {
                let name = statement.to_string();
                self.scratch =
                    self.database.scratch || is_test_name(name.trim_start_matches("USE "));
            }
            _ => {}
        }
    }

    /// A query whose common table expressions or body change something.
    fn query(&mut self, query: &Query) {
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        for table in with {
            self.query(&table.query);
        }
        match query.body.as_ref() {
            SetExpr::Delete(statement) | SetExpr::Update(statement) => self.statement(statement),
            _ => {}
        }
    }

    fn dropped(&mut self, kind: ObjectType, name: &ObjectName, temporary: bool) {
        let text = plain(name);
        match kind {
            ObjectType::Database | ObjectType::Schema => {
                let word = if kind == ObjectType::Schema {
                    "schema"
                } else {
                    "database"
                };
                self.sweep(Verb::Drop, &format!("{word} {text}"), is_test_name(&text));
            }
            ObjectType::Table => {
                let scratch = temporary || self.is_fresh(&text);
                let reach = if scratch {
                    Reach::Scratch
                } else {
                    Reach::Shared
                };
                self.add(Verb::Drop, reach, false, &format!("table {text}"));
            }
            // Made again from a statement, without data of their own.
            ObjectType::View | ObjectType::MaterializedView | ObjectType::Index => {
                let word = if kind == ObjectType::Index {
                    "index"
                } else {
                    "view"
                };
                self.add(Verb::Drop, Reach::Shared, true, &format!("{word} {text}"));
            }
            ObjectType::Role | ObjectType::User | ObjectType::Sequence | ObjectType::Stage => {
                self.add(Verb::Drop, Reach::Shared, false, &text);
            }
            ObjectType::Warehouse => self.sweep(Verb::Drop, &format!("warehouse {text}"), false),
            ObjectType::Collation | ObjectType::Type | ObjectType::Stream => {}
        }
    }

    fn delete(&mut self, delete: &Delete) {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let names = from.iter().filter_map(table_name);
        let picked =
            picks(delete.selection.as_ref()) || delete.limit.is_some() || delete.using.is_some();
        for name in names {
            if picked {
                let reach = if self.is_fresh(&plain(name)) {
                    Reach::Scratch
                } else {
                    Reach::Shared
                };
                self.add(
                    Verb::Delete,
                    reach,
                    true,
                    &format!("rows of {}", plain(name)),
                );
            } else {
                self.sweep_table(Verb::Delete, name);
            }
        }
    }

    /// Rows that match are rows that are picked.
    fn merge(&mut self, merge: &Merge) {
        let deletes = |clause: &MergeClause| matches!(clause.action, MergeAction::Delete { .. });
        let TableFactor::Table { name, .. } = &merge.table else {
            return;
        };
        if !merge.clauses.iter().any(deletes) {
            return;
        }
        if picks(Some(&merge.on)) {
            self.add(
                Verb::Delete,
                Reach::Shared,
                true,
                &format!("rows of {}", plain(name)),
            );
        } else {
            self.sweep_table(Verb::Delete, name);
        }
    }

    fn update(&mut self, update: &Update) {
        let picked = picks(update.selection.as_ref())
            || update.from.is_some()
            || !update.table.joins.is_empty();
        if !picked && let Some(name) = table_name(&update.table) {
            self.sweep_table(Verb::Reset, name);
        }
    }

    fn altered(&mut self, table: &ObjectName, operation: &AlterTableOperation) {
        let what = match operation {
            AlterTableOperation::DropColumn { .. } => "column",
            AlterTableOperation::DropPartitions { .. } => "partition",
            _ => return,
        };
        let reach = if self.is_fresh(&plain(table)) {
            Reach::Scratch
        } else {
            Reach::Shared
        };
        self.add(
            Verb::Drop,
            reach,
            false,
            &format!("{what} of {}", plain(table)),
        );
    }

    fn sweep_table(&mut self, verb: Verb, name: &ObjectName) {
        let name = plain(name);
        let scratch = self.is_fresh(&name);
        self.sweep(verb, &format!("all rows of {name}"), scratch);
    }

    fn sweep(&mut self, verb: Verb, target: &str, scratch: bool) {
        let reach = if scratch {
            Reach::Scratch
        } else {
            Reach::Sweeping
        };
        self.add(verb, reach, false, target);
    }

    /// Whether a table was made by this text, or is named as a temporary one.
    fn is_fresh(&self, name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        let named =
            last.split('_').any(|word| matches!(word, "tmp" | "temp")) || last.starts_with('#');
        named || self.fresh.iter().any(|fresh| fresh == name)
    }

    fn add(&mut self, verb: Verb, reach: Reach, replaceable: bool, target: &str) {
        let reach = if self.scratch { Reach::Scratch } else { reach };
        let target = match &self.database.name {
            Some(name) if !name.is_empty() => format!("{target} in {name}"),
            _ => target.to_owned(),
        };
        self.walker.effect(Effect {
            verb,
            reach,
            vital: false,
            replaceable,
            by: self.database.by.as_str().into(),
            target: target.into(),
        });
    }
}
