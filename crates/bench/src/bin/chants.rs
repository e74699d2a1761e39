//! Runs the chant detector over what models wrote in recorded runs: the words between agents, and every
//! text in the arguments of calls. Each one that it takes for a chant is printed.
//!
//! `cargo run -p sprag-bench --features adapters --bin chants FOLDER`

#![expect(clippy::print_stdout, reason = "it prints what it found")]

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use sprag_core::ChantDetector;

type Failure = Box<dyn std::error::Error>;

/// Texts shorter than this can't be chants.
const SHORT: usize = 400;

fn main() -> Result<(), Failure> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("name a folder of *.jsonl.gz")?;
    let (mut texts, mut long, mut chants) = (0_usize, 0_usize, 0_usize);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|end| end != "gz") {
            continue;
        }
        for line in BufReader::new(GzDecoder::new(File::open(&path)?)).lines() {
            let event: Value = serde_json::from_str(&line?)?;
            each_text(written(&event), &mut |text| {
                texts += 1;
                long += usize::from(text.len() >= SHORT);
                let mut detector = ChantDetector::default();
                if detector.push(text.as_bytes()).is_some() {
                    chants += 1;
                    tell(&path, &event, text);
                }
            });
        }
    }
    println!(
        "{texts} texts of models, {long} of them of {SHORT} bytes or more: {chants} taken for chants"
    );
    Ok(())
}

/// What a model wrote in this event; nothing for results and for words of users.
fn written(event: &Value) -> &Value {
    match event["type"].as_str() {
        Some("call") => &event["args"],
        Some("message") if event["from"].is_string() => &event["content"],
        _ => &Value::Null,
    }
}

fn each_text(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, found)),
        _ => {}
    }
}

fn tell(path: &Path, event: &Value, text: &str) {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let start: String = text.chars().take(200).collect();
    println!("{file} {} {}: {start:?}", event["trace"], event["seq"]);
}
