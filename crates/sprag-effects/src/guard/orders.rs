//! Commands that give the guard orders: its own program, and its server's API.

use crate::args::Args;
use crate::expand::{Field, UNKNOWN};

/// Names of the guard's program.
pub(super) const PROGRAMS: [&str; 3] = ["sprag", "sprag-guard", "sprag_guard"];

/// So many words after the program are looked at if a text can't be parsed.
const MAX_WORDS: usize = 6;

/// Where the guard's server listens unless it is told otherwise.
const USUAL_PORT: &str = ":7727";

/// Subcommands that change what is guarded, or that speak for somebody else than an agent.
#[rustfmt::skip]
const ORDERS: [&str; 12] = [
    "approve", "decline", "reset", "calm", "panic", "pause", "resume", "uninstall", "open", "kill",
    "prune", "hook",
];

/// Subcommands that do so with one of these words behind them.
const FURTHER: [(&str, &[&str]); 5] = [
    ("sessions", &["reset", "kill", "unblock"]),
    ("policy", &["set", "unset", "edit", "allow"]),
    ("token", &["add", "create", "revoke", "show"]),
    ("log", &["prune"]),
    ("mcp", &["uninstall"]),
];

/// Whether it runs the guard's program with an order.
pub(super) fn is_order(args: &Args<'_>) -> bool {
    if PROGRAMS.contains(&args.program) {
        return orders(args.fields);
    }
    let word = |at: usize| args.fields.get(at).map_or("", Field::raw);
    match args.program {
        // `cargo run -p sprag-cli -- approve …`
        "cargo" if word(0) == "run" || word(0) == "r" => {
            let end = args.iter().position(|field| field.raw() == "--");
            let own = args.iter().any(|field| field.raw().starts_with("sprag"));
            end.is_some_and(|end| own && orders(args.skip(end + 1)))
        }
        "python" | "python3" if word(0) == "-m" && PROGRAMS.contains(&word(1)) => {
            orders(args.skip(2))
        }
        _ => false,
    }
}

/// Whether the words after the program are an order. A word after an option may be its value. A command that is
/// only known when it runs may be one.
pub(super) fn orders(fields: &[Field]) -> bool {
    let help = |field: &Field| matches!(field.raw(), "--help" | "-h");
    if fields.iter().any(help) || fields.first().is_some_and(|field| field.raw() == "help") {
        return false;
    }
    let has = |flag: &str| {
        let flags = fields.iter().map(|field| field.raw().split('=').next());
        flags.flatten().any(|text| text == flag)
    };
    let mut after_option = false;
    let mut words = fields.iter().map(Field::raw);
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            after_option = !word.contains('=');
            continue;
        }
        if ORDERS.contains(&word) || word.starts_with(UNKNOWN) {
            return true;
        }
        // Hooks in shadow judge and let everything happen.
        if word == "install" {
            return (has("--shadow") || has("--budget")) && !has("--dry-run");
        }
        if let Some((_, further)) = FURTHER.iter().find(|(first, _)| *first == word) {
            return words.any(|word| further.contains(&word));
        }
        if word == "check" {
            return words.any(|word| {
                let role = word.rsplit('=').next().unwrap_or(word);
                matches!(role, "operator" | "hook" | "relay")
            });
        }
        // A server with another policy on the usual store is the guard from then on.
        if word == "serve" {
            return has("--policy") && !has("--db") && !has("--demo");
        }
        if !after_option {
            return false;
        }
        after_option = false;
    }
    false
}

/// Whether a text that can't be parsed has the guard's program in it, with an order behind it. What can't be
/// parsed has no effects, so a slip of the parser must not be a way around.
pub(crate) fn names_order(text: &str) -> bool {
    if !text.contains("sprag") {
        return false;
    }
    let words = text.split(|c: char| c.is_whitespace() || ";&|()`\"'{}<>".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let rest = words.iter().skip(at + 1).take(MAX_WORDS);
        let rest: Vec<Field> = rest.map(|word| Field::literal(*word)).collect();
        PROGRAMS.contains(&name) && orders(&rest)
    })
}

/// Whether it sends an order to the guard's server.
pub(super) fn asks_server(args: &Args<'_>) -> bool {
    if !matches!(args.program, "curl" | "wget" | "http" | "https" | "xh") {
        return false;
    }
    let socket = args.long("--unix-socket");
    let order = |field: &Field| is_order_address(field.raw(), socket);
    args.iter().any(order) && changes(args)
}

/// Whether an address is a route of the guard's server that takes orders. A server elsewhere has its own.
pub(super) fn is_order_address(address: &str, socket: bool) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let Some((server, route)) = path.split_once("/v1/") else {
        return false;
    };
    let host = server.rsplit("//").next().unwrap_or(server);
    let host = host.rsplit('@').next().unwrap_or(host);
    let here = ["127.", "localhost", "0.0.0.0", "[::1]", ":"];
    let ours = socket
        || host.is_empty()
        || here.iter().any(|here| host.starts_with(here))
        || host.contains("sprag")
        || !Field::literal(host).is_known();
    // Every other program on this machine has a login and hooks, too.
    let sure = socket || host.contains("sprag") || host.ends_with(USUAL_PORT);
    let mut parts = route.split('/');
    let order = match (parts.next(), parts.nth(1)) {
        (Some("approvals" | "pause" | "policy" | "panic" | "links"), _)
        | (Some("sessions"), Some("reset" | "kill")) => true,
        (Some("hooks" | "login"), _) => sure,
        _ => false,
    };
    ours && order
}

/// Whether a request is more than a look.
fn changes(args: &Args<'_>) -> bool {
    let method = args.value(&["-X", "--request", "--method"]);
    let method = method.as_ref().map(Field::raw);
    let other = |text: &str| !matches!(text, "GET" | "HEAD" | "OPTIONS");
    let sends = args.iter().any(|field| {
        let text = field.raw();
        let data = text.starts_with("--data")
            || text.starts_with("--json")
            || text.starts_with("--form")
            || text.starts_with("--post-")
            || text.starts_with("--body-")
            || text.starts_with("--upload-file");
        // `-d`, or a row of letters that ends with it: `-sd`.
        let row = text.strip_prefix('-').unwrap_or_default();
        let short = row.starts_with(['d', 'F', 'T'])
            || (row.len() < 8
                && row.chars().all(|letter| letter.is_ascii_alphabetic())
                && row.ends_with(['d', 'F', 'T']));
        data || short || matches!(text, "POST" | "PUT" | "PATCH" | "DELETE")
    });
    let looks = args.short('G') || args.long("--get");
    method.map_or(sends && !looks, other)
}
