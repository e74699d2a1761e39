//! Servers in JSON settings, comments and trailing commas included.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, StringLit, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::InstallError;
use super::server_entry::{ServerEntry, ServerLaunch};

/// The servers under `key`; with `projects` also those under `key` of each project.
pub(super) fn entries(
    text: &str,
    key: &'static str,
    projects: bool,
) -> Result<Vec<ServerEntry>, InstallError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| InstallError::Json(error.to_string()))?;
    let root = match parsed.value {
        None => return Ok(Vec::new()),
        Some(Value::Object(root)) => root,
        Some(_) => return Err(InstallError::Shape(key)),
    };
    let mut found = servers(text, &root, key)?;
    let projects = root.get_object("projects").filter(|_| projects);
    for project in projects.iter().flat_map(|projects| &projects.properties) {
        if let Some(project) = project.value.as_object() {
            found.extend(servers(text, project, key)?);
        }
    }
    Ok(found)
}

fn servers(
    text: &str,
    table: &Object<'_>,
    key: &'static str,
) -> Result<Vec<ServerEntry>, InstallError> {
    let servers = match table.get(key).map(|property| &property.value) {
        None => return Ok(Vec::new()),
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(InstallError::Shape(key)),
    };
    let entry = servers.properties.iter().map(|property| ServerEntry {
        name: property.name.as_str().to_owned(),
        launch: property
            .value
            .as_object()
            .and_then(|server| launch(text, server)),
    });
    Ok(entry.collect())
}

/// `command` and `args`; in an older form of Zed's settings `command` holds `path` and `args`, and in
/// opencode's it is a list of both.
fn launch(text: &str, server: &Object<'_>) -> Option<ServerLaunch> {
    if let Some(command) = server.get_array("command") {
        return launch_of_list(server, command);
    }
    let (table, key) = match server.get_object("command") {
        Some(inner) => (inner, "path"),
        None => (server, "command"),
    };
    let program = table.get_string(key)?;
    let args = table.get_array("args");
    let each: Vec<&StringLit<'_>> = args.map(texts).unwrap_or_default();
    // Arguments that are not all texts are not ours to move.
    if args.is_some_and(|args| args.elements.len() != each.len()) {
        return None;
    }
    let key_at = table.get(key)?.range.start;
    Some(ServerLaunch {
        program: program.value.to_string(),
        args: each.iter().map(|arg| arg.value.to_string()).collect(),
        env: env(table.get_object("env").or_else(|| server.get_object("env"))),
        program_at: range(program.range),
        args_at: args.map(|args| range(args.range)),
        each_at: each.iter().map(|arg| range(arg.range)).collect(),
        is_list: false,
        before_member: before_member(text, table.range.start, key_at),
    })
}

/// `["program", "argument"]`.
fn launch_of_list(server: &Object<'_>, command: &Array<'_>) -> Option<ServerLaunch> {
    let words = texts(command);
    if command.elements.len() != words.len() {
        return None;
    }
    let (program, args) = words.split_first()?;
    Some(ServerLaunch {
        program: program.value.to_string(),
        args: args.iter().map(|arg| arg.value.to_string()).collect(),
        env: env(server.get_object("environment")),
        program_at: range(program.range),
        args_at: None,
        each_at: args.iter().map(|arg| range(arg.range)).collect(),
        is_list: true,
        before_member: String::new(),
    })
}

fn texts<'v, 't>(args: &'v Array<'t>) -> Vec<&'v StringLit<'t>> {
    args.elements
        .iter()
        .filter_map(Value::as_string_lit)
        .collect()
}

fn env(object: Option<&Object<'_>>) -> Vec<(String, String)> {
    let properties = object
        .map(|object| object.properties.as_slice())
        .unwrap_or_default();
    let pair = |property: &jsonc_parser::ast::ObjectProp<'_>| {
        let value = property.value.as_string_lit()?.value.to_string();
        Some((property.name.as_str().to_owned(), value))
    };
    properties.iter().filter_map(pair).collect()
}

/// On a line of its own where the members before it are.
fn before_member(text: &str, table_at: usize, key_at: usize) -> String {
    let before = text.get(table_at..key_at).unwrap_or_default();
    match before.rsplit_once('\n') {
        Some((_, indent)) if indent.trim().is_empty() => format!(",\n{indent}"),
        _ => ", ".to_owned(),
    }
}

fn range(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}
