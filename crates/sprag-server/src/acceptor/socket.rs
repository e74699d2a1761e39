//! The Unix socket: the same API for this user's programs, without a port.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::ServerError;

/// A socket in the file system; it is removed with this.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    /// Makes the socket at `path`, for nobody but this user. One that a server left behind when it died
    /// is replaced, one that somebody answers on is not.
    pub(crate) fn bind(path: &Path) -> Result<(Self, UnixListener), ServerError> {
        let failed = |source| ServerError::Socket {
            path: path.to_owned(),
            source,
        };
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                if UnixStream::connect(path).is_ok() {
                    return Err(ServerError::SocketTaken {
                        path: path.to_owned(),
                    });
                }
                std::fs::remove_file(path).map_err(failed)?;
                UnixListener::bind(path)
            }
            other => other,
        };
        let listener = listener.map_err(failed)?;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok((Self(path.to_owned()), listener))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Whoever comes next replaces one that is left behind.
        let _ = std::fs::remove_file(&self.0);
    }
}
