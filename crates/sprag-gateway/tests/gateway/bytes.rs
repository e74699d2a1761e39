//! What no verdict touches passes byte for byte, in both directions.

use serde_json::json;

use crate::place::Place;
use crate::upstream::{Answer, Asked, End};

/// A small generator of its own, so that each run is the same.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}

const REQUEST: &str = r#"{ "model":"m","max_tokens" :10, "future_field":{"b":1,"a":12345678901234567890},
 "messages":[{"role":"user","content":[{"type":"text","text":"grüße \u00e9"}]}],"tools":[{"name":"Bash"}],"stream":true}"#;

const ANSWER: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"content\":[],\"usage\":{\"input_tokens\":1}}}\n\n: keep-alive\n\nevent: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\r\n\r\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\": \\\"ls\\\"}\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: future\ndata: {\"type\":\"future\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn events(asked: &Asked, text: Vec<u8>, piece: usize) -> Answer {
    let _ = asked;
    Answer {
        status: 200,
        media: "text/event-stream",
        headers: vec![
            ("retry-after", "7".to_owned()),
            ("x-future", "a".to_owned()),
        ],
        pieces: text
            .chunks(piece)
            .map(|piece| piece.to_vec().into())
            .collect(),
        end: End::Whole,
    }
}

/// Changes a few bytes.
fn mutated(text: &str, chance: &mut Lcg) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..chance.below(4) {
        let at = chance.below(bytes.len());
        match chance.below(3) {
            0 => bytes[at] = u8::try_from(chance.below(256)).unwrap(),
            1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, b'"'),
        }
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn mutated_requests_and_answers_pass_as_they_are() {
    let runs: usize = std::env::var_os("SPRAG_GATEWAY_MUTATIONS")
        .and_then(|runs| runs.to_str()?.parse().ok())
        .unwrap_or(300);
    let place = Place::new(|asked| {
        let seed = asked.headers["x-seed"].to_str().unwrap().parse().unwrap();
        let mut chance = Lcg(seed);
        let text = mutated(ANSWER, &mut chance);
        let piece = 1 + chance.below(text.len());
        events(asked, text, piece)
    });
    let mut chance = Lcg(1);
    for run in 0..runs {
        let body = mutated(REQUEST, &mut chance);
        let send = |url: String| {
            let request = place.client.post(url).header("x-seed", run.to_string());
            let request = request
                .header("anthropic-beta", "a,b")
                .header("x-sprag-session", run.to_string());
            request
                .header("content-type", "application/json")
                .body(body.clone())
                .send()
        };
        let through = send(place.url("/anthropic/v1/messages?beta=true"))
            .await
            .unwrap();
        let past = send(format!("http://{}/v1/messages?beta=true", place.direct))
            .await
            .unwrap();
        assert_eq!(through.status(), past.status());
        assert_eq!(through.headers()["retry-after"], "7");
        assert_eq!(through.headers()["x-future"], "a");
        let (through, past) = (through.bytes().await.unwrap(), past.bytes().await.unwrap());
        assert!(
            through == past || is_unfinished_call(&past),
            "run {run}\n{}\n{}",
            String::from_utf8_lossy(&through),
            String::from_utf8_lossy(&past)
        );
        let asked = place.upstream.asked();
        let [.., one, two] = asked.as_slice() else {
            panic!("two requests");
        };
        assert_eq!((&one.body, &one.path), (&two.body, &two.path));
        assert_eq!(one.headers["anthropic-beta"], "a,b");
        assert!(one.headers.get("x-sprag-session").is_none());
    }
}

/// A call that a mutation left without its end is not passed on: no client could run it.
fn is_unfinished_call(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    !text.contains(
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_asks_no_model_passes_untouched() {
    let place = Place::new(|asked| {
        Answer::json(418, &json!({"path": asked.path, "size": asked.body.len()}))
    });
    for path in [
        "/anthropic/v1/messages/count_tokens",
        "/openai/v1/models",
        "/gemini/v1beta/files",
    ] {
        let response = place
            .client
            .post(place.url(path))
            .body("{ }")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 418);
        assert_eq!(response.headers()["request-id"], "req_1");
        let rest = path
            .strip_prefix('/')
            .and_then(|path| path.split_once('/'))
            .unwrap()
            .1;
        let expected = json!({"path": format!("/{rest}"), "size": 3});
        assert_eq!(
            response.json::<serde_json::Value>().await.unwrap(),
            expected
        );
    }
}
