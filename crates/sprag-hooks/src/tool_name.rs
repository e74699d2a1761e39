//! Clients glue server and tool into one name; rules want them apart.
//!
//! `delete_*` in a policy means the tool of any server, so the split decides whether a destructive
//! call is seen as one.

/// Server and tool of `mcp__server__tool`; any other name is a tool of the client itself.
#[must_use]
pub fn double_underscore(name: &str) -> (Option<String>, String) {
    let split = name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
    match split {
        Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
        None => (None, name.to_owned()),
    }
}

/// Server and tool of Copilot's `server-tool`. Both may hold a dash, so this is a guess: tools are mostly
/// `snake_case`, then the last dash is the one; else it is the first.
#[must_use]
pub fn dash(name: &str) -> (Option<String>, String) {
    let last = name.rsplit_once('-').filter(|(_, tool)| tool.contains('_'));
    let split = last
        .or_else(|| name.split_once('-'))
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
    match split {
        Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
        None => (None, name.to_owned()),
    }
}

/// Server and tool of Gemini CLI's `mcp_server_tool`. Both may hold an underscore, so this is a guess: most
/// servers have a name of one word.
#[must_use]
pub fn single_underscore(name: &str) -> (Option<String>, String) {
    let split = name
        .strip_prefix("mcp_")
        .and_then(|rest| rest.trim_start_matches('_').split_once('_'))
        .filter(|(server, tool)| !server.is_empty() && !tool.trim_matches('_').is_empty());
    match split {
        Some((server, tool)) => (
            Some(server.to_owned()),
            tool.trim_start_matches('_').to_owned(),
        ),
        None => (None, name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(result: (Option<String>, String)) -> String {
        match result {
            (Some(server), tool) => format!("{server} | {tool}"),
            (None, tool) => tool,
        }
    }

    #[test]
    fn names_with_double_underscores_are_split_once() {
        for (name, expected) in [
            ("mcp__catalog__delete_asset", "catalog | delete_asset"),
            ("mcp__a__b__c", "a | b__c"),
            ("mcp__catalog", "mcp__catalog"),
            ("mcp____x", "mcp____x"),
            ("Bash", "Bash"),
        ] {
            assert_eq!(split(double_underscore(name)), expected);
        }
    }

    #[test]
    fn names_with_dashes_are_split_where_the_tool_probably_starts() {
        for (name, expected) in [
            ("catalog-delete_asset", "catalog | delete_asset"),
            (
                "github-mcp-server-list_issues",
                "github-mcp-server | list_issues",
            ),
            (
                "context7-resolve-library-id",
                "context7 | resolve-library-id",
            ),
            ("bash", "bash"),
            ("-x", "-x"),
        ] {
            assert_eq!(split(dash(name)), expected);
        }
    }

    #[test]
    fn names_with_one_underscore_are_split_after_the_first_word() {
        for (name, expected) in [
            ("mcp_catalog_delete_asset", "catalog | delete_asset"),
            ("mcp__catalog__delete_asset", "catalog | delete_asset"),
            ("mcp_catalog", "mcp_catalog"),
            ("run_shell_command", "run_shell_command"),
        ] {
            assert_eq!(split(single_underscore(name)), expected);
        }
    }
}
