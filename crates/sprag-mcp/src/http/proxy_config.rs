//! Which servers stand behind the proxy, and where each is found in front of it.
//!
//! ```toml
//! [[upstream]]
//! path = "/github"                      # default: the path of the url
//! url = "https://api.example.com/mcp"
//! name = "github"                       # default: what the server calls itself
//! timeout = "5m"                        # until an answer starts
//! ca = "company.pem"                    # whom to believe, besides the system's authorities
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Uri;
use serde::Deserialize;
use sprag_core::{Id, Millis};

use super::limits;

/// One server behind the proxy.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// Where clients find it: empty, or a path that starts with a slash and does not end with one.
    pub path: String,
    /// Where it is.
    pub url: Uri,
    /// How it is called in rules and logs; none: what it calls itself.
    pub name: Option<Id>,
    /// How long it may take until an answer starts.
    pub timeout: Duration,
    /// A PEM file with authorities to believe besides the system's.
    pub ca: Option<PathBuf>,
}

/// All servers behind the proxy.
#[derive(Debug, Clone, Default)]
pub struct ProxyConfig {
    /// The servers.
    pub upstreams: Vec<UpstreamConfig>,
}

/// Why a configuration can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyConfigError {
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no such TOML.
    #[error("{path}: {source}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: Box<toml::de::Error>,
    },
    /// There is nothing behind the proxy.
    #[error("there is no server to go to: the file has no [[upstream]]")]
    None,
    /// An address that can't be used.
    #[error("the upstream {url:?} can't be used: {why}")]
    Url {
        /// The address, as it was written.
        url: String,
        /// Why not.
        why: &'static str,
    },
    /// A path that can't be used.
    #[error("the path {path:?} of an upstream can't be used: {why}")]
    Path {
        /// The path.
        path: String,
        /// Why not.
        why: &'static str,
    },
    /// A name or a time that can't be used.
    #[error("{key} = {value:?} of an upstream can't be used: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it says.
        value: String,
        /// Why not.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(default)]
    upstream: Vec<UpstreamEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpstreamEntry {
    url: String,
    path: Option<String>,
    name: Option<String>,
    timeout: Option<String>,
    ca: Option<PathBuf>,
}

impl ProxyConfig {
    /// Reads a file; `ca` is relative to it.
    ///
    /// # Errors
    /// Returns an error if the file can't be used, with the place.
    pub fn read(path: &Path) -> Result<Self, ProxyConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ProxyConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        let file: ConfigFile = toml::from_str(&text).map_err(|source| ProxyConfigError::Toml {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let upstreams = file.upstream.into_iter().map(|entry| entry.read(folder));
        Self::of(upstreams.collect::<Result<_, _>>()?)
    }

    /// One server, found at the path that it has itself.
    ///
    /// # Errors
    /// Returns an error if the address can't be used.
    pub fn single(url: &str) -> Result<Self, ProxyConfigError> {
        Self::of(vec![UpstreamConfig::new(url)?])
    }

    fn of(upstreams: Vec<UpstreamConfig>) -> Result<Self, ProxyConfigError> {
        if upstreams.is_empty() {
            return Err(ProxyConfigError::None);
        }
        for (at, upstream) in upstreams.iter().enumerate() {
            let mut before = upstreams.iter().take(at);
            if before.any(|other| other.path == upstream.path) {
                return Err(ProxyConfigError::Path {
                    path: upstream.path.clone(),
                    why: "another upstream has it already; give each a path of its own",
                });
            }
        }
        Ok(Self { upstreams })
    }
}

impl UpstreamConfig {
    /// The server at `url`, with everything else as usual.
    ///
    /// # Errors
    /// Returns an error if the address can't be used.
    pub fn new(url: &str) -> Result<Self, ProxyConfigError> {
        let uri = address(url).map_err(|why| ProxyConfigError::Url {
            // What stands before an @ may be a password.
            url: url
                .rsplit_once('@')
                .map_or(url, |(_, rest)| rest)
                .to_owned(),
            why,
        })?;
        Ok(Self {
            path: uri.path().trim_end_matches('/').to_owned(),
            url: uri,
            name: None,
            timeout: limits::ANSWER_TIME,
            ca: None,
        })
    }
}

impl UpstreamEntry {
    fn read(self, folder: &Path) -> Result<UpstreamConfig, ProxyConfigError> {
        let mut upstream = UpstreamConfig::new(&self.url)?;
        if let Some(path) = self.path {
            upstream.path = mount_path(&path)?;
        }
        let wrong = |key, value: &str, why: String| ProxyConfigError::Value {
            key,
            value: value.to_owned(),
            why,
        };
        if let Some(name) = &self.name {
            let id = Id::new(name).map_err(|error| wrong("name", name, error.to_string()))?;
            upstream.name = Some(id);
        }
        if let Some(timeout) = &self.timeout {
            let millis = timeout.parse::<Millis>();
            let millis = millis.map_err(|error| wrong("timeout", timeout, error.to_string()))?;
            upstream.timeout = Duration::from_millis(millis.0);
        }
        upstream.ca = self.ca.map(|ca| folder.join(ca));
        Ok(upstream)
    }
}

fn address(url: &str) -> Result<Uri, &'static str> {
    let uri: Uri = url
        .parse()
        .map_err(|_| "it is no address; write https://HOST/PATH")?;
    let authority = uri
        .authority()
        .ok_or("it names no host; write https://HOST/PATH")?;
    if authority.as_str().contains('@') {
        return Err("it holds a user or a password; clients send their own");
    }
    match uri.scheme_str() {
        Some("http" | "https") => Ok(uri),
        _ => Err("it is neither http: nor https:; write https://HOST/PATH"),
    }
}

/// A path in front of the proxy.
fn mount_path(path: &str) -> Result<String, ProxyConfigError> {
    let wrong = |why| ProxyConfigError::Path {
        path: path.to_owned(),
        why,
    };
    let trimmed = path.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
    if !path.starts_with('/') || trimmed.contains("//") {
        return Err(wrong("a path starts with one slash, as in /github"));
    }
    if !trimmed.chars().all(is_plain) {
        return Err(wrong("only letters, digits and /-._~ stand in it"));
    }
    if trimmed.starts_with("/.well-known") || trimmed.split('/').any(|part| part == "..") {
        return Err(wrong(
            "/.well-known is the proxy's own, and .. leads elsewhere",
        ));
    }
    Ok(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ProxyConfig, ProxyConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.toml");
        std::fs::write(&path, text).unwrap();
        ProxyConfig::read(&path)
    }

    fn told(text: &str) -> String {
        let said = read(text).unwrap_err().to_string();
        match said.split_once("mcp.toml: ") {
            Some((_, said)) => said.to_owned(),
            None => said,
        }
    }

    #[test]
    fn a_server_is_found_at_its_own_path_or_at_the_one_it_is_given() {
        let config = read(
            "[[upstream]]\nurl = 'https://a.example/mcp/'\n[[upstream]]\nurl = 'http://b:1/x?k=v'\npath = '/b/'\ntimeout = '2s'\nname = 'bee'\nca = 'own.pem'",
        )
        .unwrap();
        let paths: Vec<&str> = config.upstreams.iter().map(|up| up.path.as_str()).collect();
        assert_eq!(paths, ["/mcp", "/b"]);
        let bee = &config.upstreams[1];
        assert_eq!(bee.timeout, Duration::from_secs(2));
        assert_eq!(bee.name, Some(Id::new("bee").unwrap()));
        assert!(bee.ca.as_ref().unwrap().ends_with("own.pem"));
        assert!(
            ProxyConfig::single("http://127.0.0.1:1").unwrap().upstreams[0]
                .path
                .is_empty()
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_what_would_be_right() {
        insta::assert_snapshot!(told(""), @"there is no server to go to: the file has no [[upstream]]");
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'ftp://x'"), @r#"the upstream "ftp://x" can't be used: it is neither http: nor https:; write https://HOST/PATH"#);
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'https://me:secret@x/mcp'"), @r#"the upstream "x/mcp" can't be used: it holds a user or a password; clients send their own"#);
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'https://x'\npath = 'x'"), @r#"the path "x" of an upstream can't be used: a path starts with one slash, as in /github"#);
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'https://x/a'\n[[upstream]]\nurl = 'https://y/a'"), @r#"the path "/a" of an upstream can't be used: another upstream has it already; give each a path of its own"#);
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'https://x'\ntimeout = 'soon'"), @r#"timeout = "soon" of an upstream can't be used: a duration is written like "5m", "60s" or "1h30m", not "soon""#);
        insta::assert_snapshot!(told("[[upstream]]\nurl = 'https://x'\nurls = 1"), @"
        TOML parse error at line 3, column 1
          |
        3 | urls = 1
          | ^^^^
        unknown field `urls`, expected one of `url`, `path`, `name`, `timeout`, `ca`
        ");
    }
}
