//! Scenario files: run or refused with an error that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag::scenario;

fuzz_target!(|data: &[u8]| {
    match scenario::parse(data) {
        Ok(scenarios) => {
            for one in &scenarios {
                let _ = scenario::run(one);
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
        }
    }
});
