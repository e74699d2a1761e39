//! See `crates/fuzz`, which has the body of every target.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sprag_fuzz_targets::run("policy_edit", data));
