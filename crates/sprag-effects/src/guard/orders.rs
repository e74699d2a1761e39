//! Commands that give the guard orders: its own program, its server's API, and what removes it.

use crate::args::Args;
use crate::expand::Field;

/// Names of the guard's program.
const PROGRAMS: [&str; 3] = ["sprag", "sprag-guard", "sprag_guard"];

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

/// Whether the words after the program are an order. A word after an option may be its value.
fn orders(fields: &[Field]) -> bool {
    let help = |field: &Field| matches!(field.raw(), "--help" | "-h");
    if fields.iter().any(help) || fields.first().is_some_and(|field| field.raw() == "help") {
        return false;
    }
    let mut after_option = false;
    let mut words = fields.iter().map(Field::raw);
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            after_option = !word.contains('=');
            continue;
        }
        if ORDERS.contains(&word) {
            return true;
        }
        if let Some((_, further)) = FURTHER.iter().find(|(first, _)| *first == word) {
            return words.any(|word| further.contains(&word));
        }
        if word == "check" {
            let roles = words.skip_while(|word| !word.starts_with("--role"));
            return roles.take(2).any(|word| {
                let role = word.strip_prefix("--role=").unwrap_or(word);
                matches!(role, "operator" | "hook" | "relay")
            });
        }
        if !after_option {
            return false;
        }
        after_option = false;
    }
    false
}

/// Whether it takes the guard's program off the machine: hooks that find none let everything pass.
pub(super) fn removes_program(args: &Args<'_>) -> bool {
    #[rustfmt::skip]
    const MANAGERS: [&str; 14] = [
        "cargo", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "brew", "apt",
        "apt-get", "dnf", "conda",
    ];
    let removes = |field: &Field| {
        matches!(
            field.raw(),
            "uninstall" | "remove" | "rm" | "un" | "purge" | "r"
        )
    };
    let own = |field: &Field| {
        let name = field.raw();
        PROGRAMS.contains(&name) || name == "sprag-cli"
    };
    let operands = args.operands(&[]);
    let verb = operands.iter().take(2).any(|field| removes(field));
    MANAGERS.contains(&args.program) && verb && operands.into_iter().any(own)
}

/// Whether it sends an order to the guard's server.
pub(super) fn asks_server(args: &Args<'_>) -> bool {
    if !matches!(args.program, "curl" | "wget" | "http" | "https" | "xh") {
        return false;
    }
    let order = args.iter().any(|field| {
        let path = field.raw();
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let Some((_, route)) = path.split_once("/v1/") else {
            return false;
        };
        let mut parts = route.split('/');
        matches!(
            (parts.next(), parts.nth(1)),
            (
                Some("approvals" | "pause" | "policy" | "panic" | "links" | "hooks"),
                _
            ) | (Some("sessions"), Some("reset" | "kill"))
        )
    });
    order && changes(args)
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
