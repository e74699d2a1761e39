//! Changing a settings file that belongs to a person: shown, asked, kept, then written in one step.
//!
//! The file as it was is kept in a folder of our own, with its mode: beside the file it could end up in
//! a repository, and settings hold keys. If there was no file before, that is kept too, with the folders
//! that had to be made, so that nothing is left behind later.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write};
use std::path::PathBuf;

use similar::TextDiff;

use crate::failure::Failure;
use sprag::atomic;

/// A settings file as it is now.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// None if there is no file.
    pub(crate) text: Option<String>,
    /// The folder for copies.
    backups: Option<PathBuf>,
    /// What nobody else may read, in the file or in what is shown of it.
    secret: Option<String>,
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
    /// Reads the file at `path`; copies of it go into `backups`.
    pub(crate) fn read(path: PathBuf, backups: Option<PathBuf>) -> Result<Self, Failure> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::unreadable(&path, &error)),
        };
        Ok(Self {
            path,
            text,
            backups,
            secret: None,
        })
    }

    /// The same with a secret in what is written.
    pub(crate) fn with_secret(mut self, secret: Option<String>) -> Self {
        self.secret = secret;
        self
    }

    /// Changes it to `wanted`, none being no file. `keep` says whether what is there now is worth a copy.
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
        let kept = match &self.text {
            Some(text) if keep => self.keep(text)?,
            Some(_) => self.backup().filter(|backup| backup.exists()),
            None => {
                self.note_absence()?;
                None
            }
        };
        match wanted {
            Some(text) => self.write(text)?,
            None => fs::remove_file(&self.path)
                .map_err(|error| Failure::unwritable(&self.path, &error))?,
        }
        Ok(Change::Done(kept))
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let write = match &self.secret {
            Some(secret) if text.contains(secret) => atomic::write_private,
            _ => atomic::write,
        };
        write(&self.path, text).map_err(|error| Failure::unwritable(&self.path, &error))
    }

    /// What was there before the first change, if that is known.
    pub(crate) fn before(&self) -> Option<String> {
        fs::read_to_string(self.backup()?).ok()
    }

    /// Whether there was no file before the first change.
    pub(crate) fn was_absent(&self) -> bool {
        self.absence().is_some_and(|note| note.exists())
    }

    /// After everything of ours is gone from the file: removes the copy if it holds what is there now,
    /// and the folders that were made for the file, if nothing else is in them.
    pub(crate) fn forget(&self, now: Option<&str>) {
        // Leftovers harm nobody, so errors are ignored.
        if let Some(backup) = self.backup()
            && fs::read_to_string(&backup).is_ok_and(|kept| Some(kept.as_str()) == now)
        {
            let _ = fs::remove_file(backup);
        }
        if let Some(note) = self.absence()
            && now.is_none()
        {
            let made = fs::read_to_string(&note).unwrap_or_default();
            for folder in made.lines() {
                let _ = fs::remove_dir(folder);
            }
            let _ = fs::remove_file(note);
        }
        if let Some(folder) = &self.backups {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Shows what would change.
    pub(crate) fn show(&self, wanted: Option<&str>, out: &mut dyn Write) -> Result<(), Failure> {
        let masked = |text: &str| match &self.secret {
            Some(secret) => text.replace(secret.as_str(), "…"),
            None => text.to_owned(),
        };
        let before = masked(self.text.as_deref().unwrap_or_default());
        let after = masked(wanted.unwrap_or_default());
        let diff = TextDiff::from_lines(&before, &after);
        let name = self.path.display().to_string();
        let mut shown = diff.unified_diff();
        write!(out, "{}", shown.context_radius(2).header(&name, &name))?;
        Ok(())
    }

    /// Keeps `text`, with the mode of the file.
    fn keep(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let Some(backup) = self.backup() else {
            return Ok(None);
        };
        self.make_backups()?;
        let kept = atomic::write_private(&backup, text).and_then(|()| {
            let mode = fs::metadata(&self.path)?.permissions();
            fs::set_permissions(&backup, mode)
        });
        kept.map_err(|error| Failure::unwritable(&backup, &error))?;
        Ok(Some(backup))
    }

    /// Notes that there was no file, and which folders it needs that are not there, the deepest first.
    fn note_absence(&self) -> Result<(), Failure> {
        let Some(note) = self.absence() else {
            return Ok(());
        };
        let folders = self.path.ancestors().skip(1);
        let missing =
            folders.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let lines: String = missing
            .map(|folder| format!("{}\n", folder.display()))
            .collect();
        self.make_backups()?;
        atomic::write_private(&note, &lines).map_err(|error| Failure::unwritable(&note, &error))
    }

    fn make_backups(&self) -> Result<(), Failure> {
        let backup = self.backup().unwrap_or_default();
        sprag::make_private_folder(&backup).map_err(|error| Failure::new(error.to_string()))
    }

    /// The place of the copy: the name of the file, and a number that its path gets.
    fn backup(&self) -> Option<PathBuf> {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}.{:016x}", hasher.finish());
        Some(self.backups.as_ref()?.join(name))
    }

    fn absence(&self) -> Option<PathBuf> {
        // The path is not made canonical: the file does not exist when this is written.
        let mut hasher = DefaultHasher::new();
        self.path.hash(&mut hasher);
        let name = format!("absent.{:016x}", hasher.finish());
        Some(self.backups.as_ref()?.join(name))
    }
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
