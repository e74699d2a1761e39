//! The parser against bash itself, and against bytes that mean nothing.
//!
//! Scripts are generated from a seed. Every command in them is a stub whose name starts with `c`; what stands
//! in quotes, comments and here-documents mentions decoys that start with `d`. Bash runs the script and
//! reports the arguments of every stub that it ran.

use std::path::Path;
use std::process::Command;

use crate::expand::Field;
use crate::reach::Places;
use crate::walk::Walker;

mod generate;

use generate::{Generator, mutated};

/// Reports each unknown command with its arguments, leaves globs alone, and stops what runs on.
const PREAMBLE: &str = r#"
command_not_found_handle() { local s; printf -v s '%s\x1f' "$@"; s=${s//$'\n'/$'\x1d'}; printf '%s\x1e' "$s" >> "$HOME/log"; return 0; }
FUNCNEST=20
set -f
ulimit -t 2
"#;

fn scripts() -> usize {
    let asked = option_env_or("SPRAG_SCRIPTS");
    asked.and_then(|text| text.parse().ok()).unwrap_or(300)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test asks how much it shall try"
)]
fn option_env_or(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What the parser takes for commands; none if it does not parse.
fn traced(script: &str) -> Option<Vec<Vec<Field>>> {
    let places = Places::default();
    let mut walker = Walker::new(&places);
    walker.trace = Some(Vec::new());
    walker.text(script);
    (!walker.found.unparsed).then(|| walker.trace.take().unwrap_or_default())
}

fn bash(folder: &Path, options: &[&str], script: &str) -> std::process::Output {
    Command::new("/bin/bash")
        .args(["--norc", "--noprofile"])
        .args(options)
        .args(["-c", script])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("HOME", folder)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash runs")
}

/// The arguments of every stub that bash ran.
fn ran(script: &str) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("work");
    std::fs::create_dir(&empty).expect("a folder");
    let whole = format!("{PREAMBLE}\n{script}\nwait");
    let log = folder.path().join("log");
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &whole])
        .current_dir(&empty)
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("HOME", folder.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash runs");
    let _ = output;
    let text = std::fs::read(&log).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .split('\u{1e}')
        .filter(|record| !record.is_empty())
        .map(|record| {
            let mut words: Vec<String> = record.split('\u{1f}').map(str::to_owned).collect();
            words.pop();
            let home = folder.path().to_string_lossy();
            for word in &mut words {
                // A line end would be written in two pieces, and mix with what runs beside it.
                *word = word.replace(&*home, "~").replace('\u{1d}', "\n");
            }
            words
        })
        .collect()
}

/// `~` for the home of somebody whom this machine does not know, which bash leaves as it is.
fn with_homes(words: &[String]) -> Vec<String> {
    let home = |word: &String| {
        let name = word.strip_prefix('~').map(|rest| {
            let end = rest.find('/').unwrap_or(rest.len());
            rest.split_at(end)
        });
        match name {
            Some((name, rest))
                if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                format!("~{rest}")
            }
            _ => word.clone(),
        }
    };
    words.iter().map(home).collect()
}

/// Whether the parser has seen what bash ran: the same arguments, as far as they are known.
fn has_seen(seen: &[Vec<Field>], ran: &[String]) -> bool {
    has_seen_words(seen, ran) || has_seen_words(seen, &with_homes(ran))
}

fn has_seen_words(seen: &[Vec<Field>], ran: &[String]) -> bool {
    seen.iter().any(|argv| {
        let unknown = argv
            .iter()
            .any(|field| field.raw().contains(['\u{E001}', '\u{E002}']));
        if unknown {
            // Only the known beginning can be compared.
            let beginning: String = argv
                .iter()
                .map(|field| field.raw().to_owned() + "\u{1f}")
                .collect();
            let known = beginning
                .split(['\u{E001}', '\u{E002}'])
                .next()
                .unwrap_or_default();
            let whole: String = ran.iter().map(|word| word.to_owned() + "\u{1f}").collect();
            return whole.starts_with(&crate::expand::show(known));
        }
        argv.len() == ran.len()
            && argv
                .iter()
                .zip(ran)
                .all(|(field, word)| field.shown() == *word)
    })
}

#[test]
fn what_bash_runs_is_what_the_parser_saw_or_it_said_that_it_can_not_parse() {
    let (mut parsed, mut compared) = (0, 0);
    for seed in 0..scripts() {
        let mut generator = Generator::new(seed as u64);
        let script = generator.script();
        let accepted = bash(Path::new("/"), &["-n"], &script).status.success();
        let Some(seen) = traced(&script) else {
            continue;
        };
        if !accepted {
            continue;
        }
        parsed += 1;
        for argv in &seen {
            let name = argv.first().map(Field::shown).unwrap_or_default();
            let decoy =
                name.starts_with('d') && name.get(1..).is_some_and(|id| id.parse::<u32>().is_ok());
            assert!(
                !decoy,
                "seed {seed}: data was taken for the command {name}\n{script}"
            );
        }
        for argv in ran(&script) {
            compared += 1;
            assert!(
                has_seen(&seen, &argv),
                "seed {seed}: bash ran {argv:?}, the parser saw {seen:?}\n{script}"
            );
        }
        for id in 0..generator.commands() {
            let name = format!("c{id}");
            let found = seen
                .iter()
                .any(|argv| argv.first().is_some_and(|first| first.raw() == name));
            assert!(found, "seed {seed}: {name} was not seen\n{script}");
        }
    }
    let all = scripts();
    assert!(
        parsed * 10 >= all * 8,
        "{parsed} of {all} scripts were parsed"
    );
    assert!(compared >= all, "{compared} commands were compared");
}

#[test]
fn a_script_with_a_typing_error_is_not_misread() {
    for seed in 0..scripts() {
        let mut generator = Generator::new(seed as u64 ^ 0x5eed);
        let script = mutated(&generator.script(), seed as u64);
        let accepted = bash(Path::new("/"), &["-n"], &script).status.success();
        let Some(seen) = traced(&script).filter(|_| accepted) else {
            continue;
        };
        for argv in ran(&script) {
            assert!(
                has_seen(&seen, &argv),
                "seed {seed}: bash ran {argv:?}, the parser saw {seen:?}\n{script}"
            );
        }
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let alphabet = b"abcdirm -rf/$(){}[]<>|&;\"'`\\\n\t#=*?~!@%^+:,.0129EOFxecho";
    for seed in 0..3000_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut text = String::new();
        for _ in 0..(seed % 97) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let byte = alphabet[(state >> 8) as usize % alphabet.len()];
            text.push(char::from(byte));
        }
        let _ = crate::of_command(&text, Some("/home/user/app"), None);
        let _ = crate::of_command(&format!("rm -rf {text}"), None, None);
        let _ = crate::of_sql(&text);
        let _ = crate::of_sql(&format!("DELETE FROM {text}"));
    }
}

#[test]
fn what_nests_or_grows_without_end_is_not_parsed() {
    for text in [
        "$(".repeat(10_000),
        "(".repeat(30_000),
        format!("{}x{}", "$( ".repeat(100), ")".repeat(100)),
        "a ".repeat(20_000),
        "{ ".repeat(20_000),
        "x".repeat(70_000),
        "`".repeat(20_001),
        "if ".repeat(10_000),
        "((".repeat(30_000),
        "a[.;".repeat(15_000),
    ] {
        let effects = crate::of_command(&text, None, None);
        assert!(effects.unparsed && effects.list.is_empty());
    }
    let doubling: String = (0..60).map(|_| "a=$a$a$a;").collect();
    let _ = crate::of_command(&format!("a=xy;{doubling} rm -rf $a"), None, None);
    let _ = crate::of_command("f() { f; f; f; f; }; f", None, None);
    let braces = "{a,b}".repeat(40);
    let _ = crate::of_command(&format!("rm -rf {braces}"), None, None);
}

#[test]
fn what_braces_make_a_name_of_is_not_taken_for_text() {
    for script in ["c0 x{c,d$}V", "c0 {$V,b}x", "c0 $V{W,b}", "c0 {a,b}$V{c,d}"] {
        let seen = traced(script).expect("parsed");
        for argv in ran(&format!("V=val; Vx=one; VW=two; Vb=three; {script}")) {
            assert!(has_seen(&seen, &argv), "{script}: {argv:?}, {seen:?}");
        }
    }
    let seen = traced("c0 \"$V\"{W,b}; c1 ${V:-x}{y,z}").expect("parsed");
    let shown: Vec<usize> = seen.iter().map(Vec::len).collect();
    assert_eq!(shown, [3, 3], "quotes and braces end a name: {seen:?}");
}

#[test]
fn what_repeats_or_doubles_uses_the_budget_up() {
    let a = format!("a={};", "x".repeat(30_000));
    let many: String = (0..200).map(|at| format!("b{at}=$a;")).collect();
    for text in [
        format!("{a}{}", "c $a;".repeat(1000)),
        format!("{a}{}", "c ${#a};".repeat(1000)),
        format!("{a}{many}{}", "(c);".repeat(1000)),
        format!(
            "f() {{ psql <<E\n{}\nE\n}}; {}",
            "SELECT 1;".repeat(3000),
            "f;".repeat(100)
        ),
        "f() { f; f; }; f".to_owned() + &"; f".repeat(4000),
    ] {
        let effects = crate::of_command(&text, None, None);
        assert!(effects.unparsed, "{}", text.get(..60).unwrap_or_default());
    }
}

#[test]
fn a_long_here_document_is_read_to_its_end() {
    let rows = "INSERT INTO t VALUES (1);\n".repeat(1000);
    for text in [
        format!("psql <<'E'\n{rows}DROP DATABASE app;\nE"),
        format!("Q=$(cat <<'E'\n{rows}DROP DATABASE app;\nE\n); psql -c \"$Q\""),
        format!(
            "bash -c '{}dropdb app'",
            "echo a long line of text;".repeat(800)
        ),
    ] {
        let effects = crate::of_command(&text, None, None);
        let seen = effects.list.first().map(|effect| effect.target.to_string());
        assert_eq!(
            seen.as_deref(),
            Some("database app"),
            "{} bytes",
            text.len()
        );
    }
}
