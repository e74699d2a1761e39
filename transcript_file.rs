//! Opens a transcript that a payload names, if it is a plain file.
//!
//! The path comes from outside. A pipe would hold the hook, and with it the client, for ever; a link
//! could lead anywhere. So neither is opened, not even if it takes the file's place in between.

use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;

/// The file's number and length.
pub(super) trait Identity {
    fn identity(&self) -> (u64, u64);
}

impl Identity for Metadata {
    fn identity(&self) -> (u64, u64) {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(self);
        #[cfg(not(unix))]
        let number = 0;
        (number, self.len())
    }
}

/// The file at `path` with what is known of it; none if it is not a plain file.
pub(super) fn open_transcript(path: &Path) -> Option<(File, Metadata)> {
    let is_file = |about: &Metadata| about.is_file();
    path.symlink_metadata().ok().filter(is_file)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).ok()?;
    let about = file.metadata().ok().filter(is_file)?;
    Some((file, about))
}
