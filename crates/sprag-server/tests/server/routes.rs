//! What operators see and change, over the wire.

use sprag::Role;

use crate::test_server::TestServer;

fn message(server: &TestServer, from: &str, to: &str, flow: &str) -> serde_json::Value {
    server.check(&format!(
        r#"{{"type":"message","from":"{from}","to":"{to}","flow":"{flow}"}}"#
    ))
}

#[test]
fn sessions_are_searched_sorted_and_paged() {
    let server = TestServer::start();
    for number in 0..25 {
        for _ in 0..=number % 5 {
            server.check(&format!(
                r#"{{"type":"call","session":"s{number:02}","agent":"a{}","tool":"t"}}"#,
                number % 3
            ));
        }
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/v1/sessions?sort=events&order=desc&limit=4{after}");
        let page = server.operator("GET", &path, "").json();
        for item in page["items"].as_array().unwrap() {
            seen.push((
                item["events"].as_u64().unwrap(),
                item["id"].as_str().unwrap().to_owned(),
            ));
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    assert_eq!((seen.len(), &seen), (25, &sorted));
    let found = server
        .operator("GET", "/v1/sessions?q=a1&sort=id&order=asc&limit=2", "")
        .json();
    let ids: Vec<_> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].clone())
        .collect();
    assert_eq!(ids, ["s01", "s04"]);
    assert_eq!(found["total"], 8);
}

#[test]
fn a_sub_agents_session_is_found_with_its_slash_written_out() {
    let server = TestServer::start();
    server.check(r#"{"type":"call","session":"main/helper","tool":"t"}"#);
    let shown = server
        .operator("GET", "/v1/sessions/main%2Fhelper", "")
        .json();
    assert_eq!(
        (&shown["id"], &shown["parents"][0]),
        (&"main/helper".into(), &"main".into())
    );
    assert_eq!(
        server
            .operator("GET", "/v1/sessions/main/helper", "")
            .status,
        404
    );
}

#[test]
fn orders_are_in_the_log_with_who_and_why() {
    let server = TestServer::start();
    server.check(r#"{"type":"call","session":"s","tool":"t"}"#);
    let path = "/v1/sessions/s/kill";
    let killed = server
        .operator("POST", path, r#"{"why":"it sent mail","by":"ops@host"}"#)
        .json();
    assert_eq!(
        (&killed["state"], &killed["by"]),
        (&"killed".into(), &"ops@host (as operator)".into())
    );
    let told = server
        .operator("GET", "/v1/log?session=s&verdict=allow&q=SENT+mail", "")
        .json();
    let event = &told["items"][0]["event"];
    assert_eq!(
        (&event["type"], &event["why"]),
        (&"kill".into(), &"it sent mail".into())
    );
    assert_eq!(
        server.operator("POST", path, r#"{"why":"  "}"#).json()["field"],
        "why"
    );
    let reset = server
        .operator("POST", "/v1/sessions/s/reset", r#"{"why":"mended"}"#)
        .json();
    assert_eq!(
        (&reset["state"], &reset["generation"]),
        (&"active".into(), &2.into())
    );
}

#[test]
fn a_flow_is_shown_as_the_tree_that_it_was() {
    let server = TestServer::start();
    let start = r#"{"type":"message","to":"1","flow":"f"}"#;
    server.ask(Some(Role::Relay), "POST", "/v1/check", start);
    for (from, to) in [("1", "2"), ("2", "3"), ("3", "2"), ("1", "4"), ("4", "4")] {
        let event = format!(r#"{{"type":"message","from":"{from}","to":"{to}","flow":"f"}}"#);
        server.ask(Some(Role::Hook), "POST", "/v1/check", &event);
    }
    let flow = server.operator("GET", "/v1/flows/f", "").json();
    let stacks: Vec<_> = flow["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let stack = call["stack"].as_array().unwrap();
            let stack: Vec<_> = stack.iter().map(|id| id.as_str().unwrap()).collect();
            let turn = if call["is_return"] == true {
                " back"
            } else {
                ""
            };
            format!(
                "{} {}{turn}",
                stack.join(">"),
                call["verdict"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        stacks,
        [
            "1 allow",
            "1>2 allow",
            "1>2>3 allow",
            "1>2 allow back",
            "1>4 allow",
            "1>4 deny back"
        ]
    );
    let parents: Vec<_> = flow["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["parent"].clone())
        .collect();
    assert_eq!(
        parents,
        [serde_json::Value::Null, "1".into(), "2".into(), "1".into()]
    );
}

#[test]
fn a_replay_shows_every_verdict_and_another_policy_shows_what_it_would_have_done() {
    let server = TestServer::start();
    for turn in 0..4 {
        server.check(&format!(
            r#"{{"type":"call","session":"s","tool":"delete_x","args":{{"id":{turn}}}}}"#
        ));
    }
    let own = server.operator("GET", "/v1/sessions/s/replay", "").json();
    let verdicts = |page: &serde_json::Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items
            .iter()
            .map(|item| {
                item["verdict"]["verdict"]
                    .as_str()
                    .unwrap_or("none")
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(verdicts(&own), ["allow", "warn", "kill", "kill"]);
    assert_eq!(own["tally"]["different"], 0);
    let gauges = own["items"][1]["state"]["gauges"].as_array().unwrap();
    let volume = gauges
        .iter()
        .find(|gauge| gauge["rule"] == "destructive.volume");
    assert_eq!(volume.unwrap()["used"], 2);
    let text = "[destructive]\nmax_calls = 9\n";
    let body = serde_json::json!({ "policy": text, "limit": 3 }).to_string();
    let other = server
        .operator("POST", "/v1/sessions/s/replay", &body)
        .json();
    assert_eq!(verdicts(&other), ["allow", "allow", "allow"]);
    assert_eq!(other["next"], other["items"][2]["seq"]);
    let tried = serde_json::json!({ "text": text, "session": "s" }).to_string();
    let tried = server.operator("POST", "/v1/policy/try", &tried).json();
    assert_eq!(
        (&tried["changed"], &tried["was"]["verdicts"]["kill"]),
        (&3.into(), &2.into())
    );
    server.check(r#"{"type":"usage","session":"s","input_tokens":5}"#);
    let same = server.operator("POST", "/v1/policy/try", r#"{"text":""}"#);
    let same = same.json();
    assert_eq!((&same["changed"], &same["saved"]), (&0.into(), &0.into()));
    assert_eq!(same["was"]["verdicts"], same["would"]["verdicts"]);
    let wrong = server.operator(
        "POST",
        "/v1/policy/try",
        r#"{"text":"[flow]\nmax_depth = 0\n"}"#,
    );
    assert_eq!(
        (wrong.status, &wrong.json()["errors"][0]["line"]),
        (422, &2.into())
    );
}

#[test]
fn a_try_on_one_session_neither_counts_nor_folds_other_sessions_of_its_agent() {
    let server = TestServer::start();
    for n in 0..5 {
        for session in ["s", "other", "third"] {
            server.check(&format!(
                r#"{{"type":"usage","session":"{session}","agent":"x","input_tokens":5}}"#
            ));
            server.check(&format!(
                r#"{{"type":"call","session":"{session}","agent":"x","tool":"delete_asset","args":{{"id":{n}}}}}"#
            ));
        }
    }
    let tried = |text: &str| {
        let body = serde_json::json!({ "text": text, "session": "s" }).to_string();
        server.operator("POST", "/v1/policy/try", &body).json()
    };
    let tighter = tried("[destructive]\nmax_calls = 1\n");
    assert_eq!(tighter["was"]["events"], 10);
    assert!(tighter["folded"].as_u64().unwrap() <= 11, "{tighter}");
    assert_eq!(tighter["would"]["stopped"], serde_json::json!(["s"]));
    // A budget of the agent counts all of its sessions, so all of them are folded, and still not counted.
    let budget = tried("[budget]\ntokens = { agent_day = 20 }\n");
    assert_eq!(budget["was"]["events"], 10, "{budget}");
    assert!(budget["folded"].as_u64().unwrap() >= 15, "{budget}");
}

#[test]
fn what_follows_a_would_be_stop_is_counted_for_the_session_asked_for_up_to_its_reset() {
    let server = TestServer::start();
    let tell = |event: &str| {
        let answer = server.operator("POST", "/v1/check", event);
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    let delete = |session: &str, n: u32| {
        tell(&format!(
            r#"{{"type":"call","session":"{session}","agent":"x","tool":"delete_asset","args":{{"id":{n}}}}}"#
        ));
    };
    let usage = r#"{"type":"usage","session":"s","input_tokens":5}"#;
    for n in 0..2 {
        delete("other", n);
        delete("s", n);
    }
    tell(usage);
    tell(r#"{"type":"message","to":"s","content":"go on"}"#);
    server.operator("POST", "/v1/sessions/s/reset", r#"{"why":"go on"}"#);
    let reset = server.operator("GET", "/v1/log?limit=1", "").json()["items"][0]["seq"].clone();
    for n in 10..12 {
        delete("other", n);
        delete("s", n);
    }
    tell(usage);
    let tried = |rest: &str| {
        let text = format!("[destructive]\nmax_calls = 1\n{rest}");
        let body = serde_json::json!({ "text": text, "session": "s" }).to_string();
        server.operator("POST", "/v1/policy/try", &body).json()
    };
    // Folded alone, and together with the other session of the agent.
    for rest in ["", "[budget]\ntokens = { agent_day = 1000 }\n"] {
        let tried = tried(rest);
        let first = &tried["changes"][0]["seq"];
        let stop = serde_json::json!({ "seq": first, "saved": 2, "until": reset });
        assert_eq!((&tried["stop"], &tried["saved"]), (&stop, &4.into()));
    }
}

#[test]
fn a_policy_is_replaced_whole_or_not_at_all_and_its_history_is_kept() {
    let server = TestServer::start();
    let before = server.operator("GET", "/v1/policy", "").json();
    let put = |text: &str, base: &str| {
        let body = serde_json::json!({ "text": text, "why": "tighter", "base": base });
        server.operator("PUT", "/v1/policy", &body.to_string())
    };
    let digest = before["digest"].as_str().unwrap();
    let wrong = put("[flow]\nmax_depht = 3\n", digest);
    assert_eq!(
        (wrong.status, &wrong.json()["errors"][0]["key"]),
        (422, &"flow.max_depht".into())
    );
    let good = put("# tight\n[flow]\nmax_depth = 1\n", digest);
    assert_eq!((good.status, &good.json()["changed"]), (200, &true.into()));
    assert_eq!(put("", digest).status, 409);
    let file = std::fs::read_to_string(server.home.path().join("policy.toml")).unwrap();
    assert_eq!(file, "# tight\n[flow]\nmax_depth = 1\n");
    assert_eq!(message(&server, "1", "2", "f")["rule"], "flow.depth");
    let history = server
        .operator("GET", "/v1/policy/history?limit=1", "")
        .json();
    let note = &history["items"][0]["note"];
    assert_eq!(
        (&note["by"], &note["why"]),
        (&"operator".into(), &"tighter".into())
    );
    let once = server
        .operator("GET", &format!("/v1/policy/history/{digest}"), "")
        .json();
    assert_eq!(once["text"], before["text"]);
}

#[test]
fn a_pause_stops_nothing_and_tells_what_it_would_have_done() {
    let server = TestServer::start();
    let paused = server
        .operator("POST", "/v1/pause", r#"{"for":"10m","why":"release"}"#)
        .json();
    assert_eq!(
        (&paused["paused"], &paused["why"]),
        (&true.into(), &"release".into())
    );
    let verdict = message(&server, "1", "1", "f");
    assert_eq!(
        (&verdict["verdict"], &verdict["would"]["rule"]),
        (&"allow".into(), &"flow.self_call".into())
    );
    server.operator("POST", "/v1/resume", "{}");
    assert_eq!(message(&server, "1", "1", "f")["verdict"], "deny");
    assert_eq!(
        server
            .operator("POST", "/v1/pause", r#"{"for":"soon","why":"x"}"#)
            .json()["field"],
        "for"
    );
}

#[test]
fn the_log_is_proved_and_exported_whole() {
    let server = TestServer::start();
    for number in 0..30 {
        server.check(&format!(
            r#"{{"type":"call","session":"s{number}","tool":"t"}}"#
        ));
    }
    let proof = server.operator("POST", "/v1/log/verify", "").json();
    assert_eq!(
        (&proof["sound"], &proof["recomputed"]),
        (&true.into(), &30.into())
    );
    let status = server.operator("GET", "/v1/log/status", "").json();
    let lines = server.operator("GET", "/v1/log/export", "").body;
    assert_eq!(
        lines.lines().count() as u64,
        status["last"].as_u64().unwrap()
    );
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["specversion"], &last["type"]),
        (&"1.0".into(), &"dev.sprag.call".into())
    );
    let found = server
        .operator("GET", "/v1/log?kind=events&order=asc&limit=10", "")
        .json();
    assert_eq!(found["items"].as_array().unwrap().len(), 10);
}
