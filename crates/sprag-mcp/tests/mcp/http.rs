//! The proxy before servers over HTTP, with real sockets on both sides.

mod bytes;
mod faults;
mod front;
mod judged;
mod oauth;
mod official;
mod rebinding;
mod resumed;
mod tls;
mod volume;
mod wire;
