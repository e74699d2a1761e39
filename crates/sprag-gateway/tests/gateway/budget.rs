//! What a model costs, in every API.

use serde_json::json;

use crate::api::{APIS, Api};
use crate::place::Place;
use crate::upstream::{Answer, Asked, End};

const DOLLAR: &str =
    "[budget.cost_usd]\nsession = 1.0\n[prices]\n\"*\" = { input = 0, output = 10 }\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_the_request_that_would_exceed_it() {
    for api in APIS {
        let place = Place::with(
            move |_| api.answer(&["Done so far."], End::Whole),
            DOLLAR,
            |_| {},
        );
        for words in ["one", "two"] {
            assert_eq!(api.ask(&place, "s1", words).await, "Done so far.");
        }
        let stopped = api.ask(&place, "s1", "three").await;
        assert!(
            stopped.contains("has no room for this request"),
            "{api:?}: {stopped}"
        );
        assert_eq!(place.upstream.asked().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agents_that_start_at_once_reserve_what_the_model_cost_before() {
    let api = Api::Messages;
    let place = Place::with(
        move |_| api.answer(&["Done so far."], End::Whole),
        DOLLAR,
        |_| {},
    );
    api.ask(&place, "s1", "").await;
    let child = |name: &str| {
        let request = place.client.post(place.url(api.path()));
        let request = request.header("x-claude-code-session-id", "s1");
        let request = request.header("x-claude-code-agent-id", name.to_owned());
        request
            .header("x-api-key", "canary")
            .json(&api.request(&format!("helper {name}"), ""))
    };
    let asked = ["a", "b", "c", "d"].map(|name| tokio::spawn(child(name).send()));
    let mut spoken = 0;
    for response in asked {
        let text = response.await.unwrap().unwrap().text().await.unwrap();
        spoken += usize::from(text.contains("Done so far."));
    }
    // Forty cents each: the first and one helper fit into a dollar.
    assert_eq!((spoken, place.upstream.asked().len()), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_reserved_is_given_back_when_no_answer_is_judged() {
    let large: hyper::body::Bytes = "x".repeat(1024 * 1024).into();
    let api = Api::Messages;
    let place = Place::with(
        move |asked: &Asked| match asked
            .headers
            .get("x-part")
            .and_then(|part| part.to_str().ok())
        {
            Some("long") => Answer {
                media: "application/json",
                pieces: vec![large.clone(); 17],
                ..Answer::events(&[])
            },
            Some("error") => Answer::json(500, &json!({"error": {"message": "broken"}})),
            Some("cut") => Answer {
                media: "application/json",
                end: End::Breaks,
                ..Answer::json(200, &json!({}))
            },
            _ => api.answer(&["Done so far."], End::Whole),
        },
        DOLLAR,
        |_| {},
    );
    api.ask(&place, "s1", "one").await;
    for part in ["long", "error", "cut", "long", "error"] {
        let request = api.send(&place, "s1", part).header("x-part", part);
        // One that is cut off is not whole, or has not even begun.
        if let Ok(response) = request.send().await {
            let _ = response.bytes().await;
        }
    }
    // Forty cents are spent and nothing is reserved: there is room for one more.
    assert_eq!(api.ask(&place, "s1", "two").await, "Done so far.");
}
