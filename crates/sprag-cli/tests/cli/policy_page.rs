//! The page about policies has a table of all keys. It is made here, from the same table as everything else.

use std::fmt::Write as _;
use std::path::Path;

use sprag_core::{PolicyKey, policy_schema};

const START: &str = "<!-- keys -->\n";
const END: &str = "<!-- /keys -->";

/// The table, section by section.
fn tables() -> String {
    let schema = policy_schema();
    let mut text = String::new();
    let mut section = "";
    for key in PolicyKey::all() {
        if key.section() != section {
            section = key.section();
            let about = &schema["$defs"][section]["description"];
            let about = about.as_str().expect("a section says what it is about");
            let head = "| key | default | allowed | what it is |\n|---|---|---|---|";
            let _ = write!(text, "\n### {section}\n\n{about}\n\n{head}\n");
        }
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} |",
            key.name(),
            cell(&key.default_text()),
            cell(&key.allowed()),
            cell(key.doc())
        );
    }
    text.push('\n');
    text
}

/// `SPRAG_UPDATE_DOCS=1` writes the page instead of comparing it.
#[test]
fn the_page_about_policies_names_every_key_as_the_table_of_keys_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (is, after) = rest.split_once(END).unwrap();
    let should = tables();
    if std::env::var_os("SPRAG_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{START}{should}{END}{after}")).unwrap();
        return;
    }
    assert!(
        is == should,
        "docs/policy.md is out of date; make it again: \
         SPRAG_UPDATE_DOCS=1 cargo test -p sprag-cli --test cli policy_page"
    );
}
