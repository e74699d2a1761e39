//! Servers in TOML settings.

use toml_edit::{Document, Item, TableLike};

use super::InstallError;
use super::server_entry::{ServerEntry, ServerLaunch};

/// The servers under `key`.
pub(super) fn entries(text: &str, key: &'static str) -> Result<Vec<ServerEntry>, InstallError> {
    let document = Document::parse(text).map_err(|error| InstallError::Toml(error.to_string()))?;
    let Some(servers) = document.get(key) else {
        return Ok(Vec::new());
    };
    let servers = servers.as_table_like().ok_or(InstallError::Shape(key))?;
    let entry = |(name, item): (&str, &Item)| ServerEntry {
        name: name.to_owned(),
        launch: item
            .as_table_like()
            .and_then(|server| launch(server, item.is_value())),
    };
    Ok(servers.iter().map(entry).collect())
}

fn launch(server: &dyn TableLike, is_inline: bool) -> Option<ServerLaunch> {
    let program = server.get("command")?;
    let args = server.get("args");
    let list = args.and_then(Item::as_array);
    if args.is_some() && list.is_none() {
        return None;
    }
    let each = list
        .map(|list| list.iter().collect::<Vec<_>>())
        .unwrap_or_default();
    let texts: Option<Vec<String>> = each
        .iter()
        .map(|arg| Some(arg.as_str()?.to_owned()))
        .collect();
    let spans: Option<Vec<_>> = each.iter().map(|arg| arg.span()).collect();
    let env = server.get("env").and_then(Item::as_table_like);
    let pair = |(name, item): (&str, &Item)| Some((name.to_owned(), item.as_str()?.to_owned()));
    Some(ServerLaunch {
        program: program.as_str()?.to_owned(),
        args: texts?,
        env: env
            .map(|env| env.iter().filter_map(pair).collect())
            .unwrap_or_default(),
        program_at: program.span()?,
        args_at: list.and_then(|list| list.span()),
        each_at: spans?,
        is_list: false,
        before_member: if is_inline { ", " } else { "\n" }.to_owned(),
    })
}
