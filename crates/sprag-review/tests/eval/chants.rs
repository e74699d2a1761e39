//! The chant detector on what real models said, in recorded runs that nobody here wrote.

use std::io::{BufRead as _, BufReader};

use flate2::read::MultiGzDecoder;
use sprag_core::ChantDetector;
use sprag_review::eval::trace_files;

use crate::public::recorded_runs;

/// The words of models in one recorded event: what agents wrote to each other and to the user, and
/// the programs that they wrote as a step.
fn words(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    match event["type"].as_str()? {
        "message" if event["from"].is_string() => Some(event["content"].as_str()?.to_owned()),
        "step" => Some(event["approach"].as_str()?.to_owned()),
        "call" => Some(event["args"]["code"].as_str()?.to_owned()),
        _ => None,
    }
}

#[test]
fn no_recorded_answer_of_a_model_is_taken_for_a_chant() {
    let Some(folder) = recorded_runs() else {
        return;
    };
    let (files, _) = trace_files(&[folder]).expect("a folder of recorded runs");
    let (mut outputs, mut bytes, mut stopped) = (0u32, 0usize, Vec::new());
    for file in files {
        let packed = std::fs::File::open(&file.path).expect("a file of the folder");
        for line in BufReader::new(MultiGzDecoder::new(packed)).lines() {
            let Some(text) = line.ok().as_deref().and_then(words) else {
                continue;
            };
            outputs += 1;
            bytes += text.len();
            if let Some(chant) = ChantDetector::default().push(text.as_bytes()) {
                stopped.push((file.stem(), chant, text));
            }
        }
    }
    println!(
        "{outputs} outputs, {bytes} bytes, {} stopped",
        stopped.len()
    );
    assert!(
        outputs >= 2000,
        "{outputs} outputs are too few to say anything"
    );
    assert!(stopped.is_empty(), "{stopped:#?}");
}
