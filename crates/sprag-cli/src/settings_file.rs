//! Changing a settings file that belongs to a person: shown, asked, kept, then written in one step.

use std::fs;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::failure::Failure;
use sprag::atomic;

/// A settings file as it is now.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// None where there is no file.
    pub(crate) text: Option<String>,
}

/// What came of a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is as it should be already.
    None,
    /// The person said no.
    Declined,
    /// It is written; the file before is kept there, if there was one.
    Done(Option<PathBuf>),
}

impl SettingsFile {
    pub(crate) fn read(path: PathBuf) -> Result<Self, Failure> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::unreadable(&path, &error)),
        };
        Ok(Self { path, text })
    }

    /// Changes it to `wanted`, none being no file. `keep` says whether what is there now is worth a backup.
    pub(crate) fn change(
        &self,
        wanted: Option<&str>,
        keep: bool,
        yes: bool,
        out: &mut dyn Write,
    ) -> Result<Change, Failure> {
        if self.text.as_deref() == wanted {
            return Ok(Change::None);
        }
        self.show(wanted, out)?;
        if !yes && !confirmed(out)? {
            return Ok(Change::Declined);
        }
        let backup = self.backup();
        let kept = match &self.text {
            Some(text) if keep => {
                write(&backup, text)?;
                Some(backup)
            }
            Some(_) => backup.exists().then_some(backup),
            None => None,
        };
        match wanted {
            Some(text) => write(&self.path, text)?,
            None => fs::remove_file(&self.path)
                .map_err(|error| Failure::unwritable(&self.path, &error))?,
        }
        Ok(Change::Done(kept))
    }

    /// Removes the backup where it holds what is there now.
    pub(crate) fn forget(&self, now: Option<&str>) {
        let backup = self.backup();
        if fs::read_to_string(&backup).is_ok_and(|kept| Some(kept.as_str()) == now) {
            // A leftover harms nobody.
            let _ = fs::remove_file(backup);
        }
    }

    /// Shows what would change.
    pub(crate) fn show(&self, wanted: Option<&str>, out: &mut dyn Write) -> Result<(), Failure> {
        let before = self.text.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(before, wanted.unwrap_or_default());
        let name = self.path.display().to_string();
        let mut shown = diff.unified_diff();
        write!(out, "{}", shown.context_radius(2).header(&name, &name))?;
        Ok(())
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".before-sprag");
        self.path.with_file_name(name)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    atomic::write(path, text).map_err(|error| Failure::unwritable(path, &error))
}

fn confirmed(out: &mut dyn Write) -> Result<bool, Failure> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(Failure::new("nobody is there to ask; nothing was changed")
            .next("look at the difference above, then say --yes"));
    }
    write!(out, "Change it? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    input.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
