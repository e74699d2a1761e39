//! Which JSON texts say the same value: the vectors, and properties over random values in random
//! spellings.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde::Deserialize;
use sprag_core::canonical_json;

#[derive(Deserialize)]
struct Vectors {
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    same: bool,
}

#[test]
fn every_pair_of_the_vectors_is_told_right() {
    let vectors: Vectors =
        serde_json::from_str(include_str!("vectors/canonical.json")).expect("the vectors");
    assert!(!vectors.pairs.is_empty());
    for Pair { a, b, same } in vectors.pairs {
        let equal = canonical_json(&a).unwrap() == canonical_json(&b).unwrap();
        assert_eq!(equal, same, "{a} and {b}");
    }
}

#[test]
fn long_integers_stay_exact() {
    for (a, b, same) in [
        ("1e25", "10000000000000000000000000", true),
        ("18446744073709551616", "18446744073709551617", false),
        ("18446744073709551615", "18446744073709551615.0", true),
        ("-9223372036854775809", "-9223372036854775808", false),
        ("9007199254740993.0", "9007199254740993", true),
        (
            "[1e20,{\"a\":0.10}]",
            "[100000000000000000000,{\"a\":0.1}]",
            true,
        ),
    ] {
        let equal = canonical_json(a).unwrap() == canonical_json(b).unwrap();
        assert_eq!(equal, same, "{a} and {b}");
    }
}

#[test]
fn an_object_with_the_name_of_a_number_is_still_an_object() {
    let text = r#"{"$serde_json::private::Number":"1"}"#;
    assert_eq!(canonical_json(text).unwrap(), text);
}

#[test]
fn what_has_no_canonical_form_is_refused_with_its_place() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(canonical_json(&deep(100)).is_ok());
    let too_deep = deep(101);
    let far_too_deep = deep(100_000);
    let long_number = "9".repeat(400);
    for (text, error) in [
        (
            r#"{"a":1,"b":2,"a":3}"#,
            "duplicate key \"a\" at line 1 column 19",
        ),
        (
            r#"[{"x":{"\u0061":1,"a":1}}]"#,
            "duplicate key \"a\" at line 1 column 24",
        ),
        (
            too_deep.as_str(),
            "arrays and objects nested deeper than 100 levels at line 1 column 102",
        ),
        (
            far_too_deep.as_str(),
            "arrays and objects nested deeper than 100 levels at line 1 column 101",
        ),
        ("[1e999]", "number out of range at line 1 column 6"),
        (
            long_number.as_str(),
            "number out of range at line 1 column 400",
        ),
        (
            "\"\\ud800\"",
            "unexpected end of hex escape at line 1 column 8",
        ),
        ("[1,]", "trailing comma at line 1 column 4"),
        ("1 2", "trailing characters at line 1 column 3"),
        ("", "EOF while parsing a value at line 1 column 0"),
    ] {
        assert_eq!(canonical_json(text).unwrap_err().to_string(), error);
    }
}

/// A JSON value whose equality is that of what it means.
#[derive(Debug, Clone, PartialEq)]
enum JsonModel {
    Null,
    Bool(bool),
    /// Also beyond what 64 bits hold.
    Int(i128),
    /// This many and a quarter.
    Quarter(i32),
    Text(String),
    Array(Vec<JsonModel>),
    Object(BTreeMap<String, JsonModel>),
}

fn model() -> impl Strategy<Value = JsonModel> {
    let big = prop_oneof![
        Just(1_i128 << 53),
        Just(1_i128 << 63),
        Just(1_i128 << 64),
        Just(10_i128.pow(25)),
    ];
    let leaf = prop_oneof![
        Just(JsonModel::Null),
        any::<bool>().prop_map(JsonModel::Bool),
        (-20_i128..20).prop_map(JsonModel::Int),
        any::<i64>().prop_map(|n| JsonModel::Int(n.into())),
        (big, -3_i128..3, any::<bool>())
            .prop_map(|(n, by, negative)| JsonModel::Int(if negative { -n - by } else { n + by })),
        any::<i32>().prop_map(JsonModel::Quarter),
        "[ab]{0,2}".prop_map(JsonModel::Text),
        any::<String>().prop_map(JsonModel::Text),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(JsonModel::Array),
            prop::collection::btree_map("[a-cé\"\\\\]{0,2}", inner, 0..5)
                .prop_map(JsonModel::Object),
        ]
    })
}

/// Choices of a spelling, the same for the same seed.
struct Speller(u64);

impl Speller {
    fn up_to(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn space(&mut self, out: &mut String) {
        let space = ["", "", " ", "\n\t"].get(self.up_to(4));
        out.push_str(space.unwrap());
    }

    fn spell(&mut self, value: &JsonModel, out: &mut String) {
        self.space(out);
        match value {
            JsonModel::Null => out.push_str("null"),
            JsonModel::Bool(value) => write!(out, "{value}").unwrap(),
            JsonModel::Int(value) => self.spell_int(*value, out),
            JsonModel::Quarter(value) => {
                let quarters = i64::from(*value) * 100 + 25;
                let spelling = match self.up_to(3) {
                    0 => format!("{quarters}e-2"),
                    1 => format!("{quarters}0E-003"),
                    _ => format!("{}", quarters as f64 / 100.0),
                };
                out.push_str(&spelling);
            }
            JsonModel::Text(text) => self.spell_text(text, out),
            JsonModel::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.spell(item, out);
                }
                out.push(']');
            }
            JsonModel::Object(entries) => self.spell_object(entries, out),
        }
        self.space(out);
    }

    fn spell_object(&mut self, entries: &BTreeMap<String, JsonModel>, out: &mut String) {
        let mut entries: Vec<_> = entries.iter().collect();
        for at in (1..entries.len()).rev() {
            entries.swap(at, self.up_to(at + 1));
        }
        out.push('{');
        for (at, (key, item)) in entries.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.space(out);
            self.spell_text(key, out);
            self.space(out);
            out.push(':');
            self.spell(item, out);
        }
        out.push('}');
    }

    fn spell_int(&mut self, value: i128, out: &mut String) {
        let spelling = match self.up_to(6) {
            0 => format!("{value}.0"),
            1 => format!("{value}e0"),
            2 if value != 0 => format!("{value}00E-2"),
            3 if value % 100 == 0 => format!("{}e+2", value / 100),
            4 if value == 0 => "-0".to_owned(),
            _ => value.to_string(),
        };
        out.push_str(&spelling);
    }

    fn spell_text(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '/' if self.up_to(2) == 0 => out.push_str("\\/"),
                '\n' if self.up_to(2) == 0 => out.push_str("\\n"),
                '"' | '\\' if self.up_to(2) == 0 => out.extend(['\\', c]),
                c if c < ' ' || c == '"' || c == '\\' || self.up_to(4) == 0 => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(out, "\\u{unit:04x}").unwrap();
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

fn spelling(value: &JsonModel, seed: u64) -> String {
    let mut out = String::new();
    Speller(seed).spell(value, &mut out);
    out
}

fn canonical(value: &JsonModel, seed: u64) -> String {
    let text = spelling(value, seed);
    canonical_json(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

proptest! {
    #[test]
    fn every_spelling_of_a_value_has_one_form(value in model(), a: u64, b: u64) {
        prop_assert_eq!(canonical(&value, a), canonical(&value, b));
    }

    #[test]
    fn two_values_share_a_form_exactly_where_they_are_equal(
        one in model(), other in model(), seed: u64,
    ) {
        prop_assert_eq!(canonical(&one, seed) == canonical(&other, !seed), one == other);
    }

    #[test]
    fn the_canonical_form_is_its_own(value in model(), seed: u64) {
        let form = canonical(&value, seed);
        prop_assert_eq!(&canonical_json(&form).unwrap(), &form);
    }

    #[test]
    fn a_long_number_elsewhere_changes_nothing(value in model(), seed: u64) {
        let text = spelling(&value, seed);
        let alone = canonical_json(&format!("[{text}]")).unwrap();
        let beside = canonical_json(&format!("[{text},1e300]")).unwrap();
        prop_assert_eq!(alone.strip_suffix(']'), beside.strip_suffix(",1e300]"));
    }

    #[test]
    fn a_float_has_one_form_in_both_passes(value: f64) {
        prop_assume!(value.is_finite());
        let alone = canonical_json(&format!("[{value:e}]")).unwrap();
        let beside = canonical_json(&format!("[{value},1e300]")).unwrap();
        prop_assert_eq!(alone.strip_suffix(']'), beside.strip_suffix(",1e300]"));
    }

    #[test]
    fn no_text_makes_it_panic(
        text in prop_oneof![any::<String>(), "[\\[\\]{}\",:0-9eE.+\\-\\\\utrfalsn ]{0,40}"],
    ) {
        let _ = canonical_json(&text);
    }
}
