//! Links in notifications: each answers one question, once, until it expires, and nothing else.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use sprag::{Millis, TestClock, Timestamp};
use sprag_server::notify::{NotifySettings, Webhook, WebhookSecret};
use sprag_server::{ServerConfig, SharedClock};

use crate::receiver::Receiver;
use crate::test_server::{HttpAnswer, TestServer};

const POLICY: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n[session]\nmax_refused = 1000\n";

fn server(receiver: &Receiver, change: impl FnOnce(&mut ServerConfig)) -> TestServer {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("policy.toml"), POLICY).unwrap();
    TestServer::over(home, |config| {
        config.public_url = Some("https://guard.example".to_owned());
        config.notify.webhook = Some(Webhook {
            url: receiver.url("/"),
            secret: None,
        });
        change(config);
    })
}

fn asked(server: &TestServer, session: &str) -> String {
    let call =
        json!({"type": "call", "session": session, "tool": "rm_all", "args": {"s": session}});
    let verdict = server.check(&call.to_string());
    assert_eq!(verdict["verdict"], "ask", "{verdict}");
    verdict["approval"].as_str().unwrap().to_owned()
}

/// The code and the secret of the link that the receiver got.
fn link(receiver: &Receiver) -> (String, String) {
    let body: Value = serde_json::from_slice(&receiver.next().body).unwrap();
    let link = body["link"].as_str().unwrap();
    assert!(
        body["text"]
            .as_str()
            .unwrap()
            .ends_with(&format!(", or open {link}"))
    );
    let (page, secret) = link.split_once('#').unwrap();
    let code = page.strip_prefix("https://guard.example/approve/").unwrap();
    (code.to_owned(), secret.to_owned())
}

fn post(server: &TestServer, code: &str, secret: &str, answer: Option<&str>) -> HttpAnswer {
    let body = json!({"secret": secret, "answer": answer}).to_string();
    server.ask(None, "POST", &format!("/v1/links/{code}"), &body)
}

#[test]
fn a_link_shows_its_question_and_approves_it_once_and_the_log_names_the_channel() {
    let receiver = Receiver::answering(&[]);
    let server = server(&receiver, |_| {});
    let asked = asked(&server, "s1");
    let (code, secret) = link(&receiver);
    assert_eq!(code, asked);
    let shown = post(&server, &code, &secret, None);
    assert_eq!(shown.status, 200, "{shown:?}");
    assert_eq!(shown.json()["state"], "open");
    assert_eq!(shown.json()["call"], "rm_all");
    let approved = post(&server, &code, &secret, Some("approve"));
    assert_eq!(approved.json()["state"], "approved", "{approved:?}");
    assert_eq!(approved.json()["by"], "link to webhook");
    let replayed = post(&server, &code, &secret, Some("decline"));
    assert_eq!(replayed.status, 409, "{replayed:?}");
    assert!(
        replayed
            .body
            .contains("approved by link to webhook already")
    );
    let call = json!({"type": "call", "session": "s1", "tool": "rm_all", "args": {"s": "s1"}});
    assert_eq!(server.check(&call.to_string())["verdict"], "allow");
    // The same call again is a question of its own, which the old link does not answer.
    assert_eq!(server.check(&call.to_string())["verdict"], "ask");
    let replayed = post(&server, &code, &secret, Some("approve"));
    assert_eq!(replayed.status, 409, "{replayed:?}");
    assert_eq!(server.check(&call.to_string())["verdict"], "ask");
}

#[test]
fn a_link_for_another_call_or_with_a_changed_secret_is_refused() {
    let receiver = Receiver::answering(&[]);
    let server = server(&receiver, |_| {});
    asked(&server, "s1");
    let (one, secret) = link(&receiver);
    let other = asked(&server, "s2");
    assert_eq!(post(&server, &other, &secret, Some("approve")).status, 403);
    let changed = secret.replace("webhook", "command");
    assert_eq!(post(&server, &one, &changed, Some("approve")).status, 403);
    assert_eq!(post(&server, &one, "", None).status, 403);
    let open = server.operator("GET", "/v1/approvals", "").json();
    assert_eq!(open["approvals"].as_array().unwrap().len(), 2);
}

#[test]
fn an_expired_link_is_refused_and_so_is_one_of_a_session_that_was_killed_meanwhile() {
    let clock = Arc::new(TestClock::at(Timestamp(1_760_000_000_000)));
    let receiver = Receiver::answering(&[]);
    let shared = SharedClock(Arc::clone(&clock) as _);
    let server = server(&receiver, |config| config.clock = shared);
    asked(&server, "s1");
    let (code, secret) = link(&receiver);
    asked(&server, "s2");
    let (dead, secret_of_dead) = link(&receiver);
    server.operator("POST", "/v1/sessions/s2/kill", r#"{"why":"enough"}"#);
    let late = post(&server, &dead, &secret_of_dead, Some("approve"));
    assert_eq!(late.status, 409, "{late:?}");
    assert!(late.body.contains("killed"), "{late:?}");
    clock.advance(Millis(600_000));
    let late = post(&server, &code, &secret, Some("approve"));
    assert_eq!(late.status, 409, "{late:?}");
    assert!(late.body.contains("expired"), "{late:?}");
}

#[test]
fn a_link_scanner_that_gets_every_address_changes_nothing() {
    let receiver = Receiver::answering(&[]);
    let server = server(&receiver, |_| {});
    asked(&server, "s1");
    let (code, secret) = link(&receiver);
    for path in [
        format!("/approve/{code}"),
        format!("/approve/{code}?{secret}"),
        format!("/v1/links/{code}"),
        format!("/v1/links/{code}?secret={secret}&answer=approve"),
    ] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            server.send(method, &path, "accept: text/html\r\n", "");
        }
    }
    assert_eq!(post(&server, &code, &secret, None).json()["state"], "open");
    let page = server.send("GET", &format!("/approve/{code}"), "", "");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert!(!page.body.contains(&code), "the page holds no data");
}

#[test]
fn without_a_public_address_there_are_no_links_and_a_link_gives_no_other_power() {
    let receiver = Receiver::answering(&[]);
    let server = server(&receiver, |config| config.public_url = None);
    asked(&server, "s1");
    let body: Value = serde_json::from_slice(&receiver.next().body).unwrap();
    assert_eq!(body.get("link"), None);
    assert_eq!(post(&server, "none", "x", None).status, 404);
    drop(server);
    let server = self::server(&receiver, |_| {});
    let code = asked(&server, "s1");
    let (_, secret) = link(&receiver);
    let bearer = format!("authorization: Bearer {secret}\r\n");
    for (method, path) in [
        ("GET", "/v1/approvals".to_owned()),
        ("POST", format!("/v1/approvals/{code}")),
        ("GET", "/v1/sessions".to_owned()),
    ] {
        let answer = server.send(method, &path, &bearer, r#"{"answer":"approve"}"#);
        assert!(matches!(answer.status, 401 | 403), "{path}: {answer:?}");
    }
}

#[test]
fn a_link_works_on_a_server_that_was_started_again() {
    let receiver = Receiver::answering(&[]);
    let first = server(&receiver, |_| {});
    asked(&first, "s1");
    let (code, secret) = link(&receiver);
    let second = TestServer::over(first.end(), |config| {
        config.public_url = Some("https://guard.example".to_owned());
    });
    let declined = post(&second, &code, &secret, Some("decline"));
    assert_eq!(declined.json()["state"], "declined", "{declined:?}");
}

#[test]
fn a_command_gets_a_link_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("link");
    let made = Command::new("mkfifo").arg(&out).status();
    assert!(made.unwrap().success());
    let script = format!("printf %s \"$SPRAG_LINK\" > '{}'", out.display());
    let receiver = Receiver::answering(&[]);
    let server = server(&receiver, |config| {
        config.notify = NotifySettings {
            command: vec!["sh".to_owned(), "-c".to_owned(), script],
            ..NotifySettings::default()
        };
    });
    let code = asked(&server, "s1");
    // Opening a pipe waits for whoever writes to it.
    let link = std::fs::read_to_string(&out).unwrap();
    let (_, secret) = link.split_once('#').unwrap();
    let approved = post(&server, &code, secret, Some("approve"));
    assert_eq!(approved.json()["by"], "link to command", "{approved:?}");
}

/// The example that stands between the server and Slack.
struct SlackRelay(Child);

impl Drop for SlackRelay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_slack_example_passes_a_question_on_with_a_button() {
    const SECRET: &str = "a secret that both know";
    let slack = Receiver::answering(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slack/relay.py");
    let mut command = Command::new("python3");
    command
        .arg(script)
        .arg("0")
        .env("SLACK_URL", slack.url("/services/T0/B0/x"))
        .env("SPRAG_WEBHOOK_SECRET", SECRET)
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        return; // There is no Python on this machine.
    };
    let mut line = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let _relay = SlackRelay(child);
    said.read_line(&mut line).unwrap();
    let port = line.trim().strip_prefix("listening on ").unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let server = server(&slack, |config| {
        config.notify.webhook = Some(Webhook {
            url,
            secret: Some(WebhookSecret::new(SECRET)),
        });
    });
    let code = asked(&server, "s1");
    let request = slack.next();
    assert_eq!(request.path, "/services/T0/B0/x");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let text = body["text"].as_str().unwrap();
    assert!(text.contains(&format!("`sprag approve {code}`")), "{text}");
    let url = body["blocks"][1]["elements"][0]["url"].as_str().unwrap();
    let (_, secret) = url.split_once('#').unwrap();
    let approved = post(&server, &code, secret, Some("approve"));
    assert_eq!(approved.json()["state"], "approved", "{approved:?}");
}
