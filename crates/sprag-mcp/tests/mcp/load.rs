//! Many calls at once, and results larger than anybody wants to hold.

use std::io::{Read as _, Write as _};

use crate::wrapper_process::{WrapperProcess, example};

/// How many calls: `make soak` sets a million.
#[expect(
    clippy::disallowed_methods,
    reason = "the soak sets how long this runs"
)]
pub(crate) fn calls() -> u64 {
    match std::env::var("SPRAG_MCP_CALLS") {
        Ok(count) => count.parse().expect("SPRAG_MCP_CALLS is a number"),
        Err(_) => 20_000,
    }
}

#[test]
fn no_answer_reaches_the_wrong_request() {
    let mut wrapper = WrapperProcess::start(&[&example("echo")]);
    let mut to = wrapper.to.take().unwrap();
    let count = calls();
    let writer = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for n in 0..count {
            // Three kinds of ids, several sessions, so that all that is kept is kept apart.
            let id = match n % 3 {
                0 => n.to_string(),
                1 => format!("\"{n}\""),
                _ => format!("\"a-{n}\""),
            };
            let meta = format!(r#"{{"threadId":"t{}"}}"#, n % 7);
            writeln!(lines, r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"read","_meta":{meta},"arguments":{{"n":{n}}}}}}}"#).unwrap();
            if lines.len() > 8192 {
                to.write_all(&lines).unwrap();
                lines.clear();
            }
        }
        to.write_all(&lines).unwrap();
        to
    });
    for n in 0..count {
        let answer: serde_json::Value = serde_json::from_str(&wrapper.receive()).unwrap();
        let id = match &answer["id"] {
            serde_json::Value::String(id) => id.trim_start_matches("a-").parse().unwrap(),
            id => id.as_u64().unwrap(),
        };
        assert_eq!(answer["result"]["structuredContent"]["n"], id, "{answer}");
        assert_eq!(id, n);
    }
    drop(writer.join().unwrap());
    assert!(wrapper.close().success());
}

#[test]
fn a_result_of_a_hundred_megabytes_passes_with_little_memory() {
    let mut wrapper = WrapperProcess::start(&[&example("echo")]);
    let bytes = 100_000_000;
    wrapper.send(&crate::gate_fixture::call(
        1,
        "read",
        &format!(r#"{{"bytes":{bytes}}}"#),
    ));
    let mut text = vec![0; 1 << 16];
    let (mut total, mut last) = (0, 0);
    while last != b'\n' {
        let read = wrapper.from.as_mut().unwrap().read(&mut text).unwrap();
        assert_ne!(read, 0);
        total += read;
        last = text[read - 1];
    }
    let head = r#"{"result":{"content":[{"type":"text","text":""}]},"jsonrpc":"2.0","id":1}"#;
    assert_eq!(total, bytes + head.len() + 1);
    let status = std::fs::read_to_string(format!("/proc/{}/status", wrapper.child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 48 * 1024, "the wrapper took {peak} kB");
    wrapper.send(&crate::gate_fixture::call(2, "read", r#"{"n":1}"#));
    assert_eq!(
        wrapper.receive(),
        r#"{"result":{"content":[],"structuredContent":{"n":1}},"jsonrpc":"2.0","id":2}"#
    );
    assert!(wrapper.close().success());
}
