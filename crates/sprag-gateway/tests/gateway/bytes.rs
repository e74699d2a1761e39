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

/// A request and an answer of an API, and the event by which its call is whole.
struct Sample {
    path: &'static str,
    request: &'static str,
    answer: &'static str,
    whole: &'static str,
}

const SAMPLES: [Sample; 4] = [
    Sample {
        path: "/anthropic/v1/messages?beta=true",
        request: r#"{ "model":"m","max_tokens" :10, "future_field":{"b":1,"a":12345678901234567890},
 "messages":[{"role":"user","content":[{"type":"text","text":"grüße \u00e9"}]}],"tools":[{"name":"Bash"}],"stream":true}"#,
        answer: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"content\":[],\"usage\":{\"input_tokens\":1}}}\n\n: keep-alive\n\nevent: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\r\n\r\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\": \\\"ls\\\"}\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: future\ndata: {\"type\":\"future\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        whole: "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    },
    Sample {
        path: "/openai/v1/responses",
        request: r#"{ "model":"m", "future":{"b":1,"a":12345678901234567890},"input":[{"role":"user","content":"gr\u00fc\u00dfe"}],
 "tools":[{"type":"function","name":"ls"}],"stream":true}"#,
        answer: "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\",\"output\":[]}}\n\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c1\",\"name\":\"ls\",\"arguments\":\"\"}}\n\nevent: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{}\"}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c1\",\"name\":\"ls\",\"arguments\":\"{}\"}}\n\nevent: response.future\ndata: {\"type\":\"response.future\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r1\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}}\n\n",
        whole: "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c1\",\"name\":\"ls\",\"arguments\":\"{}\"}}\n\n",
    },
    Sample {
        path: "/openai/v1/chat/completions",
        request: r#"{ "model":"m", "future":{"b":1,"a":12345678901234567890},"messages":[{"role":"user","content":"gr\u00fc\u00dfe"}],
 "tools":[{"type":"function","function":{"name":"ls"}}],"stream":true}"#,
        answer: "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I look.\"},\"finish_reason\":null}]}\n\n: keep-alive\n\ndata: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
        whole: "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    },
    Sample {
        path: "/gemini/v1beta/models/m:streamGenerateContent?alt=sse",
        request: r#"{ "future":{"b":1,"a":12345678901234567890},"contents":[{"role":"user","parts":[{"text":"gr\u00fc\u00dfe"}]}],
 "tools":[{"functionDeclarations":[{"name":"ls"}]}]}"#,
        answer: "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"I look.\"}]},\"index\":0}],\"responseId\":\"r1\"}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"ls\",\"args\":{}},\"thoughtSignature\":\"c2ln\"}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":2}}\r\n\r\n",
        // A call comes in one piece, so nothing of it is ever left out.
        whole: "",
    },
];

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
        .unwrap_or(100);
    for sample in &SAMPLES {
        compare(sample, runs).await;
    }
}

async fn compare(sample: &'static Sample, runs: usize) {
    let place = Place::new(|asked| {
        let seed = asked.headers["x-seed"].to_str().unwrap().parse().unwrap();
        let mut chance = Lcg(seed);
        let text = mutated(sample.answer, &mut chance);
        let piece = 1 + chance.below(text.len());
        events(asked, text, piece)
    });
    let mut chance = Lcg(1);
    for run in 0..runs {
        let body = mutated(sample.request, &mut chance);
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
        let rest = sample.path.get(1..).and_then(|path| path.split_once('/'));
        let through = send(place.url(sample.path)).await.unwrap();
        let past = send(format!("http://{}/{}", place.direct, rest.unwrap().1))
            .await
            .unwrap();
        assert_eq!(through.status(), past.status());
        assert_eq!(through.headers()["retry-after"], "7");
        assert_eq!(through.headers()["x-future"], "a");
        let (through, past) = (through.bytes().await.unwrap(), past.bytes().await.unwrap());
        // A call that a mutation left without its end is not passed on: no client could run it.
        assert!(
            through == past || !is_whole(&past, sample.whole),
            "{} run {run}\n{}\n{}",
            sample.path,
            String::from_utf8_lossy(&through),
            String::from_utf8_lossy(&past)
        );
        let asked = place.upstream.take();
        let [one, two] = asked.as_slice() else {
            panic!("two requests");
        };
        assert_eq!((&one.body, &one.path), (&two.body, &two.path));
        assert_eq!(one.headers["anthropic-beta"], "a,b");
        assert!(one.headers.get("x-sprag-session").is_none());
    }
}

/// Whether the event `whole` is there, and no mutation joined it with another.
fn is_whole(answer: &[u8], whole: &str) -> bool {
    let event = format!("\n\n{whole}");
    whole.is_empty() || String::from_utf8_lossy(answer).contains(&event)
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
