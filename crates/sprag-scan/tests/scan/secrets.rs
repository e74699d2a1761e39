//! Nothing that looks like a secret leaves a scan, in no form.

use serde_json::{Value, json};
use sprag_core::Timestamp;
use sprag_scan::page;

use crate::recorded::scanned_text;

const SECRETS: [&str; 7] = [
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    "AKIAIOSFODNN7EXAMPLE",
    "hunter2hunter2",
    "abcdef0123456789abcdef01",
    "Zx8Kq2Lm9Rt4Wv7Yb1Nc6Pd3Hf5Jg0SaQeXu",
    "MIIEpAIBAAKCAQEAtopsecret",
];

#[test]
fn secrets_are_in_neither_the_document_nor_the_page() {
    let command = format!(
        "curl -H 'Authorization: Bearer {}' https://me:{}@example.org -d token={} --password {}",
        SECRETS[4], SECRETS[3], SECRETS[0], SECRETS[3]
    );
    let answer = format!(
        "denied for {} {} {} -----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
        SECRETS[1], SECRETS[2], SECRETS[5], SECRETS[6]
    );
    let turn = |n: u32| {
        [
            json!({"role": "assistant", "tool_calls": [{"id": format!("c{n}"), "function": {"name": "shell", "arguments": json!({"command": command, "password": SECRETS[3]}).to_string()}}]}),
            json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": answer}),
        ]
    };
    let messages: Vec<Value> = (0..8).flat_map(turn).collect();
    let report = scanned_text("chat.json", json!(messages).to_string());
    assert_eq!(report.total.loops, 1);
    let told = serde_json::to_string(&report).unwrap() + &page(&report, Timestamp(0));
    assert!(told.contains("[redacted]") && told.contains("curl"));
    for secret in SECRETS {
        assert!(!told.contains(secret), "{secret}");
        let most = secret.get(..secret.len() - 4).unwrap();
        assert!(!told.contains(most), "{secret}");
    }
}
