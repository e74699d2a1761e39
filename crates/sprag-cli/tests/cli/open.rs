//! `sprag open`: a link for a browser, and no secret where others can read it.

use std::os::unix::fs::PermissionsExt as _;

use crate::sandbox::{Sandbox, feed};
use crate::serve::Serving;

/// The code in a link that was printed.
fn code(text: &str) -> &str {
    let rest = text.split_once("/#code=").unwrap().1;
    rest.split_whitespace().next().unwrap()
}

#[test]
fn without_a_server_there_is_nothing_to_open() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["open", "--db", "s.db"]);
    assert!(told.contains("exit 2"), "{told}");
    assert!(told.contains("no server listens"), "{told}");
}

#[test]
fn the_program_that_opens_the_browser_gets_a_private_file_and_no_secret() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    sandbox.file(
        "bin/xdg-open",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$HOME/arguments\"\n",
    );
    let opener = sandbox.path().join("bin/xdg-open");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = sandbox.command(&["open", "--db", "s.db"]);
    let path = format!("{}:/usr/bin:/bin", opener.parent().unwrap().display());
    command.env("PATH", path).env("DISPLAY", ":0");
    let told = sandbox.show(&feed(command, b""));
    assert!(told.starts_with("exit 0"), "{told}");
    let (arguments, page) = (sandbox.read("arguments"), sandbox.path().join("open.html"));
    assert!(arguments.trim().ends_with("open.html"), "{arguments}");
    assert!(!arguments.contains(code(&told)), "{arguments}");
    assert!(sandbox.read("open.html").contains(code(&told)));
    let mode = std::fs::metadata(page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.signal("-TERM");
    server.child.wait().unwrap();
}

#[test]
fn without_a_screen_the_link_is_only_printed() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    let told = sandbox.run(&["open", "--db", "s.db"]);
    assert_eq!(code(&told).len(), 32, "{told}");
    assert!(!told.contains(sandbox.read("operator.token").trim()));
    assert!(!sandbox.path().join("open.html").exists());
    server.signal("-TERM");
    server.child.wait().unwrap();
}

#[test]
fn what_a_server_prints_and_logs_holds_no_token() {
    let sandbox = Sandbox::new();
    let mut server = Serving::start(&sandbox);
    let printed = std::mem::take(&mut server.printed);
    for file in ["operator.token", "hook.token"] {
        assert!(!printed.contains(sandbox.read(file).trim()), "{printed}");
    }
    server.signal("-TERM");
    server.child.wait().unwrap();
}
