//! A folder of one's own with a home in it, and runs whose output can be compared.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A temporary home that is also where commands run.
pub(crate) struct Sandbox {
    home: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    /// Puts a file there.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders are made");
        std::fs::write(path, content).expect("the file is written");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("the file is there")
    }

    /// What the copies of settings files hold.
    pub(crate) fn backups(&self) -> Vec<String> {
        let folder = self.path().join(".local/state/sprag/backups");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let copies =
            files.filter(|file| !file.file_name().to_string_lossy().starts_with("absent."));
        copies
            .map(|file| std::fs::read_to_string(file.path()).expect("a copy"))
            .collect()
    }

    /// The binary with these arguments and a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sprag"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path());
        command
    }

    /// Runs it without input.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.run_with(args, "")
    }

    /// Runs it with this input, and tells everything that came of it. What a person has to confirm is
    /// confirmed.
    pub(crate) fn run_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> String {
        let mut args = args.to_vec();
        if is_order(&args) {
            args.push("--yes");
        }
        self.run_unconfirmed(&args, input)
    }

    /// The same, with these arguments and no others.
    pub(crate) fn run_unconfirmed(&self, args: &[&str], input: impl AsRef<[u8]>) -> String {
        self.show(&feed(self.command(args), input.as_ref()))
    }

    /// Exit code, standard output and standard error; the sandbox reads `~`.
    pub(crate) fn show(&self, output: &Output) -> String {
        let code = output
            .status
            .code()
            .map_or("none".to_owned(), |c| c.to_string());
        let mut text = format!("exit {code}\n");
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                text += &format!("--- {name}\n{}", String::from_utf8_lossy(bytes));
            }
        }
        let home = self.path().canonicalize().expect("it is there");
        text.replace(&home.display().to_string(), "~")
            .replace(&self.path().display().to_string(), "~")
    }
}

/// Whether the command asks a person first.
fn is_order(args: &[&str]) -> bool {
    matches!(
        args,
        ["sessions", "kill" | "reset", ..] | ["policy", "set", ..] | ["pause" | "resume", ..]
    ) && !args.contains(&"--help")
}

/// Runs a command with this input; one that stops reading early is fine.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it has an input");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the input was written");
    output
}
