//! What commands destroy, from the event to the verdict.
#![cfg(feature = "effects")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use serde_json::json;
use sprag::{Decision, Event, Judge, RuleId, Timestamp, Verdict};
use sprag_core::{Payload, Policy};

const ROOT: &str = "/home/user/app";

struct Session {
    judge: Judge,
    at: u64,
}

impl Session {
    fn new(policy: &str) -> Self {
        let policy = Policy::from_toml(policy).unwrap();
        Self {
            judge: Judge::new(policy),
            at: 1_000_000,
        }
    }

    fn judge(&mut self, event: impl Into<Event>) -> Verdict {
        self.at += 2_000;
        self.judge.judge(&event.into(), Timestamp(self.at)).unwrap()
    }

    fn run(&mut self, command: &str) -> Verdict {
        let args = Payload::from(json!({ "command": command }));
        let call = Event::call("s", "Bash").unwrap().args(args);
        self.judge(call.cwd(ROOT).root(ROOT))
    }

    /// The step of a call that answered `result`.
    fn answered(&mut self, result: &str) {
        let step = Event::step("s").unwrap().tool("Bash").unwrap();
        self.judge(step.result(Payload::from(json!(result))));
    }
}

fn said(verdict: &Verdict) -> (Decision, Option<RuleId>) {
    (verdict.decision, verdict.rule)
}

#[test]
fn a_sweep_of_a_home_is_refused_and_of_a_database_asked() {
    let mut session = Session::new("");
    let sweeping = Some(RuleId::DestructiveSweeping);
    assert_eq!(
        said(&session.run("rm -rf ~/x/..")),
        (Decision::Deny, sweeping)
    );
    assert_eq!(
        said(&session.run("rm -rf \"$DIR/\"")),
        (Decision::Deny, sweeping)
    );
    assert_eq!(
        said(&session.run("npx prisma migrate reset")),
        (Decision::Ask, sweeping)
    );
    assert_eq!(
        said(&session.run("git commit -m 'rm -rf /'")),
        (Decision::Allow, None)
    );
}

#[test]
fn dropping_tables_again_and_again_is_warned_then_asked() {
    let mut session = Session::new("");
    let drop = |table: &str| format!("psql app -c 'DROP TABLE {table}'");
    assert_eq!(session.run(&drop("a")).decision, Decision::Allow);
    assert_eq!(
        said(&session.run(&drop("b"))),
        (Decision::Warn, Some(RuleId::DestructiveVolume))
    );
    assert_eq!(
        said(&session.run(&drop("c"))),
        (Decision::Ask, Some(RuleId::DestructiveVolume))
    );
}

#[test]
fn dropping_one_table_a_third_time_is_refused() {
    let mut session = Session::new("");
    let drop = "psql app -c 'DROP TABLE orders'";
    assert_eq!(session.run(drop).decision, Decision::Allow);
    assert_eq!(
        said(&session.run(drop)),
        (Decision::Warn, Some(RuleId::DestructiveTarget))
    );
    assert_eq!(
        said(&session.run(drop)),
        (Decision::Deny, Some(RuleId::DestructiveTarget))
    );
}

#[test]
fn resets_of_the_workspace_are_judged_only_while_nothing_new_comes() {
    let mut session = Session::new("");
    for number in 0..8 {
        assert_eq!(
            session.run("git reset --hard").decision,
            Decision::Allow,
            "{number}"
        );
        session.answered(&format!(
            "{number} of 12 tests failed: {}",
            "x".repeat(number)
        ));
    }
    let mut session =
        Session::new("progress.classifier = \"plain\"\n[rules]\n\"progress.*\" = \"off\"");
    let mut decisions = Vec::new();
    for _ in 0..5 {
        decisions.push(session.run("git reset --hard").decision);
        session.answered("HEAD is now at 1234567");
    }
    use Decision::{Allow, Deny, Warn};
    assert_eq!(decisions, [Allow, Allow, Warn, Warn, Deny]);
}

#[test]
fn a_clean_build_is_never_judged() {
    let mut session = Session::new("");
    for number in 0..12 {
        let verdict = session.run("rm -rf build && cmake -B build && make -C build");
        assert_eq!(verdict.decision, Decision::Allow, "{number}");
        session.answered(&format!("[{number}%] built"));
    }
}

#[test]
fn the_policy_names_what_may_go_and_what_may_not() {
    let policy = "[destructive]\nallow = [\"prisma migrate reset\"]\nprotected = [\"uploads\"]\nscratch = [\"/srv/x\"]";
    let mut session = Session::new(policy);
    assert_eq!(
        session.run("npx prisma migrate reset").decision,
        Decision::Allow
    );
    assert_eq!(session.run("rm uploads/a.png").decision, Decision::Ask);
    for name in ["a", "b", "c", "d", "e"] {
        let verdict = session.run(&format!("rm -rf /srv/x/{name}"));
        assert_eq!(verdict.decision, Decision::Allow, "{name}");
    }
    assert_eq!(session.run("rm -rf /").decision, Decision::Deny);
}

#[test]
fn a_tool_that_deletes_in_the_workspace_is_judged_by_its_path() {
    let mut session = Session::new("");
    for name in ["a", "b", "c", "d", "e"] {
        let args = Payload::from(json!({ "path": format!("src/{name}.rs") }));
        let call = Event::call("s", "delete_file").unwrap().args(args);
        assert_eq!(
            session.judge(call.cwd(ROOT).root(ROOT)).decision,
            Decision::Allow,
            "{name}"
        );
    }
}

#[test]
fn a_command_that_approves_for_itself_is_refused_and_one_that_looks_for_the_words_is_not() {
    let mut session = Session::new("");
    let own = (Decision::Deny, Some(RuleId::AccessSelf));
    assert_eq!(said(&session.run("sprag approve 6tpg6t9m")), own);
    assert_eq!(
        said(&session.run("bash -c 'sprag sessions reset s1 --yes'")),
        own
    );
    for honest in [
        "grep -rn 'sprag approve' docs",
        "git commit -m 'docs: explain sprag approve'",
    ] {
        assert_eq!(session.run(honest).decision, Decision::Allow, "{honest}");
    }
    let args =
        Payload::from(json!({ "file_path": "/home/user/.claude/settings.json", "content": "{}" }));
    let write = Event::call("s", "Write").unwrap().args(args);
    assert_eq!(said(&session.judge(write)), own);
}

fn approve(session: &mut Session, verdict: &Verdict, scope: &str) {
    let code = verdict.approval.as_ref().unwrap();
    let yes =
        format!(r#"{{"type":"approve","session":"s","approval":"{code}","scope":"{scope}"}}"#);
    let verdict = session.judge(Event::parse(yes.as_bytes()).unwrap());
    assert_eq!(verdict.decision, Decision::Allow);
}

#[test]
fn an_approval_for_the_session_goes_by_program_verb_and_target_not_by_the_words_of_the_command() {
    let mut session = Session::new("");
    let asked = session.run("terraform destroy -auto-approve -target=module.db");
    assert_eq!(asked.decision, Decision::Ask);
    approve(&mut session, &asked, "session");
    for same in [
        "terraform destroy -target=module.db -auto-approve",
        "cd . && terraform destroy -auto-approve -target=module.db 2>&1 | tail -5",
    ] {
        let again = session.run(same);
        let other = asked.evidence.as_ref().unwrap()["effects"] != json!(null);
        assert!(
            other && again.decision <= Decision::Warn,
            "{same}: {again:?}"
        );
    }
    let other = session.run("dropdb production");
    assert_eq!(other.decision, Decision::Ask);
    let more = session.run("terraform destroy -auto-approve -target=module.db; dropdb production");
    assert_eq!(more.decision, Decision::Ask, "more than was approved");
}

#[test]
fn an_approval_for_the_session_does_not_cover_a_target_that_nobody_knows() {
    let mut session = Session::new("");
    let asked = session.run("dropdb \"$NAME\"");
    assert_eq!(asked.decision, Decision::Ask, "{asked:?}");
    approve(&mut session, &asked, "session");
    assert_eq!(session.run("dropdb \"$NAME\"").decision, Decision::Allow);
    let other = session.run("NAME=$(cat name) && dropdb \"$NAME\"");
    assert_eq!(other.decision, Decision::Ask, "{other:?}");
}

#[test]
fn one_approval_for_the_session_serves_a_whole_series_of_local_resets() {
    for (first, rest) in [
        (
            "docker compose down -v",
            [
                "docker compose down -v && docker compose up -d",
                "cd . && docker compose down --volumes",
                "docker-compose down -v 2>&1 | tail -3",
            ],
        ),
        (
            "dropdb -h localhost app_dev",
            [
                "dropdb -h localhost app_dev && createdb -h localhost app_dev",
                "dropdb --if-exists -h localhost app_dev",
                "PGUSER=me dropdb -h localhost app_dev; createdb app_dev",
            ],
        ),
        (
            "npx prisma migrate reset",
            [
                "npx prisma migrate reset --force",
                "pnpm prisma migrate reset --force --skip-seed",
                "npx prisma migrate reset --force && npm test",
            ],
        ),
    ] {
        let mut session = Session::new("");
        let asked = session.run(first);
        assert_eq!(asked.decision, Decision::Ask, "{first}: {asked:?}");
        approve(&mut session, &asked, "session");
        for round in 0..5 {
            for command in [first].into_iter().chain(rest) {
                // Half an hour passes: only an approval for once expires.
                session.at += 1_800_000;
                let again = session.run(command);
                assert_eq!(again.decision, Decision::Allow, "{command}: {again:?}");
                session.answered(&format!("done in {round} s, {command}"));
            }
        }
    }
}
