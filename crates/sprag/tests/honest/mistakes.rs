//! Mistakes that the guard once made, each with the runaway it must not be confused with.

use serde_json::json;

use crate::session::{Act, Look, Numbers, Report, play};

fn acts(count: u64, act: impl Fn(u64) -> Look) -> Vec<Act> {
    (0..count).map(|n| act(n).into()).collect()
}

#[test]
fn an_ending_is_not_a_finding() {
    let mut report = Report::default();
    for answer in [
        "account opened, admin: false",
        "tag kept, its note is empty",
        "shelved under B, duplicate: false",
    ] {
        let file = |n: u64| Look::new(1_500, "shelve", json!({"item": format!("i{n}")}), answer);
        report.honest(answer, &acts(30, file));
    }
    let nothing = |n: u64| {
        Look::new(
            1_500,
            "shelve",
            json!({"q": format!("{n}")}),
            "found: false",
        )
    };
    report.twin("one field that says no", &acts(45, nothing));
    report.check(4);
}

#[test]
fn a_habit_is_not_a_wall() {
    let mut report = Report::default();
    let list = |_| Look::shell(3_000, "ls -l", "total 4\n-rw-r--r-- 1 u u 40 notes.txt");
    let mut between = Vec::new();
    for n in 0..30 {
        between.push(list(n).into());
        let found = format!("./part-{n}/{}", Numbers::new(n).word());
        between.push(Look::shell(3_000, &format!("find part-{n}"), found).into());
    }
    report.honest("a look around between finds", &between);
    report.twin("nothing but the look around", &acts(45, list));
    report.check(2);
}

#[test]
fn a_program_that_fails_at_the_end_of_each_run_is_a_loop_whatever_it_prints_first() {
    let run = |n: u64| {
        let noise: String = (0..9)
            .map(|k| Numbers::new(n * 50 + k).word() + "\n")
            .collect();
        Look::shell(
            2_000,
            "./crawl",
            format!("{noise}{noise}fetch aborted: quota is used up"),
        )
    };
    let mut report = Report::default();
    report.honest("seven runs", &acts(7, run));
    report.twin("forty-five runs", &acts(45, run));
    report.check(2);
    let stopped = play(&acts(45, run)).stopped.unwrap();
    assert!(stopped.0 <= 12, "{stopped:?}");
}

#[test]
fn a_build_that_fails_the_same_however_it_is_called_is_a_wall() {
    const FLAGS: [&str; 9] = [
        "",
        "--info",
        "--debug",
        "--stacktrace",
        "--scan",
        "--no-daemon",
        "--offline",
        "--rerun-tasks",
        "--no-build-cache",
    ];
    let build = |n: u64, error: String| {
        let flag = FLAGS[usize::try_from(n * 5 % 9).unwrap()];
        let text = format!(
            "BUILD FAILED in {}s\n{error}\n{} tasks",
            n * 7 % 40 + 2,
            n % 9 + 10
        );
        Look::shell(9_000, &format!("./gradlew assemble {flag}"), text).failing()
    };
    let look = |n: u64| {
        let found = format!("implementation {}", Numbers::new(n).word());
        Look::shell(6_000, &format!("sed -n {n}p build.gradle"), found)
    };
    let row = |rounds: std::ops::Range<u64>, error: &dyn Fn(u64) -> String| -> Vec<Act> {
        let round = |n: u64| [look(n).into(), build(n, error(n)).into()];
        rounds.flat_map(round).collect()
    };
    let mut report = Report::default();
    let same = |_: u64| "e: Login.kt: unresolved reference: rememberSavable".to_owned();
    let moving = |n: u64| {
        format!(
            "e: Login.kt: unresolved reference: {}",
            Numbers::new(n).word()
        )
    };
    report.honest("six tries at one error", &row(0..6, &same));
    report.honest("one error after the other", &row(0..20, &moving));
    report.twin("the same error in each build", &row(0..22, &same));
    // What failed succeeds now and then.
    let mut flaky = Vec::new();
    for n in 0..10 {
        flaky.extend(row(n * 3..n * 3 + 3, &same));
        flaky
            .push(Look::shell(9_000, "./gradlew assemble", format!("BUILD SUCCESSFUL {n}")).into());
    }
    report.honest("a flaky build", &flaky);
    report.check(4);
}

#[test]
fn stepping_through_a_program_is_news_and_a_heap_address_is_not() {
    let mut report = Report::default();
    let step = |n: u64| {
        Look::new(
            4_000,
            "lldb",
            json!({"command": "si"}),
            format!("-> 0x{:x}", 0x40_1000 + n * 5),
        )
    };
    report.honest("each instruction", &acts(30, step));
    let object = |n: u64| {
        let heap = 0x55e4_f000_u64 + Numbers::new(n + 3).below(4_000) * 0x1000;
        Look::new(
            4_000,
            "lldb",
            json!({"command": "p obj"}),
            format!("<Node at 0x{:x}>", heap + 0x2a0),
        )
    };
    report.twin("one object at ever new places", &acts(45, object));
    report.check(2);
}

#[test]
fn the_process_in_a_shells_message_is_noise() {
    let mut report = Report::default();
    let killed = |n: u64| {
        let text = format!("job.sh: line 1709: {} Killed   ./sort big", 1729 + n * 7);
        Look::shell(4_000, "bash job.sh", text).failing()
    };
    report.twin("killed again and again", &acts(45, killed));
    let moves = |n: u64| {
        Look::shell(
            4_000,
            "bash job.sh",
            format!("part {n} sorted, line {}", n * 9),
        )
    };
    report.honest("a job that gets on", &acts(30, moves));
    report.check(2);
    assert!(play(&acts(45, killed)).stopped.unwrap().0 <= 6);
}

#[test]
fn an_answer_that_was_given_at_any_earlier_time_is_not_news() {
    let mut report = Report::default();
    let rooms = ["the hall", "the cellar", "a garden", "the attic"];
    let round = |n: u64| {
        Look::new(
            3_000,
            "walk",
            json!({"to": "next"}),
            rooms[usize::try_from(n % 4).unwrap()],
        )
    };
    report.twin("round and round", &acts(45, round));
    let onward = |n: u64| {
        Look::new(
            3_500,
            "walk",
            json!({"to": "next"}),
            format!("{} {n}", Numbers::new(n).word()),
        )
    };
    report.honest("ever new rooms", &acts(30, onward));
    report.check(2);
}

#[test]
fn empty_findings_are_forgiven_for_a_while() {
    let mut report = Report::default();
    let look = |n: u64| {
        Look::new(
            3_000,
            "Glob",
            json!({"pattern": format!("**/{}*", Numbers::new(n).word())}),
            "No files found",
        )
    };
    report.honest("seven files looked for", &acts(7, look));
    assert!(
        play(&acts(7, look)).warned.is_empty(),
        "seven are not even worth a word"
    );
    report.twin("forty-five files looked for", &acts(45, look));
    report.check(2);
}

#[test]
fn a_failure_that_repeats_the_attempts_words_is_known() {
    let mut report = Report::default();
    let guess = |n: u64| {
        let word = Numbers::new(n * 3 + 1).word();
        let failure = format!("frob: there is no mode called {word} in this version");
        Look::new(2_000, "frob", json!({"mode": word}), failure).failing()
    };
    report.twin("ever new guesses", &acts(45, guess));
    report.honest("a handful of guesses", &acts(7, guess));
    let fixed = |n: u64| {
        let word = Numbers::new(n * 3 + 1).word();
        if n.is_multiple_of(2) {
            Look::new(
                2_000,
                "Edit",
                json!({"file_path": "a.c", "new_string": word}),
                "edited",
            )
        } else {
            Look::shell(
                2_000,
                "make",
                format!("a.c: undeclared name {word} in this scope"),
            )
            .failing()
        }
    };
    report.honest(
        "one undeclared name after another is fixed",
        &acts(40, fixed),
    );
    report.check(3);
}

#[test]
fn edits_of_one_file_that_all_fail_once_counted_as_a_sweep() {
    let mut report = Report::default();
    for (name, path) in [("file_path", "a.txt"), ("filePath", "src/a.txt")] {
        let edit = |n: u64| {
            let old = Numbers::new(n * 3 + 1).word();
            let args = json!({name: path, "old_string": old, "new_string": format!("x{n}")});
            Look::new(2_000, "Edit", args, "String to replace not found in file.").failing()
        };
        let stopped = play(&acts(14, edit)).stopped;
        let call = stopped.as_ref().map(|(call, _)| *call);
        assert!(call.is_some_and(|call| call <= 10), "{name}: {stopped:?}");
        report.twin(name, &acts(45, edit));
        report.honest("four tries", &acts(4, edit));
    }
    // A rename that most packages have had already.
    let elsewhere = |n: u64| {
        let path = format!("packages/{n}/package.json");
        let args = json!({"file_path": path, "old_string": "v1", "new_string": "v2"});
        let edit = |answer: &str| Look::new(2_000, "Edit", args.clone(), answer);
        if n % 5 == 4 {
            edit("edited")
        } else {
            edit("String to replace not found in file.").failing()
        }
    };
    report.honest("files that have it already", &acts(30, elsewhere));
    report.check(5);
}

fn round(calls: u64, gap: u64, first_gap: u64) -> impl Fn(u64) -> Look {
    move |n| {
        let gap = if n.is_multiple_of(calls) {
            first_gap
        } else {
            gap
        };
        let k = n % calls;
        let text = format!(
            "{} {} {k}",
            Numbers::new(k).word(),
            Numbers::new(k + 9_000).word()
        );
        Look::new(
            gap,
            "Read",
            json!({"file_path": format!("src/{k}.rs")}),
            text,
        )
    }
}

#[test]
fn a_round_that_is_longer_than_the_memory_is_found() {
    let again_and_again = play(&acts(300 * 5, round(300, 1_000, 1_000)));
    let stopped = again_and_again
        .stopped
        .expect("five rounds of three hundred calls");
    assert!((601..=1_200).contains(&stopped.0), "{stopped:?}");

    let mut report = Report::default();
    report.honest("everything once more", &acts(600, round(300, 1_000, 1_000)));
    report.honest(
        "a sweep each hour",
        &acts(300 * 5, round(300, 1_000, 3_600_000)),
    );
    let mut after_changes = Vec::new();
    for n in 0..5 {
        let text = format!("change {n}");
        after_changes.push(
            Look::new(
                2_000,
                "Edit",
                json!({"file_path": "a", "new_string": text}),
                "ok",
            )
            .into(),
        );
        after_changes.extend(acts(300, round(300, 1_000, 1_000)));
    }
    report.honest("all of it checked after each change", &after_changes);
    report.check(3);
}

/// A name, and the nth call of a turn.
type Way = (&'static str, fn(u64) -> Look);

#[test]
fn one_parallel_turn_never_takes_a_session_from_nothing_to_a_block() {
    let ways: [Way; 4] = [
        ("the same edit", |_| {
            Look::new(1_000, "edit_file", json!({"path": "a", "text": "x"}), "ok")
        }),
        ("the same run", |n| {
            Look::shell(1_000, "./dice", format!("{}", Numbers::new(n).below(900)))
        }),
        ("the same failure", |_| {
            Look::shell(1_000, "./up", "error: no licence").failing()
        }),
        ("nothing found", |n| {
            Look::new(
                1_000,
                "Grep",
                json!({"pattern": format!("w{n}")}),
                "No matches found",
            )
        }),
    ];
    for (name, look) in ways {
        let outcome = play(&[Act::Together((0..18).map(look).collect())]);
        assert!(outcome.stopped.is_none(), "{name}: {:?}", outcome.stopped);
        let again = |_| Act::Together((0..18).map(look).collect());
        let turns: Vec<Act> = (0..40).map(again).collect();
        assert!(play(&turns).stopped.is_some(), "{name}, turn after turn");
    }
}
