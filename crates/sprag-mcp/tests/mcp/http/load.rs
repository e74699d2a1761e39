//! Many calls at once over many connections: no answer reaches the wrong caller.

use serde_json::json;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::ScriptedServer;
use crate::load::calls;

const CONNECTIONS: u64 = 100;

#[test]
fn no_answer_reaches_the_wrong_caller() {
    let server = ScriptedServer::start(|asked, peer| {
        let asked = asked.json();
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [], "structuredContent": asked["params"]["arguments"]}});
        if asked["id"].as_u64().unwrap().is_multiple_of(2) {
            peer.json(answer.to_string().as_bytes());
        } else {
            peer.events("");
            peer.part(format!("data: {answer}\n\n").as_bytes());
            peer.end();
        }
    });
    let proxy = ProxyFixture::before(&server);
    let each = calls() / CONNECTIONS;
    let callers: Vec<_> = (0..CONNECTIONS)
        .map(|caller| {
            let mut client = proxy.client();
            // Everyone counts from one, some in a protocol session, some under a token, some as nobody.
            let who = match caller % 3 {
                0 => format!("mcp-session-id: s{caller}\r\n"),
                1 => format!("authorization: Bearer t{caller}\r\n"),
                _ => String::new(),
            };
            std::thread::spawn(move || {
                for n in 1..=each {
                    let call = format!(
                        r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"read","arguments":{{"caller":{caller},"n":{n}}}}}}}"#
                    );
                    let got = client.post(&who, &call);
                    let text = got.text();
                    let text = text.strip_prefix("data: ").unwrap_or(text);
                    let got: serde_json::Value = serde_json::from_str(text.trim_end()).unwrap();
                    assert_eq!(got["id"], n, "{got}");
                    let wanted = json!({"caller": caller, "n": n});
                    assert_eq!(got["result"]["structuredContent"], wanted);
                }
            })
        })
        .collect();
    for caller in callers {
        caller.join().unwrap();
    }
}
