//! Upstreams that break, clients that go, and requests that must not come in.

use serde_json::json;

use crate::place::Place;
use crate::upstream::{Answer, End};

fn ask(place: &Place) -> reqwest::RequestBuilder {
    let body = json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": "go"}]});
    let request = place.client.post(place.url("/anthropic/v1/messages"));
    request.header("x-api-key", "canary").json(&body)
}

fn stream(text: &str, end: End) -> Answer {
    Answer {
        status: 200,
        media: "text/event-stream",
        headers: Vec::new(),
        pieces: vec![text.to_owned().into()],
        end,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_dies_in_an_answer_cuts_the_client_off_too() {
    let place = Place::new(|_| {
        stream(
            "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: mess",
            End::Breaks,
        )
    });
    let response = ask(&place).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_is_not_there_is_a_bad_gateway_without_secrets() {
    let place = Place::with(
        |_| stream("", End::Whole),
        "",
        |options| {
            options
                .upstreams
                .set("anthropic", "http://127.0.0.1:9")
                .unwrap();
        },
    );
    let response = ask(&place).send().await.unwrap();
    assert_eq!(response.status(), 502);
    let text = response.text().await.unwrap();
    assert!(text.contains("127.0.0.1 gave no answer"), "{text}");
    let log = place.log.lock().unwrap();
    assert!(!text.contains("canary") && !log.concat().contains("canary"));
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_passes_as_it_is() {
    let garbage = "\u{0}\u{1}data: {]\n\n\n\ndata: 7\n\nevent:\n\n";
    let place = Place::new(move |_| stream(garbage, End::Whole));
    let response = ask(&place).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), garbage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_megabytes_pass_in_one_piece_and_unheld() {
    let large = "x".repeat(1024 * 1024);
    let place = Place::new(move |_| Answer {
        media: "application/json",
        pieces: vec![large.clone().into(); 100],
        ..stream("", End::Whole)
    });
    let response = ask(&place).send().await.unwrap();
    assert_eq!(response.bytes().await.unwrap().len(), 100 * 1024 * 1024);
    let log = place.log.lock().unwrap();
    assert_eq!(
        log.as_slice(),
        ["an answer is too long to be judged and passes"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_ends_the_upstreams_answer() {
    let place = Place::new(|_| stream(": still here\n\n", End::Never));
    let mut response = ask(&place).send().await.unwrap();
    response.chunk().await.unwrap();
    drop(response);
    for _ in 0..500 {
        if place.upstream.dropped() == 1 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the upstream still answers");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_do_not_come_in() {
    let place = Place::with(
        |_| stream("", End::Whole),
        "",
        |options| {
            options.token = Some("canary-token".to_owned());
        },
    );
    let shown = |token: &'static str| ask(&place).header("x-sprag-token", token);
    for (request, status) in [
        (ask(&place), 401),
        (shown("wrong"), 401),
        (
            shown("canary-token").header("origin", "http://evil.example"),
            403,
        ),
        (shown("canary-token").header("host", "evil.example"), 421),
        (shown("canary-token"), 200),
    ] {
        assert_eq!(request.send().await.unwrap().status(), status);
    }
    let asked = place.upstream.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].headers.get("x-sprag-token").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed() {
    let place = Place::new(|_| Answer {
        status: 307,
        headers: vec![("location", "http://127.0.0.1:9/".to_owned())],
        ..stream("", End::Whole)
    });
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let response = client
        .get(place.url("/anthropic/v1/models"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 307);
}
