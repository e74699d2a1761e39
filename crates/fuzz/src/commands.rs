//! What commands and SQL destroy. Agents write both, so a reader must come to an end with any text.

use sprag_core::{Effects, MAX_EFFECTS};
use sprag_effects::{of_command, of_sql};

pub(crate) fn shell_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    bounded(&of_command(text, None, None));
    bounded(&of_command(
        text,
        Some("/srv/project/sub"),
        Some("/srv/project"),
    ));
}

pub(crate) fn sql_text(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        bounded(&of_sql(text));
    }
}

fn bounded(effects: &Effects) {
    assert!(effects.list.len() <= MAX_EFFECTS);
}
