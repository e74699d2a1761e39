//! The clean-up loop, with a real client and a real server: an agent that deletes what does not go away.

use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::json;
use sprag::{Decision, Guard, LogQuery};

use crate::wrapper_process::example;

struct Agent {
    client: RunningService<RoleClient, ()>,
}

impl Agent {
    async fn start(db: &str) -> Self {
        let mut wrapped = tokio::process::Command::new(example("wrap"));
        wrapped.args([
            "--db",
            db,
            "--session",
            "cleaner-1",
            "--",
            &example("catalog"),
        ]);
        let transport = TokioChildProcess::new(wrapped).unwrap();
        Self {
            client: ().serve(transport).await.unwrap(),
        }
    }

    /// Deletes an asset: whether that was an error, and all texts that came back.
    async fn delete(&self, asset: &str) -> (bool, Vec<String>) {
        let args = json!({ "asset_id": asset }).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("delete_asset").with_arguments(args);
        let result = self.client.call_tool(call).await.unwrap();
        let text = |block: &ContentBlock| block.as_text().map(|text| text.text.clone());
        let texts = result.content.iter().filter_map(text).collect();
        (result.is_error.unwrap_or_default(), texts)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_deletes_again_and_again_is_killed_at_the_third_attempt() {
    let home = tempfile::tempdir().unwrap();
    let db = home.path().join("sprag.db").display().to_string();
    let agent = Agent::start(&db).await;
    assert_eq!(
        agent.delete("fact_sales").await,
        (true, vec!["asset still exists".to_owned()])
    );
    let (is_error, texts) = agent.delete("fact_sales").await;
    assert!(is_error);
    assert_eq!(texts[0], "asset still exists");
    assert!(texts[1].starts_with("[sprag] "), "{texts:?}");
    let (is_error, texts) = agent.delete("fact_sales").await;
    assert!(is_error);
    assert_eq!(texts.len(), 1);
    assert_ne!(texts[0], "asset still exists");
    let (_, texts) = agent.delete("dim_date").await;
    assert!(texts[0].contains("killed"), "{texts:?}");

    let guard = Guard::open(&db).unwrap();
    let log = guard.records(&LogQuery::default()).unwrap();
    let killed = log
        .items
        .iter()
        .find(|record| record.verdict.decision == Decision::Kill);
    let audit = killed
        .and_then(|record| record.verdict.message.clone())
        .unwrap();
    assert!(
        audit.starts_with("session_killed: loop_detected, 3 deletes on asset_id=fact_sales in "),
        "{audit}"
    );

    guard
        .reset("cleaner-1", "ops", "mended the catalogue")
        .unwrap();
    // The run that was killed has ended; a new one in the same session works.
    let (is_error, texts) = agent.delete("old_1").await;
    assert!(is_error);
    assert!(
        texts[0].ends_with("[session_stale_generation]"),
        "{texts:?}"
    );
    agent.client.cancel().await.unwrap();
    let agent = Agent::start(&db).await;
    assert_eq!(
        agent.delete("old_1").await,
        (false, vec!["deleted old_1".to_owned()])
    );
    agent.client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_clean_up_with_a_raised_limit_passes() {
    let home = tempfile::tempdir().unwrap();
    let db = home.path().join("sprag.db").display().to_string();
    let policy = home.path().join("policy.toml").display().to_string();
    std::fs::write(
        &policy,
        "[[override]]\nsession = \"cleaner-*\"\ndestructive.max_calls = 50\n",
    )
    .unwrap();
    let mut wrapped = tokio::process::Command::new(example("wrap"));
    wrapped.args([
        "--db",
        &db,
        "--policy",
        &policy,
        "--session",
        "cleaner-2",
        "--",
        &example("catalog"),
    ]);
    let transport = TokioChildProcess::new(wrapped).unwrap();
    let agent = Agent {
        client: ().serve(transport).await.unwrap(),
    };
    for n in 0..40 {
        let asset = format!("old_{n}");
        assert_eq!(
            agent.delete(&asset).await,
            (false, vec![format!("deleted {asset}")])
        );
    }
    agent.client.cancel().await.unwrap();
}
