//! A policy file that is changed by a command is written by the guard that uses it, so that the log keeps who
//! changed it, and whether that was on a terminal.
//!
//! A file that no guard is known to use is only written. So is one whose guard can't be asked: a store that is
//! damaged must not keep a person from a better policy. A message says then that the log has no trace.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use sprag::link::ServerClient;
use sprag::{Capture, LinkError, Role, atomic};

use crate::args::PolicySetArgs;
use crate::db::Db;
use crate::failure::Failure;
use crate::settings::Settings;

/// A new text for the policy file, and who wants it and why.
pub(super) struct PolicyReplacement<'a> {
    /// The whole file.
    pub(super) text: &'a str,
    pub(super) by: &'a str,
    pub(super) why: &'a str,
}

/// Which file a server reads its policy from.
#[derive(Debug, Deserialize)]
struct ServedPolicy {
    file: Option<String>,
}

/// Writes the policy file at `path`, through the guard that uses it if there is one.
pub(super) fn write(
    args: &PolicySetArgs,
    settings: &Settings,
    path: &Path,
    order: &PolicyReplacement<'_>,
) -> Result<(), Failure> {
    match through_guard(args, settings, path, order) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(failure) => {
            let why = match failure {
                Failure::Explained { message, .. } => message,
                Failure::Output(error) => Failure::reason(&error),
            };
            anstream::eprintln!("the log does not record this change: {why}");
        }
    }
    atomic::write(path, order.text).map_err(|error| Failure::unwritable(path, &error))
}

/// Whether the guard that uses the file wrote it; false if there is none.
fn through_guard(
    args: &PolicySetArgs,
    settings: &Settings,
    path: &Path,
    order: &PolicyReplacement<'_>,
) -> Result<bool, Failure> {
    let db = Db::find(settings, &args.order.place.db)?;
    if db.redis().is_none() && !db.path().exists() {
        return Ok(false);
    }
    let usual = settings.policy_file(None);
    let is_usual = usual.is_some_and(|usual| is_same(usual.path(), path));
    // The store's guard is opened under the usual policy, never under another that was only named.
    let link = Db::link(settings, &args.order.place, None, Capture::Digest)?;
    match (link.server(), link.guard()) {
        (Some(server), _) => Ok(ask(&server, path, order)?),
        (None, Some(guard)) if is_usual => {
            guard.replace_policy(order.text, None, order.by, order.why)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Has the server write the file, if it is the server's.
fn ask(
    server: &ServerClient,
    path: &Path,
    order: &PolicyReplacement<'_>,
) -> Result<bool, LinkError> {
    let answer = server.request(Role::Operator, "GET", "/v1/policy", b"")?;
    let served: ServedPolicy = server.read(&answer)?;
    let file = served.file.unwrap_or_default();
    if !is_same(Path::new(&file), path) {
        return Ok(false);
    }
    let body = json!({ "text": order.text, "by": order.by, "why": order.why }).to_string();
    let answer = server.request(Role::Operator, "PUT", "/v1/policy", body.as_bytes())?;
    server.read::<serde_json::Value>(&answer)?;
    Ok(true)
}

/// Whether two paths lead to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}
