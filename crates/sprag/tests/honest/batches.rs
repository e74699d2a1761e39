//! Batches: one tool, ever new arguments, the same short acknowledgement.

use serde_json::json;

use crate::session::{Act, Look, Numbers, Report};

/// Acknowledgements as tools write them, most of them on no list.
const ACKNOWLEDGEMENTS: [&str; 30] = [
    "ok",
    "200",
    "204 No Content",
    "{\"status\":\"accepted\"}",
    "queued",
    "noted",
    "roger",
    "👍",
    "1 row affected",
    "rows: 1",
    "thanks, we will look into it",
    "{\"ok\":1}",
    "true",
    "nil",
    "acknowledged by node 3",
    "user created, admin: false",
    "label applied, previous label is empty",
    "merged (fast-forward)",
    "sent to 1 recipient",
    "indexed, 0 duplicates",
    "no conflicts",
    "unchanged fields: 4",
    "pong",
    "stored under shard 7",
    "erledigt",
    "完了",
    "{\"result\":{\"code\":0,\"msg\":\"\"}}",
    "+1",
    "granted; expires: never",
    "archived",
];

const TOOLS: [(&str, &str); 6] = [
    ("create_user", "name"),
    ("mcp__crm__tag_contact", "contact"),
    ("send_invoice", "invoice"),
    ("index_document", "doc"),
    ("Bash", "command"),
    ("", "item"),
];

fn batch(acknowledgement: &str, numbers: &mut Numbers, count: u64) -> Vec<Act> {
    let (tool, key) = *numbers.pick(&TOOLS);
    let tool = if tool.is_empty() {
        numbers.word()
    } else {
        tool.to_owned()
    };
    (0..count)
        .map(|n| {
            let value = if tool == "Bash" {
                format!("./register.sh item-{n}")
            } else {
                format!("{}-{n}", numbers.word())
            };
            Look::new(1_500, &tool, json!({ key: value }), acknowledgement).into()
        })
        .collect()
}

#[test]
fn a_batch_with_one_acknowledgement_is_work() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(11);
    for acknowledgement in ACKNOWLEDGEMENTS {
        for _ in 0..4 {
            let acts = batch(acknowledgement, &mut numbers, 60);
            report.honest(&format!("batch answered {acknowledgement:?}"), &acts);
        }
    }
    report.check(120);
}

#[test]
fn a_long_batch_stays_work() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(12);
    for acknowledgement in ACKNOWLEDGEMENTS {
        let acts = batch(acknowledgement, &mut numbers, 260);
        report.honest(&format!("260 answered {acknowledgement:?}"), &acts);
    }
    report.check(30);
}

#[test]
fn a_look_at_the_total_between_the_items_of_a_batch_is_no_loop() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(13);
    for acknowledgement in ACKNOWLEDGEMENTS {
        let mut acts = Vec::new();
        for act in batch(acknowledgement, &mut numbers, 30) {
            acts.push(act);
            let look = Look::new(800, "get_quota", json!({}), "quota: plenty left");
            acts.push(look.into());
        }
        report.honest(&format!("with looks between {acknowledgement:?}"), &acts);
    }
    report.check(30);
}

#[test]
fn the_same_item_again_and_again_is_a_loop() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(14);
    for acknowledgement in ACKNOWLEDGEMENTS {
        let word = numbers.word();
        let acts: Vec<Act> = (0..45)
            .map(|_| {
                Look::new(
                    1_500,
                    "create_user",
                    json!({ "name": word }),
                    acknowledgement,
                )
                .into()
            })
            .collect();
        report.twin(&format!("one item answered {acknowledgement:?}"), &acts);
    }
    report.check(30);
}

#[test]
fn a_batch_in_which_each_item_fails_alike_is_a_wall() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(15);
    for failure in [
        "error: quota exceeded",
        "401 Unauthorized: token expired",
        "permission denied",
        "Traceback (most recent call last): ConnectionError",
        "disk full: could not write",
    ] {
        let acts: Vec<Act> = batch(failure, &mut numbers, 45)
            .into_iter()
            .map(|act| match act {
                Act::Call(look) => look.failing().into(),
                other => other,
            })
            .collect();
        report.twin(&format!("each item: {failure}"), &acts);
    }
    report.check(5);
}
