//! What loosens the guard is for a person to do: on a terminal they are asked, elsewhere they say so.
//!
//! An agent with a shell can run these commands too. It has no terminal of its own, so the log says
//! that there was none.

use std::io::{BufRead, IsTerminal, Write};

use crate::args::ConfirmArg;
use crate::failure::Failure;

/// How an order was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Confirmed {
    terminal: bool,
}

impl Confirmed {
    /// Who gives the order, for the log.
    pub(crate) fn signed(self, by: &str) -> String {
        if self.terminal {
            by.to_owned()
        } else {
            format!("{by} (no terminal)")
        }
    }
}

/// Asks whether to do `what`, if somebody can be asked and was not told not to.
pub(crate) fn confirm(arg: ConfirmArg, what: &str) -> Result<Confirmed, Failure> {
    let input = std::io::stdin();
    let terminal = input.is_terminal();
    match (terminal, arg.yes) {
        (_, true) => {}
        (true, false) => ask(what, &mut std::io::stderr(), &mut input.lock())?,
        (false, false) => {
            return Err(Failure::new(format!(
                "{what}: there is no terminal to ask on, and nothing was done"
            ))
            .next("a person confirms it with --yes; the log will say that there was no terminal"));
        }
    }
    Ok(Confirmed { terminal })
}

fn ask(what: &str, out: &mut dyn Write, input: &mut dyn BufRead) -> Result<(), Failure> {
    write!(out, "{what}? [y/N] ").and_then(|()| out.flush())?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    if matches!(line.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new("nothing was done"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        let said = |text: &str| ask("Reset s1", &mut Vec::new(), &mut text.as_bytes()).is_ok();
        for yes in ["y\n", "yes\n", " Y \n", "YES"] {
            assert!(said(yes), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "yep\n", "no\n"] {
            assert!(!said(no), "{no:?}");
        }
    }

    #[test]
    fn an_order_without_a_terminal_is_signed_as_such() {
        assert_eq!(Confirmed { terminal: true }.signed("ops"), "ops");
        assert_eq!(
            Confirmed { terminal: false }.signed("ops"),
            "ops (no terminal)"
        );
    }
}
