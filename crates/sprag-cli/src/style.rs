//! Colours, used sparingly: a word that fails is red, one that holds is green.
//!
//! The streams of `anstream` drop them where no terminal listens or `NO_COLOR` is set, so the code
//! that prints need not ask.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const CAREFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();

/// How `--help` looks.
pub(crate) const HELP: clap::builder::Styles = clap::builder::Styles::styled()
    .header(HEAD)
    .usage(HEAD)
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default().dimmed());

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
