//! Tells systemd that the server is ready, or about to stop: one datagram to the socket that it names.
//!
//! A unit of `Type=notify` counts as started only then, so that what depends on the guard does not run
//! before it guards. Elsewhere there is no such socket, and nothing happens.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::net::UnixDatagram;

/// Who started this process and wants to hear of it.
#[derive(Debug, Clone, Default)]
pub struct Supervisor(Option<OsString>);

impl Supervisor {
    /// The supervisor behind the value of `NOTIFY_SOCKET`; nobody where it is not set.
    #[must_use]
    pub const fn new(notify_socket: Option<OsString>) -> Self {
        Self(notify_socket)
    }

    /// The server answers from now on.
    ///
    /// # Errors
    /// Returns an error if the supervisor can't be reached. It will think that the start failed.
    pub fn ready(&self, status: &str) -> io::Result<()> {
        let status = status.replace('\n', " ");
        self.send(&format!("READY=1\nSTATUS={status}"))
    }

    /// The server finishes what it has and ends.
    ///
    /// # Errors
    /// Returns an error if the supervisor can't be reached.
    pub fn stopping(&self) -> io::Result<()> {
        self.send("STOPPING=1")
    }

    fn send(&self, message: &str) -> io::Result<()> {
        let Some(place) = self.0.as_deref() else {
            return Ok(());
        };
        let socket = UnixDatagram::unbound()?;
        send_to(&socket, place, message.as_bytes())
    }
}

/// A name that starts with `@` is not a file: Linux keeps such names apart.
#[cfg(target_os = "linux")]
fn send_to(socket: &UnixDatagram, place: &OsStr, message: &[u8]) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::SocketAddr;

    let address = match place.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(place)?,
    };
    socket.send_to_addr(message, &address).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn send_to(socket: &UnixDatagram, place: &OsStr, message: &[u8]) -> io::Result<()> {
    socket.send_to(message, place).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn systemd_hears_that_the_server_is_ready_and_that_it_stops() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("notify");
        let socket = UnixDatagram::bind(&place).unwrap();
        let supervisor = Supervisor::new(Some(place.into()));
        supervisor.ready("listening on\n127.0.0.1:7727").unwrap();
        assert_eq!(
            heard(&socket),
            "READY=1\nSTATUS=listening on 127.0.0.1:7727"
        );
        supervisor.stopping().unwrap();
        assert_eq!(heard(&socket), "STOPPING=1");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_abstract_socket_is_found_by_its_at_sign() {
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::SocketAddr;

        let name = format!("sprag-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let supervisor = Supervisor::new(Some(format!("@{name}").into()));
        supervisor.stopping().unwrap();
        assert_eq!(heard(&socket), "STOPPING=1");
    }

    #[test]
    fn without_a_supervisor_nothing_happens() {
        Supervisor::default().ready("").unwrap();
    }
}
