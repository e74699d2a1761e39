//! The proxy before servers over HTTP, with real sockets on both sides.

mod corpus;
mod faults;
mod load;
mod oauth;
mod official_clients;
mod proxy_fixture;
mod raw_http;
mod rebinding;
mod resumption;
mod tls;
mod unreadable;
mod verdicts;
