//! The guard as programs embed it: in memory and on disk, from many threads, with clocks that lie.

#[cfg(test)]
mod capture;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod link;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod panic;
#[cfg(test)]
mod pause;
#[cfg(test)]
mod place;
#[cfg(test)]
mod questions;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_server;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod secret_kinds;
#[cfg(test)]
mod secret_places;
#[cfg(test)]
mod shadow;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod what_if;
