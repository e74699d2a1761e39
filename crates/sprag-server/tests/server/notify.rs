//! People hear of stops: by a real receiver that fails at first, and by a real command.

use std::sync::Arc;
use std::time::Duration;

use ring::hmac;
use serde_json::{Value, json};
use sprag::{Capture, Guard};
use sprag_server::metrics::{Metrics, Readings};
use sprag_server::notify::{Backoff, Notifier, NotifySettings, Webhook, WebhookSecret};

use crate::guard_fixture::GuardFixture;
use crate::receiver::{PATIENCE, Receiver, Request};

const SECRET: &str = "a secret that both know";

fn webhook(receiver: &Receiver) -> NotifySettings {
    NotifySettings {
        webhook: Some(Webhook {
            url: receiver.url("/hook?key=hush"),
            secret: Some(WebhookSecret::new(SECRET)),
        }),
        backoff: Backoff {
            first: Duration::from_millis(1),
            most: Duration::from_millis(4),
            tries: 4,
        },
        source: "sprag://test".to_owned(),
        ..NotifySettings::default()
    }
}

/// A guard whose stops are told.
pub(crate) struct Told {
    pub(crate) fixture: GuardFixture,
    metrics: Arc<Metrics>,
    notifier: Notifier,
}

impl Told {
    pub(crate) fn new(fixture: GuardFixture, settings: NotifySettings) -> Self {
        let metrics = Arc::new(Metrics::new());
        let notifier = Notifier::start(settings, fixture.clock.clone(), Arc::clone(&metrics));
        let notifier = notifier.unwrap().unwrap();
        Self {
            fixture,
            metrics,
            notifier,
        }
    }

    pub(crate) fn hears(&self) {
        for record in self.fixture.records() {
            self.notifier.observe(&record);
        }
    }

    /// Waits until all was delivered, and answers what was counted.
    pub(crate) fn end(self) -> Vec<String> {
        self.notifier.stop(PATIENCE);
        let text = self.metrics.encode(&Readings::of(&self.fixture.guard));
        let counted = text
            .lines()
            .filter(|line| line.starts_with("sprag_notifications"));
        let counted = counted.filter(|line| !line.ends_with(" 0"));
        let mut counted: Vec<_> = counted.map(str::to_owned).collect();
        counted.sort_unstable();
        counted
    }
}

pub(crate) fn delete(fixture: &GuardFixture) {
    for _ in 0..3 {
        fixture.tell(
            json!({"type": "call", "session": "s1", "agent": "cleaner", "tool": "delete_asset",
            "args": {"asset_id": "fact_sales", "note": "private"}}),
        );
    }
}

/// Proves the signature as a receiver would.
fn is_signed(request: &Request) -> bool {
    let signature = &request.headers["x-sprag-signature"];
    let (time, tag) = signature.split_once(",v1=").unwrap();
    let time = time.strip_prefix("t=").unwrap();
    let digits = tag.as_bytes().chunks(2);
    let tag: Vec<u8> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signed = [format!("{time}.").as_bytes(), &request.body].concat();
    hmac::verify(&key, &signed, &tag).is_ok()
}

/// What differs from run to run, taken out.
fn masked(mut body: Value) -> Value {
    body["id"] = "…".into();
    for name in ["prev", "hash", "policy"] {
        body["data"][name] = "…".into();
    }
    let approach = &mut body["data"]["event"]["approach"];
    for digest in ["exact", "normal", "argument"] {
        approach[digest] = "…".into();
    }
    for digest in ["form", "thing"] {
        approach["about"][digest] = "…".into();
    }
    for field in approach["fields"].as_array_mut().unwrap() {
        field["digest"] = "…".into();
    }
    body
}

#[test]
fn a_kill_reaches_a_receiver_that_fails_at_first_signed_and_without_payload() {
    let receiver = Receiver::answering(&["503 Service Unavailable", "429 Too Many Requests"]);
    let fixture = GuardFixture::of(Guard::builder().capture(Capture::Full), "");
    let told = Told::new(fixture, webhook(&receiver));
    delete(&told.fixture);
    let records = told.fixture.records();
    let captured = records
        .iter()
        .map(|record| format!("{record:?}"))
        .collect::<String>();
    assert!(
        captured.contains("private"),
        "the log has what must not be told"
    );
    for record in &records {
        told.notifier.observe(record);
    }
    let tries = [receiver.next(), receiver.next(), receiver.next()];
    for request in &tries {
        assert!(is_signed(request));
        assert_eq!(request.path, "/hook?key=hush");
        assert_eq!(request.headers["content-type"], "application/json");
        assert_eq!(request.body, tries[0].body);
    }
    let body: Value = serde_json::from_slice(&tries[0].body).unwrap();
    assert!(!body.to_string().contains("private"));
    assert_eq!(
        tries[0].headers["x-sprag-delivery"],
        body["id"].as_str().unwrap()
    );
    insta::assert_json_snapshot!(masked(body));
    insta::assert_snapshot!(told.end().join("\n"));
    assert!(!receiver.has_more());
}

#[test]
fn a_stop_is_told_once_and_what_goes_on_against_it_is_not() {
    let receiver = Receiver::answering(&[]);
    let told = Told::new(GuardFixture::new(""), webhook(&receiver));
    delete(&told.fixture);
    delete(&told.fixture);
    told.fixture.guard.kill("s1", "ops", "to be sure").unwrap();
    told.fixture
        .guard
        .kill("s2", "ops", "it sent mail")
        .unwrap();
    told.hears();
    let mut texts: Vec<_> = [receiver.next(), receiver.next()]
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["text"].clone())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    assert_eq!(
        texts,
        [
            "Sprag killed session s1 (agent cleaner): 3 deletes on asset_id=fact_sales in 2s",
            "ops killed session s2: it sent mail",
        ]
    );
    insta::assert_snapshot!(told.end().join("\n"));
    assert!(!receiver.has_more());
}

#[test]
fn a_block_is_told_too() {
    let receiver = Receiver::answering(&[]);
    let told = Told::new(GuardFixture::new(""), webhook(&receiver));
    for _ in 0..6 {
        told.fixture.tell(
            json!({"type": "step", "session": "s1", "tool": "read", "args": {}, "result": "same"}),
        );
    }
    told.hears();
    let body: Value = serde_json::from_slice(&receiver.next().body).unwrap();
    let text = "Sprag blocked session s1: `read` gave the same answer 5 times in a row";
    assert_eq!(body["text"], text);
    told.end();
    assert!(!receiver.has_more());
}

#[test]
fn a_question_says_what_the_call_destroys() {
    let receiver = Receiver::answering(&[]);
    let told = Told::new(GuardFixture::new(""), webhook(&receiver));
    let command = "rm -rf /srv/a && git push -f origin main";
    told.fixture
        .tell(json!({"type": "call", "session": "s1", "tool": "Bash", "cwd": "/home/user/app", "args": {"command": command}}));
    told.hears();
    let body: Value = serde_json::from_slice(&receiver.next().body).unwrap();
    let text = body["text"].as_str().unwrap_or_default();
    assert!(text.contains("resets `branch main` (sweeping)"), "{text}");
    assert!(text.contains("(removes `/srv/a` (outside))"), "{text}");
    told.end();
}

#[test]
fn an_operators_kill_is_told_only_where_that_is_wanted() {
    let receiver = Receiver::answering(&[]);
    let settings = NotifySettings {
        operator_kills: false,
        ..webhook(&receiver)
    };
    let told = Told::new(GuardFixture::new(""), settings);
    told.fixture
        .guard
        .kill("s2", "ops", "it sent mail")
        .unwrap();
    told.hears();
    assert_eq!(told.end(), Vec::<String>::new());
    assert!(!receiver.has_more());
}

#[test]
fn a_receiver_that_refuses_for_good_is_not_asked_again() {
    let receiver = Receiver::answering(&["404 Not Found"]);
    let told = Told::new(GuardFixture::new(""), webhook(&receiver));
    delete(&told.fixture);
    told.hears();
    receiver.next();
    insta::assert_snapshot!(told.end().join("\n"));
    assert!(!receiver.has_more());
}

#[test]
fn a_receiver_that_is_gone_or_speaks_no_tls_is_given_up_after_the_last_try() {
    let plain = Receiver::answering(&[]);
    for url in [
        // A port that the system gives to nobody: one that was let go is another test's a moment later.
        "http://127.0.0.1:9/".to_owned(),
        plain.url("/").replace("http:", "https:"),
    ] {
        let mut settings = webhook(&plain);
        settings.webhook.as_mut().unwrap().url = url;
        let told = Told::new(GuardFixture::new(""), settings);
        delete(&told.fixture);
        told.hears();
        assert_eq!(
            told.end(),
            [
                "sprag_notifications_total{channel=\"webhook\",result=\"failed\"} 1",
                "sprag_notifications_total{channel=\"webhook\",result=\"retried\"} 3",
            ]
        );
    }
}

#[test]
fn a_full_queue_drops_and_counts_and_never_waits() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let receiver = Receiver::answering(&[]);
    let mut settings = webhook(&receiver);
    let url = format!("http://{}/", silent.local_addr().unwrap());
    settings.webhook.as_mut().unwrap().url = url;
    let told = Told::new(GuardFixture::new(""), settings);
    for n in 0..500 {
        told.fixture
            .guard
            .kill(&format!("s{n}"), "ops", "")
            .unwrap();
    }
    told.hears();
    let text = told.metrics.encode(&Readings::of(&told.fixture.guard));
    let dropped = text.lines().find_map(|line| {
        line.strip_prefix("sprag_notifications_total{channel=\"webhook\",result=\"dropped\"} ")
    });
    let dropped: u64 = dropped.unwrap().parse().unwrap();
    // 256 wait and at most five are on their way.
    assert!((500 - 256 - 5..=500 - 256).contains(&dropped), "{dropped}");
    told.notifier.stop(Duration::ZERO);
}

#[test]
fn nobody_to_tell_is_no_thread_and_wrong_settings_are_told() {
    let start = |settings| {
        let clock = Arc::new(sprag::SystemClock);
        Notifier::start(settings, clock, Arc::new(Metrics::new()))
    };
    assert!(start(NotifySettings::default()).unwrap().is_none());
    let wrong = ["not a url", "ftp://host/secret-path", "http://"].map(|url| {
        let settings = NotifySettings {
            webhook: Some(Webhook {
                url: url.to_owned(),
                secret: None,
            }),
            ..NotifySettings::default()
        };
        start(settings).unwrap_err().to_string()
    });
    insta::assert_snapshot!(wrong.join("\n"));
}

#[test]
fn a_person_is_told_once_that_an_agent_has_waited_for_long() {
    let receiver = Receiver::answering(&[]);
    let told = Told::new(GuardFixture::new(""), webhook(&receiver));
    for _ in 0..60 {
        told.fixture.clock.advance(sprag::Millis(59_000));
        let verdict = told.fixture.tell(
            json!({"type": "step", "session": "s1", "agent": "oncall", "tool": "zwobulate", "args": {}, "result": "same"}),
        );
        assert_eq!(
            (verdict.decision, verdict.message),
            (sprag::Decision::Allow, None)
        );
    }
    let records = told.fixture.records();
    let lines: Vec<String> = records
        .iter()
        .filter_map(|record| Some(sprag_server::log_lines::line(record)?.text))
        .filter(|text| text.contains("Notice"))
        .collect();
    let notice = "50 looks after a pause brought nothing new in 50 minutes, the last by `zwobulate`. The agent waits and is not stopped.";
    assert_eq!(lines, [format!("[LoopGuard] Notice: session s1: {notice}")]);
    for record in &records {
        told.notifier.observe(record);
    }
    let body: Value = serde_json::from_slice(&receiver.next().body).unwrap();
    assert_eq!(body["text"], format!("Session s1 (agent oncall): {notice}"));
    told.end();
    assert!(!receiver.has_more());
}
