//! A program that cargo built and `cargo clean` removes: not a place for settings to point to.

use std::io::Write;
use std::path::Path;

use crate::style::{CAREFUL, paint};

/// What cargo writes into each folder that it builds into, whatever the folder is called.
const MARK: &str = ".rustc_info.json";

/// Warns if settings now start a program that `cargo clean` removes.
pub(crate) fn warn(program: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    if !program
        .ancestors()
        .any(|folder| folder.join(MARK).is_file())
    {
        return Ok(());
    }
    writeln!(
        out,
        "{} {} is the output of a build, and `cargo clean` removes it; better: \
         `cargo install --path crates/sprag-cli`, then install again with that one",
        paint(CAREFUL, "careful:"),
        program.display()
    )
}
