//! Made-up chants are noticed in time, and what repeats by its nature is not one.

use super::{Chant, ChantDetector};
use proptest::prelude::*;

/// How many bytes were read when the chant was noticed.
fn noticed(text: &str) -> Option<usize> {
    let mut detector = ChantDetector::default();
    text.bytes()
        .position(|byte| detector.push(&[byte]).is_some())
        .map(|at| at + 1)
}

/// A small generator of its own, so that each case is the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const PRINTED: &str = "abcdefghij KLMNOPQRST,.0123456789 uvwxyz!?";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PROSE: &str = "Let me look at the parser first, then at the tests that hold it.\n";

#[test]
fn a_chant_of_each_period_is_noticed_within_two_and_a_half_kilobytes() {
    for alphabet in [LETTERS, PRINTED, BASE64, "!", "猫は好", "\u{1f600} a"] {
        // Each period with letters, a few of them with other alphabets.
        let stride = if alphabet == PRINTED { 1 } else { 15 };
        for period in (1..=256).step_by(stride) {
            let mut random = Lcg(period as u64);
            let mut unit = random.text(alphabet, period);
            while unit.len() > 256 {
                unit.pop();
            }
            for before in ["", PROSE, "I think"] {
                let text = format!("{before}{}", unit.repeat(3000 / unit.len() + 1));
                let at = noticed(&text).map(|at| at - before.len());
                assert!(
                    at.is_some_and(|at| at <= 2560),
                    "{unit:?} after {before:?}: {at:?}"
                );
            }
        }
    }
}

#[test]
fn seven_copies_and_eight_copies_below_four_hundred_bytes_are_no_chant() {
    let unit = "I will now check the file again and see what it holds, one word at a time. ";
    assert_eq!(noticed(&unit.repeat(7)), None);
    assert!(noticed(&unit.repeat(9)).is_some());
    assert_eq!(noticed(&"wait, no. ".repeat(39)), None);
    assert!(noticed(&"wait, no. ".repeat(44)).is_some());
}

#[test]
fn a_loop_of_two_lines_is_noticed() {
    let text = "Now I will read it.\nNo, first I will write it.\n".repeat(60);
    let at = noticed(&format!("{PROSE}{text}"));
    assert!(at.is_some_and(|at| at < PROSE.len() + 460), "{at:?}");
}

#[test]
fn lines_of_which_a_twentieth_is_new_are_noticed_within_220_lines() {
    let known: String = (0..500)
        .map(|line| format!("Line {line} of the plan is new.\n"))
        .collect();
    let chant: String = (0..400)
        .map(|line| match line % 20 {
            7 => format!("Attempt {line} failed in another way.\n"),
            even if even % 2 == 0 => "Let me try the other door of the house.\n".to_owned(),
            3 => "It did not open.\n".to_owned(),
            _ => "I go back to the garden and look for the key.\n".to_owned(),
        })
        .collect();
    let at = noticed(&format!("{known}{chant}")).expect("a chant");
    let lines = chant
        .get(..at - known.len())
        .expect("a part")
        .lines()
        .count();
    assert!(lines <= 220, "after {lines} lines");
}

#[test]
fn fences_and_tables_and_markup_are_no_chants_and_words_after_them_are() {
    let row = "| ok | ok | ok | ok |\n";
    let path = "<path d=\"M0 0 h 10 v 10 h 10 v 10\n";
    for text in [
        format!("```\n{}```\n", "nop\n".repeat(900)),
        format!("~~~~ c\n{}~~~~\n", "x = x + 1;\n".repeat(900)),
        row.repeat(300),
        format!("+{}+\n", "-".repeat(60)).repeat(60),
        "│ 0 │ 0 │ 0 │\n".repeat(300),
        "<td>0</td><td>0</td>\n".repeat(300),
        format!(
            "<svg>\n{path}{}\"/>\n</svg>\n",
            "l 10 5 l 10 -5\n".repeat(400)
        ),
    ] {
        assert_eq!(noticed(&text), None, "{text:.60}");
        let chant = format!("{text}\nSo: {}", "I am done. ".repeat(60));
        assert!(noticed(&chant).is_some(), "{text:.60}");
    }
    let inline = format!("```x``` is a word\n{}", "again and again ".repeat(40));
    assert!(
        noticed(&inline).is_some(),
        "code within a line opens no block"
    );
}

#[test]
fn equal_headings_over_different_code_are_no_chant() {
    let text: String = (0..400)
        .map(|n| format!("Output of the run:\n```\nvalue {n}\n```\n\n"))
        .collect();
    assert_eq!(noticed(&text), None);
    let same = "Output of the run:\n```\nvalue 1\n```\n\n".repeat(400);
    assert!(matches!(judged(&same), Some(Chant::Lines { .. })));
}

fn judged(text: &str) -> Option<Chant> {
    ChantDetector::default().push(text.as_bytes())
}

#[test]
fn dumps_of_bytes_are_no_chants() {
    let mut random = Lcg(7);
    for alphabet in [BASE64, "0123456789abcdef"] {
        for wrap in [0, 64, 76] {
            let mut dump = random.text(alphabet, 300);
            dump.push_str(&"0".repeat(20_000));
            dump.push_str(&random.text(alphabet, 5_000));
            let text = match wrap {
                0 => dump,
                wrap => dump
                    .as_bytes()
                    .chunks(wrap)
                    .fold(String::new(), |mut text, line| {
                        text.push_str("    ");
                        text.push_str(&String::from_utf8_lossy(line));
                        text.push('\n');
                        text
                    }),
            };
            assert_eq!(
                noticed(&format!("The picture:\n{text}")),
                None,
                "wrapped at {wrap}"
            );
        }
    }
}

#[test]
fn lock_files_and_json_and_lists_are_no_chants() {
    let mut random = Lcg(3);
    let mut cargo = String::from("# made by a program\nversion = 4\n");
    let mut npm = String::from("{\n  \"packages\": {\n");
    let mut grid = String::from("{\"cells\": [");
    let mut flags = String::from("[\n");
    let mut list = String::new();
    for n in 0..400 {
        let (name, sum) = (random.text(LETTERS, 8), random.text("0123456789abcdef", 64));
        cargo.push_str(&format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"1.{n}.0\"\nsource = \"registry\"\nchecksum = \"{sum}\"\n"
        ));
        npm.push_str(&format!(
            "    \"{name}\": {{\n      \"version\": \"1.{n}.0\",\n      \"license\": \"MIT\",\n      \"engines\": {{\n        \"node\": \">=20\"\n      }}\n    }},\n"
        ));
        grid.push_str("false,false,0,0,");
        flags.push_str(&format!(
            "  {{\n    \"id\": {n},\n{}  }},\n",
            "    \"on\": true,\n".repeat(14)
        ));
        list.push_str(&format!("{n}. ok, the file `src/{name}.rs` is formatted\n"));
    }
    for text in [cargo, npm, grid, flags, list] {
        assert_eq!(noticed(&text), None, "{text:.60}");
    }
}

#[test]
fn rules_and_leaders_and_long_tables_of_numbers_are_no_chants() {
    for text in [
        "=".repeat(1500),
        ". ".repeat(700),
        "0 0 0 0 0 0 0 0\n".repeat(100),
    ] {
        assert_eq!(noticed(&text), None, "{text:.60}");
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_are_judged_alike(
        units in prop::collection::vec(("[a-c|<`\n ]{1,12}", 1usize..200), 1..6),
        piece in 1usize..70,
    ) {
        let text: String = units.iter().map(|(unit, times)| unit.repeat(*times)).collect();
        let mut detector = ChantDetector::default();
        for part in text.as_bytes().chunks(piece) {
            detector.push(part);
        }
        prop_assert_eq!(detector.chant(), judged(&text));
    }
}
