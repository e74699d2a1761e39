//! The stores against each other, against the engine and against the world.

#[cfg(test)]
mod listing;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod model;
#[cfg(test)]
mod place;
#[cfg(test)]
mod processes;
#[cfg(all(test, feature = "redis"))]
mod redis;
#[cfg(all(test, feature = "redis"))]
mod redis_faults;
#[cfg(all(test, feature = "redis"))]
mod redis_places;
#[cfg(all(test, feature = "redis"))]
mod redis_pods;
#[cfg(all(test, feature = "redis"))]
mod redis_server;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod tamper;
#[cfg(unix)]
#[cfg(test)]
mod trouble;
