//! The HTTP plumbing of Sprag: what its server, its proxies and its gateway share.
//!
//! Each of them stands between clients and servers that may be slow, silent or hostile. So everything here has a
//! bound, and nothing here is read in two ways. It knows nothing of events and verdicts.
//!
//! - [`Listener`] answers on a port with a [`Handler`]; [`AcceptLoop`] is the accept loop behind it, for those that bring
//!   their own sockets.
//! - [`BodyReader`] reads bodies that share one room.
//! - [`Forwarder`] takes a request to the server behind as it is; [`outbound`] makes clients for what we send ourselves.
//! - [`Hosts`] says by which names a server is known, against pages of other sites.
//! - [`headers`] and [`strict_path`] leave of a request what every server reads alike; [`unreadable`] says which bodies
//!   are not. [`percent`] writes what fits into neither.

mod accept_loop;
mod body_reader;
mod forwarder;
pub mod headers;
mod hosts;
pub mod limits;
mod listener;
pub mod outbound;
pub mod percent;
mod repoll;
pub mod strict_path;
mod unreadable;
mod write_timeout;

pub use accept_loop::{AcceptLoop, descriptors, http1, tick};
pub use body_reader::{BodyError, BodyReader};
pub use forwarder::{Forwarder, ForwarderError};
pub use hosts::{Hosts, is_own_origin, one_host};
pub use listener::{Handler, Listener, ListenerError, ListenerOptions};
pub use unreadable::unreadable;
