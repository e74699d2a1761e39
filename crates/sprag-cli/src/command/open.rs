//! `sprag open`: the dashboard in a browser, without a secret in any process list.
//!
//! Everyone on a machine may read the arguments of every process, so the link must not be one. The browser is given a
//! file instead, which only its user may read and which leads on to the link. The link's code works once and for a
//! minute; what is left in the file afterwards opens nothing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde::Deserialize;
use sprag::Role;
use sprag::link::ServerClient;

use crate::args::OpenArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// What a server answers.
#[derive(Debug, Deserialize)]
struct LoginLink {
    link: String,
}

/// Asks the running server for a link, prints it and opens it.
pub(crate) fn run(args: &OpenArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::find(settings, &args.place.db)?;
    let flag = args.place.db.file.db.as_deref();
    let socket = settings.socket_place(args.place.socket.as_deref(), flag, db.path());
    let server = ServerClient::new(&socket, db.path(), sprag::link::DEADLINE);
    let answer = server.request(Role::Operator, "POST", "/v1/login/code", b"")?;
    let LoginLink { link } = server.read(&answer)?;
    writeln!(out, "{link}")?;
    writeln!(
        out,
        "works once, within a minute; the page's own token ends after 12 hours"
    )?;
    if !args.no_browser
        && let Some(opener) = opener(settings)
    {
        out.flush()?;
        let page = db.path().with_file_name("open.html");
        write_page(&page, &link).map_err(|error| Failure::unreadable(&page, &error))?;
        open(&opener, &page, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The program of this system that opens files in a browser, if there is a screen to show one on.
fn opener(settings: &Settings) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return settings.program("open");
    }
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .into_iter()
        .any(|name| settings.text(name).is_some());
    has_screen.then(|| settings.program("xdg-open")).flatten()
}

/// A page that leads on to `link`, for nobody but its user to read.
fn write_page(page: &Path, link: &str) -> std::io::Result<()> {
    // A link holds no character that means something to HTML: an address, and a code of hexadecimal digits.
    let text = format!(
        "<!doctype html><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>Sprag</title>\n"
    );
    // Made again, so that what it may be read by is known.
    match std::fs::remove_file(page) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(page)?.write_all(text.as_bytes())
}

fn open(opener: &Path, page: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    let mut command = Command::new(opener);
    for secret in sprag::SECRET_VARIABLES {
        command.env_remove(secret);
    }
    let status = command
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => writeln!(out, "no browser could be opened; open the link yourself"),
    }
}
