//! What a model says, in every API.

use std::time::Duration;

use sprag::Event;

use crate::api::{APIS, Api};
use crate::place::Place;
use crate::upstream::End;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_again_and_again_end_in_a_block_until_the_user_speaks() {
    for api in APIS {
        let place =
            Place::new(move |_| api.answer(&["I am still ", "thinking about it."], End::Whole));
        let first = api.ask(&place, "s1", "").await;
        assert_eq!(first, "I am still thinking about it.", "{api:?}");
        for _ in 0..4 {
            api.ask(&place, "s1", "Continue.").await;
        }
        let reached = place.upstream.asked().len();
        assert_eq!(reached, 5, "{api:?}");
        let stopped = api.ask(&place, "s1", "Continue.").await;
        assert!(
            stopped.starts_with(
                "[sprag] The model is not asked again until you write. The same words 5 times"
            ),
            "{api:?}: {stopped}"
        );
        let again = api
            .ask(&place, "s1", "Then do something else, please.")
            .await;
        assert_eq!(again, "I am still thinking about it.", "{api:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_of_several_conversations_are_no_loop() {
    let api = Api::Gemini;
    let place = Place::new(move |_| api.answer(&["All done."], End::Whole));
    api.ask(&place, "s1", "").await;
    for child in 1..=12 {
        let request = place.client.post(place.url(api.path()));
        let request = request
            .header("x-sprag-session", "s1")
            .header("x-api-key", "canary");
        let request = request.json(&api.request(&format!("You are helper {child}."), ""));
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(api.words(&text), "All done.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_question_in_many_conversations_is_no_loop() {
    for api in APIS {
        let place = Place::new(move |_| api.answer(&["Hello."], End::Whole));
        for _ in 1..=12 {
            let request = place.client.post(place.url(api.path()));
            let request = request.header("x-api-key", "canary");
            let request = request.json(&api.request("Say hello.", ""));
            let text = request.send().await.unwrap().text().await.unwrap();
            assert_eq!(api.words(&text), "Hello.", "{api:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_to_the_end_of_each_sub_agent_are_no_loop() {
    let api = Api::Responses;
    let place = Place::new(move |_| api.answer(&["All done."], End::Whole));
    for child in 1..=12 {
        let words = format!("<subagent_notification>{{\"agent\":{child}}}</subagent_notification>");
        let request = api.send(&place, "s1", &words);
        let turn = r#"{"turn_id":"t1","turn_trigger":"exec"}"#;
        let request = request.header("x-codex-turn-metadata", turn);
        let text = request.send().await.unwrap().text().await.unwrap();
        assert_eq!(api.words(&text), "All done.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_itself_is_ended_in_every_api() {
    for api in APIS {
        let place = Place::new(move |_| {
            api.answer(
                &["Here it is. ", "I will now check the file again. "],
                End::Never,
            )
        });
        let said = api.ask(&place, "s1", "").await;
        assert!(
            said.ends_with("[sprag] This answer was ended here: it only repeated itself."),
            "{api:?}: {said}"
        );
        assert!(said.len() < 2500, "{api:?}: {}", said.len());
        for _ in 0..500 {
            if place.upstream.dropped() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(place.upstream.dropped(), 1, "no more tokens are paid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chant_that_the_policy_allows_goes_on() {
    let api = Api::Messages;
    let words: Vec<&str> = vec!["Ho, ho, ho, and a bottle of rum, said the old sailor. "; 60];
    let whole = words.concat();
    let place = Place::with(
        move |_| api.answer(&words, End::Whole),
        "[rules]\n\"output.*\" = \"shadow\"\n",
        |_| {},
    );
    assert_eq!(api.ask(&place, "s1", "").await, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_the_model_speaks_ends_its_answer_properly() {
    for api in APIS {
        let place = Place::new(move |_| api.answer(&["I begin. "], End::Silent));
        let mut response = api.send(&place, "s1", "").send().await.unwrap();
        let mut text = String::new();
        while !text.contains("I begin.") {
            let piece = response.chunk().await.unwrap().expect("more");
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        place.order(Event::kill("s1").unwrap());
        while let Some(piece) = response.chunk().await.expect("a normal end") {
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        let said = api.words(&text);
        assert!(
            said.starts_with("I begin. [sprag] This session was stopped."),
            "{api:?}: {said}"
        );
        assert_eq!(place.upstream.asked().len(), 1);
        assert!(
            api.ask(&place, "s1", "Go on, please.")
                .await
                .starts_with("[sprag] This session was stopped.")
        );
        assert_eq!(place.upstream.asked().len(), 1);
    }
}
