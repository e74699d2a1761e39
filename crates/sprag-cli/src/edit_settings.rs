//! Changing a file that belongs to somebody else: shown first, kept as it was, replaced in one step.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::atomic;
use crate::failure::Failure;

/// Who says yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The person is asked.
    Ask,
    /// The command line says so.
    Given,
    /// Nobody: only show it.
    DryRun,
}

impl Consent {
    /// What the flags and the input say. Where no person can be asked, the flag is needed.
    pub(crate) fn find(is_given: bool, is_dry: bool) -> Self {
        match (is_dry, is_given) {
            (true, _) => Self::DryRun,
            (false, true) => Self::Given,
            (false, false) => Self::Ask,
        }
    }
}

/// A change of a file.
#[derive(Debug)]
pub(crate) struct Change<'c> {
    pub(crate) path: &'c Path,
    /// What is there; none where there is no file yet.
    pub(crate) old: Option<&'c str>,
    pub(crate) new: &'c str,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// There was nothing to change.
    Nothing,
    /// It was only shown, or the person said no.
    NotWritten,
    /// It is written; what was there before is kept here.
    Written { backup: Option<PathBuf> },
}

impl Change<'_> {
    /// Shows the change, and makes it where there is consent.
    pub(crate) fn apply(
        &self,
        consent: Consent,
        input: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Applied, Failure> {
        if self.old == Some(self.new) {
            return Ok(Applied::Nothing);
        }
        write!(out, "{}", self.diff())?;
        match consent {
            Consent::DryRun => return Ok(Applied::NotWritten),
            Consent::Given => {}
            Consent::Ask => {
                if !is_yes(&self.path.display().to_string(), input, out)? {
                    return Ok(Applied::NotWritten);
                }
            }
        }
        let backup = self.old.map(|old| keep(self.path, old)).transpose()?;
        atomic::write(self.path, self.new)
            .map_err(|error| Failure::unwritable(self.path, &error))?;
        Ok(Applied::Written { backup })
    }

    fn diff(&self) -> String {
        let name = self.path.display().to_string();
        let before = if self.old.is_some() {
            &*name
        } else {
            "/dev/null"
        };
        let diff = TextDiff::from_lines(self.old.unwrap_or_default(), self.new);
        diff.unified_diff()
            .context_radius(2)
            .header(before, &name)
            .to_string()
    }
}

fn is_yes(name: &str, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<bool, Failure> {
    write!(out, "change {name}? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    let read = input.read_line(&mut answer)?;
    if read == 0 {
        writeln!(out)?;
        return Err(Failure::new("nobody answered, so nothing was written")
            .next("say yes with --yes, or only look with --dry-run"));
    }
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Keeps `text` beside the file, under a name that is not taken by something else.
fn keep(path: &Path, text: &str) -> Result<PathBuf, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..).map(|n| match n {
        1 => format!("{name}.before-sprag"),
        n => format!("{name}.before-sprag-{n}"),
    });
    for name in names {
        let backup = path.with_file_name(name);
        match fs::read(&backup) {
            Ok(held) if held == text.as_bytes() => return Ok(backup),
            Ok(_) => {}
            Err(_) => {
                atomic::write(&backup, text)
                    .map_err(|error| Failure::unwritable(&backup, &error))?;
                copy_permissions(path, &backup);
                return Ok(backup);
            }
        }
    }
    Err(Failure::new(format!(
        "there is no room for a copy of {}",
        path.display()
    )))
}

/// A file that only its owner may read has a copy that only its owner may read.
fn copy_permissions(from: &Path, to: &Path) {
    if let Ok(held) = fs::metadata(from) {
        let _ = fs::set_permissions(to, held.permissions());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &Path, new: &str, consent: Consent, answer: &str) -> (Applied, String) {
        let old = fs::read_to_string(path).ok();
        let mut out = Vec::new();
        let change = Change {
            path,
            old: old.as_deref(),
            new,
        };
        let applied = change
            .apply(consent, &mut answer.as_bytes(), &mut out)
            .unwrap();
        let shown = String::from_utf8(out).unwrap();
        (
            applied,
            shown.replace(&path.parent().unwrap().display().to_string(), "~"),
        )
    }

    #[test]
    fn a_change_is_shown_asked_for_and_the_old_text_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcp.json");
        fs::write(&path, "{\n  \"a\": 1\n}\n").unwrap();
        let new = "{\n  \"a\": 2\n}\n";
        let (applied, shown) = change(&path, new, Consent::Ask, "n\n");
        assert_eq!(applied, Applied::NotWritten);
        insta::assert_snapshot!(shown, @"");
        assert_eq!(
            change(&path, new, Consent::DryRun, "").0,
            Applied::NotWritten
        );
        let backup = home.path().join("mcp.json.before-sprag");
        let (applied, _) = change(&path, new, Consent::Ask, "y\n");
        assert_eq!(
            applied,
            Applied::Written {
                backup: Some(backup.clone())
            }
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), new);
        assert_eq!(fs::read_to_string(&backup).unwrap(), "{\n  \"a\": 1\n}\n");
        assert_eq!(change(&path, new, Consent::Given, "").0, Applied::Nothing);
        let (applied, _) = change(&path, "{}\n", Consent::Given, "");
        let second = home.path().join("mcp.json.before-sprag-2");
        assert_eq!(
            applied,
            Applied::Written {
                backup: Some(second)
            }
        );
    }

    #[test]
    fn where_nobody_can_answer_nothing_is_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        let change = Change {
            path: &path,
            old: None,
            new: "x",
        };
        let failure = change.apply(Consent::Ask, &mut "".as_bytes(), &mut Vec::new());
        assert!(failure.is_err());
        assert!(!path.exists());
    }
}
