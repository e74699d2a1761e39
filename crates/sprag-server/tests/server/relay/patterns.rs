//! Which ways of talking are let through and which are not, with the exact status and words.

use serde_json::{Value, json};

use super::agent_server::AgentServer;
use super::relay_server::{HttpAnswer, RelayServer};

/// One server with its agents, and a flow to talk in.
struct Talk {
    server: RelayServer,
    agents: AgentServer,
    said: u32,
}

impl Talk {
    async fn start(policy: &str) -> Self {
        let agents = AgentServer::start().await;
        let server = RelayServer::with_policy(agents.relay(), policy);
        Self {
            server,
            agents,
            said: 0,
        }
    }

    /// An agent's message in the flow `f`, with words of its own.
    async fn say(&mut self, from: &str, to: &str) -> HttpAnswer {
        self.said += 1;
        let words = format!("word {}", self.said);
        let body = json!({"message": words, "fromSession": from, "correlationId": "f"});
        self.server.say(to, body).await
    }

    /// Messages that are all let through without a word.
    async fn fine(&mut self, pairs: &[(&str, &str)]) {
        for (from, to) in pairs {
            let answer = self.say(from, to).await;
            assert_eq!(answer.told(), (200, String::new()), "{from} to {to}");
            assert_eq!(answer.header("sprag-verdict"), None, "{from} to {to}");
        }
    }

    /// A message that is refused, and never reaches the agent server.
    async fn refused(
        &mut self,
        from: &str,
        to: &str,
        status: u16,
        rule: &str,
        detail: &str,
    ) -> HttpAnswer {
        let arrived = self.agents.arrivals().len();
        let answer = self.say(from, to).await;
        assert_eq!(answer.told(), (status, detail.to_owned()));
        let body = answer.json();
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(body["type"], "urn:sprag:problem:refused");
        assert_eq!(
            (&body["rule"], &body["status"]),
            (&json!(rule), &json!(status))
        );
        assert_eq!(body.get("flow"), None);
        assert_eq!(body.get("hint"), None);
        assert_eq!(self.agents.arrivals().len(), arrived);
        answer
    }

    async fn user(&self, to: &str, body: Value) -> HttpAnswer {
        self.server.say(to, body).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_ways_to_talk_are_let_through() {
    for (name, pairs) in [
        ("simple delegation", vec![("1", "2")]),
        (
            "oscillation",
            vec![("1", "2"), ("2", "1"), ("1", "2"), ("2", "1")],
        ),
        (
            "a long chain",
            vec![("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")],
        ),
        (
            "parallel calls",
            vec![
                ("1", "2"),
                ("1", "3"),
                ("1", "4"),
                ("1", "5"),
                ("1", "6"),
                ("1", "7"),
            ],
        ),
        (
            "a chain that returns",
            vec![("1", "2"), ("2", "3"), ("3", "2"), ("2", "1"), ("1", "4")],
        ),
    ] {
        let mut talk = Talk::start("").await;
        let user = json!({"prompt": name, "correlationId": "f"});
        assert_eq!(talk.user("1", user).await.status, 200, "{name}");
        talk.fine(&pairs).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_is_too_deep_is_refused() {
    let mut talk = Talk::start("").await;
    talk.fine(&[("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")])
        .await;
    let message = "Agent call rejected: effective call depth 6 exceeds limit (max 5)";
    let answer = talk.refused("5", "6", 403, "flow.depth", message).await;
    let chain = json!(["1", "2", "3", "4", "5", "6"]);
    assert_eq!(answer.json()["evidence"]["chain"], chain);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_oneself_is_refused() {
    let mut talk = Talk::start("").await;
    let message = "Agent call rejected: self-calls not allowed";
    talk.refused("1", "1", 400, "flow.self_call", message).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_oscillation_is_refused_by_its_rate_and_told_when_to_come_back() {
    let mut talk = Talk::start("").await;
    for round in 0..20 {
        let (from, to) = if round % 2 == 0 {
            ("1", "2")
        } else {
            ("2", "1")
        };
        assert_eq!(talk.say(from, to).await.status, 200);
    }
    let message = "Agent call rejected: call rate limit exceeded (max 20/minute)";
    let answer = talk.refused("1", "2", 429, "flow.rate", message).await;
    assert_eq!(answer.header("retry-after"), Some("60"));
    talk.server.later(30_500);
    let answer = talk.refused("1", "2", 429, "flow.rate", message).await;
    assert_eq!(answer.header("retry-after"), Some("30"));
    talk.server.later(29_500);
    assert_eq!(talk.say("1", "2").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_oscillation_is_refused_by_its_total() {
    let mut talk = Talk::start("").await;
    for round in 0..100 {
        let (from, to) = if round % 2 == 0 {
            ("1", "2")
        } else {
            ("2", "1")
        };
        assert_eq!(talk.say(from, to).await.status, 200, "{round}");
        talk.server.later(3_000);
    }
    let message = "Agent call rejected: total call limit exceeded (max 100 per flow)";
    talk.refused("1", "2", 403, "flow.total", message).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rapid_fire_without_work_is_passed_on_with_a_warning() {
    let mut talk = Talk::start("").await;
    talk.fine(&[("1", "2"); 5]).await;
    let answer = talk.say("1", "2").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text, r#"{"reply":"2 heard word 6"}"#);
    assert_eq!(answer.header("sprag-verdict"), Some("warn"));
    assert_eq!(answer.header("sprag-rule"), Some("flow.chatter"));
    assert_eq!(
        answer.header("sprag-warning"),
        Some("rapid calls from session 1; whether work is done in between is not reported")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flow_that_is_too_old_is_refused_and_one_after_a_break_starts_afresh() {
    let mut talk = Talk::start("").await;
    talk.fine(&[("1", "2")]).await;
    talk.server.later(240_000);
    talk.fine(&[("2", "1")]).await;
    talk.server.later(60_001);
    let message = "Agent call rejected: flow timeout (max 5 minutes)";
    talk.refused("1", "2", 403, "flow.duration", message).await;
    talk.server.later(299_999);
    talk.refused("1", "2", 403, "flow.duration", message).await;
    talk.server.later(300_000);
    talk.fine(&[("1", "2")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_in_the_middle_is_never_limited() {
    let mut talk = Talk::start("").await;
    for _ in 0..10 {
        talk.say("1", "2").await;
        talk.say("2", "1").await;
    }
    let message = "Agent call rejected: call rate limit exceeded (max 20/minute)";
    talk.refused("1", "2", 429, "flow.rate", message).await;
    let user = json!({"prompt": "how is it going?", "correlationId": "f"});
    assert_eq!(talk.user("1", user).await.status, 200);
    assert_eq!(
        talk.user("2", json!({"prompt": "and you?"})).await.status,
        200
    );
    talk.refused("1", "2", 429, "flow.rate", message).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_sessions_in_one_flow_are_refused() {
    let mut talk = Talk::start("").await;
    for to in 2..=10 {
        talk.fine(&[("1", &to.to_string())]).await;
    }
    let message = "Agent call rejected: flow involves too many sessions (11, max 10)";
    talk.refused("1", "11", 403, "flow.sessions", message).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_again_and_again_are_refused() {
    let talk = Talk::start("").await;
    let body = json!({"message": "Any news?", "fromSession": "1", "correlationId": "f"});
    for round in 1..=4 {
        let answer = talk.server.say("2", body.clone()).await;
        let warned = answer.header("sprag-rule") == Some("flow.echo");
        assert_eq!((answer.status, warned), (200, round >= 3), "{round}");
    }
    assert_eq!(
        talk.server.say("2", body).await.told(),
        (
            403,
            "Agent call rejected: session 1 sent the same message to session 2 5 times and nothing new came back".into()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_inbox_and_a_long_conversation_are_refused() {
    let talk = Talk::start("").await;
    let inbox = |n: u32| json!({"message": n, "fromSession": format!("{n}"), "correlationId": format!("f{n}")});
    for n in 1..=10 {
        assert_eq!(talk.server.say("busy", inbox(n)).await.status, 200);
    }
    let full = talk.server.say("busy", inbox(11)).await;
    assert_eq!(
        full.told(),
        (
            429,
            "Message rejected: the inbox of session busy got 10 messages within a minute (max 10/minute)".into()
        )
    );
    assert_eq!(full.header("retry-after"), Some("60"));

    let spoken = |n: u32| json!({"message": n, "fromSession": format!("{n}"), "correlationId": format!("f{n}"), "conversationId": "c"});
    for n in 1..=10 {
        let to = format!("t{n}");
        assert_eq!(talk.server.say(&to, spoken(n)).await.status, 200);
    }
    assert_eq!(
        talk.server.say("t11", spoken(11)).await.told(),
        (
            403,
            "Message rejected: agents sent 10 messages in this conversation since a user last wrote in it (max 10)".into()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn returns_unattended_messages_and_budgets_have_their_limits() {
    let revisits = "[rules]\n\"flow.revisits\" = \"enforce\"\n[flow]\nmax_revisits = 1\n";
    let mut talk = Talk::start(revisits).await;
    talk.fine(&[("1", "2"), ("2", "1"), ("1", "2")]).await;
    let message = "Agent call rejected: too many returns to session 1 (max 1 revisits)";
    talk.refused("2", "1", 403, "flow.revisits", message).await;

    let mut talk = Talk::start("[flow]\nmax_unattended = 2\n").await;
    talk.fine(&[("1", "2"), ("1", "2")]).await;
    let message = "Agent call rejected: session 2 got 2 messages from agents since a user last took part (max 2)";
    talk.refused("1", "2", 403, "flow.unattended", message)
        .await;

    let mut talk = Talk::start("[budget]\nactions = 5\nstrict = true\n").await;
    for to in ["2", "3", "4", "5", "6"] {
        assert_eq!(talk.say("1", to).await.status, 200, "{to}");
    }
    let message = "6 actions since a user last spoke (max 5): make no further calls, summarise and ask the user.";
    talk.refused("1", "7", 403, "budget.actions", message).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_talks_to_or_from_a_killed_session() {
    let mut talk = Talk::start("").await;
    talk.server.guard().kill("2", "ops", "seen enough").unwrap();
    let message = "Message rejected: session 2 was killed by an operator";
    let answer = talk.refused("1", "2", 423, "session.killed", message).await;
    assert_eq!(answer.json()["code"], "session_killed_loop_guard");
    assert_eq!(answer.json()["verdict"], "deny");
    let message =
        "Session 2 was killed: by ops (seen enough). Stop now; only an operator can reset it.";
    let answer = talk.refused("2", "3", 423, "session.killed", message).await;
    assert_eq!(answer.json()["verdict"], "kill");
    let user = talk.user("2", json!({"prompt": "hello?"})).await;
    assert_eq!(user.status, 423);
    // A person is told how to lift it.
    assert_eq!(user.json()["hint"], "sprag sessions reset 2 --why \"…\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_generation_has_ended_and_a_new_one_is_not_there_yet() {
    let talk = Talk::start("").await;
    talk.server.guard().reset("1", "ops", "again").unwrap();
    let from = |generation: u32| json!({"message": "x", "fromSession": "1", "correlationId": "f", "generation": generation});
    let old = talk.server.say("2", from(1)).await;
    assert_eq!(
        old.told(),
        (
            409,
            "Session 1 was reset: generation 1 has ended, the current one is 2".into()
        )
    );
    assert_eq!(old.json()["code"], "session_stale_generation");
    assert_eq!(talk.server.say("2", from(2)).await.status, 200);
    assert_eq!(
        talk.server.say("2", from(3)).await.told(),
        (
            400,
            "generation: session 1 is at generation 2; generation 3 is not there yet".into()
        )
    );
}
