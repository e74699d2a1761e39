//! The database that an SQL text is for, and its dialect.

use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, Dialect, GenericDialect, MsSqlDialect, MySqlDialect,
    PostgreSqlDialect, SQLiteDialect, SnowflakeDialect,
};

/// The database that a text is for.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// The program that sends it.
    pub(crate) by: String,
    /// Nothing in it needs to be kept.
    pub(crate) scratch: bool,
    /// Its name or file, if it is known.
    pub(crate) name: Option<String>,
    pub(crate) flavour: Flavour,
}

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    Any,
    Postgres,
    MySql,
    Sqlite,
    ClickHouse,
    BigQuery,
    MsSql,
    Snowflake,
}

impl Flavour {
    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Any => &GenericDialect {},
            Self::Postgres => &PostgreSqlDialect {},
            Self::MySql => &MySqlDialect {},
            Self::Sqlite => &SQLiteDialect {},
            Self::ClickHouse => &ClickHouseDialect {},
            Self::BigQuery => &BigQueryDialect {},
            Self::MsSql => &MsSqlDialect {},
            Self::Snowflake => &SnowflakeDialect,
        }
    }
}
