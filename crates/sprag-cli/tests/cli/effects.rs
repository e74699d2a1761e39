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
    insta::assert_snapshot!(effects(&["rm -rf build && psql -c \"drop table x\""]), @"");
    insta::assert_snapshot!(effects(&["rm -rf data && git push --force origin main"]), @"");
    insta::assert_snapshot!(effects(&["rm -rf \"$DIR/\""]), @"");
    insta::assert_snapshot!(effects(&["--sql", "DELETE FROM users WHERE id = 3"]), @"");
}

#[test]
fn what_destroys_nothing_or_can_not_be_parsed_is_reported_so() {
    insta::assert_snapshot!(effects(&["git commit -m 'remove rm -rf /'"]), @"");
    insta::assert_snapshot!(effects(&["rm -rf / )"]), @"");
    insta::assert_snapshot!(effects(&["sprag approve k7f3"]), @"");
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
    insta::assert_snapshot!(run("npx prisma migrate reset && rm uploads/a.png"), @"");
}

#[test]
fn the_same_is_there_as_json() {
    insta::assert_snapshot!(effects(&["--json", "rm -rf build; dropdb shop"]), @"");
}
