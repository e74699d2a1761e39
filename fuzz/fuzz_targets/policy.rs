//! Policies in both languages: right ones survive writing and reading, wrong ones get errors that
//! can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag_core::{Policy, import};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for read in [Policy::from_toml(text), Policy::from_json(text)] {
        match read {
            Ok(policy) => {
                let again = Policy::from_toml(&policy.to_toml()).expect("a policy reads what it wrote");
                assert_eq!(again.digest(), policy.digest());
                let _ = policy.limits_for(Some("agent"), "session");
            }
            Err(errors) => assert!(!errors.to_string().is_empty()),
        }
    }
    let _ = import::from_json(text, None, &import::ImportScope::Everyone);
});
