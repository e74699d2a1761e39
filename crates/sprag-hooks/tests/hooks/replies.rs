//! What each client is told for each verdict, at each place where it asks.

use sprag::FailMode;
use sprag::{Decision, Id, Verdict};
use sprag_hooks::{Client, HookOptions, answer};

use crate::payloads::recorded;

const VERDICTS: [Decision; 5] = [
    Decision::Warn,
    Decision::Ask,
    Decision::Deny,
    Decision::Block,
    Decision::Kill,
];

fn verdict(decision: Decision) -> Verdict {
    if decision == Decision::Ask {
        return question();
    }
    Verdict::new(decision)
        .with_message("the same again (3/5 before block)")
        .with_hint("sprag explain progress.stagnation")
}

/// As the engine asks.
fn question() -> Verdict {
    let why = "`dropdb` drops `database production`";
    let mut verdict = Verdict::new(Decision::Ask).with_message(format!(
            "{why}. A person has to approve this call before it runs (code k7f3wq2m): ask the user to run \
             `sprag approve k7f3wq2m`, then make the same call again. Do not work around it."
        )).with_hint("sprag approve k7f3wq2m".to_owned());
    verdict.approval = Some(Id::new("k7f3wq2m").unwrap());
    let evidence = verdict.evidence.get_or_insert_default();
    evidence.insert("why".to_owned(), why.into());
    verdict
}

/// One answer for each kind of hook in the fixture that asks anything.
fn said(client: Client, fixture: &str) -> String {
    let mut text = String::new();
    let mut seen = Vec::new();
    for recorded in recorded(fixture) {
        let options = HookOptions {
            event: recorded.event.as_deref(),
            ..HookOptions::default()
        };
        let payload = recorded.payload.get().as_bytes();
        let mut asked = false;
        answer(client, payload, &options, |_, _| {
            asked = true;
            Ok(Verdict::default())
        });
        let fields: serde_json::Value = serde_json::from_slice(payload).unwrap();
        let own = fields["event"].as_str().map(str::to_owned);
        let name = recorded.event.clone().or(own).unwrap_or_default();
        if !asked || seen.contains(&name) {
            continue;
        }
        text += &format!("# {name}\n");
        for decision in VERDICTS {
            let answered = answer(client, payload, &options, |_, _| Ok(verdict(decision)));
            assert_eq!(answered.answer.exit_code, 0);
            text += &format!("{decision}: {}\n", answered.answer.stdout);
        }
        for fail in [FailMode::Open, FailMode::Closed] {
            let options = HookOptions { fail, ..options };
            let answered = answer(
                client,
                payload,
                &options,
                |_, _| Err("no answer".to_owned()),
            );
            assert_eq!(answered.problem.as_deref(), Some("no answer"));
            text += &format!("fail {fail:?}: {}\n", answered.answer.stdout);
        }
        let options = HookOptions {
            shadow: true,
            ..options
        };
        let answered = answer(client, payload, &options, |_, _| {
            Ok(verdict(Decision::Kill))
        });
        assert_eq!(answered.answer.stdout, "", "in shadow nothing is said");
        seen.push(name);
    }
    text
}

#[test]
fn claude_is_told_in_its_own_words() {
    insta::assert_snapshot!(said(Client::Claude, "claude"));
}

#[test]
fn codex_is_told_the_least_that_works() {
    let text = said(Client::Codex, "codex");
    for word in ["\"continue\"", "stopReason", "suppressOutput"] {
        assert!(!text.contains(word), "{word} makes Codex drop the answer");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn gemini_is_told_in_its_own_words() {
    insta::assert_snapshot!(said(Client::Gemini, "gemini"));
}

#[test]
fn copilot_is_told_in_its_own_words() {
    insta::assert_snapshot!(said(Client::Copilot, "copilot"));
}

#[test]
fn copilot_that_runs_a_hook_of_claude_is_told_in_its_words_for_that() {
    insta::assert_snapshot!(said(Client::Claude, "copilot_claude"));
}

#[test]
fn cursor_is_told_in_its_own_words() {
    insta::assert_snapshot!(said(Client::Cursor, "cursor"));
}

#[test]
fn opencode_is_told_in_our_own_words() {
    insta::assert_snapshot!(said(Client::Opencode, "opencode"));
}

/// The text of a dialog was once the model's: it told the person to ask the user.
#[test]
fn a_dialog_tells_the_person_why_it_is_asked_and_what_a_yes_means() {
    let payload = r#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","permission_mode":"default","tool_name":"Bash","tool_input":{}}"#;
    let options = HookOptions::default();
    let answered = answer(Client::Claude, payload.as_bytes(), &options, |_, _| {
        Ok(question())
    });
    let said: serde_json::Value = serde_json::from_str(&answered.answer.stdout).unwrap();
    let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str();
    assert_eq!(
        reason.unwrap(),
        "sprag asks before this runs: `dropdb` drops `database production`.\n\
         Yes: it runs, and the same call is not asked about again in this session. No: it does not run.\n\
         For the agent, if nobody can answer here: the user can run `sprag approve k7f3wq2m`; then make the \
         same call again. Do not work around it."
    );
}

/// In an automatic mode nobody would see the question.
#[test]
fn claude_asks_only_in_modes_in_which_a_person_answers() {
    for (mode, decision) in [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("plan", "ask"),
        ("auto", "deny"),
        ("dontAsk", "deny"),
        ("bypassPermissions", "deny"),
    ] {
        let payload = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"t","permission_mode":"{mode}","tool_name":"Bash","tool_input":{{}}}}"#
        );
        let answered = answer(
            Client::Claude,
            payload.as_bytes(),
            &HookOptions::default(),
            |_, _| Ok(verdict(Decision::Ask)),
        );
        let expected = format!("\"permissionDecision\":\"{decision}\"");
        assert!(
            answered.answer.stdout.contains(&expected),
            "{mode}: {}",
            answered.answer.stdout
        );
    }
}

#[test]
fn a_notice_reaches_the_person_after_a_call_and_never_the_model() {
    let mut notice = Verdict::default();
    notice.notice = Some("50 looks".to_owned());
    let mut shown = 0;
    for (client, fixture) in [
        (Client::Claude, "claude"),
        (Client::Codex, "codex"),
        (Client::Gemini, "gemini"),
        (Client::Copilot, "copilot"),
        (Client::Cursor, "cursor"),
        (Client::Opencode, "opencode"),
    ] {
        for recorded in recorded(fixture) {
            let options = HookOptions {
                event: recorded.event.as_deref(),
                ..HookOptions::default()
            };
            let payload = recorded.payload.get().as_bytes();
            let answered = answer(client, payload, &options, |_, event| {
                Ok(match event {
                    sprag::Event::Step(_) => notice.clone(),
                    _ => Verdict::default(),
                })
            });
            let said = answered.answer.stdout;
            shown += usize::from(said.contains("50 looks"));
            for field in ["additionalContext", "agent_message", "\"note\"", "reason"] {
                assert!(!said.contains(field), "{client}: {said}");
            }
        }
    }
    assert!(shown >= 5, "shown {shown} times");
}
