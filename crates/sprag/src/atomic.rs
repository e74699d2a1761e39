//! Writing a file so that nobody ever reads half of it.
//!
//! A guard reloads its policy when the file changes. The new text is written beside the file and
//! then takes its place in one step; a crash in between leaves the old file, and a link stays one.

use std::fs::{self, File, OpenOptions};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// Puts `text` into `path`, keeping the permissions of what is there. A new file is for its user only.
///
/// # Errors
/// Returns an error if it can't be written; what was there stays.
pub fn write(path: &Path, text: &str) -> Result<()> {
    replace(path, text, false)
}

/// Puts `text` into `path`, which nobody but its owner may read from the first byte on.
///
/// # Errors
/// Returns an error if it can't be written; what was there stays.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    replace(path, text, true)
}

fn replace(path: &Path, text: &str, private: bool) -> Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = beside(&path);
    let written = fill(&beside, &path, text, private).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The first error is what matters; the leftover may not even exist.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(beside: &Path, path: &Path, text: &str, private: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file: File = options.open(beside)?;
    if let Ok(held) = fs::metadata(path)
        && !private
    {
        file.set_permissions(held.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_and_nothing_is_left_behind() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/policy.toml");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_for_its_user_only_and_an_old_one_stays_as_it_was() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("policy.toml");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        write(&path, "one").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, "two").unwrap();
        assert_eq!(mode(), 0o644);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let home = tempfile::tempdir().unwrap();
        let (target, link) = (home.path().join("target"), home.path().join("link"));
        fs::write(&target, "one").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&target, &link).unwrap();
        write(&link, "two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "two");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&target), 0o600);
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
        write(&link, "three").unwrap();
        assert_eq!(mode(&target), 0o644);
        write_private(&link, "four").unwrap();
        assert_eq!(mode(&target), 0o600);
    }
}
