//! Agent CLIs that are started without their hooks, or told to leave them out.

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

const CLIENTS: [&str; 6] = [
    "claude",
    "codex",
    "gemini",
    "copilot",
    "opencode",
    "cursor-agent",
];

/// Variables that send a client, or the guard that it asks, to other settings.
#[rustfmt::skip]
const ELSEWHERE: [&str; 11] = [
    "HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME",
    "COPILOT_HOME", "OPENCODE_CONFIG_DIR", "SPRAG_POLICY", "SPRAG_DB", "SPRAG_SOCKET",
    "SPRAG_REDIS",
];

/// Whether a client starts without the guard, or is told to leave it.
pub(super) fn is_unguarded(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    if !CLIENTS.contains(&args.program) || args.is_help() || args.has_any(&["-v", "-V"]) {
        return false;
    }
    let mut set = walker.environment.known();
    set.any(|(name, _)| ELSEWHERE.contains(&name)) || leaves_hooks(args) || drops_guard(args)
}

/// Options that leave hooks out.
fn leaves_hooks(args: &Args<'_>) -> bool {
    let sources = args.value(&["--setting-sources"]);
    if sources.is_some_and(|sources| !sources.raw().split(',').any(|source| source == "user")) {
        return true;
    }
    let settings = args.values(&["--settings", "-c", "--config", "--disable"]);
    settings.iter().map(Field::raw).any(|text| {
        let compact = text.replace([' ', '"', '\''], "");
        compact.contains("disableAllHooks:true")
            || compact == "hooks"
            || (compact.contains("hooks") && compact.ends_with("=false"))
    })
}

/// `claude mcp remove sprag`, `codex features disable hooks`.
fn drops_guard(args: &Args<'_>) -> bool {
    let words = args.words(&["-s", "--scope"]);
    let [area, verb, what, ..] = words.as_slice() else {
        return words.as_slice() == ["hooks", "disable-all"];
    };
    let area = matches!(
        *area,
        "mcp" | "plugin" | "plugins" | "hooks" | "features" | "extensions"
    );
    let verb = matches!(*verb, "remove" | "rm" | "disable" | "uninstall" | "delete");
    area && verb && (what.contains("sprag") || *what == "hooks")
}
