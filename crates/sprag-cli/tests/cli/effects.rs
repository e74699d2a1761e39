//! `sprag effects`: what a command would destroy, before anybody runs it.

use crate::sandbox::Sandbox;

fn effects(args: &[&str]) -> String {
    let folders = [
        "effects",
        "--cwd",
        "/home/user/app",
        "--root",
        "/home/user/app",
    ];
    Sandbox::new().run(&[&folders, args].concat())
}

#[test]
fn what_a_command_destroys_is_printed_with_its_reach_and_its_program() {
    insta::assert_snapshot!(effects(&["rm -rf build && psql -c \"drop table x\""]), @"
    exit 0
    --- stdout
    drops `table x` (shared)  by `psql`
    removes `build` (scratch)  by `rm`
    allow at the first time
    ");
    insta::assert_snapshot!(effects(&["rm -rf data && git push --force origin main"]), @"
    exit 0
    --- stdout
    resets `branch main` (sweeping)  by `git push --force`
    removes `data` (workspace)  by `rm`
    ask by destructive.sweeping: `git push --force` resets `branch main` (sweeping): a whole place where data lives would go at once
    ");
    insta::assert_snapshot!(effects(&["rm -rf \"$DIR/\""]), @"
    exit 0
    --- stdout
    removes `$DIR/` (sweeping)  by `rm`
    deny by destructive.sweeping: `rm` removes `$DIR/` (sweeping): that is never run for an agent. A variable in it may be empty: write `${NAME:?}`. Name the one thing that has to go.
    ");
    insta::assert_snapshot!(effects(&["--sql", "DELETE FROM users WHERE id = 3"]), @"
    exit 0
    --- stdout
    removes `rows of users` (shared)  by `execute_sql`
    allow at the first time
    ");
}

#[test]
fn what_destroys_nothing_or_can_not_be_parsed_is_reported_so() {
    insta::assert_snapshot!(effects(&["git commit -m 'remove rm -rf /'"]), @"
    exit 0
    --- stdout
    destroys nothing
    allow at the first time
    ");
    insta::assert_snapshot!(effects(&["rm -rf / )"]), @"
    exit 0
    --- stdout
    not parsed, so it has no effects; it is judged by its tool's name alone
    allow at the first time
    ");
    insta::assert_snapshot!(effects(&["sprag approve k7f3"]), @"
    exit 0
    --- stdout
    destroys nothing
    gives the guard an order, or changes its files
    deny by access.self: This call would change what the guard allows. Only a person may do that: ask the user to do it.
    ");
}

#[test]
fn a_policy_has_its_say() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "policy.toml",
        "[destructive]\nallow = [\"prisma migrate reset\"]\nprotected = [\"uploads\"]\n",
    );
    let run = |command: &str| {
        let folders = ["--cwd", "/home/user/app", "--policy", "policy.toml"];
        sandbox.run(&[&["effects"], folders.as_slice(), &[command]].concat())
    };
    insta::assert_snapshot!(run("npx prisma migrate reset && rm uploads/a.png"), @"
    exit 0
    --- stdout
    resets `the project's database` (sweeping), scratch by the policy  by `prisma migrate reset`
    removes `uploads/a.png` (workspace), sweeping by the policy  by `rm`
    ask by destructive.sweeping: `rm` removes `uploads/a.png` (workspace), which the policy protects
    ");
}

#[test]
fn the_same_is_there_as_json() {
    insta::assert_snapshot!(effects(&["--json", "rm -rf build; dropdb shop"]), @r#"
    exit 0
    --- stdout
    {
      "unparsed": false,
      "orders_guard": false,
      "effects": [
        {
          "verb": "drop",
          "reach": "sweeping",
          "by": "dropdb",
          "target": "54ba8f5abbef22f9f0e79cab09c2a07f",
          "text": "database shop",
          "judged": "sweeping"
        },
        {
          "verb": "delete",
          "reach": "scratch",
          "by": "rm",
          "target": "8f29c45d6885e4194408ee32abd58253",
          "text": "build",
          "judged": "scratch"
        }
      ],
      "verdict": {
        "verdict": "ask",
        "rule": "destructive.sweeping",
        "code": "approval_required",
        "message": "`dropdb` drops `database shop` (sweeping): a whole place where data lives would go at once. A person has to approve this call before it runs (code 0pq5npwg): ask the user to run `sprag approve 0pq5npwg`, then make the same call again. Do not work around it.",
        "evidence": {
          "by": "dropdb",
          "call": "Bash, rm",
          "effects": [
            "drops `database shop` (sweeping)",
            "removes `build` (scratch)"
          ],
          "tool": "Bash",
          "why": "`dropdb` drops `database shop` (sweeping): a whole place where data lives would go at once"
        },
        "hint": "sprag approve 0pq5npwg",
        "also": [],
        "would": null,
        "flow": null,
        "depth": null,
        "generation": 1,
        "retry_after_ms": null,
        "approval": "0pq5npwg",
        "expires_ms": 600000
      }
    }
    "#);
}
