//! A server that starts with nothing prepared, as in a container: its tokens, and whether it is ready.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::sandbox::Sandbox;

const USUAL: [&str; 6] = [
    "serve",
    "--listen",
    "0.0.0.0:0",
    "--behind-tls-proxy",
    "--db",
    "s.db",
];

/// A server that others may reach, and what it printed before it was ready.
struct Exposed {
    child: Child,
    printed: String,
}

impl Exposed {
    fn start(sandbox: &Sandbox, variables: &[(&str, &str)]) -> Self {
        let mut child = sandbox
            .command(&USUAL)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut printed = String::new();
        // The link of the operator comes last, and says for how long it works.
        for line in lines.by_ref().map_while(Result::ok) {
            printed += &line;
            printed.push('\n');
            if line.contains("works once") {
                break;
            }
        }
        std::thread::spawn(move || lines.count());
        Self { child, printed }
    }

    fn address(&self) -> String {
        let line = self.printed.lines().next().unwrap();
        let port = line.rsplit_once(':').unwrap().1;
        format!("127.0.0.1:{port}")
    }

    /// The status of a check with this token.
    fn check(&self, token: &str) -> String {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(self.address()).unwrap();
        let body = r#"{"type":"call","session":"s","tool":"list"}"#;
        let request = format!(
            "POST /v1/check HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address(),
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }
}

impl Drop for Exposed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command printed, without the exit code.
fn printed(sandbox: &Sandbox, args: &[&str]) -> String {
    let told = sandbox.run(args);
    let text = told.strip_prefix("exit 0\n--- stdout\n");
    text.unwrap_or_else(|| panic!("{told}")).trim().to_owned()
}

#[test]
fn a_server_that_others_reach_makes_a_token_for_agents_at_its_first_start_only() {
    let sandbox = Sandbox::new();
    let server = Exposed::start(&sandbox, &[]);
    assert!(
        server
            .printed
            .contains("agents       their token was made: agent.token\n"),
        "{}",
        server.printed
    );
    assert!(
        server
            .printed
            .contains("`sprag token show agent` prints it"),
        "{}",
        server.printed
    );
    let token = printed(&sandbox, &["token", "show", "agent", "--db", "s.db"]);
    assert_eq!(server.check(&token), "200");
    assert_eq!(server.check("sprag_agent_0"), "401");
    drop(server);
    let again = Exposed::start(&sandbox, &[]);
    assert!(!again.printed.contains("agents "), "{}", again.printed);
    assert_eq!(again.check(&token), "200");
    printed(&sandbox, &["token", "revoke", "agent", "--db", "s.db"]);
    assert_eq!(again.check(&token), "401");
    insta::assert_snapshot!(sandbox.run(&["token", "show", "agent", "--db", "s.db"]), @"
    exit 2
    --- stderr
    error: can't read agent.token: no such file or directory
    next: make another one: sprag token add --role agent --name NAME
    ");
}

#[test]
fn tokens_come_from_files_and_variables_and_none_is_made_then() {
    let sandbox = Sandbox::new();
    let agent = format!("sprag_agent_{}", "a1".repeat(32));
    let operator = format!("sprag_operator_{}", "b2".repeat(32));
    sandbox.file("agent", format!("{agent}\n"));
    let variables = [
        ("SPRAG_AGENT_TOKEN_FILE", "agent"),
        ("SPRAG_OPERATOR_TOKEN", operator.as_str()),
    ];
    let server = Exposed::start(&sandbox, &variables);
    assert!(!sandbox.path().join("agent.token").exists());
    assert_eq!(server.check(&agent), "200");
    assert_eq!(server.check(&operator), "200");
    assert_eq!(server.check(&agent.replace("a1", "a2")), "401");
}

#[test]
fn a_token_that_could_be_guessed_or_is_not_there_keeps_a_server_from_starting() {
    let sandbox = Sandbox::new();
    let run = |variable: &str, value: &str| {
        let mut command = sandbox.command(&USUAL);
        command.env(variable, value);
        sandbox.show(&crate::sandbox::feed(command, b""))
    };
    insta::assert_snapshot!(run("SPRAG_AGENT_TOKEN", "secret"), @r#"
    exit 2
    --- stderr
    error: $SPRAG_AGENT_TOKEN holds no token: it must be sprag_agent_ and 64 hexadecimal digits; make one: echo "sprag_agent_$(openssl rand -hex 32)"
    "#);
    insta::assert_snapshot!(run("SPRAG_OPERATOR_TOKEN_FILE", "nowhere"), @"
    exit 2
    --- stderr
    error: can't read nowhere: no such file or directory
    next: check the path; it is relative to where you are
    ");
}

#[test]
fn health_tells_whether_the_server_is_ready_by_its_exit_code() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["health", "--db", "s.db"]), @"
    exit 1
    --- stdout
    not ready: no server listens on s.db.sock
    ");
    let server = Exposed::start(&sandbox, &[]);
    // It prints its addresses just before it opens its doors.
    let is_ready = (0..1_000).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(20));
        sandbox.run(&["health", "--db", "s.db"]) == "exit 0\n--- stdout\nready\n"
    });
    assert!(is_ready);
    drop(server);
}

#[test]
fn a_server_could_not_start_in_a_home_where_nothing_was_yet() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let printed: Vec<String> = lines.map_while(Result::ok).take(3).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(printed.concat().contains("operator "), "{printed:?}");
    use std::os::unix::fs::PermissionsExt as _;
    let folder = sandbox.path().join(".local/state/sprag");
    let mode = std::fs::metadata(folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
