//! `sprag token`: who may use the server, and as what.

use std::io::Write;
use std::process::ExitCode;

use sprag::Role;
use sprag::link::read_token;
use sprag_server::{TokenError, TokenFile};

use crate::args::{TokenAddArgs, TokenCommand, TokenListArgs, TokenRevokeArgs, TokenShowArgs};
use crate::clock;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::layout::TextTable;
use crate::record_line::time;
use crate::settings::Settings;

/// Runs one of the commands.
pub(crate) fn run(command: &TokenCommand, settings: &Settings, out: &mut dyn Write) -> Run {
    match command {
        TokenCommand::Add(args) => add(args, settings, out),
        TokenCommand::Show(args) => show(args, settings, out),
        TokenCommand::List(args) => list(args, settings, out),
        TokenCommand::Revoke(args) => revoke(args, settings, out),
    }
}

fn add(args: &TokenAddArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::file(settings, &args.db)?;
    db.make_folder()?;
    let file = TokenFile::beside(db.path());
    let token = file.add(&args.name, args.role, clock::now())?;
    writeln!(out, "{token}")?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &TokenShowArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::file(settings, &args.db)?;
    let role = args.token;
    let file = db.path().with_file_name(format!("{role}.token"));
    let token = read_token(&file).map_err(|error| {
        let failure = Failure::new(format!(
            "can't read {}: {}",
            file.display(),
            Failure::reason(&error)
        ));
        failure.next(match role {
            Role::Agent => "make another one: sprag token add --role agent --name NAME",
            _ => "start `sprag serve` once, which makes it",
        })
    })?;
    writeln!(out, "{token}")?;
    Ok(ExitCode::SUCCESS)
}

fn list(args: &TokenListArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::file(settings, &args.db)?;
    let mut tokens = TokenFile::beside(db.path()).list()?;
    let now = clock::now();
    tokens.retain(|token| token.expires.is_none_or(|end| now < end));
    if args.json {
        let tokens = serde_json::to_value(&tokens).unwrap_or_default();
        json::print(out, &serde_json::json!({ "tokens": tokens }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if tokens.is_empty() {
        writeln!(
            out,
            "no tokens were made; the operator's and the hooks' own lie beside the store"
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = TextTable::new(["NAME", "ROLE", "MADE", "ENDS"]);
    for token in tokens {
        let ends = token.expires.map_or_else(|| "never".to_owned(), time);
        table.row([token.name, token.role.to_owned(), time(token.made), ends]);
    }
    table.print(out)?;
    Ok(ExitCode::SUCCESS)
}

fn revoke(args: &TokenRevokeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::file(settings, &args.db)?;
    TokenFile::beside(db.path()).revoke(&args.name)?;
    writeln!(
        out,
        "revoked {}: whoever holds it is refused from now on",
        args.name
    )?;
    Ok(ExitCode::SUCCESS)
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            TokenError::Unknown { .. } => failure.next("`sprag token list` shows those there are"),
            _ => failure,
        }
    }
}
