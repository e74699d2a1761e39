//! The model gateway: a client that is pointed at one which does not run can't reach its model at all.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::Check;
use crate::settings::Settings;

/// How long a gateway may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Variables that point a client at a model API.
const VARIABLES: [&str; 4] = [
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
    "COPILOT_PROVIDER_BASE_URL",
];
const MOUNTS: [&str; 3] = ["/anthropic", "/openai", "/gemini"];

/// Checks every setting that points at a gateway of this machine; nothing if there is none.
pub(super) fn look(settings: &Settings) -> Vec<Check> {
    let variables = VARIABLES
        .iter()
        .filter_map(|name| Some((format!("${name}"), settings.text(name)?)));
    let found = variables.chain(claude(settings)).chain(codex(settings));
    found
        .filter_map(|(place, base)| Some(check(&place, gateway(&base)?)))
        .collect()
}

fn check(place: &str, address: SocketAddr) -> Check {
    let what = "gateway";
    if is_there(address) {
        return Check::fine(what, format!("{place} leads to the one at {address}"));
    }
    Check::wrong(
        what,
        format!("{place} leads to {address}, and no gateway answers there"),
        format!("start it: sprag gateway --listen {address}; or take the setting away"),
    )
}

/// Claude Code's own settings of its environment.
fn claude(settings: &Settings) -> Option<(String, String)> {
    let folder = settings.text("CLAUDE_CONFIG_DIR");
    let folder = folder.or_else(|| Some(format!("{}/.claude", settings.text("HOME")?)))?;
    let text = std::fs::read_to_string(Path::new(&folder).join("settings.json")).ok()?;
    let own: Value = serde_json::from_str(&text).ok()?;
    let base = own.pointer("/env/ANTHROPIC_BASE_URL")?.as_str()?;
    Some(("Claude Code's settings.json".to_owned(), base.to_owned()))
}

fn codex(settings: &Settings) -> Option<(String, String)> {
    let text = std::fs::read_to_string(settings.codex_folder()?.join("config.toml")).ok()?;
    let config: toml::Table = text.parse().ok()?;
    let base = config.get("openai_base_url")?.as_str()?;
    Some(("Codex's config.toml".to_owned(), base.to_owned()))
}

/// The gateway of this machine that an address leads to; none if it leads elsewhere.
fn gateway(base: &str) -> Option<SocketAddr> {
    let rest = base.strip_prefix("http://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_mount = |mount: &&str| {
        let below = path.strip_prefix(*mount);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    MOUNTS.iter().copied().find(is_mount)?;
    let mut addresses = host.to_socket_addrs().ok()?;
    addresses.find(|address| address.ip().is_loopback())
}

fn is_there(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.take(4096).read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_this_machine_with_a_mount_is_a_gateway() {
        for (base, expected) in [
            ("http://127.0.0.1:7729/anthropic", Some("127.0.0.1:7729")),
            ("http://127.0.0.1:7729/openai/v1", Some("127.0.0.1:7729")),
            ("http://127.0.0.1:11434/v1", None),
            ("https://api.anthropic.com/anthropic", None),
            ("http://127.0.0.1:7729", None),
            ("http://127.0.0.1:7729/anthropicx", None),
        ] {
            let found = gateway(base).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{base}");
        }
    }

    #[test]
    fn a_gateway_that_is_away_is_a_problem_and_says_how_to_start_it() {
        let check = check("$ANTHROPIC_BASE_URL", ([127, 0, 0, 1], 9).into());
        assert_eq!(
            check.state,
            "$ANTHROPIC_BASE_URL leads to 127.0.0.1:9, and no gateway answers there"
        );
        assert!(
            check
                .fix
                .unwrap()
                .starts_with("start it: sprag gateway --listen 127.0.0.1:9")
        );
    }
}
